// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Two kernels share a product: one makes what the other leaves out.

#include <quadrille/cuda/gemm/segments.cuh>

namespace quadrille::detail {

/// Which elements of D a launch computes. There is a byte for every 128 rows of A, and one for every 128 rows
/// of B; an element is flagged if one of its two is not zero. Without bytes none is.
struct tile_filter {
  u8 const* a = nullptr;
  u8 const* b = nullptr;
  bool takes_flagged = false;

  __device__ bool takes(i64 a_row, i64 b_row) const {
    bool const is_flagged =
        (a != nullptr && a[a_row / 128] != 0) || (b != nullptr && b[b_row / 128] != 0);
    return is_flagged == takes_flagged;
  }
  /// Whether it takes any, or all, of some rows of A (at least one) times some rows of B.
  __device__ bool takes_any(i64 a_row, i64 a_end, i64 b_row, i64 b_end) const {
    return has(true, a_row, a_end, b_row, b_end);
  }
  __device__ bool takes_all(i64 a_row, i64 a_end, i64 b_row, i64 b_end) const {
    return !has(false, a_row, a_end, b_row, b_end);
  }
  /// Whether it takes anything of a product: the same answer for all threads of a block, who all ask.
  __device__ bool takes_some(gemm_segments const& work) const {
    if (!takes_flagged) return true;
    bool is_flagged = false;
    for (i64 i = threadIdx.x; a != nullptr && i < ceil_div(work.rows, i64(128)); i += blockDim.x)
      is_flagged |= a[i] != 0;
    for (i64 i = threadIdx.x; b != nullptr && i < ceil_div(work.count * work.cols, i64(128));
         i += blockDim.x)
      is_flagged |= b[i] != 0;
    return __syncthreads_or(is_flagged) != 0;
  }

 private:
  __device__ bool has(bool taken, i64 a_row, i64 a_end, i64 b_row, i64 b_end) const {
    if (a == nullptr && b == nullptr) return takes_flagged != taken;
    for (i64 i = a_row / 128; i <= (a_end - 1) / 128; ++i)
      for (i64 j = b_row / 128; j <= (b_end - 1) / 128; ++j)
        if (takes(i * 128, j * 128) == taken) return true;
    return false;
  }
};

}  // namespace quadrille::detail
