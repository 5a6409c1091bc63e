// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What a run found: a table of recipes and bases for each tensor and for each layer.

#include "inputs.hpp"
#include "measure.hpp"
#include "multiply.hpp"

#include <optional>
#include <string>
#include <vector>

namespace comparison {

/// What is compared: indices into recipes() and bases(). `row_limit` 0 stands for all rows.
struct plan {
  std::vector<std::size_t> recipes;
  std::vector<std::size_t> bases;
  std::size_t row_limit = 0;
  int threads = 0;
};

/// Rows of the two operands that a layer's product is computed for, at most.
inline constexpr std::size_t input_rows_limit = 512;
inline constexpr std::size_t weight_rows_limit = 1024;

/// One entry for each recipe and basis of a plan; none where the columns are no multiple of what the
/// basis or the recipe takes together.
template <class T>
class table {
 public:
  table() = default;
  table(std::size_t recipes, std::size_t bases) : bases_(bases), cells_(recipes * bases) {}
  std::optional<T>& at(std::size_t recipe, std::size_t basis) {
    return cells_[recipe * bases_ + basis];
  }
  std::optional<T> const& at(std::size_t recipe, std::size_t basis) const {
    return cells_[recipe * bases_ + basis];
  }

 private:
  std::size_t bases_ = 0;
  std::vector<std::optional<T>> cells_;
};

struct tensor_result {
  tensor_file::tensor source;
  std::size_t rows;                  ///< that were read
  float amax;                        ///< as stored in the file
  std::vector<float> amax_in_basis;  ///< one for each basis of the plan
  table<tally> cells;
};

struct layer_result {
  std::string name;
  std::size_t input_rows;
  std::size_t weight_rows;
  std::size_t cols;
  bool is_whole;  ///< no row was left out
  table<product_errors> cells;
};

struct results {
  comparison::plan plan;
  std::vector<std::filesystem::path> files;
  std::vector<std::string> notes;
  std::vector<tensor_result> tensors;
  std::vector<layer_result> layers;
};

}  // namespace comparison
