// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What a program can know of a format when it is compiled.

#include <type_traits>

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

namespace {

/// The numbers that each specification states.
struct facts {
  int bits;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  float max;
  float min_normal;
  float min_subnormal;
  float epsilon;
  int min_exponent;
  int max_exponent;
  bool has_nan;
  bool has_infinity;
  bool is_signed;
  unsigned max_code;
  bool operator==(facts const&) const = default;
};

template <class F>
constexpr facts facts_of() {
  return {F::bits,       F::exponent_bits, F::mantissa_bits, F::bias,         F::max,
          F::min_normal, F::min_subnormal, F::epsilon,       F::min_exponent, F::max_exponent,
          F::has_nan,    F::has_infinity,  F::is_signed,     F::max_code};
}

template <class F>
constexpr bool is_one_byte =
    sizeof(F) == 1 &&
    std::is_trivially_copyable_v<F>&& std::is_trivially_default_constructible_v<F>;

}  // namespace

static_assert(facts_of<e2m1>() == facts{4, 2, 1, 1, 6, 1, .5f, .5f, 0, 2, false, false, true, 7});
static_assert(facts_of<e1m2>() ==
              facts{4, 1, 2, 1, 1.75f, 1, .25f, .25f, 0, 0, false, false, true, 7});
static_assert(facts_of<e2m3>() ==
              facts{6, 2, 3, 1, 7.5f, 1, .125f, .125f, 0, 2, false, false, true, 31});
static_assert(facts_of<e3m2>() ==
              facts{6, 3, 2, 3, 28, .25f, .0625f, .25f, -2, 4, false, false, true, 31});
static_assert(facts_of<e4m3>() ==
              facts{8, 4, 3, 7, 448, 0x1p-6f, 0x1p-9f, .125f, -6, 8, true, false, true, 0x7E});
static_assert(facts_of<e5m2>() ==
              facts{8, 5, 2, 15, 57344, 0x1p-14f, 0x1p-16f, .25f, -14, 15, true, true, true, 0x7B});
static_assert(facts_of<ue5m3>() == facts{8, 5, 3, 15, 61440, 0x1p-14f, 0x1p-17f, .125f, -14, 15,
                                         true, true, false, 0xF7});

static_assert(e4m3::nan == 0x7F && e5m2::nan == 0x7F && e5m2::infinity == 0x7C);
static_assert(ue5m3::nan == 0xFF && ue5m3::infinity == 0xF8);
static_assert(ue8m0::bits == 8 && ue8m0::max == 0x1p127f && ue8m0::nan == 0xFF);
static_assert(int4::bits == 4 && int4::max == 7 && int4::low == -7 && int4::high == 7);
static_assert(int4_full::max == 7 && int4_full::low == -8 && int4_full::min_subnormal == 1);
static_assert(fp32::bits == 32 && fp32::max == 0x1.fffffep127f && fp32::encode(.1f) == .1f);

static_assert(is_one_byte<e2m1> && is_one_byte<e1m2> && is_one_byte<int4> &&
              is_one_byte<int4_full>);
static_assert(is_one_byte<e2m3> && is_one_byte<e3m2> && is_one_byte<e4m3> && is_one_byte<e5m2>);
static_assert(is_one_byte<ue5m3>);
static_assert(sizeof(fp16) == 2 && sizeof(bf16) == 2 && sizeof(fp32::storage) == 4);

static_assert(element_format<e2m1> && element_format<e1m2> && element_format<int4> &&
              element_format<int4_full> && element_format<e2m3> && element_format<e3m2> &&
              element_format<e4m3> && element_format<e5m2>);
static_assert(scale_format<e4m3> && scale_format<ue8m0> && scale_format<fp32> &&
              scale_format<ue5m3> && scale_format<e5m2>);
static_assert(!element_format<float> && !element_format<ue8m0> && !element_format<fp32>);
static_assert(!scale_format<float> && !scale_format<int4>);

// Casts in constant expressions: every source, rounding and direction.
static_assert(e2m1::encode(2.5f) == 4 && e2m1::encode(2.5) == 4 && e2m1::encode(-0.f) == 8);
static_assert(e2m1::encode<ties_away>(2.5f) == 5 && e2m1::encode<toward_zero>(2.9) == 4);
static_assert(e2m1::encode<away_from_zero>(2.1f) == 5 && e2m1::encode_finite(2.6f) == 5u);
static_assert(e2m1::encode<stochastic<8>>(2.5f, 128) == 5);
static_assert(e2m1::encode<stochastic<8>>(2.5f, 127) == 4);
static_assert(e4m3::encode<nearest_even, overflow::special>(465.f) == 0x7F);
static_assert(int4::encode(-7.5f) == 9 && int4_full::encode(-7.5) == 8);
static_assert(ue8m0::encode<away_from_zero>(1.25f) == 128 && ue8m0::inverse(254) == 0x1p-127f);
static_assert(e2m1::decode(7) == 6 && e4m3::decode(0x7E) == 448 && int4::decode(9) == -7);
static_assert(ue8m0::decode(0) == 0x1p-127f);

// As values.
static_assert(e2m1(2.5f).code() == 4 && e2m1(2.6).code() == 5 && int4(-3.f).code() == 0xD);
static_assert(float(e2m1::from_code(0xF)) == -6 && float(int4::from_code(0xF)) == -1);
static_assert(float(fp16(.1f)) == 0x1.998p-4f && float(bf16(.1f)) == 0x1.9ap-4f);
static_assert(!std::is_convertible_v<float, e2m1> && !std::is_convertible_v<e2m1, float>);

TEMPLATE_TEST_CASE("Format/Facts.LimitsAreTheOracles", "", QUADRILLE_ALL_FORMATS) {
  oracle::format const& f = twin<TestType>();
  CHECK(TestType::max == f.max());
  CHECK(TestType::bits == f.bits);
  if constexpr (element_format<TestType>) {
    CHECK(TestType::min_subnormal == f.positive.at(1).value);
    CHECK(TestType::mantissa_bits == f.mantissa_bits);
  }
}

TEMPLATE_TEST_CASE("Format/Facts.MinifloatLimitsHaveTheirCodes", "", QUADRILLE_MINIFLOATS) {
  CHECK(TestType::encode(TestType::max) == TestType::max_code);
  CHECK(TestType::encode(TestType::min_subnormal) == 1);
  CHECK(TestType::encode(TestType::min_normal) == 1u << TestType::mantissa_bits);
  CHECK(TestType::decode(TestType::encode(1.f + TestType::epsilon)) == 1.f + TestType::epsilon);
  CHECK(std::ilogb(TestType::max) == TestType::max_exponent);
  CHECK(std::ilogb(TestType::min_normal) == TestType::min_exponent);
}
