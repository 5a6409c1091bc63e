// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The outer scale: ordinary, zero, infinite and tiny amax, and the bounds that recipes aim at.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;
using nvfp4_scale = two_level<e4m3>;
constexpr float float_max = std::numeric_limits<float>::max();

struct capped : amax_rule {
  static constexpr float bound = 256;
};
}  // namespace

TEST_CASE("Scale/Outer.OrdinaryAmax") {
  CHECK(nvfp4_scale::outer<e2m1>(2688).encode == 1);
  CHECK(nvfp4_scale::outer<e2m1>(3.5f).encode == 768);
  CHECK(nvfp4_scale::outer<e2m1>(15.5f).encode == std::bit_cast<float>(0x432D6B5Bu));
  CHECK(nvfp4_scale::outer<e2m1>(12).decode == oracle::div(1, 224));
}

TEST_CASE("Scale/Outer.ZeroAmaxGivesOne") {
  outer_scale const o = nvfp4_scale::outer<e2m1>(0);
  CHECK(o.encode == 1);
  CHECK(o.decode == 1);
  CHECK(stored<nvfp4_scale>(0, o) == 0);
  CHECK(codes<nvfp4_scale>({0.0f, -0.0f}, o) == std::vector<unsigned>{0, 8});
  CHECK(decoded<nvfp4_scale>({0.0f, -0.0f}, o) == floats{0, 0});
}

TEST_CASE("Scale/Outer.InfiniteAmaxGivesOne") {
  CHECK(nvfp4_scale::outer<e2m1>(inf).encode == 1);
  CHECK(nvfp4_scale::outer<e2m1>(inf).decode == 1);
}

TEST_CASE("Scale/Outer.TinyAmaxIsDecodedWithTheEncodeScale") {
  outer_scale const o = nvfp4_scale::outer<e2m1>(1e-36f);
  CHECK(o.encode == float_max);
  CHECK(o.decode == oracle::div(1, float_max));
  floats const x{1e-36f, -0.5e-36f, 0.2e-36f};
  CHECK(stored<nvfp4_scale>(1e-36f, o) == 0x66);
  CHECK(codes<nvfp4_scale>(x, o) == std::vector<unsigned>{7, 0xD, 2});
  floats const y = decoded<nvfp4_scale>(x, o);  // not an eighth of x
  CHECK(y[0] == Approx(0.98741e-36).epsilon(1e-4));
  CHECK(y[1] == Approx(-0.49371e-36).epsilon(1e-4));
  CHECK(y[2] == Approx(0.16457e-36).epsilon(1e-4));
}

TEST_CASE("Scale/Outer.BoundsThatTheTensorMaximumMapsTo") {
  CHECK(two_level<e4m3, capped>::outer<e2m1>(6).encode == 256);
  CHECK((two_level<e4m3, four_over_six<>>::outer<e2m1>(6).encode) == 256);
  CHECK(two_level<e4m3, fp8_exact>::outer<e2m1>(6).encode == 384);
  CHECK(two_level<e4m3, eden<16>>::outer<e2m1>(6).decode == Approx(0.00386001).epsilon(2e-6));
  CHECK(stored<two_level<e4m3, capped>>(6, two_level<e4m3, capped>::outer<e2m1>(6)) ==
        e4m3::encode(256.0f));
  CHECK(nvfp4_scale::outer<e1m2>(1.75f).encode == 448);
  CHECK(nvfp4_scale::outer<int4>(7).encode == 448);
}

TEST_CASE("Scale/Outer.TensorMaximumReachesTheBound") {
  for (float const a : spread_of_magnitudes(5000, 11, -100, 120)) {
    CHECK(stored<nvfp4_scale>(a, nvfp4_scale::outer<e2m1>(a)) == 0x7E);
    CHECK(stored<two_level<e4m3, capped>>(a, two_level<e4m3, capped>::outer<e2m1>(a)) == 0x78);
  }
}

TEST_CASE("Scale/Outer.OneLevelHasNone") {
  CHECK(one_level<ue8m0>::outer<e2m1>(1234).encode == 1);
  CHECK(one_level<fp32>::outer<e2m1>(1234).decode == 1);
  CHECK(one_level<e4m3>::scope == outer_scope::none);
  CHECK(nvfp4_scale::scope == outer_scope::tensor);
  CHECK(two_level<e4m3, amax_rule, outer_scope::row>::scope == outer_scope::row);
}

TEST_CASE("Scale/Outer.HeadroomKeepsEveryElementInside") {
  using scale = two_level<e4m3, headroom_rule>;
  outer_scale const o = scale::outer<e2m1>(1000);
  CHECK(o.encode == oracle::div(oracle::mul(448, oracle::mul(6, oracle::div(16, 17))), 1000));
  for (float const a : spread_of_magnitudes(20000, 2, -3, 9))  // normal E4M3 scales
    CHECK(choose<scale>({a}, o).to_grid(a, 0) <= 6.0f * (1 + 0x1p-22f));
}

// Without headroom the worst rounding of a normal scale clips by 17/16.
TEST_CASE("Scale/Outer.PlainRuleClipsBySeventeenSixteenths") {
  floats const x{6.375f, -6.375f, 3, 1};
  CHECK(stored<nvfp4_scale>(6.375f) == 0x38);
  CHECK(decoded<nvfp4_scale>(x) == floats{6, -6, 3, 1});
}
