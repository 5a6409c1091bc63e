// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which tensors of the given files are studied, and which of them belong to one layer.

#include "tensor_file.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace comparison {

/// `<layer>.input` (tokens x K) and `<layer>.weight` (outputs x K), as indices into the tensors.
struct layer {
  std::string name;
  std::size_t input;
  std::size_t weight;
};

struct inputs {
  std::vector<tensor_file::tensor> tensors;
  std::vector<layer> layers;
  std::vector<std::string> notes;  ///< what was left out, a sentence each
};

/// Lists the tensors of all files, by name. One-dimensional ones (biases, norms) are left out, unless there are
/// no others. Throws tensor_file::error on a bad file, and if two tensors have one name.
inputs list_inputs(std::vector<std::filesystem::path> const& files);

}  // namespace comparison
