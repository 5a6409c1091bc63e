// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Prepacked weights are a permutation, and gemm gives with them what it gives without.

#include "reference.hpp"
#include "support/catch.hpp"

#include <cstring>

using namespace gemm_test;

namespace {

struct int8_tokens : mxfp4 {
  using element = twos_complement<8, -127>;
  using scale = one_level<fp32>;
};

template <class R>
quantized<R> weights(i64 rows, i64 depth) {
  return quantize<R>(host, uneven(rows, depth, 51).ref(), {.seed = 3}, 5);
}

template <class R>
void require_permutation(i64 rows, i64 depth) {
  using E = typename R::element;
  auto const q = weights<R>(rows, depth);
  auto const packed = prepack(q);
  REQUIRE(packed.rows() == rows);
  REQUIRE(packed.cols() == depth);
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < depth; ++c) {
      u8 const* const row = q.codes().data() + r * row_bytes<E>(depth);
      i64 const block = c / R::block::cols;
      REQUIRE(packed.code(r, c) == load_code<E>(row, c));
      REQUIRE(packed.scale(r, block) == q.ref().scale(r, block));
      // As the header states it: panels of 16 rows, [k / 8][row] and [block][row].
      REQUIRE((packed.words(r / 16, c / 8)[r % 16] >> 4 * (c % 8) & 15) == packed.code(r, c));
      REQUIRE(packed.scales(r / 16, block)[r % 16] == packed.scale(r, block));
    }
}

template <class A, class R>
void require_same_product(A const& a, quantized<R> const& b) {
  matrix<> plain(a.rows(), b.rows());
  matrix<> packed(a.rows(), b.rows());
  gemm(host, a, b, plain.ref());
  gemm(host_policy{3}, a, prepack(b), packed.ref());
  REQUIRE(std::memcmp(plain.values.data(), packed.values.data(), plain.values.size() * 4) == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("prepacking keeps every code and scale", "", nvfp4, mxfp4, nvfp4_weight, ufp4) {
  require_permutation<TestType>(1, 64);
  require_permutation<TestType>(16, 256);
  require_permutation<TestType>(37, 272);
}

TEST_CASE("prepacking completes rows and columns with zeros") {
  auto const packed = prepack(weights<nvfp4>(18, 27));
  for (i64 r = 18; r < 32; ++r) {
    REQUIRE(packed.words(1, 0)[r - 16] == 0);
    REQUIRE(packed.scales(1, 0)[r - 16] == 0);
  }
  for (i64 c = 27; c < 32; ++c) REQUIRE(packed.code(0, c) == 0);
}

TEMPLATE_TEST_CASE("gemm gives the same bytes with prepacked weights", "", nvfp4, mxfp4,
                   nvfp4_per_row, nvfp4_weight) {
  auto const b = weights<TestType>(83, 1067);
  for (i64 const rows : {1, 3, 16, 67}) {
    CAPTURE(rows);
    require_same_product(quantize<nvfp4>(host, normal(rows, 1067, 52).ref()), b);
    require_same_product(quantize<int8_tokens>(host, normal(rows, 1067, 53).ref()), b);
    matrix<> const a = normal(rows, 1067, 54);
    matrix<> plain(rows, 83);
    matrix<> packed(rows, 83);
    gemm(host, a.ref(), b, plain.ref());
    gemm(host, a.ref(), prepack(b), packed.ref());
    REQUIRE(plain.values == packed.values);
  }
}

TEMPLATE_TEST_CASE("weights whose scales are any bytes, NaN and negative ones among them", "",
                   nvfp4, mxfp4) {
  auto b = weights<TestType>(35, 1067);
  i64 const scales = b.rows() * b.ref().scale_cols();
  // In rows 0 to 15 any byte; then ordinary ones, and NaN once.
  for (i64 i = 0; i < scales; ++i)
    b.ref().scales[i] = u8(i < 16 * b.ref().scale_cols() ? i * 7 : 100 + i % 27);
  b.ref().scales[20 * b.ref().scale_cols() + 3] = TestType::scale::poison;
  for (i64 const rows : {1, 5}) {
    auto const a = quantize<nvfp4>(host, normal(rows, 1067, 58).ref());
    matrix<> plain(rows, 35);
    matrix<> packed(rows, 35);
    matrix<> expected(rows, 35);
    gemm(host, a, b, plain.ref());
    gemm(host, a, prepack(b), packed.ref());
    gemm_options<float> const options;
    detail::run_portable(host, detail::as_operand(a), detail::as_operand(b), expected.ref(),
                         options);
    for (i64 i = 0; i < rows * 35; ++i) {
      CAPTURE(rows, i);
      float const value = expected.values[std::size_t(i)];
      REQUIRE(std::isnan(value) == std::isnan(plain.values[std::size_t(i)]));
      REQUIRE(std::isnan(value) == std::isnan(packed.values[std::size_t(i)]));
      if (std::isnan(value)) continue;
      REQUIRE(value == plain.values[std::size_t(i)]);
      REQUIRE(value == packed.values[std::size_t(i)]);
    }
    REQUIRE(std::isnan(plain(0, 20)));
    REQUIRE(!std::isnan(plain(0, 21)));
  }
}

TEST_CASE("prepacked weights keep their rotation and its seed") {
  auto const b = weights<quartet_backward>(20, 96);
  auto const a = quantize<quartet_backward>(host, normal(5, 96, 55).ref(), {}, 5);
  require_same_product(a, b);
  auto const other = quantize<quartet_backward>(host, normal(5, 96, 55).ref(), {}, 6);
  matrix<> d(5, 20);
  REQUIRE_THROWS_AS(gemm(host, other, prepack(b), d.ref()), error);
}

TEST_CASE("8-bit tokens times 4-bit weights: the stated order, bit for bit") {
  auto const a = quantize<int8_tokens>(host, uneven(7, 608, 56).ref());
  auto const b = quantize<nvfp4>(host, normal(19, 608, 57).ref());
  matrix<> d(7, 19);
  gemm(host, a, b, d.ref());
  for (i64 i = 0; i < 7; ++i)
    for (i64 j = 0; j < 19; ++j) {
      float sum = 0;
      for (i64 block = 0; block < 38; ++block) {
        long long twice = 0;
        for (i64 k = block * 16; k < block * 16 + 16; ++k) {
          auto const token = static_cast<signed char>(a.codes()[std::size_t(i * 608 + k)]);
          float const weight = e2m1::decode(load_code<e2m1>(b.codes().data() + j * 304, k));
          twice += token * static_cast<long long>(2 * weight);
        }
        float const scale = oracle::mul(a.scales()[std::size_t(i * 19 + block / 2)],
                                        e4m3::decode(b.scales()[std::size_t(j * 38 + block)]));
        sum = oracle::add(sum, oracle::mul(scale, float(twice) / 2));
      }
      REQUIRE(d(i, j) == oracle::mul(b.outer()[0], sum));
    }
}
