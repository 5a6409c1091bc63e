// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The oracle's power-of-two scales, and the Quartet recipes, against published tables.

#include "catch.hpp"
#include "oracle.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace oracle;
using codes = std::vector<unsigned>;
using floats = std::vector<float>;

constexpr float inf = std::numeric_limits<float>::infinity();

float below(float x) { return std::nextafter(x, 0.0f); }
float above(float x) { return std::nextafter(x, inf); }

std::vector<int> exponents(mx_rule rule, format const& element, floats const& amaxes) {
  std::vector<int> result;
  for (float const a : amaxes)
    result.push_back(static_cast<int>(mx_scale_code(a, rule, element)) - 127);
  return result;
}

floats alternating(std::size_t n, float value) {
  floats x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(i % 2 == 0 ? value : -value);
  return x;
}

/// Equal to the precision that a decimal was printed with.
void check_near(long double x, long double expected, long double relative) {
  INFO(static_cast<double>(x) << " against " << static_cast<double>(expected));
  CHECK(std::fabs(x - expected) <= relative * std::fabs(expected));
}

codes e2m1_codes(floats const& values) {
  codes result;
  for (float const v : values) result.push_back(encode(e2m1(), v));
  return result;
}

}  // namespace

TEST_CASE("Oracle/Mx.E2m1ScaleTable") {
  floats const a{1, 1.5f, below(1.75f), 1.75f, 3, above(3), 3.5f, 4, 5, 6, above(6), 7, 7.99f, 448};
  using row = std::vector<int>;
  CHECK(exponents(mx_rule::floor, e2m1(), a) ==
        row{-2, -2, -2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 0, 6});
  CHECK(exponents(mx_rule::ceil, e2m1(), a) == row{-2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 7});
  CHECK(exponents(mx_rule::even, e2m1(), a) == row{-2, -2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 7});
  CHECK(exponents(mx_rule::rceil, e2m1(), a) == row{-2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 7});
}

TEST_CASE("Oracle/Mx.E2m1DecodedAmax") {
  auto const decoded = [](float amax, mx_rule rule) {
    return quantize_mx({amax}, rule).decoded[0];
  };
  for (mx_rule rule : {mx_rule::ceil, mx_rule::even, mx_rule::rceil}) {
    CHECK(decoded(7, rule) == 8);
    CHECK(decoded(1.75f, rule) == 2);
  }
  CHECK(decoded(7, mx_rule::floor) == 6);
  CHECK(decoded(1.75f, mx_rule::floor) == 1.5f);
  CHECK(decoded(6.01f, mx_rule::floor) == 6);
  CHECK(decoded(6.01f, mx_rule::even) == 6);
  CHECK(decoded(6.01f, mx_rule::rceil) == 6);
}

TEST_CASE("Oracle/Mx.E4m3ScaleTable") {
  using row = std::vector<int>;
  floats const a{448, 449, 480, 7.99f};
  CHECK(exponents(mx_rule::floor, e4m3(), a) == row{0, 0, 0, -6});
  CHECK(exponents(mx_rule::ceil, e4m3(), a) == row{1, 1, 1, -5});
  CHECK(exponents(mx_rule::even, e4m3(), a) == row{0, 0, 0, -5});
  CHECK(exponents(mx_rule::rceil, e4m3(), a) == row{0, 1, 1, -5});
}

TEST_CASE("Oracle/Mx.UniformGridsAgree") {
  for (mx_rule rule : {mx_rule::floor, mx_rule::ceil, mx_rule::even, mx_rule::rceil})
    for (float a = 0.8f; a < 16.0f; a += 0.0625f) {
      CHECK(mx_exponent(a, rule, e1m2()) == mx_exponent(a, rule, int4()) + 2);
      floats const x{a, a / 3, -a / 5};
      CHECK(quantize_mx(x, rule, e1m2()).decoded == quantize_mx(x, rule, int4()).decoded);
    }
}

TEST_CASE("Oracle/Mx.ReciprocalProductGivesTheSameRceil") {
  // For normal amax and scale; near 2^-127 the product is subnormal and loses bits.
  for (format const* f : {&e2m1(), &e1m2(), &int4(), &e4m3(), &e5m2(), &e2m3(), &e3m2()}) {
    float const max = static_cast<float>(f->max());
    float a = max;
    for (int i = 0; i < 256; ++i) a = below(a);
    for (int i = 0; i < 512; ++i, a = above(a)) {
      float const ratio = mul(a, div(1.0f, max));
      INFO(f->name << " amax " << a);
      CHECK(mx_scale_code(a, mx_rule::rceil, *f) == encode(ue8m0(), ratio, away_from_zero));
    }
  }
}

