// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The four readings of the MX scale: tables typed from OCP MX v1.0 and its implementations, and the
// oracle's exact comparison over all exponents.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;

template <class Rule, class E = e2m1>
std::vector<int> exponents(floats const& amaxes) {
  std::vector<int> result = stored<one_level<ue8m0, Rule>, E>(amaxes);
  for (int& byte : result) byte -= 127;
  return result;
}
using row = std::vector<int>;

template <class Rule, class E>
void agrees(oracle::mx_rule rule, oracle::format const& element, int lowest, int highest) {
  for (float const a : spread_of_magnitudes(20000, 7, lowest, highest))
    REQUIRE(stored<one_level<ue8m0, Rule>, E>(a) == int(oracle::mx_scale_code(a, rule, element)));
}

template <class E>
void all_rules_agree(oracle::format const& element) {
  for (auto const& [lowest, highest] : {std::pair{-110, 128}, std::pair{-2, 10}}) {
    agrees<ocp_floor, E>(oracle::mx_rule::floor, element, lowest, highest);
    agrees<ocp_even, E>(oracle::mx_rule::even, element, lowest, highest);
    agrees<ocp_ceil, E>(oracle::mx_rule::ceil, element, lowest, highest);
    agrees<round_up, E>(oracle::mx_rule::rceil, element, lowest, highest);
  }
}
}  // namespace

TEST_CASE("Scale/PowerOfTwo.E2m1Table") {
  floats const a{1, 1.5f, below(1.75f), 1.75f, 3, above(3), 3.5f, 4, 5, 6, above(6), 7, 7.99f, 448};
  CHECK(exponents<ocp_floor>(a) == row{-2, -2, -2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 0, 6});
  CHECK(exponents<ocp_ceil>(a) == row{-2, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 7});
  CHECK(exponents<ocp_even>(a) == row{-2, -2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 7});
  CHECK(exponents<round_up>(a) == row{-2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 7});
}

TEST_CASE("Scale/PowerOfTwo.E4m3Table") {
  floats const a{448, 449, 480, 7.99f};
  CHECK(exponents<ocp_floor, e4m3>(a) == row{0, 0, 0, -6});
  CHECK(exponents<ocp_ceil, e4m3>(a) == row{1, 1, 1, -5});
  CHECK(exponents<ocp_even, e4m3>(a) == row{0, 0, 0, -5});
  CHECK(exponents<round_up, e4m3>(a) == row{0, 1, 1, -5});
}

// Implementations and checkpoints used different rules, or were off by one.
TEST_CASE("Scale/PowerOfTwo.RulesThatWereConfused") {
  floats const a{6, above(6), 6.99f, 7, 8, 1.5f, 1.75f};
  CHECK(stored<one_level<ue8m0, ocp_floor>>(a) == row{127, 127, 127, 127, 128, 125, 125});
  CHECK(stored<one_level<ue8m0, ocp_ceil>>(a) == row{128, 128, 128, 128, 128, 126, 126});
  CHECK(stored<one_level<ue8m0, ocp_even>>(a) == row{127, 127, 127, 128, 128, 125, 126});
  CHECK(stored<one_level<ue8m0, round_up>>(a) == row{127, 128, 128, 128, 128, 125, 126});
}

TEST_CASE("Scale/PowerOfTwo.UniformGrids") {
  floats const a{1, 1.75f, above(1.75f), 1.9f, 4, 7, above(7), 7.5f, 8};
  CHECK(exponents<ocp_floor, e1m2>(a) == row{0, 0, 0, 0, 2, 2, 2, 2, 3});
  CHECK(exponents<ocp_ceil, e1m2>(a) == row{0, 1, 1, 1, 2, 3, 3, 3, 3});
  CHECK(exponents<ocp_even, e1m2>(a) == row{0, 0, 0, 1, 2, 2, 2, 3, 3});
  CHECK(exponents<round_up, e1m2>(a) == row{0, 0, 1, 1, 2, 2, 3, 3, 3});
}

TEST_CASE("Scale/PowerOfTwo.Int4IsE1m2FourTimesLarger") {
  for (float const a : spread_of_magnitudes(1000, 3, -100, 100)) {
    CHECK(stored<one_level<ue8m0, ocp_floor>, int4>(a) ==
          stored<one_level<ue8m0, ocp_floor>, e1m2>(a) - 2);
    CHECK(stored<one_level<ue8m0, ocp_even>, int4>(a) ==
          stored<one_level<ue8m0, ocp_even>, e1m2>(a) - 2);
    CHECK(stored<one_level<ue8m0, ocp_ceil>, int4>(a) ==
          stored<one_level<ue8m0, ocp_ceil>, e1m2>(a) - 2);
    CHECK(stored<one_level<ue8m0, round_up>, int4>(a) ==
          stored<one_level<ue8m0, round_up>, e1m2>(a) - 2);
  }
}

