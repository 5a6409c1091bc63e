// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// alpha, beta, C and bias; NaN; threads; strides; rotations; transposes; errors.

#include "reference.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <limits>

using namespace gemm_test;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

struct seeded : nvfp4 {
  using rotation = random_hadamard<32, seeded_signs>;
};

template <class A, class B>
double output_sqnr(A const& a, B const& b, matrix<> const& exact) {
  matrix<> d(exact.rows, exact.cols);
  gemm(host, view(a), view(b), d.ref());
  return compare(exact.ref(), d.ref()).sqnr_db();
}

matrix<> plain_product(matrix<> const& a, matrix<> const& b) {
  matrix<> d(a.rows, b.rows);
  gemm(host, a.ref(), b.ref(), d.ref());
  return d;
}

}  // namespace

TEST_CASE("D = alpha A B^T + beta C + bias, left to right in FP32") {
  auto const a = quantize<nvfp4>(host, normal(33, 272, 1).ref());
  auto const b = quantize<nvfp4>(host, normal(65, 272, 2).ref());
  matrix<> const c = normal(33, 65, 3);
  matrix<> const bias = normal(1, 65, 4);
  float const alpha = GENERATE(0.7f, 1.1f, 3.3f, 1e-3f);
  float const beta = -1.3f;
  matrix<> d(33, 65);
  gemm(host, a, b, d.ref(),
       {.alpha = alpha, .beta = beta, .c = c.ref(), .bias = bias.values.data()});

  struct one_level_view : nvfp4 {
    using scale = one_level<e4m3>;
  };
  matrix<> sums(33, 65);  // without tensor scales
  gemm(host,
       quantized_ref<one_level_view, u8 const>(a.codes().data(), a.scales().data(), nullptr, 33,
                                               272),
       quantized_ref<one_level_view, u8 const>(b.codes().data(), b.scales().data(), nullptr, 65,
                                               272),
       sums.ref());
  for (i64 i = 0; i < 33; ++i)
    for (i64 j = 0; j < 65; ++j) {
      float const factor = oracle::mul(oracle::mul(alpha, a.outer()[0]), b.outer()[0]);
      float const product = oracle::mul(factor, sums(i, j));
      float const added = oracle::add(product, oracle::mul(beta, c(i, j)));
      REQUIRE(d(i, j) == oracle::add(added, bias(0, j)));
    }
}

TEST_CASE("C and D may be one matrix, in half precision too") {
  auto const a = quantize<mxfp4>(host, normal(4, 64, 1).ref());
  auto const b = quantize<mxfp4>(host, normal(6, 64, 2).ref());
  matrix<bf16> const c = normal<bf16>(4, 6, 3);
  matrix<bf16> apart(4, 6);
  matrix<bf16> in_place = c;
  gemm(host, a, b, apart.ref(), {.beta = 1, .c = c.ref()});
  gemm(host, a, b, in_place.ref(), {.beta = 1, .c = in_place.ref()});
  for (std::size_t i = 0; i < apart.values.size(); ++i)
    CHECK(apart.values[i].bits == in_place.values[i].bits);
}

TEST_CASE("C is not read when beta is 0") {
  auto const q = quantize<nvfp4>(host, normal(8, 64, 1).ref());
  matrix<> const c(8, 8, not_a_number);
  matrix<> without(8, 8);
  matrix<> with(8, 8, not_a_number);
  gemm(host, q, q, without.ref());
  gemm(host, q, q, with.ref(), {.beta = 0, .c = c.ref()});
  CHECK(with.values == without.values);
}

TEST_CASE("K = 0: the product is 0, beta C and the bias remain") {
  quantized<nvfp4_weight> const a(3, 0);
  quantized<nvfp4> const b(4, 0);
  matrix<> const c(3, 4, 2.f);
  matrix<> const bias(1, 4, 5.f);
  matrix<> d(3, 4, not_a_number);
  gemm(host, a, b, d.ref());
  CHECK(d.values == std::vector<float>(12, 0.f));
  gemm(host, a, b, d.ref(), {.beta = 3, .c = c.ref(), .bias = bias.values.data()});
  CHECK(d.values == std::vector<float>(12, 11.f));
}

