// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Number formats as lists of values by code, and rounding into them by search.
///
/// Nothing here shares a method with the library: the values are typed or computed from the fields
/// of the specification, and a cast looks for the two neighbours of a value and measures distances
/// exactly. Specifications: OCP Microscaling Formats (MX) v1.0 and OCP 8-bit Floating Point v1.0;
/// casts of special values follow CUDA's headers (cuda_fp4.h, cuda_fp6.h, cuda_fp8.h).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace oracle {

inline constexpr long double infinity = std::numeric_limits<long double>::infinity();
inline constexpr long double not_a_number = std::numeric_limits<long double>::quiet_NaN();

/// How a value between two neighbouring magnitudes is decided.
enum class rounding_kind { nearest_even, ties_away, toward_zero, away_from_zero, stochastic };

/// A rounding rule; `bits` and `word` matter to stochastic rounding only.
struct rounding {
  rounding_kind kind = rounding_kind::nearest_even;
  int bits = 0;
  std::uint32_t word = 0;
};

inline constexpr rounding nearest_even{rounding_kind::nearest_even};
inline constexpr rounding ties_away{rounding_kind::ties_away};
inline constexpr rounding toward_zero{rounding_kind::toward_zero};
/// The next magnitude unless the value is exact: CUDA's cudaRoundPosInf for UE8M0.
inline constexpr rounding away_from_zero{rounding_kind::away_from_zero};

/// Takes the upper magnitude when fraction + word / 2^bits >= 1; `word` is below 2^bits.
inline constexpr rounding stochastic(int bits, std::uint32_t word) {
  return rounding{rounding_kind::stochastic, bits, word};
}

/// What becomes of a magnitude that rounds beyond the largest finite one.
enum class range { saturate, overflow };

struct magnitude {
  long double value;
  unsigned code;
};

/// A format: every code's value, and what its casts do outside the finite values.
struct format {
  std::string name;
  int bits = 0;
  int mantissa_bits = 0;            ///< stored significand bits of the top binade
  std::vector<long double> values;  ///< by code
  std::vector<magnitude> positive;  ///< finite, ascending
  std::vector<magnitude> negative;  ///< finite, ascending; empty if the format drops the sign
  unsigned nan_code = 0;            ///< what a NaN of either sign becomes
  bool finite_only = true;          ///< has no code for overflow, so always saturates
  unsigned overflow_code = 0;       ///< of positive sign
  long double beyond = 0;           ///< the magnitude that would follow the largest finite one
  long double max() const { return positive.back().value; }
};

/// Magnitudes of one sign, ascending. Zero serves both signs where the format has no -0.
inline std::vector<magnitude> magnitudes(std::vector<long double> const& values, bool negative) {
  std::vector<magnitude> found;
  for (std::size_t code = 0; code < values.size(); ++code)
    if (std::isfinite(values[code]) && std::signbit(values[code]) == negative)
      found.push_back({std::fabs(values[code]), static_cast<unsigned>(code)});
  std::sort(found.begin(), found.end(),
            [](magnitude const& a, magnitude const& b) { return a.value < b.value; });
  if (negative && !found.empty() && found.front().value != 0) found.insert(found.begin(), {0, 0});
  return found;
}

/// A format without codes for infinity or NaN; NaN becomes the largest value.
inline format finite_format(std::string name, int bits, int mantissa_bits,
                            std::vector<long double> values) {
  format f;
  f.name = std::move(name);
  f.bits = bits;
  f.mantissa_bits = mantissa_bits;
  f.positive = magnitudes(values, false);
  f.negative = magnitudes(values, true);
  f.values = std::move(values);
  f.nan_code = f.positive.back().code;
  f.overflow_code = f.nan_code;
  return f;
}

/// Values of a floating-point format from its fields, as if no code were special.
inline std::vector<long double> values_by_fields(int exponent_bits, int mantissa_bits, int bias,
                                                 bool has_sign) {
  int const exponents = 1 << exponent_bits;
  int const mantissas = 1 << mantissa_bits;
  std::vector<long double> values;
  for (int sign = 0; sign < (has_sign ? 2 : 1); ++sign)
    for (int e = 0; e < exponents; ++e)
      for (int m = 0; m < mantissas; ++m) {
        int const significand = e == 0 ? m : mantissas + m;
        int const exponent = (e == 0 ? 1 : e) - bias - mantissa_bits;
        long double const v = std::ldexp(static_cast<long double>(significand), exponent);
        values.push_back(sign == 0 ? v : -v);
      }
  return values;
}

/// Gives a format codes for what is not finite.
inline format with_specials(format f, unsigned nan_code, unsigned overflow_code,
                            long double beyond) {
  f.finite_only = false;
  f.nan_code = nan_code;
  f.overflow_code = overflow_code;
  f.beyond = beyond;
  return f;
}

/// E2M1 (OCP MX FP4): bias 1.
inline format const& e2m1() {
  static format const f = finite_format("e2m1", 4, 1,
                                        {0.0L, 0.5L, 1.0L, 1.5L, 2.0L, 3.0L, 4.0L, 6.0L,  //
                                         -0.0L, -0.5L, -1.0L, -1.5L, -2.0L, -3.0L, -4.0L, -6.0L});
  return f;
}

/// E1M2: bias 1, the uniform grid of quarters.
inline format const& e1m2() {
  static format const f =
      finite_format("e1m2", 4, 2,
                    {0.0L, 0.25L, 0.5L, 0.75L, 1.0L, 1.25L, 1.5L, 1.75L,  //
                     -0.0L, -0.25L, -0.5L, -0.75L, -1.0L, -1.25L, -1.5L, -1.75L});
  return f;
}

