// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Casts where they turn from one code to the next.

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;
using codes = std::vector<unsigned>;

namespace {

template <class F, class R = nearest_even, overflow O = overflow::saturate>
codes cast(std::vector<float> const& x) {
  codes result;
  for (float const v : x) result.push_back(F::template encode<R, O>(v));
  return result;
}

template <class F>
codes cast_integer(std::vector<float> const& x) {
  codes result;
  for (float const v : x) result.push_back(F::encode(v));
  return result;
}

float const inf = std::numeric_limits<float>::infinity();

}  // namespace

TEMPLATE_TEST_CASE("Format/Boundaries.Float", "", QUADRILLE_ALL_FORMATS) {
  CHECK(casts_that_differ<TestType>(critical_points<float>(twin<TestType>())) == "");
}

TEMPLATE_TEST_CASE("Format/Boundaries.Double", "", QUADRILLE_ALL_FORMATS) {
  if constexpr (takes_double<TestType>)
    CHECK(casts_that_differ<TestType>(critical_points<double>(twin<TestType>())) == "");
}

TEMPLATE_TEST_CASE("Format/Boundaries.RoundMagnitude", "", QUADRILLE_ALL_FORMATS) {
  if constexpr (requires { TestType::round_magnitude(1.f); })
    for (float const x : critical_points<float>(twin<TestType>())) {
      if (std::isnan(x)) continue;
      CAPTURE(x);
      float const a = std::fabs(x);
      CHECK(TestType::round_magnitude(a) == TestType::decode(TestType::encode_finite(a)));
    }
}

TEST_CASE("Format/Boundaries.E2m1TiesToEven (RND-01)") {
  std::vector<float> const x{.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
  CHECK(cast<e2m1>(x) == codes{0, 2, 2, 4, 4, 6, 6});
  CHECK(cast<e2m1>({-.25f, -.75f, -1.25f, -1.75f, -2.5f, -3.5f, -5}) ==
        codes{0x8, 0xA, 0xA, 0xC, 0xC, 0xE, 0xE});
  CHECK(cast<e2m1, ties_away>(x) == codes{1, 2, 3, 4, 5, 6, 7});
  CHECK(cast<e2m1, toward_zero>(x) == codes{0, 1, 2, 3, 4, 5, 6});
  CHECK(cast<e2m1, away_from_zero>(x) == codes{1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("Format/Boundaries.E2m1StepBelowOne (SUB-05)") {
  CHECK(cast<e2m1>({.6f, .3f, .2f, .75f, .76f}) == codes{1, 1, 0, 2, 2});
}

TEST_CASE("Format/Boundaries.E2m1Saturates (SAT-03)") {
  CHECK(cast<e2m1>({5, 5.0000005f, 6, 6.99f, 7, 1e30f, inf, -inf}) ==
        codes{6, 7, 7, 7, 7, 7, 7, 0xF});
}

TEST_CASE("Format/Boundaries.E4m3TiesToEven (RND-03)") {
  CHECK(cast<e4m3>({4.25f, 4.75f, 17, 19, 0.0029296875f}) == codes{0x48, 0x4A, 0x58, 0x5A, 0x02});
  CHECK(cast<e4m3>({1.0625f, 1.1875f, 0x1p-10f, 0x1p-10f * (1 + 0x1p-22f)}) ==
        codes{0x38, 0x3A, 0x00, 0x01});
  CHECK(cast<e4m3>({0.0146484375f, 336, 336.00003f}) == codes{0x08, 0x7A, 0x7B});
}

TEST_CASE("Format/Boundaries.E4m3RoundsBeforeTheRangeTest (SAT-01)") {
  std::vector<float> const x{448, 464, 464.00003f, 465, 1000, -1000};
  CHECK(cast<e4m3>(x) == codes{0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE});
  CHECK(cast<e4m3, nearest_even, overflow::special>(x) ==
        codes{0x7E, 0x7E, 0x7F, 0x7F, 0x7F, 0xFF});
}

TEST_CASE("Format/Boundaries.E5m2OverflowsToInfinity") {
  std::vector<float> const x{61439, 61440, inf, -inf};
  CHECK(cast<e5m2>(x) == codes{0x7B, 0x7B, 0x7B, 0xFB});
  CHECK(cast<e5m2, nearest_even, overflow::special>(x) == codes{0x7B, 0x7C, 0x7C, 0xFC});
}

TEST_CASE("Format/Boundaries.FormatsWithoutSpecialsSaturateEitherWay") {
  std::vector<float> const x{6.5f, 7, 8, 100, inf, -100, -inf};
  CHECK(cast<e2m1, nearest_even, overflow::special>(x) == codes{7, 7, 7, 7, 7, 0xF, 0xF});
  CHECK(cast<e2m1, away_from_zero, overflow::special>(x) == codes{7, 7, 7, 7, 7, 0xF, 0xF});
  CHECK(cast<e3m2, nearest_even, overflow::special>({29, 31, 32, -1e9f}) ==
        codes{0x1F, 0x1F, 0x1F, 0x3F});
}

TEST_CASE("Format/Boundaries.UniformGridsCountSteps (PAK-06)") {
  std::vector<float> const steps{2.5f, 3.5f, -2.5f, 7.5f, -7.6f, -8.4f, 9, -0.f};
  std::vector<float> quarters;
  for (float const s : steps) quarters.push_back(s / 4);
  CHECK(cast<e1m2>(quarters) == codes{2, 4, 0xA, 7, 0xF, 0xF, 7, 8});
  CHECK(cast_integer<int4_full>(steps) == codes{2, 4, 0xE, 7, 8, 8, 7, 0});
  CHECK(cast_integer<int4>(steps) == codes{2, 4, 0xE, 7, 9, 9, 7, 0});
}

TEST_CASE("Format/Boundaries.Ue8m0 (SCL-04)") {
  float const tiny = 0x1p-127f;
  std::vector<float> const x{1.25f,
                             3,
                             tiny,
                             tiny * (1 + 0x1p-22f),
                             0x1p-149f,
                             0,
                             oracle::float_max,
                             inf,
                             oracle::float_nan};
  CHECK(cast<ue8m0, away_from_zero>(x) == codes{128, 129, 0, 1, 0, 0, 254, 254, 255});
  CHECK(cast<ue8m0, toward_zero>(x) == codes{127, 128, 0, 0, 0, 0, 254, 254, 255});
  CHECK(cast<ue8m0, away_from_zero, overflow::special>(x) ==
        codes{128, 129, 0, 1, 0, 0, 255, 255, 255});
  CHECK(cast<ue8m0>({1.5f, 3, -2, 0x1.8p127f}) == codes{128, 128, 128, 254});
}

TEST_CASE("Format/Boundaries.SubnormalsRoundAtTheirOwnStep (SUB-01)") {
  CHECK(cast<e2m1>({0.25000003f}) == codes{1});
  CHECK(cast<e4m3>({3 * 0x1p-9f}) == codes{3});
  for (unsigned code = 0; code < 16; ++code) CHECK(e2m1::encode(e2m1::decode(code)) == code);
  for (unsigned code = 0; code < 256; ++code)
    if (code % 128 != 127) CHECK(e4m3::encode(e4m3::decode(code)) == code);
}
