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

  QUADRILLE_HD constexpr bool takes_all() const {
    return a == nullptr && b == nullptr && !takes_flagged;
  }
  __device__ bool takes(i64 a_row, i64 b_row) const {
    bool const is_flagged =
        (a != nullptr && a[a_row / 128] != 0) || (b != nullptr && b[b_row / 128] != 0);
    return is_flagged == takes_flagged;
  }
  /// Whether it takes any of some rows of A (at least one) times some rows of B.
  __device__ bool takes_any(i64 a_row, i64 a_end, i64 b_row, i64 b_end) const {
    if (a == nullptr && b == nullptr) return !takes_flagged;
    for (i64 i = a_row / 128; i <= (a_end - 1) / 128; ++i)
      for (i64 j = b_row / 128; j <= (b_end - 1) / 128; ++j)
        if (takes(i * 128, j * 128)) return true;
    return false;
  }
};

}  // namespace quadrille::detail
