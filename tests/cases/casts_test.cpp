// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Bare casts: rounding, saturation, special values, subnormals, the sign of zero.

#include "cases.hpp"

#include <cmath>
#include <limits>

using namespace cases;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

template <class F>
void require_round_trip(unsigned code_count) {
  for (unsigned code = 0; code < code_count; ++code) {
    float const value = F::decode(code);
    if (!std::isfinite(value)) continue;
    CAPTURE(code, value);
    REQUIRE(F::encode(value) == code);
    REQUIRE(F::encode(double(value)) == code);
  }
}

template <class F, class Rounding>
void require_nan_and_infinity_ignore_random_bits(unsigned max_code, unsigned nan_code) {
  std::vector<u32> words{0xFFFFFFFFu};
  for (u32 r = 0; r < 256; ++r) words.push_back(r);
  unsigned const sign = F::bits == 8 ? 0x80u : 8u;
  for (u32 const r : words) {
    REQUIRE(F::template encode<Rounding>(inf, r) == max_code);
    REQUIRE(F::template encode<Rounding>(-inf, r) == (max_code | sign));
    for (u32 const nan : {0x7FC00000u, 0x7FFF8C22u, 0xFFFFFFFFu})
      REQUIRE(F::template encode<Rounding>(from_bits(nan), r) == nan_code);
  }
}

}  // namespace

