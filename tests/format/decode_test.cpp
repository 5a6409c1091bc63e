// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the codes mean.

#include <bit>
#include <cmath>

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

namespace {

bool same_value(float a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

TEMPLATE_TEST_CASE("Format/Decode.EveryCodeHasItsValue", "", QUADRILLE_ALL_FORMATS) {
  oracle::format const& f = twin<TestType>();
  REQUIRE(f.values.size() == std::size_t(1) << TestType::bits);
  for (unsigned code = 0; code < f.values.size(); ++code) {
    INFO("code " << code << " decodes to " << TestType::decode(code));
    CHECK(same_value(TestType::decode(code), oracle::decode(f, code)));
  }
}

TEMPLATE_TEST_CASE("Format/Decode.EncodeUndoesIt", "", QUADRILLE_ALL_FORMATS) {
  oracle::format const& f = twin<TestType>();
  for (auto const* side : {&f.positive, &f.negative})
    for (oracle::magnitude const& m : *side) {
      float const value = TestType::decode(m.code);
      INFO("code " << m.code << ", value " << value);
      CHECK(TestType::encode(value) == m.code);
      CHECK(TestType::encode_finite(value) == m.code);
      for_each_rounding([&]<class R>(R, oracle::rounding const&, char const* name) {
        INFO(name);
        CHECK(TestType::template encode<R>(value) == m.code);
      });
    }
}

TEST_CASE("Format/Decode.E2m1 (SUB-03)") {
  float const positive[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6};
  for (unsigned code = 0; code < 8; ++code) {
    CHECK(same_value(e2m1::decode(code), positive[code]));
    CHECK(same_value(e2m1::decode(code + 8), -positive[code]));
  }
}

TEST_CASE("Format/Decode.E4m3HasTwoNans (NAN-01)") {
  int nans = 0;
  for (unsigned code = 0; code < 256; ++code) nans += std::isnan(e4m3::decode(code)) ? 1 : 0;
  CHECK(nans == 2);
  CHECK(std::isnan(e4m3::decode(0x7F)));
  CHECK(std::isnan(e4m3::decode(0xFF)));
  CHECK(e4m3::decode(0x7E) == 448);
  CHECK(e4m3::decode(0xFE) == -448);
  CHECK(same_value(e4m3::decode(0x00), 0.L));
  CHECK(same_value(e4m3::decode(0x80), -0.L));
  CHECK(e4m3::decode(0x01) == 0x1p-9f);
  CHECK(e4m3::decode(0x08) == 0x1p-6f);
}

TEST_CASE("Format/Decode.E4m3TimesE2m1IsExactInBf16 (SCL-06)") {
  for (unsigned scale = 0x01; scale <= 0x7E; ++scale)
    for (unsigned code = 0; code < 16; ++code) {
      float const product = e2m1::decode(code) * e4m3::decode(scale);
      CHECK(oracle::to_bf16(product) == product);
      CHECK((product == 0) == (code % 8 == 0));
    }
  CHECK(bf16(e2m1::decode(1) * e4m3::decode(1)).bits == 0x3A80);
  CHECK(bf16(e2m1::decode(7) * e4m3::decode(0x7E)).bits == 0x4528);
}

TEST_CASE("Format/Decode.Ue8m0InverseIsExact") {
  for (unsigned code = 0; code < 255; ++code)
    CHECK(ue8m0::inverse(code) == std::ldexp(1.f, 127 - static_cast<int>(code)));
  CHECK(std::bit_cast<u32>(ue8m0::inverse(254)) == 0x00400000u);
}
