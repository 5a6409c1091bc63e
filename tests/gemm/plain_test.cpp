// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A plain matrix beside a quantized one, where the vector kernels could go wrong: extreme scales and
/// elements, large shapes, threads, single rows.

#include "reference.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <cstring>

using namespace gemm_test;

namespace {

template <class T>
matrix<T> scaled(i64 rows, i64 cols, u64 seed, int exponent) {
  matrix<T> x(rows, cols);
  matrix<> const n = normal(rows, cols, seed);
  for (std::size_t i = 0; i < n.values.size(); ++i)
    x.values[i] = T(std::ldexp(n.values[i], exponent));
  return x;
}

template <class A, class B>
void require_product(A const& a, B const& b) {
  CHECK(first_wrong<float>(a, b, a.rows, b.rows(), a.cols) == -1);
}

template <class A, class B>
void require_same_bytes(A const& a, B const& b) {
  matrix<> one(a.rows, b.rows());
  gemm(host_policy{1}, a.ref(), b, one.ref());
  for (int const threads : {0, 2, 3, 7}) {
    CAPTURE(threads);
    matrix<> d(a.rows, b.rows());
    gemm(host_policy{threads}, a.ref(), b, d.ref());
    REQUIRE(std::memcmp(d.values.data(), one.values.data(), one.values.size() * 4) == 0);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("weights with scales near the ends of FP32's range", "", float, bf16) {
  auto const huge = quantize<mxfp4>(host, scaled<float>(19, 96, 1, 100).ref());
  auto const tiny = quantize<mxfp4>(host, scaled<float>(19, 96, 2, -115).ref());
  auto const usual = quantize<mxfp4>(host, scaled<float>(19, 96, 3, 0).ref());
  require_product(scaled<TestType>(9, 96, 4, -90), huge);
  require_product(scaled<TestType>(9, 96, 5, 100), tiny);
  require_product(scaled<TestType>(9, 96, 6, -60), usual);
}

TEST_CASE("subnormal BF16 elements are not taken for zero") {
  auto const w = quantize<mxfp4>(host, scaled<float>(19, 96, 1, 40).ref());
  matrix<bf16> const x = scaled<bf16>(9, 96, 2, -130);
  matrix<> d(9, 19);
  gemm(host, x.ref(), w, d.ref());
  CHECK(d(3, 4) != 0);
  require_product(x, w);
}

TEST_CASE("NaN and infinity stay in their row and column") {
  matrix<> x = normal(18, 272, 1);
  matrix<> w = normal(50, 272, 2);
  auto const clean = quantize<nvfp4_per_row>(host, w.ref());
  matrix<> expected(18, 50);
  gemm(host, x.ref(), clean, expected.ref());
  x(7, 100) = std::nanf("");
  w(33, 5) = std::nanf("");
  matrix<> d(18, 50);
  gemm(host, x.ref(), quantize<nvfp4_per_row>(host, w.ref()), d.ref());
  for (i64 i = 0; i < 18; ++i)
    for (i64 j = 0; j < 50; ++j) {
      if (i == 7 || j == 33)
        REQUIRE(std::isnan(d(i, j)));
      else
        REQUIRE(d(i, j) == expected(i, j));
    }
}

TEST_CASE("many tiles, panels and chunks of K") {
  auto const w = quantize<nvfp4>(host, normal(421, 1067, 1).ref());
  require_product(normal(131, 1067, 2), w);
  require_product(normal<bf16>(131, 1067, 3), w);
}

TEMPLATE_TEST_CASE("one row, each kind of weights", "", nvfp4, mxfp4, nvfp4_per_row, nvfp4_weight) {
  auto const w = quantize<TestType>(host, uneven(75, 1067, 1).ref());
  require_product(normal(1, 1067, 2), w);
  require_product(normal<bf16>(1, 1067, 3), w);
  require_product(normal<fp16>(1, 1067, 4), w);
}

TEST_CASE("any number of threads gives the same bytes with plain tokens") {
  auto const w = quantize<nvfp4>(host, normal(300, 544, 1).ref());
  require_same_bytes(normal(301, 544, 2), w);
  require_same_bytes(normal<bf16>(301, 544, 3), w);
  require_same_bytes(normal(1, 544, 4), w);
}
