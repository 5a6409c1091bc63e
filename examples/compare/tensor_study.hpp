// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One tensor under every recipe in every basis.

#include "progress.hpp"
#include "results.hpp"

namespace comparison {

tensor_result study(tensor_file::tensor const& source, plan const& what, progress& bar);

/// For the progress bar; about nanoseconds of one thread.
double tensor_work(tensor_file::tensor const& source, plan const& what);

/// Rows of a tensor that a plan reads.
std::size_t rows_to_read(tensor_file::tensor const& source, plan const& what);

/// True if a matrix of so many columns can be quantized by that recipe in that basis.
bool fits(std::size_t cols, std::size_t recipe, std::size_t basis);

}  // namespace comparison