TEST_CASE("RND-01 ties go to the even code") {
  std::vector<float> const ties{0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
  CHECK(cast<e2m1>(ties) == list{0, 2, 2, 4, 4, 6, 6});
  std::vector<float> negative;
  for (float const x : ties) negative.push_back(-x);
  CHECK(cast<e2m1>(negative) == list{0x8, 0xA, 0xA, 0xC, 0xC, 0xE, 0xE});
}

TEST_CASE("RND-01 sibling: the other tie rules are named roundings") {
  list away, truncated;
  for (float const x : {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f}) {
    away.push_back(e2m1::encode<ties_away>(x));
    truncated.push_back(e2m1::encode<toward_zero>(x));
  }
  CHECK(away == list{1, 2, 3, 4, 5, 6, 7});
  CHECK(truncated == list{0, 1, 2, 3, 4, 5, 6});
}

TEST_CASE("RND-03 E4M3 rounds to nearest even with all dropped bits") {
  CHECK(cast<e4m3>(std::vector{4.25f, 4.75f, 17.f, 19.f, 0.0029296875f}) ==
        list{0x48, 0x4A, 0x58, 0x5A, 0x02});
}

TEST_CASE("DBL-01 a double is rounded once") {
  CHECK(e4m3::encode(-431.99999999999994) == 0xFD);
  CHECK(e4m3::encode(float(-431.99999999999994)) ==
        0xFE);  // the fault, when the user narrows first
}

TEST_CASE("DBL-01 sibling: doubles next to the ties of every format") {
  double const below = std::nextafter(2.5, 0.0);
  double const above = std::nextafter(3.5, 0.0);
  CHECK(e2m1::encode(below) == 4);
  CHECK(e2m1::encode(std::nextafter(2.5, 9.0)) == 5);
  CHECK(e2m1::encode(above) == 5);
  CHECK(int4::encode(below) == 2);
  CHECK(int4::encode(std::nextafter(2.5, 9.0)) == 3);
  CHECK(e1m2::encode(std::nextafter(0.375, 9.0)) == 2);
  CHECK(e1m2::encode(std::nextafter(0.375, 0.0)) == 1);
}

TEST_CASE("DBL-03 a float reaches E4M3 without a stop in BF16") {
  float const x = from_bits(0x3FA88000u);
  REQUIRE(x == 1.31640625f);
  CHECK(e4m3::encode(x) == 0x3B);
  CHECK(e4m3::encode(float(bf16(x))) == 0x3A);  // the fault
}

TEST_CASE("DBL-03 sibling: the block path casts as the scalar one does") {
  struct unscaled_fp8 : unscaled {
    using element = e4m3;
  };
  CHECK(codes(quantize<unscaled_fp8>(host, matrix<>(3, 16, 1.31640625f).ref()), 2) ==
        list(16, 0x3B));
}

TEST_CASE("SAT-01 overflow saturates or becomes NaN, and rounding comes first") {
  list saturated, special;
  for (float const x : {448.f, 464.f, from_bits(0x43E80001u), 465.f, 1000.f, -1000.f}) {
    saturated.push_back(e4m3::encode(x));
    special.push_back(e4m3::encode<nearest_even, overflow::special>(x));
  }
  CHECK(saturated == list{0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE});
  CHECK(special == list{0x7E, 0x7E, 0x7F, 0x7F, 0x7F, 0xFF});
}

TEST_CASE("SAT-01 sibling: E5M2 overflows to infinity, and 61440 is its last midpoint") {
  CHECK(e5m2::encode<nearest_even, overflow::special>(61439.f) == 0x7B);
  CHECK(e5m2::encode<nearest_even, overflow::special>(61440.f) == 0x7C);
  CHECK(e5m2::encode<nearest_even, overflow::special>(-inf) == 0xFC);
  CHECK(e5m2::encode(inf) == 0x7B);
}

TEST_CASE("SAT-03 E2M1 ends on 6") {
  CHECK(cast<e2m1>(std::vector{5.0f, from_bits(0x40A00001u), 6.f, 6.99f, 7.f, 1e30f, inf, -inf}) ==
        list{6, 7, 7, 7, 7, 7, 7, 0xF});
}

TEST_CASE("NAN-01 E4M3 has two NaN codes and no infinity") {
  CHECK(e4m3::decode(0x7E) == 448.f);
  CHECK(std::isnan(e4m3::decode(0x7F)));
  CHECK(e4m3::decode(0xFE) == -448.f);
  CHECK(std::isnan(e4m3::decode(0xFF)));
  CHECK(bits(e4m3::decode(0x00)) == 0u);
  CHECK(bits(e4m3::decode(0x80)) == 0x80000000u);
  CHECK(e4m3::decode(0x01) == 0.001953125f);
  CHECK(e4m3::decode(0x08) == 0.015625f);
  int nans = 0;
  for (u32 code = 0; code < 256; ++code) nans += !std::isfinite(e4m3::decode(code));
  CHECK(nans == 2);
}

TEST_CASE("NAN-05 random bits do not touch NaN and infinity; NaN is E4M3 7F and E2M1 7") {
  require_nan_and_infinity_ignore_random_bits<e4m3, stochastic<8>>(0x7E, 0x7F);
  require_nan_and_infinity_ignore_random_bits<e2m1, stochastic<8>>(7, 7);
}

TEST_CASE("NAN-05 sibling: any number of random bits, E5M2 and E1M2") {
  require_nan_and_infinity_ignore_random_bits<e4m3, stochastic<24>>(0x7E, 0x7F);
  require_nan_and_infinity_ignore_random_bits<e5m2, stochastic<16>>(0x7B, 0x7F);
  require_nan_and_infinity_ignore_random_bits<e1m2, stochastic<1>>(7, 7);
}

TEST_CASE("SUB-01 encoding a decoded code is the identity") {
  require_round_trip<e2m1>(16);
  require_round_trip<e4m3>(256);
  CHECK(e2m1::encode(from_bits(0x3E800001u)) == 1);
  CHECK(e4m3::encode(3 * 0x1p-9f) == 0x03);
}

TEST_CASE("SUB-01 sibling: every other format") {
  require_round_trip<e1m2>(16);
  require_round_trip<e2m3>(64);
  require_round_trip<e3m2>(64);
  require_round_trip<e5m2>(256);
  require_round_trip<ue5m3>(256);
  require_round_trip<int4_full>(16);
  for (unsigned code = 0; code < 255; ++code) REQUIRE(ue8m0::encode(ue8m0::decode(code)) == code);
}

TEST_CASE("SUB-03 the sixteen values of E2M1") {
  float const magnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (u32 code = 0; code < 16; ++code) {
    float const expected = code < 8 ? magnitudes[code] : -magnitudes[code - 8];
    CHECK(bits(e2m1::decode(code)) == bits(expected));
  }
}

TEST_CASE("SUB-05 below 1 the step of E2M1 stays a half") {
  CHECK(cast<e2m1>(std::vector{0.6f, 0.3f, 0.2f, 0.75f, 0.76f}) == list{1, 1, 0, 2, 2});
}

TEST_CASE("SGN-01 a cast keeps the sign of zero") {
  std::vector<float> const tiny{-0.f, -0x1p-11f};
  list from_fp16, from_bf16;
  for (float const x : tiny) {
    from_fp16.push_back(e4m3::encode(float(fp16(x))));
    from_bf16.push_back(e4m3::encode(float(bf16(x))));
  }
  CHECK(cast<e4m3>(tiny) == list{0x80, 0x80});
  CHECK(from_fp16 == list{0x80, 0x80});
  CHECK(from_bf16 == list{0x80, 0x80});
  CHECK(cast<e2m1>(std::vector{-0.f, -0.1f, -0.25f, 0.1f}) == list{8, 8, 8, 0});
}

TEST_CASE("SGN-01 sibling: a block of negative zeros keeps them, a decoded one too") {
  auto const q = quantize<nvfp4>(host, matrix<>(1, 16, -0.f).ref());
  CHECK(codes(q) == list(16, 8));
  CHECK(bits(decoded(q)(0, 0)) == 0x80000000u);
}

TEST_CASE("PAK-06 E1M2 and INT4 are one grid in two encodings") {
  std::vector<float> const steps{2.5f, 3.5f, -2.5f, 7.5f, -7.6f, -8.4f, 9.f, -0.f};
  std::vector<float> quarters;
  for (float const x : steps) quarters.push_back(x / 4);  // E1M2 of bias 1 has steps of 1/4
  CHECK(cast<e1m2>(quarters) == list{2, 4, 0xA, 7, 0xF, 0xF, 7, 8});
  CHECK(cast<int4_full>(steps) == list{2, 4, 0xE, 7, 8, 8, 7, 0});
  CHECK(cast<int4>(steps) == list{2, 4, 0xE, 7, 9, 9, 7, 0});
}

TEST_CASE("PAK-06 sibling: bias 0 has steps of a half") {
  using e1m2_bias0 = minifloat<1, 2, specials::none, true, 0>;
  CHECK(e1m2_bias0::decode(7) == 3.5f);
  CHECK(cast<e1m2_bias0>(std::vector{1.25f, 1.75f, -1.25f, 9.f}) == list{2, 4, 0xA, 7});
}

TEST_CASE("SCL-04 a cast to UE8M0 truncates or rounds up, and saturates or overflows to NaN") {
  float const inputs[] = {1.25f,
                          3.0f,
                          from_bits(0x00400000u),
                          from_bits(0x00400001u),
                          from_bits(1u),
                          0.f,
                          std::numeric_limits<float>::max(),
                          inf,
                          std::numeric_limits<float>::quiet_NaN()};
  list up, down, up_special;
  for (float const x : inputs) {
    up.push_back(ue8m0::encode<away_from_zero>(x));
    down.push_back(ue8m0::encode<toward_zero>(x));
    up_special.push_back(ue8m0::encode<away_from_zero, overflow::special>(x));
  }
  CHECK(up == list{128, 129, 0, 1, 0, 0, 254, 254, 255});
  CHECK(down == list{127, 128, 0, 0, 0, 0, 254, 254, 255});
  CHECK(up_special == list{128, 129, 0, 1, 0, 0, 255, 255, 255});
  CHECK(ue8m0::encode<toward_zero>(-3.0f) == 128);  // the magnitude, as CUDA does
}

TEST_CASE("SRD-03 stochastic rounding adds r / 2^k: biased toward zero, exact values never move") {
  int ups_of_26 = 0;
  int ups_of_30 = 0;
  for (u32 r = 0; r < 4; ++r) {
    ups_of_26 += e2m1::encode<stochastic<2>>(2.6f, r) == 5;
    ups_of_30 += e2m1::encode<stochastic<2>>(3.0f, r) != 5;
  }
  CHECK(ups_of_26 == 2);
  CHECK(ups_of_30 == 0);
}

TEST_CASE("SRD-03 sibling: floor(256 f) of the 256 words of 8 bits go up") {
  int ups = 0;
  for (u32 r = 0; r < 256; ++r) ups += e2m1::encode<stochastic<8>>(4.5f, r) == 7;
  CHECK(ups == 64);
}
