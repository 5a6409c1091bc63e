// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stochastic rounding, by what all words of a width do and not by samples.

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <quadrille/format.hpp>
#include <quadrille/rounding.hpp>

#include "support/catch.hpp"
#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace {

using namespace quadrille;
using counts = std::map<float, int>;

/// How many of the 2^Bits words lead to each value.
template <class F, int Bits>
counts tally(float x) {
  counts result;
  for (u32 word = 0; word < 1u << Bits; ++word)
    ++result[F::decode(F::template encode<stochastic<Bits>>(x, word))];
  return result;
}

/// What they should do: floor(2^Bits fraction) of them take the upper neighbour.
counts expected_tally(oracle::format const& f, float x, int bits) {
  auto const& side = std::signbit(x) && !f.negative.empty() ? f.negative : f.positive;
  float const sign = &side == &f.negative ? -1.f : 1.f;
  long double const m = std::min<long double>(std::fabs(x), side.back().value);
  auto const upper = std::find_if(side.begin(), side.end(),
                                  [m](oracle::magnitude const& entry) { return entry.value >= m; });
  int const words = 1 << bits;
  counts result;
  float const up = sign * static_cast<float>(upper->value);
  if (upper->value == m) return {{up, words}};
  long double const lower = (upper - 1)->value;
  int const ups = static_cast<int>(std::floor((m - lower) / (upper->value - lower) * words));
  if (ups > 0) result[up] = ups;
  result[sign * static_cast<float>(lower)] = words - ups;
  return result;
}

/// Values at every kind of place: random ones of all sizes, multiples of max / 64, beyond max.
std::vector<float> places(float max) {
  std::vector<float> x = inputs::normal(150, 21, max / 2);
  for (float const v : inputs::normal(50, 22, max / 1000)) x.push_back(v);
  for (int i = 0; i <= 64; ++i) x.push_back(max * static_cast<float>(i) / 64);
  for (float const v : {max * 1.001f, max * 2, -max * 100, 0x1p-140f, 0x1p-30f}) x.push_back(v);
  return x;
}

template <class F, int Bits>
std::string tallies_that_differ(oracle::format const& f) {
  for (float const x : places(F::max))
    if (tally<F, Bits>(x) != expected_tally(f, x, Bits))
      return "with " + std::to_string(Bits) + " bits, x = " + std::to_string(x);
  return "";
}

template <class F>
void check_all_widths(oracle::format const& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ([&] { CHECK(tallies_that_differ<F, I + 1>(f) == ""); }(), ...);
  }
  (std::make_integer_sequence<int, 10>{});
}

}  // namespace

TEST_CASE("Rounding/Stochastic.TalliesOfEveryWidthAreExact") {
  SECTION("e2m1") { check_all_widths<e2m1>(oracle::e2m1()); }
  SECTION("e1m2") { check_all_widths<e1m2>(oracle::e1m2()); }
  SECTION("int4") { check_all_widths<int4>(oracle::int4()); }
  SECTION("e4m3") { check_all_widths<e4m3>(oracle::e4m3()); }
  SECTION("e5m2") { check_all_widths<e5m2>(oracle::e5m2()); }
}

TEST_CASE("Rounding/Stochastic.PublishedTallies") {
  auto const t = tally<e2m1, 8>;
  CHECK(t(.1f) == counts{{0, 205}, {.5f, 51}});
  CHECK(t(.3f) == counts{{0, 103}, {.5f, 153}});
  CHECK(t(1.25f) == counts{{1, 128}, {1.5f, 128}});
  CHECK(t(1.9f) == counts{{1.5f, 52}, {2, 204}});
  CHECK(t(2.2f) == counts{{2, 205}, {3, 51}});
  CHECK(t(3.9f) == counts{{3, 26}, {4, 230}});
  CHECK(t(4.5f) == counts{{4, 192}, {6, 64}});
  CHECK(t(5.9f) == counts{{4, 13}, {6, 243}});
  CHECK(t(6.3f) == counts{{6, 256}});
  CHECK(t(-.7f) == counts{{-.5f, 154}, {-1, 102}});
  CHECK(t(.001f) == counts{{0, 256}});
}

