// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Formats that the library does not name, each made in one line.

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

namespace {

using e3m0 = minifloat<3, 0>;                                  // powers of two in four bits
using ue1m3 = minifloat<1, 3, specials::none, false>;          // sixteen even steps, no sign
using e3m4 = minifloat<3, 4, specials::nan>;                   // a scale format of 2505.19115
using ue6m2 = minifloat<6, 2, specials::none, false>;          // HiF4's base scale
using e4m3_bias_8 = minifloat<4, 3, specials::none, true, 8>;  // a bias of its own
using half_of_fp16 = minifloat<5, 1, specials::ieee>;
using int3 = twos_complement<3, -3>;
using int8 = twos_complement<8, -128>;

oracle::format by_fields(int e, int m, int bias, bool has_sign) {
  return oracle::finite_format("a user's", e + m + (has_sign ? 1 : 0), m,
                               oracle::values_by_fields(e, m, bias, has_sign));
}

/// Codes from `first` up, of either sign, mean NaN, and the first one infinity if it is asked for.
oracle::format with_specials_from(unsigned first, bool has_infinity, int e, int m, int bias) {
  std::vector<long double> values = oracle::values_by_fields(e, m, bias, true);
  unsigned const half = 1u << (e + m);
  long double const beyond = values[first];
  for (unsigned code = first; code < half; ++code) {
    bool const is_infinity = has_infinity && code == first;
    values[code] = is_infinity ? oracle::infinity : oracle::not_a_number;
    values[code + half] = is_infinity ? -oracle::infinity : oracle::not_a_number;
  }
  return oracle::with_specials(oracle::finite_format("a user's", e + m + 1, m, values), half - 1,
                               first, beyond);
}

oracle::format integers(int bits, int low) {
  int const half = 1 << (bits - 1);
  std::vector<long double> values;
  for (int code = 0; code < 2 * half; ++code)
    values.push_back(code < half ? code : code - 2 * half);
  oracle::format f = oracle::finite_format("a user's", bits, bits - 2, values);
  while (f.negative.back().value > -low) f.negative.pop_back();
  return f;
}

template <class F>
void check_against(oracle::format const& f) {
  CHECK(F::max == f.max());
  CHECK(F::min_subnormal == f.positive.at(1).value);
  for (unsigned code = 0; code < f.values.size(); ++code)
    if (std::isfinite(f.values[code])) CHECK(F::decode(code) == f.values[code]);
  CHECK(casts_that_differ<F>(critical_points<float>(f), f) == "");
  CHECK(casts_that_differ<F>(critical_points<double>(f), f) == "");
  CHECK(casts_that_differ<F>(special_inputs<float>(), f) == "");
  CHECK(casts_that_differ<F>(inputs::normal(2000, 1, F::max / 3), f) == "");
}

}  // namespace

static_assert(element_format<e3m0> && element_format<ue1m3> && element_format<int3>);
// A scale format marks a poisoned block with its NaN.
static_assert(scale_format<e3m4> && !scale_format<ue6m2>);
static_assert(sizeof(e3m0) == 1 && e3m0::max == 16 && ue6m2::bits == 8 && int8::max == 127);

TEST_CASE("Format/User.PowersOfTwo") { check_against<e3m0>(by_fields(3, 0, 3, true)); }
TEST_CASE("Format/User.EvenStepsWithoutSign") { check_against<ue1m3>(by_fields(1, 3, 1, false)); }
TEST_CASE("Format/User.WideUnsignedScale") { check_against<ue6m2>(by_fields(6, 2, 31, false)); }
TEST_CASE("Format/User.OwnBias") { check_against<e4m3_bias_8>(by_fields(4, 3, 8, true)); }
TEST_CASE("Format/User.NanOnly") { check_against<e3m4>(with_specials_from(0x7F, false, 3, 4, 3)); }
TEST_CASE("Format/User.InfinityAndNan") {
  check_against<half_of_fp16>(with_specials_from(0x3E, true, 5, 1, 15));
}
TEST_CASE("Format/User.Integers") {
  check_against<int3>(integers(3, -3));
  check_against<int8>(integers(8, -128));
}
