// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NaN, infinity, the sign of zero, and double sources.

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

namespace {

float const inf = std::numeric_limits<float>::infinity();

}  // namespace

TEMPLATE_TEST_CASE("Format/Specials.Float", "", QUADRILLE_ALL_FORMATS) {
  CHECK(casts_that_differ<TestType>(special_inputs<float>()) == "");
}

TEMPLATE_TEST_CASE("Format/Specials.Double", "", QUADRILLE_ALL_FORMATS) {
  if constexpr (takes_double<TestType>)
    CHECK(casts_that_differ<TestType>(special_inputs<double>()) == "");
}

TEST_CASE("Format/Specials.NanOfEitherSign") {
  for (float const x : {oracle::float_nan, -oracle::float_nan}) {
    CHECK(e2m1::encode(x) == 7);
    CHECK(e1m2::encode(x) == 7);
    CHECK(int4::encode(x) == 7);
    CHECK(e2m3::encode(x) == 0x1F);
    CHECK(e3m2::encode(x) == 0x1F);
    CHECK(e4m3::encode(x) == 0x7F);
    CHECK(e5m2::encode(x) == 0x7F);
    CHECK(ue5m3::encode(x) == 0xFF);
    CHECK(ue8m0::encode(x) == 0xFF);
  }
}

TEST_CASE("Format/Specials.EveryNanPatternIsNan") {
  for (u32 const bits : {0x7F800001u, 0x7FC00000u, 0x7FFF8C22u, 0x7FFFFFFFu, 0xFF800001u,
                         0xFFC00001u, 0xFFFFFFFFu}) {
    INFO(std::hex << bits);
    CHECK(e2m1::encode(std::bit_cast<float>(bits)) == 7);
    CHECK(e4m3::encode(std::bit_cast<float>(bits)) == 0x7F);
    CHECK(ue8m0::encode(std::bit_cast<float>(bits)) == 0xFF);
  }
}

TEST_CASE("Format/Specials.InfinitySaturatesOrOverflows") {
  CHECK(e2m1::encode(-inf) == 0xF);
  CHECK(int4::encode(-inf) == 9);
  CHECK(int4_full::encode(-inf) == 8);
  CHECK(e4m3::encode(inf) == 0x7E);
  CHECK(e4m3::encode<nearest_even, overflow::special>(inf) == 0x7F);
  CHECK(e4m3::encode<nearest_even, overflow::special>(-inf) == 0xFF);
  CHECK(e5m2::encode<toward_zero, overflow::special>(-inf) == 0xFC);
  CHECK(ue8m0::encode(-inf) == 254);
}

TEST_CASE("Format/Specials.SignOfZero (SGN-01)") {
  CHECK(e4m3::encode(-0.f) == 0x80);
  CHECK(e4m3::encode(-0x1p-11f) == 0x80);
  for (float const x : {-0.f, -0x1p-11f}) {
    CHECK(e4m3::encode(static_cast<float>(fp16(x))) == 0x80);
    CHECK(e4m3::encode(static_cast<float>(bf16(x))) == 0x80);
  }
  CHECK(e2m1::encode(-0.f) == 8);
  CHECK(e2m1::encode(-0.1f) == 8);
  CHECK(e2m1::encode(-.25f) == 8);
  CHECK(e2m1::encode(.1f) == 0);
  CHECK(int4::encode(-0.f) == 0);
  CHECK(ue5m3::encode(-0.f) == 0);
}

TEST_CASE("Format/Doubles.RoundOnce (DBL-01)") {
  double const x = -431.99999999999994;
  CHECK(e4m3::encode(x) == 0xFD);
  CHECK(e4m3::encode(static_cast<float>(x)) == 0xFE);
  CHECK(e4m3(x).code() == 0xFD);
  CHECK(e2m1::encode(std::nextafter(2.5, 3)) == 5);
  CHECK(e2m1::encode(std::nextafter(0.75, 0)) == 1);
  CHECK(int4::encode(std::nextafter(2.5, 3)) == 3);
  CHECK(int4(std::nextafter(-2.5, -3)).code() == 0xD);
}

TEST_CASE("Format/Doubles.TheSmallestStillCountAsNonzero") {
  for (double const x : {0x1p-140, 1e-100, 1e-300, std::numeric_limits<double>::denorm_min()}) {
    INFO(x);
    CHECK(e2m1::encode<away_from_zero>(x) == 1);
    CHECK(e4m3::encode<away_from_zero>(-x) == 0x81);
    CHECK(int4::encode<away_from_zero>(x) == 1);
    CHECK(int4::encode<away_from_zero>(-x) == 0xF);
  }
}

TEST_CASE("Format/Floats.RoundOnce (DBL-03)") {
  CHECK(e4m3::encode(1.31640625f) == 0x3B);
  CHECK(e4m3::encode_finite(1.31640625f) == 0x3B);
  CHECK(e4m3::encode(static_cast<float>(bf16(1.31640625f))) == 0x3A);
}