TEMPLATE_TEST_CASE("a poisoned block makes its row, or its column, NaN and no other", "", nvfp4,
                   mxfp4, nvfp4_per_row) {
  matrix<> x = normal(37, 96, 1);
  matrix<> y = normal(70, 96, 2);
  matrix<> clean(37, 70);
  gemm(host, quantize<TestType>(host, x.ref()), quantize<TestType>(host, y.ref()), clean.ref());
  // Small, so that no scale but the poisoned block's depends on it.
  x(5, 40) = not_a_number;
  y(66, 95) = -std::numeric_limits<float>::infinity();
  matrix<> d(37, 70);
  gemm(host, quantize<TestType>(host, x.ref()), quantize<TestType>(host, y.ref()), d.ref());
  for (i64 i = 0; i < 37; ++i)
    for (i64 j = 0; j < 70; ++j) {
      if (i == 5 || j == 66)
        REQUIRE(std::isnan(d(i, j)));
      else
        REQUIRE(d(i, j) == clean(i, j));
    }
}

TEST_CASE("any number of threads gives the same bytes") {
  auto const a = quantize<nvfp4_per_row>(host, normal(301, 512, 1).ref());
  auto const b = quantize<mxfp4>(host, normal(130, 512, 2).ref());
  matrix<> one(301, 130);
  gemm(host_policy{1}, a, b, one.ref());
  for (int const threads : {0, 2, 3, 7}) {
    matrix<> d(301, 130);
    gemm(host_policy{threads}, a, b, d.ref());
    CHECK(d.values == one.values);
  }
}

TEST_CASE("plain A, B, C and D may have any strides") {
  matrix<> const a = normal(9, 48, 1);
  matrix<> const b = normal(11, 48, 2);
  matrix<> const c = normal(9, 11, 3);
  matrix<> expected(9, 11);
  gemm(host, a.ref(), b.ref(), expected.ref(), {.beta = 1, .c = c.ref()});

  // Each as a slice of something wider, or transposed.
  auto const spread = [](matrix<> const& x, i64 row_stride, i64 col_stride) {
    std::vector<float> memory(4096, not_a_number);
    for (i64 r = 0; r < x.rows; ++r)
      for (i64 col = 0; col < x.cols; ++col)
        memory[std::size_t(r * row_stride + col * col_stride)] = x(r, col);
    return memory;
  };
  auto const wide_a = spread(a, 61, 1);
  auto const tall_b = spread(b, 1, 13);
  auto const loose_c = spread(c, 30, 2);
  std::vector<float> memory(4096, -7.f);
  matrix_ref<float> const d(memory.data() + 3, 9, 11, 1, 12);
  gemm(host, matrix_ref<float const>(wide_a.data(), 9, 48, 61),
       matrix_ref<float const>(tall_b.data(), 11, 48, 1, 13), d,
       {.beta = 1, .c = {loose_c.data(), 9, 11, 30, 2}});
  std::size_t untouched = 0;
  for (float const value : memory) untouched += value == -7.f;
  CHECK(untouched == 4096 - 99);
  for (i64 i = 0; i < 9; ++i)
    for (i64 j = 0; j < 11; ++j) REQUIRE(d(i, j) == expected(i, j));
}

TEST_CASE("rotations cancel: the product of rotated operands is the product") {
  matrix<> const a = normal(48, 512, 1);
  matrix<> const b = normal(64, 512, 2);
  matrix<> const exact = plain_product(a, b);
  CHECK(output_sqnr(quantize<nvfp4>(host, a.ref()), quantize<nvfp4>(host, b.ref()), exact) > 16.5);
  CHECK(output_sqnr(quantize<nvfp4_wgrad>(host, a.ref()), quantize<nvfp4_wgrad>(host, b.ref()),
                    exact) > 16.5);
  CHECK(output_sqnr(quantize<ufp4>(host, a.ref()), quantize<ufp4>(host, b.ref()), exact) > 17.5);
  CHECK(output_sqnr(quantize<seeded>(host, a.ref(), {}, 77),
                    quantize<seeded>(host, b.ref(), {}, 77), exact) > 16.5);
}

