// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The bases that tensors are quantized in: as they are, or with groups of each row rotated.

#include <cstddef>
#include <quadrille/storage.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace comparison {

struct basis {
  std::string_view name;
  std::size_t size;  ///< elements that are rotated together; columns must be a multiple of it
  void (*rotate)(std::span<float> values);
};

/// All that the command line can name; the first one rotates nothing.
std::span<basis const> bases();

/// A matrix that owns its values.
struct matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> values;

  quadrille::matrix_ref<float const> ref() const {
    return {values.data(), static_cast<quadrille::i64>(rows), static_cast<quadrille::i64>(cols)};
  }
};

/// The same rows in another basis. `in.cols` is a multiple of to.size.
matrix rotated(matrix const& in, basis const& to);

}  // namespace comparison
