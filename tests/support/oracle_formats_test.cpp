// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The oracle's formats, random bits, rotation, layouts and products against published tables.

#include "catch.hpp"
#include "inputs.hpp"
#include "oracle.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace {

using namespace oracle;
using codes = std::vector<unsigned>;

constexpr float inf = std::numeric_limits<float>::infinity();

codes encode_all(format const& f, std::vector<float> const& x, rounding const& how = nearest_even,
                 range beyond = range::saturate) {
  codes result;
  for (float const v : x) result.push_back(encode(f, v, how, beyond));
  return result;
}

/// How many of the 256 words lead to each value.
std::map<float, int> tally(float x) {
  std::map<float, int> counts;
  for (std::uint32_t word = 0; word < 256; ++word)
    ++counts[static_cast<float>(decode(e2m1(), encode(e2m1(), x, stochastic(8, word))))];
  return counts;
}

std::vector<format const*> all_formats() {
  return {&e2m1(), &e1m2(), &int4(), &int4_full(), &e2m3(),
          &e3m2(), &e4m3(), &e5m2(), &ue5m3(),     &ue8m0()};
}

}  // namespace

TEST_CASE("Oracle/Formats.SubnormalsAndLimits") {
  CHECK(e2m1().max() == 6);
  CHECK(e1m2().max() == 1.75L);
  CHECK(int4().max() == 7);
  CHECK(int4().negative.back().value == 7);
  CHECK(int4_full().negative.back().value == 8);
  CHECK(e2m3().max() == 7.5L);
  CHECK(e2m3().positive.at(1).value == 0.125L);
  CHECK(e3m2().max() == 28);
  CHECK(e3m2().positive.at(1).value == 0.0625L);
  CHECK(e4m3().max() == 448);
  CHECK(e4m3().positive.at(1).value == 0x1p-9L);
  CHECK(decode(e4m3(), 0x08) == 0x1p-6L);
  CHECK(e5m2().max() == 57344);
  CHECK(e5m2().positive.at(1).value == 0x1p-16L);
  CHECK(ue5m3().max() == 61440);
  CHECK(ue5m3().positive.at(1).value == 0x1p-17L);
  CHECK(decode(ue8m0(), 0) == 0x1p-127L);
  CHECK(decode(ue8m0(), 254) == 0x1p127L);
  CHECK(e4m3().positive.size() == 127);
}

TEST_CASE("Oracle/Formats.CastOfEveryValueIsItsCode") {
  for (format const* f : all_formats())
    for (auto const* side : {&f->positive, &f->negative})
      for (magnitude const& m : *side)
        for (rounding const& how : {nearest_even, ties_away, toward_zero, away_from_zero,
                                    stochastic(8, 0), stochastic(32, 0xFFFFFFFFu)}) {
          INFO(f->name << " code " << m.code);
          CHECK(encode(*f, decode(*f, m.code), how) == m.code);
          CHECK(encode(*f, decode(*f, m.code), how, range::overflow) == m.code);
        }
}

