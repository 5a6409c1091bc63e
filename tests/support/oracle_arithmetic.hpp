// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// FP32 arithmetic, one rounding per operation, whatever the compiler's flags.
///
/// Each operation is done in long double and rounded once to float. A significand of at least 50
/// bits makes that equal to the correctly rounded FP32 operation, and the detour is out of reach of
/// contraction, of reassociation and (on x86) of a flush-to-zero mode.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace oracle {

inline constexpr float float_max = std::numeric_limits<float>::max();
inline constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();

/// The float nearest to `exact`, ties to even.
#if defined(__GNUC__)
__attribute__((noinline))
#endif
inline float
rounded(long double exact) {
  long double const volatile held = exact;
  float const volatile result = static_cast<float>(held);
  return result;
}

inline float mul(float a, float b) { return rounded(static_cast<long double>(a) * b); }
inline float add(float a, float b) { return rounded(static_cast<long double>(a) + b); }
inline float sub(float a, float b) { return rounded(static_cast<long double>(a) - b); }
inline float div(float a, float b) { return rounded(static_cast<long double>(a) / b); }

/// Rounds to `digits` significant bits, ties to even, keeping multiples of 2^lowest_exponent.
inline long double round_to_digits(long double x, int digits, int lowest_exponent) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  int const last = std::max(exponent - digits, lowest_exponent);
  long double const scaled = std::ldexp(std::fabs(x), -last);
  long double const whole = std::floor(scaled);
  long double const rest = scaled - whole;
  bool const up = rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2.0L) == 1.0L);
  return std::copysign(std::ldexp(whole + (up ? 1 : 0), last), x);
}

/// The BF16 value nearest to `x`, ties to even; overflow gives infinity.
inline float to_bf16(float x) {
  long double const r = round_to_digits(x, 8, -133);
  long double const limit = std::ldexp(1.0L, 128);
  return std::fabs(r) >= limit && std::isfinite(x) ? std::copysign(HUGE_VALF, x) : rounded(r);
}

/// The FP16 value nearest to `x`, ties to even; overflow gives infinity.
inline float to_fp16(float x) {
  long double const r = round_to_digits(x, 11, -24);
  return std::fabs(r) >= 65536.0L && std::isfinite(x) ? std::copysign(HUGE_VALF, x) : rounded(r);
}

/// The exponent e with 2^e <= x < 2^(e+1), for finite x > 0.
inline int floor_log2(long double x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return exponent - 1;
}

/// The largest magnitude among the finite values; 0 for none.
inline float amax_finite(std::vector<float> const& x) {
  float largest = 0.0f;
  for (float const v : x)
    if (std::isfinite(v) && std::fabs(v) > largest) largest = std::fabs(v);
  return largest;
}

/// The largest magnitude, NaN left out and infinity kept.
inline float amax_without_nan(std::vector<float> const& x) {
  float largest = 0.0f;
  for (float const v : x)
    if (std::fabs(v) > largest) largest = std::fabs(v);
  return largest;
}

/// Whether all values are finite.
inline bool all_finite(std::vector<float> const& x) {
  return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}

}  // namespace oracle
