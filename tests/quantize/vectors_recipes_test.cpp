// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Other recipes: worked examples through quantize and dequantize, numbers typed, not computed.

#include <quadrille/recipes.hpp>

#include "quantize/vectors.hpp"

namespace {
using namespace test;
using namespace quadrille;

struct int4_uniform : ufp4 {
  using element = int4;
  using rotation = identity;
};
struct e1m2_uniform : ufp4 {
  using rotation = identity;
};
struct int4_divided : int4_uniform {
  using scale = one_level<fp32, divide_rule>;
};
struct by_magnitude : nvfp4 {
  using scale = two_level<e4m3, four_over_six<absolute_error>>;
};
}  // namespace

namespace {
/// QuEST without its rotation, so that the worked blocks apply.
struct quest_plain : quartet_forward {
  using rotation = identity;
};
struct three_quarters_plain : quartet_backward {
  using rotation = identity;
};
floats alternating(std::size_t n, float value) {
  floats x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(i % 2 == 0 ? value : -value);
  return x;
}
}  // namespace

TEST_CASE("Quantize/Vectors.Q1Quest") {
  auto const ones = test::quantized<quest_plain>(row(alternating(32, 1), 32));
  CHECK(ones.scales()[0] == 125);
  CHECK(decode(ones) == alternating(32, 1));
  auto const larger = test::quantized<quest_plain>(row(alternating(32, 2.1f), 32));
  CHECK(larger.scales()[0] == 127);
  CHECK(decode(larger) == alternating(32, 2));
  floats x = alternating(30, 1);
  x.insert(x.end(), {4, -4});
  auto const clipped = test::quantized<quest_plain>(row(x, 32));
  CHECK(clipped.scales()[0] == 126);
  CHECK(decode(clipped)[30] == 3);
  CHECK(decode(clipped)[31] == -3);
}

TEST_CASE("Quantize/Vectors.Q2ThreeQuarters") {
  auto const q = test::quantized<three_quarters_plain>(row({7.9f, 5, -3, 1, 0.5f, 0.3f}, 32));
  CHECK(q.scales()[0] == 127);
  CHECK(first(codes_of(q), 6) == code_list{7, 6, 0xC, 2, 1, 0});
  check_near(decode(q), {8, 5.3333333f, -2.6666667f, 1.3333333f, 0.66666667f, 0}, 1e-7);
  auto const p = test::quantized<three_quarters_plain>(row({4, 8.0f / 3, 2, -1}, 32));
  CHECK(first(codes_of(p), 4) == code_list{5, 4, 3, 0xA});
  check_near(decode(p), {4, 2.6666667f, 2, -1.3333333f}, 1e-7);
}

namespace {
struct eden_plain : quartet2_backward {
  using rotation = identity;
};
/// Mean of what a block decodes to over `rows` draws.
std::vector<double> mean_decoded(floats const& block, std::size_t rows) {
  matrix<> x(rows, 16);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < block.size(); ++c) x.at(r, c) = block[c];
  floats const y = decode(test::quantized<eden_plain>(x));
  std::vector<double> mean(16);
  for (std::size_t i = 0; i < y.size(); ++i) mean[i % 16] += double(y[i]) / double(rows);
  return mean;
}
}  // namespace

TEST_CASE("Quantize/Vectors.Q3Eden") {
  floats const block{6, 3.3f, -1.1f, 0.4f};
  auto const q = test::quantized<eden_plain>(row(block));
  CHECK(q.outer()[0] == Approx(0.00386001).epsilon(2e-6));
  CHECK((q.scales()[0] == 0x78 || q.scales()[0] == 0x79));  // 256 or 288
  CHECK(first(codes_of(q), 4) == code_list{7, 5, 0xA, 1});
  auto const mean = mean_decoded(block, 1 << 18);
  std::vector<double> const want{6.134746, 3.067373, -1.022458, 0.511229};
  for (std::size_t i = 0; i < 4; ++i) CHECK(mean[i] == Approx(want[i]).epsilon(5e-4));
}

TEST_CASE("Quantize/Vectors.Q4Eden") {
  floats const block{10, 20, 30, 40};
  auto const q = test::quantized<eden_plain>(row(block));
  CHECK(q.outer()[0] == Approx(0.02573343).epsilon(2e-6));
  CHECK(first(codes_of(q), 4) == code_list{3, 5, 6, 7});
  double const factor = 267.9997 * 0.02573343;
  auto const mean = mean_decoded(block, 1 << 18);
  std::vector<double> const codes{1.5, 3, 4, 6};
  for (std::size_t i = 0; i < 4; ++i) CHECK(mean[i] == Approx(codes[i] * factor).epsilon(5e-4));
}

TEST_CASE("Quantize/Vectors.I1UniformGrids") {
  matrix<> const x = row({7, 3.5f, -3.5f, 2.5f, -0.5f, 1.2f, 0, -7});
  auto const i = test::quantized<int4_uniform>(x);
  CHECK(i.scales()[0] == 1);
  CHECK(first(codes_of(i), 8) == code_list{7, 4, 0xC, 2, 0, 1, 0, 9});
  auto const e = test::quantized<e1m2_uniform>(x);
  CHECK(e.scales()[0] == 4);
  CHECK(first(codes_of(e), 8) == code_list{7, 4, 0xC, 2, 8, 1, 0, 0xF});
  CHECK(first(decode(e), 8) == floats{7, 4, -4, 2, -0.0f, 1, 0, -7});
  CHECK(decode(i) == decode(e));
}

TEST_CASE("Quantize/Vectors.I2DivisionOrReciprocal") {
  matrix<> const x = row({1, 0.5f, -0.3f, 0.1f});
  CHECK(first(codes_of(test::quantized<int4_divided>(x)), 4) == code_list{7, 3, 0xE, 1});
  CHECK(first(codes_of(test::quantized<int4_uniform>(x)), 4) == code_list{7, 4, 0xE, 1});
}

TEST_CASE("Quantize/Vectors.F1FourIsExact") {
  matrix<> const x = row({10, 20, 30, 40});
  auto const q = test::quantized<by_magnitude>(x, with_amax(1536));
  CHECK(q.scales()[0] == e4m3::encode(10.0f));
  CHECK(first(decode(q), 4) == floats{10, 20, 30, 40});
  CHECK(test::quantized<nvfp4_four_over_six>(x, with_amax(1536)).scales() == q.scales());
}

TEST_CASE("Quantize/Vectors.F2SixIsExact") {
  auto const q = test::quantized<by_magnitude>(row({6, 3, 1.5f, 1}), with_amax(1536));
  CHECK(q.scales()[0] == 0x38);
  CHECK(first(decode(q), 4) == floats{6, 3, 1.5f, 1});
}

TEST_CASE("Quantize/Vectors.F3TheMetricDecides") {
  matrix<> const x = row({1536, 1024, 1300, 700});
  CHECK(test::quantized<by_magnitude>(x, with_amax(1536)).scales()[0] == e4m3::encode(256.0f));
  CHECK(test::quantized<nvfp4_four_over_six>(x, with_amax(1536)).scales()[0] ==
        e4m3::encode(384.0f));
}

TEST_CASE("Quantize/Vectors.F4TheRoundingOfTheScaleDecides") {
  matrix<> const x = row({5, 4, 4.6f, 4.4f});
  auto const q = test::quantized<by_magnitude>(x, with_amax(1536));
  CHECK(q.scales()[0] == e4m3::encode(1.25f));
  CHECK(first(decode(q), 4) == floats{5, 3.75f, 5, 5});
}
