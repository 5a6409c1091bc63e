// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Helpers for worked examples: one row in, codes and decoded values out.

#include <cmath>
#include <cstddef>
#include <vector>

#include "quantize/image.hpp"

namespace test {

using code_list = std::vector<unsigned>;

/// One row that starts with `x` and goes on with zeros.
inline matrix<> row(floats x, std::size_t cols = 16) {
  x.resize(cols);
  return {1, cols, x};
}

inline quadrille::quantize_options with_amax(float amax) {
  quadrille::quantize_options options;
  options.amax = amax;
  return options;
}

inline code_list first(code_list codes, std::size_t n) {
  codes.resize(n);
  return codes;
}

inline floats first(floats x, std::size_t n) {
  x.resize(n);
  return x;
}

inline void check_near(floats const& got, floats const& want, double tolerance) {
  REQUIRE(got.size() >= want.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    CHECK(std::fabs(double(got[i]) - want[i]) <= tolerance * std::fabs(want[i]));
}

}  // namespace test
