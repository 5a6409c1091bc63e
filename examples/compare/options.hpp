// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The command line.

#include "results.hpp"

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace comparison {

struct options {
  std::vector<std::filesystem::path> files;
  comparison::plan plan;
  std::filesystem::path report;  ///< empty: none
  std::filesystem::path json;    ///< empty: none
};

/// Wrong use of the command line, in one sentence.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Nothing if the user asked for help, which was printed. Throws usage_error.
std::optional<options> parse_options(int argc, char** argv);

}  // namespace comparison
