// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What alpha, beta, C and the bias do.

#include "cases.hpp"

#include <limits>

using namespace cases;

namespace {
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
quantized<unscaled> ones(i64 rows, i64 cols) {
  return quantize<unscaled>(host, matrix<>(rows, cols, 1.0f).ref());
}
}  // namespace

TEST_CASE("EMP-01 a GEMM over K = 0 gives beta C") {
  matrix<> d(4, 4, not_a_number);
  gemm(host, ones(4, 0), ones(4, 0), d.ref());
  CHECK(d.values == std::vector<float>(16, 0.f));
  matrix<> const c(4, 4, 1.0f);
  gemm(host, ones(4, 0), ones(4, 0), d.ref(), {.beta = 2, .c = c.ref()});
  CHECK(d.values == std::vector<float>(16, 2.f));
}

TEST_CASE("EMP-01 sibling: no rows or no columns of D, and plain operands over K = 0") {
  matrix<> none(0, 4);
  gemm(host, ones(0, 16), ones(4, 16), none.ref());
  matrix<> no_columns(4, 0);
  gemm(host, ones(4, 16), ones(0, 16), no_columns.ref());
  matrix<> const a(4, 0);
  matrix<> d(4, 4, not_a_number);
  gemm(host, a.ref(), a.ref(), d.ref());
  CHECK(d.values == std::vector<float>(16, 0.f));
}

TEST_CASE("GEM-02 host half: C is not read when beta is 0") {
  matrix<> const c(16, 16, not_a_number);
  matrix<> d(16, 16, not_a_number);
  gemm(host, ones(16, 16), ones(16, 16), d.ref(), {.alpha = 1, .beta = 0, .c = c.ref()});
  CHECK(d.values == std::vector<float>(256, 16.f));
}

TEST_CASE("GEM-04 alpha scales the product only, the bias is added last") {
  matrix<> d(1, 1);
  float const bias = 3;
  gemm(host, ones(1, 16), ones(1, 16), d.ref(), {.alpha = 0.5f, .bias = &bias});
  CHECK(d(0, 0) == 11.f);
}

TEST_CASE("GEM-04 sibling: the tensor scales of NVFP4 do not touch C and bias either") {
  auto const q = quantize<nvfp4>(host, matrix<>(1, 16, 5376.f).ref());
  matrix<> const c(1, 1, 10.f);
  matrix<> d(1, 1);
  float const bias = 3;
  gemm(host, q, q, d.ref(), {.alpha = 0x1p-20f, .beta = 2, .c = c.ref(), .bias = &bias});
  CHECK(d(0, 0) == 16 * 5376.f * 5376.f * 0x1p-20f + 23);
}