TEST_CASE("operands rotated with different seeds are refused, and D is untouched") {
  auto const a = quantize<seeded>(host, normal(4, 32, 1).ref(), {}, 1);
  auto const b = quantize<seeded>(host, normal(4, 32, 2).ref(), {}, 2);
  matrix<> d(4, 4, 42.f);
  CHECK_THROWS_AS(gemm(host, a, b, d.ref()), quadrille::error);
  CHECK(d.values == std::vector<float>(16, 42.f));
}

TEST_CASE("shapes that do not fit are refused, and D is untouched") {
  auto const a = quantize<nvfp4>(host, normal(4, 32, 1).ref());
  auto const b = quantize<nvfp4>(host, normal(6, 32, 2).ref());
  auto const deeper = quantize<nvfp4>(host, normal(6, 48, 2).ref());
  matrix<> d(4, 6, 42.f);
  matrix<> turned(6, 4, 42.f);
  matrix<> const c(6, 4);
  CHECK_THROWS_AS(gemm(host, a, deeper, d.ref()), quadrille::error);
  CHECK_THROWS_AS(gemm(host, a, b, turned.ref()), quadrille::error);
  CHECK_THROWS_AS(gemm(host, b, b, d.ref()), quadrille::error);
  CHECK_THROWS_AS(gemm(host, a, b, d.ref(), {.beta = 1}), quadrille::error);
  CHECK_THROWS_AS(gemm(host, a, b, d.ref(), {.beta = 1, .c = c.ref()}), quadrille::error);
  CHECK(d.values == std::vector<float>(24, 42.f));
  CHECK(turned.values == std::vector<float>(24, 42.f));
}

TEST_CASE("fprop, dgrad and wgrad are one GEMM over differently quantized operands") {
  matrix<> const x = normal(64, 96, 1);   // tokens x inputs
  matrix<> const w = normal(80, 96, 2);   // outputs x inputs
  matrix<> const dy = normal(64, 80, 3);  // tokens x outputs
  auto const by_hand = [](matrix_ref<float const> a, matrix_ref<float const> b) {
    matrix<> d(a.rows, b.rows);
    gemm(host, a, b, d.ref());
    return d;
  };

  // Y = X W^T
  CHECK(output_sqnr(quantize<nvfp4>(host, x.ref()), quantize<nvfp4_weight>(host, w.ref()),
                    by_hand(x.ref(), w.ref())) > 16);
  // dX = dY W: W is quantized along its other axis, in 16x16 blocks to the same values.
  auto const w_turned = quantize<nvfp4_weight>(host, w.ref().transposed());
  CHECK(output_sqnr(quantize<nvfp4_gradient>(host, dy.ref()), w_turned,
                    by_hand(dy.ref(), w.ref().transposed())) > 14);
  // dW = dY^T X: both along tokens.
  CHECK(output_sqnr(quantize<nvfp4_wgrad_gradient>(host, dy.ref().transposed()),
                    quantize<nvfp4_wgrad>(host, x.ref().transposed()),
                    by_hand(dy.ref().transposed(), x.ref().transposed())) > 14);

  auto const straight = quantize<nvfp4_weight>(host, w.ref());
  matrix<> values(80, 96);
  matrix<> turned(96, 80);
  dequantize(host, straight, values.ref());
  dequantize(host, w_turned, turned.ref());
  for (i64 r = 0; r < 80; ++r)
    for (i64 c = 0; c < 96; ++c) REQUIRE(values(r, c) == turned(c, r));
}
