// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The deterministic modes as decisions, and modes that a user writes.

#include <algorithm>
#include <cmath>
#include <vector>

#include <quadrille/format.hpp>
#include <quadrille/rounding.hpp>

#include "support/catch.hpp"

namespace {

using namespace quadrille;

/// A user's: ties toward zero.
struct ties_to_zero {
  static constexpr int random_bits = 0;
  QUADRILLE_HD static constexpr bool take_upper(float fraction, bool, u32) {
    return fraction > .5f;
  }
};

/// A user's: round to odd, so that a second rounding is safe.
struct to_odd {
  static constexpr int random_bits = 0;
  QUADRILLE_HD static constexpr bool take_upper(float fraction, bool odd, u32) {
    return fraction > 0 && !odd;
  }
};

/// A user's: stochastic with the random word centred in its interval, (r + 1/2) / 2^2.
struct centred_two_bits {
  static constexpr int random_bits = 2;
  QUADRILLE_HD static constexpr bool take_upper(float fraction, bool, u32 random) {
    return fraction * 4 + float(i32(random & 3)) + .5f >= 4;
  }
};

struct without_random_bits {
  static constexpr bool take_upper(float, bool, u32) { return true; }
};
struct without_decision {
  static constexpr int random_bits = 0;
};
struct decides_in_numbers {
  static constexpr int random_bits = 0;
  static constexpr int take_upper(float, bool, u32) { return 1; }
};

template <class F, class R>
std::vector<unsigned> cast(std::vector<float> const& x) {
  std::vector<unsigned> codes(x.size());
  std::transform(x.begin(), x.end(), codes.begin(),
                 [](float v) { return F::template encode<R>(v); });
  return codes;
}

using codes = std::vector<unsigned>;

}  // namespace

static_assert(rounding_mode<nearest_even> && rounding_mode<ties_away>);
static_assert(rounding_mode<toward_zero> && rounding_mode<away_from_zero>);
static_assert(rounding_mode<stochastic<1>> && rounding_mode<stochastic<24>>);
static_assert(rounding_mode<ties_to_zero> && rounding_mode<to_odd> &&
              rounding_mode<centred_two_bits>);
static_assert(!rounding_mode<int> && !rounding_mode<e2m1> && !rounding_mode<without_random_bits>);
static_assert(!rounding_mode<without_decision> && !rounding_mode<decides_in_numbers>);

static_assert(nearest_even::random_bits == 0 && stochastic<8>::random_bits == 8);

TEST_CASE("Rounding/Modes.DecideByFractionAndParity") {
  struct row {
    float fraction;
    bool odd;
    bool nearest, away, zero, out;
  };
  float const below = std::nextafter(.5f, 0.f);
  float const above = std::nextafter(.5f, 1.f);
  row const table[] = {
      {0, false, false, false, false, false},
      {0, true, false, false, false, false},
      {0x1p-149f, true, false, false, false, true},
      {below, true, false, false, false, true},
      {.5f, false, false, true, false, true},
      {.5f, true, true, true, false, true},
      {above, false, true, true, false, true},
      {std::nextafter(1.f, 0.f), false, true, true, false, true},
  };
  for (row const& r : table) {
    INFO("fraction " << r.fraction << ", odd " << r.odd);
    CHECK(nearest_even::take_upper(r.fraction, r.odd, 0) == r.nearest);
    CHECK(ties_away::take_upper(r.fraction, r.odd, 0) == r.away);
    CHECK(toward_zero::take_upper(r.fraction, r.odd, 0) == r.zero);
    CHECK(away_from_zero::take_upper(r.fraction, r.odd, 0) == r.out);
  }
}

TEST_CASE("Rounding/User.ATieRuleWorksInEveryFormat") {
  std::vector<float> const ties{.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, -2.5f};
  CHECK(cast<e2m1, ties_to_zero>(ties) == codes{0, 1, 2, 3, 4, 5, 6, 0xC});
  CHECK(cast<e2m1, ties_to_zero>({.2500001f, 2.6f, 5.0000005f, 9}) == codes{1, 5, 7, 7});
  CHECK(cast<int4, ties_to_zero>({2.5f, -2.5f, 2.75f, 7.5f}) == codes{2, 0xE, 3, 7});
  CHECK(cast<e4m3, ties_to_zero>({1.0625f, 1.1875f, 464}) == codes{0x38, 0x39, 0x7E});
  CHECK(cast<ue8m0, ties_to_zero>({1.5f, 3, 3.0000002f}) == codes{127, 128, 129});
}

TEST_CASE("Rounding/User.RoundToOddSeesParityOfTheLowerCode") {
  CHECK(cast<e2m1, to_odd>({0, .01f, .5f, .6f, 1.1f, 2, 2.1f, 3.9f, 4.1f, -.1f}) ==
        codes{0, 1, 1, 1, 3, 4, 5, 5, 7, 9});
  CHECK(cast<int4, to_odd>({.1f, 1.1f, 2, -2.1f, 6.9f}) == codes{1, 1, 2, 0xD, 7});
}

TEST_CASE("Rounding/User.OwnStochasticModeGetsItsWord") {
  int ups = 0;
  for (u32 word = 0; word < 4; ++word) {
    u32 const code = e2m1::encode<centred_two_bits>(2.6f, word);
    CHECK((code == 4 || code == 5));
    ups += code == 5 ? 1 : 0;
    CHECK(e2m1::encode<centred_two_bits>(3.f, word) == 5);
  }
  CHECK(ups == 2);
}
