// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The header of a .npy file: a Python dict of three entries, as text.

#include "tensor_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tensor_file {

/// The entries, as they stand there; one that is missing is empty.
struct npy_dict {
  std::optional<std::string> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::uint64_t>> shape_;
};

/// Parses {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, in any order, padded with
/// white space. Fails on all else that Python would read, for np.save writes nothing else.
npy_dict parse_npy_dict(std::filesystem::path const& file, std::string_view text);

}  // namespace tensor_file