TEST_CASE("Scale/PowerOfTwo.OracleE2m1") { all_rules_agree<e2m1>(oracle::e2m1()); }
TEST_CASE("Scale/PowerOfTwo.OracleE4m3") { all_rules_agree<e4m3>(oracle::e4m3()); }
TEST_CASE("Scale/PowerOfTwo.OracleE1m2") { all_rules_agree<e1m2>(oracle::e1m2()); }
TEST_CASE("Scale/PowerOfTwo.OracleInt4") { all_rules_agree<int4>(oracle::int4()); }
TEST_CASE("Scale/PowerOfTwo.OracleE2m3") { all_rules_agree<e2m3>(oracle::e2m3()); }

TEST_CASE("Scale/PowerOfTwo.EveryRuleClampsAtBothEnds") {
  floats const tiny{0, 0x1p-149f, 0x1p-127f, 0x1p-126f};
  CHECK(stored<one_level<ue8m0, ocp_floor>>(tiny) == row{0, 0, 0, 0});
  CHECK(stored<one_level<ue8m0, ocp_even>>(tiny) == row{0, 0, 0, 0});
  CHECK(stored<one_level<ue8m0, ocp_ceil>>(tiny) == row{0, 0, 0, 0});
  CHECK(stored<one_level<ue8m0, round_up>>(tiny) == row{0, 0, 0, 0});
  float const top = std::numeric_limits<float>::max();
  CHECK(stored<one_level<ue8m0, ocp_floor>>(top) == 252);
  CHECK(stored<one_level<ue8m0, ocp_ceil>>(top) == 253);
  CHECK(stored<one_level<ue8m0, ocp_even>>(top) == 253);
  CHECK(stored<one_level<ue8m0, round_up>>(top) == 253);
  CHECK(stored<one_level<ue8m0, ocp_ceil>, e1m2>(top) == 254);
}

TEST_CASE("Scale/PowerOfTwo.DecodedAmax") {
  CHECK(decoded<one_level<ue8m0, ocp_floor>>({7}) == floats{6});
  CHECK(decoded<one_level<ue8m0, ocp_ceil>>({7}) == floats{8});
  CHECK(decoded<one_level<ue8m0, ocp_even>>({7}) == floats{8});
  CHECK(decoded<one_level<ue8m0, round_up>>({7}) == floats{8});
  CHECK(decoded<one_level<ue8m0, ocp_floor>>({6.01f}) == floats{6});
  CHECK(decoded<one_level<ue8m0, ocp_even>>({6.01f}) == floats{6});
  CHECK(decoded<one_level<ue8m0, round_up>>({6.01f}) == floats{6});
  CHECK(decoded<one_level<ue8m0, ocp_floor>>({1.75f}) == floats{1.5f});
  CHECK(decoded<one_level<ue8m0, ocp_ceil>>({1.75f}) == floats{2});
  CHECK(decoded<one_level<ue8m0, ocp_even>>({1.75f}) == floats{2});
  CHECK(decoded<one_level<ue8m0, round_up>>({1.75f}) == floats{2});
}

TEST_CASE("Scale/PowerOfTwo.RoundUpNeverClips") {
  for (float const a : spread_of_magnitudes(20000, 5, -120, 127)) {
    auto const chosen = choose<one_level<ue8m0, round_up>>({a});
    CHECK(chosen.to_grid(a, 0) <= 6);
    CHECK(chosen.to_grid(a, 0) > 3 * 0.9999999f);
  }
}

TEST_CASE("Scale/PowerOfTwo.EvenLosesAtMostHalfAStep") {
  for (float const a : spread_of_magnitudes(20000, 5, -100, 100)) {
    float const t = choose<one_level<ue8m0, ocp_even>>({a}).to_grid(a, 0);
    CHECK(t >= 3.5f);
    CHECK(t < 7);
  }
}

TEST_CASE("Scale/PowerOfTwo.ThreeQuartersNeverClips") {
  using scale = one_level<ue8m0, floor_three_quarters>;
  for (float const a : spread_of_magnitudes(20000, 5, -100, 128)) {
    float const t = choose<scale>({a}).to_grid(a, 0);
    CHECK(t >= 3);
    CHECK(t < 6);
  }
  CHECK(scale::outer<e2m1>(123).encode == 0.75f);
  CHECK(scale::outer<e2m1>(123).decode == 4.0f / 3.0f);
}

TEST_CASE("Scale/PowerOfTwo.CastRoundsTowardZeroOrUp") {
  floats const x{0,    0x1p-128f, 0x1p-127f, 1.5f * 0x1p-127f, 0.5f, 1,
                 1.5f, 3,         0x1p127f,  0x1.8p127f,       inf,  oracle::float_nan};
  std::vector<int> toward_zero_bytes;
  std::vector<int> up;
  std::vector<int> up_or_nan;
  for (float const v : x) {
    toward_zero_bytes.push_back(ue8m0::encode<toward_zero>(v));
    up.push_back(ue8m0::encode<away_from_zero>(v));
    up_or_nan.push_back(ue8m0::encode<away_from_zero, overflow::special>(v));
  }
  CHECK(toward_zero_bytes == row{0, 0, 0, 0, 0x7E, 0x7F, 0x7F, 0x80, 0xFE, 0xFE, 0xFE, 0xFF});
  CHECK(up == row{0, 0, 0, 1, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFE, 0xFE, 0xFF});
  CHECK(up_or_nan == row{0, 0, 0, 1, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF, 0xFF, 0xFF});
}