/// Two's complement INT4 over [-8, 7].
inline format const& int4_full() {
  static format const f =
      finite_format("int4 [-8,7]", 4, 2, {0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1});
  return f;
}

/// Two's complement INT4 over [-7, 7]: code 8 means -8 but no cast gives it.
inline format const& int4() {
  static format const f = [] {
    format g = int4_full();
    g.name = "int4 [-7,7]";
    g.negative.pop_back();
    return g;
  }();
  return f;
}

/// E2M3 (OCP MX FP6): bias 1, max 7.5.
inline format const& e2m3() {
  static format const f = finite_format("e2m3", 6, 3, values_by_fields(2, 3, 1, true));
  return f;
}

/// E3M2 (OCP MX FP6): bias 3, max 28.
inline format const& e3m2() {
  static format const f = finite_format("e3m2", 6, 2, values_by_fields(3, 2, 3, true));
  return f;
}

/// E4M3 (OCP FP8 "fn"): bias 7, max 448, NaN 7F and FF, no infinity.
inline format const& e4m3() {
  static format const f = [] {
    auto values = values_by_fields(4, 3, 7, true);
    values[0x7F] = values[0xFF] = not_a_number;
    return with_specials(finite_format("e4m3", 8, 3, values), 0x7F, 0x7F, 480.0L);
  }();
  return f;
}

/// E5M2 (OCP FP8): bias 15, max 57344, specials as in IEEE 754.
inline format const& e5m2() {
  static format const f = [] {
    auto values = values_by_fields(5, 2, 15, true);
    for (std::size_t low = 0; low < 4; ++low) {
      values[0x7C + low] = low == 0 ? infinity : not_a_number;
      values[0xFC + low] = low == 0 ? -infinity : not_a_number;
    }
    return with_specials(finite_format("e5m2", 8, 2, values), 0x7F, 0x7C, 65536.0L);
  }();
  return f;
}

/// UE5M3: bias 15, max 61440, no sign, specials as in IEEE 754.
inline format const& ue5m3() {
  static format const f = [] {
    auto values = values_by_fields(5, 3, 15, false);
    values[0xF8] = infinity;
    for (std::size_t low = 1; low < 8; ++low) values[0xF8 + low] = not_a_number;
    return with_specials(finite_format("ue5m3", 8, 3, values), 0xFF, 0xF8, 65536.0L);
  }();
  return f;
}

/// UE8M0 (OCP MX scale): 2^(code - 127), code FF is NaN; no zero and no infinity.
inline format const& ue8m0() {
  static format const f = [] {
    std::vector<long double> values;
    for (int code = 0; code < 255; ++code) values.push_back(std::ldexp(1.0L, code - 127));
    values.push_back(not_a_number);
    return with_specials(finite_format("ue8m0", 8, 0, values), 0xFF, 0xFF, std::ldexp(1.0L, 128));
  }();
  return f;
}

/// The value of a code.
inline long double decode(format const& f, unsigned code) { return f.values.at(code); }

/// Whether the upper of two neighbours is taken. `fraction`, the position between them in (0, 1),
/// is exact: neighbours are a power of two apart.
inline bool takes_upper(long double fraction, unsigned lower_code, rounding const& how) {
  switch (how.kind) {
    case rounding_kind::nearest_even:
      return fraction > 0.5L || (fraction == 0.5L && lower_code % 2 == 1);
    case rounding_kind::ties_away:
      return fraction >= 0.5L;
    case rounding_kind::toward_zero:
      return false;
    case rounding_kind::away_from_zero:
      return fraction > 0;
    case rounding_kind::stochastic:
      break;
  }
  long double const words = std::ldexp(1.0L, how.bits);
  if (static_cast<long double>(how.word) >= words)
    throw std::invalid_argument("oracle: the random word has more bits than the rounding uses");
  return fraction >= 1.0L - static_cast<long double>(how.word) / words;
}

/// Rounds `x` to a code.
///
/// Rounding comes before the range test, as if the exponent had no upper bound: 464 becomes 448 in
/// E4M3 and 464.5 overflows. Infinity takes the same way as overflow. A format without a sign takes
/// the magnitude, and one without zero gives its smallest value to all below it.
inline unsigned encode(format const& f, long double x, rounding const& how = nearest_even,
                       range beyond_max = range::saturate) {
  if (std::isnan(x)) return f.nan_code;
  bool const negative = std::signbit(x) && !f.negative.empty();
  auto const& side = negative ? f.negative : f.positive;
  long double const m = std::fabs(x);
  bool const saturates = f.finite_only || beyond_max == range::saturate;
  unsigned const sign = negative && !f.finite_only ? 1u << (f.bits - 1) : 0u;
  unsigned const past = saturates ? side.back().code : f.overflow_code + sign;
  if (m <= side.front().value) return side.front().code;
  if (m >= f.beyond && m > side.back().value) return past;
  auto const upper = std::upper_bound(
      side.begin(), side.end(), m,
      [](long double value, magnitude const& entry) { return value < entry.value; });
  auto const lower = upper - 1;
  if (upper == side.end() && saturates) return past;
  long double const next = upper == side.end() ? f.beyond : upper->value;
  long double const fraction = (m - lower->value) / (next - lower->value);
  if (!takes_upper(fraction, lower->code, how)) return lower->code;
  return upper == side.end() ? past : upper->code;
}

}  // namespace oracle
