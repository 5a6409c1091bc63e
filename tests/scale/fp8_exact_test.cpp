// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scales under which every element is exact in E4M3.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;
using scale = two_level<e4m3, fp8_exact>;

bool has_exact_significand(float s) {
  int exponent = 0;
  float const m = 2 * std::frexp(s, &exponent);
  return m == 1 || m == 1.25f || m == 1.5f;
}

/// Whether x times some power of two is an E4M3 value.
bool is_e4m3_up_to_a_power_of_two(float x) {
  if (x == 0) return true;
  int exponent = 0;
  float const m = std::frexp(std::fabs(x), &exponent);  // 4 significant bits fit
  return m * 16 == std::floor(m * 16);
}

floats block(u64 seed) { return inputs::laplace(16, seed, std::ldexp(1.0f, int(seed % 12) - 8)); }
}  // namespace

TEST_CASE("Scale/Fp8Exact.ChoosesAllowedSignificandsOnly") {
  outer_scale const o = scale::outer<e2m1>(200);
  for (u64 seed = 0; seed < 3000; ++seed) {
    u8 const code = u8(choose<scale>(block(seed), o).stored);
    float const s = float(oracle::decode(oracle::e4m3(), code));
    REQUIRE(code != 0);
    CHECK(has_exact_significand(s));
    CHECK(s <= 384);
    for (oracle::magnitude const& m : oracle::e2m1().positive)
      CHECK(is_e4m3_up_to_a_power_of_two(float(m.value) * s));
  }
}

TEST_CASE("Scale/Fp8Exact.SameCandidateAsTheOracle") {
  for (u64 seed = 0; seed < 1000; ++seed) {
    floats const x = block(seed);
    float const amax = oracle::amax_finite(x) * float(1 + seed % 300);
    outer_scale const o = scale::outer<e2m1>(amax);
    oracle::block const want = oracle::quantize_fp8_exact(x, amax).chosen();
    CHECK(unsigned(choose<scale>(x, o).stored) == want.scale_code);
    CHECK(codes<scale>(x, o) == want.codes);
  }
}

TEST_CASE("Scale/Fp8Exact.ExactBlocksStayExact") {
  floats const x{384 * 6, 384 * 3, -384, 192};
  CHECK(decoded<scale>(x) == x);
  floats const y{1.25f * 6, 1.25f * 4, 1.25f * -0.5f, 0};
  CHECK(decoded<scale>(y) == y);
}

TEST_CASE("Scale/Fp8Exact.ZeroAndUnderflow") {
  CHECK(stored<scale>(0) == 0);
  CHECK(stored<scale>(1e-30f) == 0);
  CHECK(decoded<scale>({1e-30f, -1e-30f}) == floats{0, 0});
}

// With a calibrated amax below the tensor's, larger elements saturate; they must not vanish.
TEST_CASE("Scale/Fp8Exact.BlocksBeyondTheRangeSaturate") {
  CHECK(decoded<scale>({6 * 5000.0f, 3}) == floats{6 * 384.0f, 0});
}

// Squared errors beyond FP32 must not turn a block into zeros.
TEST_CASE("Scale/Fp8Exact.ErrorsThatOverflowKeepTheBlock") {
  floats x = inputs::normal(16, 4, 0x1p100f);
  outer_scale const o = scale::outer<e2m1>(oracle::amax_finite(x));
  CHECK(choose<scale>(x, o).stored != 0);
}
