// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// QuEST: a power of two from the standard deviation of the block.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;
using scale = one_level<ue8m0, quest>;

floats alternating(std::size_t n, float value) {
  floats x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(i % 2 == 0 ? value : -value);
  return x;
}
int exponent(floats const& x) { return int(choose<scale>(x).stored) - 127; }
}  // namespace

TEST_CASE("Scale/Quest.AlternatingOnesClipAtOneAndAHalf") {
  floats const x = alternating(32, 1);
  CHECK(exponent(x) == -2);
  CHECK(decoded<scale>(x) == x);
}

TEST_CASE("Scale/Quest.AlternatingTwoPointOne") {
  CHECK(exponent(alternating(32, 2.1f)) == 0);
  CHECK(decoded<scale>(alternating(32, 2.1f)) == alternating(32, 2));
}

TEST_CASE("Scale/Quest.OutliersAreClipped") {
  floats x = alternating(30, 1);
  x.insert(x.end(), {4, -4});
  CHECK(exponent(x) == -1);
  floats want = alternating(30, 1);
  want.insert(want.end(), {3, -3});
  CHECK(decoded<scale>(x) == want);
}

TEST_CASE("Scale/Quest.StepsAtPowersOfTwoOfTheClip") {
  for (int k = -20; k <= 40; ++k) {
    float const step = std::ldexp(2.0530518f, k);
    CHECK(exponent(alternating(32, step * 1.00001f)) == k);
    if (k > -10) CHECK(exponent(alternating(32, step * 0.99999f)) == k - 1);  // 1e-8 is added
  }
}

TEST_CASE("Scale/Quest.SmallBlocksStopAtTheAddedConstant") {
  CHECK(exponent(floats(32, 0.0f)) == -27);  // 2^-27 <= 1e-8 < 2^-26
  CHECK(exponent(alternating(32, 1e-12f)) == -27);
  CHECK(exponent(floats(32, 5.0f)) == -27);  // no spread
}

TEST_CASE("Scale/Quest.OracleOnNormalBlocks") {
  int compared = 0;
  for (u64 seed = 0; seed < 2000; ++seed) {
    floats const x = inputs::normal(32, seed, std::ldexp(1.0f, int(seed % 40) - 20));
    long double const log2 = oracle::quest_log2(x);
    if (std::fabs(log2 - std::round(log2)) < 1e-4L) continue;  // FP32 may floor to either side
    ++compared;
    CHECK(exponent(x) == int(std::floor(log2)));
  }
  CHECK(compared > 1950);
}

// The moments must not overflow where the scale itself would be an ordinary number.
TEST_CASE("Scale/Quest.LargeBlocksScaleLikeOthers") {
  for (int k : {0, 20, 50, 62, 64, 80, 100})
    CHECK(exponent(alternating(32, std::ldexp(1.0f, k))) == k - 2);
}
