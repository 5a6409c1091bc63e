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
  /// Whether it takes any, and whether all, of some rows of A (1 to 256) times some rows of B.
  struct share {
    bool any;
    bool all;
  };
  __device__ share taken_of(i64 a_row, i64 a_end, i64 b_row, i64 b_end) const {
    if (a == nullptr && b == nullptr) return {!takes_flagged, !takes_flagged};
    share const of_a = flagged(a, a_row, a_end);
    share const of_b = flagged(b, b_row, b_end);
    bool const any = of_a.any || of_b.any;
    bool const all = of_a.all || of_b.all;
    return takes_flagged ? share{any, all} : share{!all, !any};
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
  // No branches, so that the bytes are read at once.
  __device__ static share flagged(u8 const* flags, i64 row, i64 end) {
    if (flags == nullptr) return {false, false};
    share found{false, true};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      bool const is_flagged = flags[min(row / 128 + i, (end - 1) / 128)] != 0;
      found.any |= is_flagged;
      found.all &= is_flagged;
    }
    return found;
  }
};

}  // namespace quadrille::detail
