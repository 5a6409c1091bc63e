// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Block scales that round to zero: kept, one, or the smallest positive value.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;

struct to_one : amax_rule {
  static constexpr zero_scale zero = zero_scale::one;
};
struct to_smallest : amax_rule {
  static constexpr zero_scale zero = zero_scale::smallest;
};
using kept = two_level<e4m3>;
using one = two_level<e4m3, to_one>;
using smallest = two_level<e4m3, to_smallest>;
constexpr float flushed = 6 * 0x1p-10f;  // its target 2^-10 is a tie that goes to zero
}  // namespace

TEST_CASE("Scale/Zero.KeptScaleSaturatesCodesAndDecodesToZero") {
  CHECK(stored<kept>(flushed) == 0);
  CHECK(codes<kept>({flushed, -flushed, 0}) == std::vector<unsigned>{7, 0xF, 0});
  CHECK(decoded<kept>({flushed, -flushed, 0}) == floats{0, 0, 0});
}

TEST_CASE("Scale/Zero.SmallestScaleThatIsNotFlushed") {
  float const a = flushed * (1 + 0x1p-22f);
  CHECK(stored<kept>(a) == 1);
  CHECK(choose<kept>({a}).to_grid(a, 0) == 3.0000007f);
  CHECK(codes<kept>({a, -a}) == std::vector<unsigned>{5, 0xD});
  CHECK(decoded<kept>({a, -a}) == floats{0.005859375f, -0.005859375f});
}

TEST_CASE("Scale/Zero.One") {
  CHECK(stored<one>(0) == 0x38);
  CHECK(stored<one>(flushed) == 0x38);
  CHECK(codes<one>({flushed, -flushed}) == std::vector<unsigned>{0, 8});
  CHECK(stored<one>(6) == 0x38);
  CHECK(stored<one>(0.5f) == e4m3::encode(0.5f / 6));
}

TEST_CASE("Scale/Zero.Smallest") {
  CHECK(stored<smallest>(0) == 1);
  CHECK(stored<smallest>(flushed) == 1);
  CHECK(decoded<smallest>({flushed, -flushed}) == floats{3 * 0x1p-9f, -3 * 0x1p-9f});
  CHECK(stored<smallest>(6) == 0x38);
}

TEST_CASE("Scale/Zero.EdenUsesOne") {
  CHECK(stored<two_level<e4m3, eden<16>>>(0) == 0x38);
  CHECK(stored<two_level<e4m3, eden<16>>>(1e-9f) == 0x38);
}

TEST_CASE("Scale/Zero.DivideOrderSaturatesToo") {
  using divided = two_level<e4m3, divide_rule>;
  CHECK(stored<divided>(below(flushed)) == 0);
  CHECK(codes<divided>({below(flushed), -1e-9f, 0}) == std::vector<unsigned>{7, 0xF, 0});
  CHECK(decoded<divided>({below(flushed), -1e-9f, 0}) == floats{0, 0, 0});
}

TEST_CASE("Scale/Zero.Fp32ScaleOfAZeroBlock") {
  CHECK(choose<one_level<fp32>, e1m2>({0, -0.0f}).stored == 0);
  CHECK(codes<one_level<fp32>, e1m2>({0, -0.0f}) == std::vector<unsigned>{0, 8});
  CHECK(decoded<one_level<fp32, divide_rule>, int4>({0, -0.0f}) == floats{0, 0});
}
