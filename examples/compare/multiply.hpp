// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A layer's product with quantized operands, against the exact one.

#include "basis.hpp"

#include <quadrille/analysis.hpp>

namespace comparison {

/// Errors of activations * weights^T.
struct product_errors {
  quadrille::error_sums both;         ///< both operands quantized: W4A4
  quadrille::error_sums weight_only;  ///< activations as they are: W4A16
};

/// One operand: the rows that are multiplied, and amax of the whole tensor that they are from.
struct operand {
  matrix rows;
  float amax;
};

/// Multiplies under a recipe of the table; `exact` is the product without quantization. One thread.
product_errors multiply(std::size_t recipe, operand const& activations, operand const& weights,
                        matrix const& exact);

/// The product without quantization.
matrix multiply_exact(matrix const& activations, matrix const& weights, int threads);

}  // namespace comparison
