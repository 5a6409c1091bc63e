// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Names and numbers as text.

#include <cstddef>
#include <string>
#include <string_view>

namespace comparison {

/// A name from a file, fit for a terminal: control characters become '?'.
std::string printable(std::string_view name);

/// A printable name of at most `width` characters; the middle of a longer one becomes "...".
std::string shortened(std::string_view name, std::size_t width);

/// "1 tensor", "2 tensors".
std::string counted(std::size_t n, std::string_view noun);

/// A signal-to-noise ratio: two decimals, or "exact" where there is no error.
std::string decibels(double db);

}  // namespace comparison
