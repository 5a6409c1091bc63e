// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Block shapes: which elements share one scale.

#include <quadrille/detail/std.hpp>

namespace quadrille {

/// Rows x columns of a block. Columns run along K, the axis that a GEMM contracts.
template <class B>
concept block_shape = requires {
  { B::rows } -> detail::same_as<int const&>;
  { B::cols } -> detail::same_as<int const&>;
};

/// `Rows` x `Cols` elements share one scale: shape<1, 16> is NVFP4's, shape<1, 32> MX's, and with
/// shape<16, 16> a matrix and its transpose quantize to the same values. At the right and bottom edges
/// a block is completed with zeros. Quantizing along M instead is quantizing `x.transposed()`.
template <int Rows, int Cols>
struct shape {
  static constexpr int rows = Rows;
  static constexpr int cols = Cols;
};

static_assert(block_shape<shape<1, 16>>);

}  // namespace quadrille