TEST_CASE("Oracle/Mx.ZeroAndNonFinite") {
  for (mx_rule rule : {mx_rule::floor, mx_rule::ceil, mx_rule::even, mx_rule::rceil}) {
    block const b = quantize_mx(floats(32, 0.0f), rule);
    CHECK(b.scale_code == 0);
    CHECK(b.codes == codes(32, 0));
    CHECK(mx_scale_code(0x1p-149f, rule, e2m1()) == 0);
  }
  block const p = quantize_mx({inf, -inf, 1, 0}, mx_rule::floor);
  CHECK(p.scale_code == 255);
  CHECK(std::isnan(p.decoded[3]));
  for (format const* f : {&e2m1(), &e4m3()}) {
    block const s = quantize_mx({inf, -inf, 1, 0}, mx_rule::rceil, *f, all_elements(nearest_even),
                                non_finite::saturate);
    CHECK(s.scale_code == 254);
    CHECK(s.codes == (f == &e2m1() ? codes{7, 0xF, 0, 0} : codes{0x7E, 0xFE, 0, 0}));
  }
}

TEST_CASE("Oracle/Quest.Q1") {
  block const ones = quantize_quest(alternating(32, 1.0f));
  CHECK(ones.scale == 0.25f);
  CHECK(ones.decoded == alternating(32, 1.0f));
  block const larger = quantize_quest(alternating(32, 2.1f));
  CHECK(larger.scale == 1.0f);
  CHECK(larger.decoded == alternating(32, 2.0f));
  CHECK(larger.inside == std::vector<bool>(32, true));
  floats clipped = alternating(32, 1.0f);
  clipped[0] = 4.0f;
  clipped[1] = -4.0f;
  block const b = quantize_quest(clipped);
  CHECK(b.scale == 0.5f);
  CHECK(b.decoded[0] == 3.0f);
  CHECK(b.decoded[1] == -3.0f);
  CHECK(!b.inside[0]);
  CHECK(b.inside[2]);
}

TEST_CASE("Oracle/ThreeQuarters.Q2") {
  block const b = quantize_three_quarters({7.9f, 5, -3, 1, .5f, .3f});
  CHECK(b.scale == 1.0f);
  CHECK(b.codes == e2m1_codes({6, 4, -2, 1, .5f, 0}));
  floats const expected{8, 5.3333f, -2.6667f, 1.3333f, .6667f, 0};
  for (std::size_t i = 0; i < 5; ++i) check_near(b.decoded[i], expected[i], 5e-5L);
  CHECK(b.decoded[5] == 0.0f);
  block const c = quantize_three_quarters({4, 8.0f / 3, 2, -1});
  CHECK(c.codes == e2m1_codes({3, 2, 1.5f, -1}));
}

// Published to double precision; in FP32 the scaled values alone move P(up) by some 1e-6.
TEST_CASE("Oracle/Eden.Q3") {
  floats x{6, 3.3f, -1.1f, .4f};
  x.resize(16, 0.0f);
  eden_group const g = ms_eden(x, 6.0f);
  eden_block const& b = g.blocks[0];
  check_near(g.tensor_factor, .00386001L, 1e-6L);
  CHECK(b.scale == 256.0f);
  check_near(g.correction, 1.0347048L, 2e-7L);
  check_near(b.target, 264.8844L, 2e-7L);
  CHECK(decode(e4m3(), b.lower_code) == 256);
  CHECK(decode(e4m3(), b.upper_code) == 288);
  check_near(b.p_up, .2776385L, 5e-6L);
  floats const mean{6.134746f, 3.067373f, -1.022458f, .511229f};
  long double overlap = 0;
  long double energy = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i < 4) check_near(b.mean(i, g.tensor_factor), mean[i], 1e-6L);
    overlap += x[i] * b.mean(i, g.tensor_factor);
    energy += static_cast<long double>(x[i]) * x[i];
  }
  check_near(overlap / energy, 1.0L, 1e-6L);
}

TEST_CASE("Oracle/Eden.Q4") {
  floats x{10, 20, 30, 40};
  x.resize(16, 0.0f);
  eden_group const g = ms_eden(x, 40.0f);
  check_near(g.tensor_factor, .02573343L, 3e-7L);
  CHECK(g.blocks[0].scale == 256.0f);
  codes const q = g.blocks[0].codes;
  CHECK(codes(q.begin(), q.begin() + 4) == e2m1_codes({1.5f, 3, 4, 6}));
  check_near(g.correction, 1.046874L, 5e-7L);
  check_near(g.blocks[0].target, 267.9997L, 5e-7L);
  check_near(g.blocks[0].p_up, .3749918L, 5e-6L);
}

TEST_CASE("Oracle/Eden.GroupSharesItsCorrection") {
  floats x;
  for (int i = 0; i < 128; ++i) x.push_back(static_cast<float>((i * 37) % 101 - 50) / 7.0f);
  eden_group const g = ms_eden(x, 50.0f / 7.0f);
  REQUIRE(g.blocks.size() == 8);
  for (eden_block const& b : g.blocks) CHECK(b.target == g.correction * b.scale);
  CHECK(ms_eden(x, 50.0f / 7.0f, true).correction != g.correction);
  CHECK(ms_eden(floats(16, 0.0f), 0.0f).correction == 1.0L);
}
