// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "words.hpp"

#include <fmt/format.h>
#include <cmath>

namespace comparison {

std::string printable(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

std::string shortened(std::string_view name, std::size_t width) {
  auto const text = printable(name);
  if (text.size() <= width) return text;
  auto const tail = (width - 3) * 2 / 3;  // the end of a tensor's name says most
  return text.substr(0, width - 3 - tail) + "..." + text.substr(text.size() - tail);
}

std::string counted(std::size_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string decibels(double db) { return std::isinf(db) ? "exact" : fmt::format("{:.2f}", db); }

}  // namespace comparison