TEST_CASE("Rounding/Stochastic.TwoBitsAreNotBiasedUp (SRD-03)") {
  CHECK(tally<e2m1, 2>(2.6f) == counts{{2, 2}, {3, 2}});
  CHECK(tally<e2m1, 2>(3) == counts{{3, 4}});
}

TEST_CASE("Rounding/Stochastic.ExactValuesNeverMove") {
  for (u32 code = 0; code < 16; ++code)
    for (u32 const word : {0u, 1u, 0x7FFFFFu, 0xFFFFFFu, 0xFFFFFFFFu}) {
      CHECK(e2m1::encode<stochastic<24>>(e2m1::decode(code), word) == code);
      CHECK(e1m2::encode<stochastic<8>>(e1m2::decode(code), word) == code);
    }
}

TEST_CASE("Rounding/Stochastic.UsesTheLowBitsOfItsWord") {
  for (u32 word = 0; word < 256; ++word)
    for (float const x : {.1f, 2.2f, 5.9f, -.7f})
      CHECK(e2m1::encode<stochastic<8>>(x, word) ==
            e2m1::encode<stochastic<8>>(x, word | 0xABCDEF00u));
}

TEST_CASE("Rounding/Stochastic.MonotoneInItsWord") {
  for (float const x : inputs::normal(200, 23, 2)) {
    u32 last = e2m1::encode<stochastic<8>>(x, 0);
    for (u32 word = 1; word < 256; ++word) {
      u32 const code = e2m1::encode<stochastic<8>>(x, word);
      CHECK((code == last || code == last + 1));
      last = code;
    }
  }
}

TEST_CASE("Rounding/Stochastic.TwentyFourBitsDecideAtTheExactWord") {
  // 2.2f lies 0x333334 / 2^24 above 2, so that many of the 2^24 words go up: the highest ones.
  u32 const first_up = (1u << 24) - 0x333334u;
  CHECK(e2m1::encode<stochastic<24>>(2.2f, first_up - 1) == 4);
  CHECK(e2m1::encode<stochastic<24>>(2.2f, first_up) == 5);
  CHECK(e2m1::encode<stochastic<24>>(-2.2f, first_up) == 0xD);
}

TEST_CASE("Rounding/Stochastic.DoublesKeepAllTheirBits") {
  // Just below a quarter of the words: the next double toward zero loses one of them.
  double const quarter = 2.25;
  auto const ups = [](double x) {
    int n = 0;
    for (u32 word = 0; word < 256; ++word) n += e2m1::encode<stochastic<8>>(x, word) == 5 ? 1 : 0;
    return n;
  };
  CHECK(ups(quarter) == 64);
  CHECK(ups(std::nextafter(quarter, 0)) == 63);
  CHECK(ups(std::nextafter(quarter, 3)) == 64);
}

TEST_CASE("Rounding/Stochastic.SpecialValuesDoNotSeeTheWord (NAN-05)") {
  float const inf = std::bit_cast<float>(0x7F800000u);
  std::vector<u32> words(256);
  for (u32 i = 0; i < 256; ++i) words[i] = i;
  words.push_back(0xFFFFFFFFu);
  for (u32 const word : words) {
    CHECK(e4m3::encode<stochastic<8>>(inf, word) == 0x7E);
    CHECK(e4m3::encode<stochastic<8>>(-inf, word) == 0xFE);
    CHECK(e2m1::encode<stochastic<8>>(inf, word) == 7);
    CHECK(e2m1::encode<stochastic<8>>(-inf, word) == 0xF);
    CHECK(e4m3::encode<stochastic<8>, overflow::special>(inf, word) == 0x7F);
    for (u32 const nan : {0x7FC00000u, 0x7FFF8C22u, 0xFFFFFFFFu}) {
      CHECK(e4m3::encode<stochastic<8>>(std::bit_cast<float>(nan), word) == 0x7F);
      CHECK(e2m1::encode<stochastic<8>>(std::bit_cast<float>(nan), word) == 7);
    }
  }
}