TEST_CASE("Oracle/Formats.E2m1TiesGoToTheEvenCode") {
  std::vector<float> const x{0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
  CHECK(encode_all(e2m1(), x) == codes{0, 2, 2, 4, 4, 6, 6});
  CHECK(encode_all(e2m1(), x, ties_away) == codes{1, 2, 3, 4, 5, 6, 7});
  CHECK(encode_all(e2m1(), x, toward_zero) == codes{0, 1, 2, 3, 4, 5, 6});
  CHECK(encode_all(e2m1(), {-0.25f, -0.75f, -0.0f, -5.0f}) == codes{0x8, 0xA, 0x8, 0xE});
  CHECK(encode_all(e2m1(), {float_nan, -float_nan, inf, -inf, 6.5f, -1e30f}) ==
        codes{7, 7, 7, 15, 7, 15});
}

TEST_CASE("Oracle/Formats.Int4HasNoNegativeZero") {
  CHECK(encode_all(int4(), {-0.0f, -0.5f, -0.4f, -1.5f}) == codes{0, 0, 0, 0xE});
  CHECK(encode_all(int4(), {-7.4f, -7.5f, -8.0f, -inf, float_nan, -float_nan}) ==
        codes{9, 9, 9, 9, 7, 7});
  CHECK(encode_all(int4_full(), {-7.4f, -7.5f, -8.0f, -inf, 7.5f}) == codes{9, 8, 8, 8, 7});
}

TEST_CASE("Oracle/Formats.E4m3Table") {
  CHECK(encode_all(e4m3(), {1.0625f, 1.1875f, 0x1p-10f, 0x1p-10f * (1 + 0x1p-22f)}) ==
        codes{0x38, 0x3A, 0x00, 0x01});
  CHECK(encode_all(e4m3(), {0.0146484375f, 336.0f, 336.00003f}) == codes{0x08, 0x7A, 0x7B});
  CHECK(encode_all(e4m3(), {448.0f, 464.0f, 465.0f, 1e9f, inf, -inf, float_nan, -float_nan}) ==
        codes{0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F, 0x7F});
  CHECK(encode_all(e4m3(), {464.0f, 465.0f, 1e9f, inf, -inf}, nearest_even, range::overflow) ==
        codes{0x7E, 0x7F, 0x7F, 0x7F, 0xFF});
  CHECK(encode_all(e4m3(), {4.25f, 4.75f, 17.0f, 19.0f, 0.0029296875f, -0.0f}) ==
        codes{0x48, 0x4A, 0x58, 0x5A, 0x02, 0x80});
}

TEST_CASE("Oracle/Formats.E5m2OverflowsToInfinity") {
  CHECK(encode_all(e5m2(), {61439.0f, 61440.0f, inf, -inf, float_nan, -float_nan}, nearest_even,
                   range::overflow) == codes{0x7B, 0x7C, 0x7C, 0xFC, 0x7F, 0x7F});
  CHECK(encode_all(e5m2(), {61440.0f, inf, -inf}) == codes{0x7B, 0x7B, 0xFB});
}

TEST_CASE("Oracle/Formats.Ue8m0Table") {
  float const tiny = 0x1p-127f;
  std::vector<float> const x{0,    0x1p-128f, tiny,     1.5f * tiny,     0.5f, 1,
                             1.5f, 3,         0x1p127f, 1.5f * 0x1p127f, inf,  float_nan};
  CHECK(encode_all(ue8m0(), x, toward_zero) ==
        codes{0, 0, 0, 0, 0x7E, 0x7F, 0x7F, 0x80, 0xFE, 0xFE, 0xFE, 0xFF});
  CHECK(encode_all(ue8m0(), x, away_from_zero) ==
        codes{0, 0, 0, 1, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFE, 0xFE, 0xFF});
  CHECK(encode_all(ue8m0(), x, away_from_zero, range::overflow) ==
        codes{0, 0, 0, 1, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF, 0xFF, 0xFF});
  CHECK(encode_all(ue8m0(), {1.25f, tiny * (1 + 0x1p-22f), 0x1p-149f, float_max}, away_from_zero) ==
        codes{128, 1, 0, 254});
  CHECK(encode(ue8m0(), -2.0L) == 128);
}

TEST_CASE("Oracle/Rounding.StochasticTallies") {
  using counts = std::map<float, int>;
  CHECK(tally(0.1f) == counts{{0, 205}, {.5f, 51}});
  CHECK(tally(0.3f) == counts{{0, 103}, {.5f, 153}});
  CHECK(tally(1.25f) == counts{{1, 128}, {1.5f, 128}});
  CHECK(tally(1.9f) == counts{{1.5f, 52}, {2, 204}});
  CHECK(tally(2.2f) == counts{{2, 205}, {3, 51}});
  CHECK(tally(3.9f) == counts{{3, 26}, {4, 230}});
  CHECK(tally(4.5f) == counts{{4, 192}, {6, 64}});
  CHECK(tally(5.9f) == counts{{4, 13}, {6, 243}});
  CHECK(tally(6.3f) == counts{{6, 256}});
  CHECK(tally(-0.7f) == counts{{-1, 102}, {-.5f, 154}});
  CHECK(tally(0.001f) == counts{{0, 256}});
}

TEST_CASE("Oracle/Rounding.FewBitsAndSpecialValues") {
  int ups = 0;
  for (std::uint32_t word = 0; word < 4; ++word)
    ups += encode(e2m1(), 2.6f, stochastic(2, word)) == 5 ? 1 : 0;
  CHECK(ups == 2);
  for (std::uint32_t word : {0u, 127u, 255u}) {
    CHECK(encode_all(e4m3(), {inf, -inf, float_nan, -float_nan}, stochastic(8, word)) ==
          codes{0x7E, 0xFE, 0x7F, 0x7F});
    CHECK(encode_all(e2m1(), {inf, -inf, float_nan}, stochastic(8, word)) == codes{7, 15, 7});
  }
  CHECK_THROWS_AS(encode(e2m1(), 2.6f, stochastic(2, 4)), std::invalid_argument);
}

TEST_CASE("Oracle/Random.PhiloxKnownAnswers") {
  std::uint32_t const ones = 0xFFFFFFFFu;
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) ==
        philox_counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({ones, ones, ones, ones}, {ones, ones}) ==
        philox_counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0, 0, 0, 0}, {0, 0}, 7) ==
        philox_counter{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        philox_counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("Oracle/Hadamard.SignsMatchTheirMask") {
  CHECK(signs_from_mask(0xD7E8, 16) == published_signs());
  for (std::size_t i = 0; i < 32; ++i)
    for (std::size_t j = 0; j < 32; ++j)
      CHECK(sylvester(i, j, 32) == (std::popcount(i & j) % 2 == 0 ? 1 : -1));
}

TEST_CASE("Oracle/Hadamard.V9") {
  using row = std::vector<double>;
  auto const unit = [](std::size_t i) {
    row x(16, 0.0);
    x[i] = 1;
    return x;
  };
  auto const signs = published_signs();
  CHECK(rotate(unit(0), signs) == row(16, 0.25));
  row expected;
  for (int v : {1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1})
    expected.push_back(-.25 * v);
  CHECK(rotate(unit(3), signs) == expected);
  CHECK(rotate(row(16, 1.0), signs) == row{-1, 0, 1, 0, 1, 0, -1, 0, 1, 2, 1, 0, 1, 0, 1, -2});
  row const as_row(signs.begin(), signs.end());
  row four(16, 0.0);
  four[0] = 4;
  CHECK(rotate(as_row, signs) == four);
  CHECK(rotate_back(rotate(as_row, signs), signs) == as_row);
}

TEST_CASE("Oracle/Storage.NibblesAndTiles") {
  CHECK(pack({0xF, 0xD, 5, 8, 7}) == std::vector<std::uint8_t>{0xDF, 0x85, 0x07});
  CHECK(unpack({0xDF, 0x85, 0x07}, 5) == codes{0xF, 0xD, 5, 8, 7});
  scale_tiles const narrow = lay_out_scales(128, 4);
  CHECK(narrow.at(0, 0) == 0);
  CHECK(narrow.at(1, 0) == 16);
  CHECK(narrow.at(32, 0) == 4);
  CHECK(narrow.at(127, 3) == 511);
  scale_tiles const wide = lay_out_scales(200, 8);
  CHECK(wide.at(0, 4) == 512);
  CHECK(wide.at(128, 0) == 1024);
  CHECK(wide.at(37, 5) == 597);
  CHECK(wide.at(129, 7) == 1555);
  for (std::size_t r = 0; r < 256; ++r)
    for (std::size_t c = 0; c < 8; ++c)
      CHECK(wide.at(r, c) == ((r / 128 * 2 + c / 4) * 32 + r % 32) * 16 + r % 128 / 32 * 4 + c % 4);
}

TEST_CASE("Oracle/Gemm.IntegerExample") {
  blocked a{1,
            8,
            4,
            &e2m1(),
            encode_all(e2m1(), {6, -3, 1.5f, .5f, 4, 2, -1, 0}),
            encode_all(e4m3(), {448, .0625f})};
  blocked b{1,
            8,
            4,
            &e2m1(),
            encode_all(e2m1(), {2, 1, -6, .5f, .5f, -.5f, 3, 6}),
            encode_all(e4m3(), {1.125f, 240})};
  exact_sum const sum = exact_dot(a, 0, b, 0);
  CHECK(sum.units == 100663296);
  CHECK(sum.exponent == -20);
  CHECK(sum.value() == 96);
  CHECK(sequential_dot(a, 0, b, 0) == 96.0f);
  CHECK(exact_gemm(a, b).magnitudes.at(0) == 156);
}

TEST_CASE("Oracle/Gemm.DenseAgreesWithExact") {
  dense const a{2, 3, {1, 2, 3, 4, 5, 6}};
  dense const b{1, 3, {1, -1, .5f}};
  product const d = gemm(a, b, 2, 1, {10, 20});
  CHECK(d.values == std::vector<long double>{11, 24});
  CHECK(d.magnitudes == std::vector<long double>{19, 44});
  CHECK(sum_error_bound(1, 5) == 0);
  CHECK(sum_error_bound(3, 1) > 0x1p-23L);
  CHECK(sum_error_bound(3, 1) < 0x1.000004p-23L);
}

TEST_CASE("Oracle/Arithmetic.NarrowRoundings") {
  CHECK(to_bf16(1.00390625f) == 1.0f);
  CHECK(to_bf16(1.01171875f) == 1.015625f);
  CHECK(to_bf16(float_max) == inf);
  CHECK(to_bf16(-0x1p-134f) == 0.0f);
  CHECK(std::signbit(to_bf16(-0x1p-134f)));
  CHECK(to_bf16(0x1.8p-133f) == 0x1p-132f);
  CHECK(to_fp16(65519.0f) == 65504.0f);
  CHECK(to_fp16(65520.0f) == inf);
  CHECK(mul(0x1p-100f, 0x1.8p-50f) == 0x1p-149f);
  CHECK(div(1.0f, 0x1p127f) == 0x1p-127f);
}

TEST_CASE("Oracle/Arithmetic.AgreesWithTheProcessor") {
  auto const same = [](float a, float b) { return (std::isnan(a) && std::isnan(b)) || a == b; };
  std::vector<float> const x = inputs::bit_patterns(20000, 1);
  std::vector<float> y = inputs::bit_patterns(20000, 2);
  for (std::size_t i = 0; i < y.size() / 2; ++i) y[i] = x[i] * (1.0f + y[i] * 0x1p-140f);
  for (std::size_t i = 0; i < x.size(); ++i) {
    bool const agrees = same(mul(x[i], y[i]), x[i] * y[i]) && same(add(x[i], y[i]), x[i] + y[i]) &&
                        same(sub(x[i], y[i]), x[i] - y[i]) && same(div(x[i], y[i]), x[i] / y[i]);
    if (!agrees) FAIL("operands " << x[i] << " and " << y[i]);
  }
  SUCCEED("all operations agree");
}
