// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Facts, found at compile time, on which the vector kernels of gemm rest: which elements are small
/// integers times a power of two, and which scale products are exact.

#include <quadrille/format.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

/// The values of all codes of an element format.
template <class E>
struct decode_table {
  float value[1 << E::bits];
  constexpr decode_table() : value{} {
    for (u32 code = 0; code < (1u << E::bits); ++code) value[code] = E::decode(code);
  }
};

/// Element format E in units of its smallest step.
template <class E>
struct integer_values {
  signed char value[1 << E::bits] = {};
  int largest = 0;
  // The step is a power of two, every value is -128 to 127 steps, and code 0, which fills up, is 0.
  bool fits = (bits_of(E::min_subnormal) & 0x7fffffu) == 0 && is_zero(E::decode(0));
  bool are_codes = true;  // a code is its value

  constexpr integer_values() {
    for (u32 code = 0; code < (1u << E::bits); ++code) enter(code, E::decode(code));
  }

 private:
  constexpr void enter(u32 code, float element) {
    float const steps = is_finite(element) ? magnitude(element) / E::min_subnormal : 1000.f;
    if (!(steps <= (element < 0 ? 128.f : 127.f)) || float(int(steps)) != steps) {
      fits = false;
      return;
    }
    largest = max(largest, int(steps));
    value[code] = static_cast<signed char>(element < 0 ? -int(steps) : int(steps));
    are_codes &= value[code] == static_cast<signed char>(code);
  }
};
template <class E>
inline constexpr integer_values<E> integers_of{};

/// The same raised by the largest magnitude, so that bytes are unsigned: what a panel's codes become.
template <class E>
struct raised_table {
  static constexpr int raise = integers_of<E>.largest;
  u8 value[1 << E::bits] = {};
  constexpr raised_table() {
    for (int code = 0; code < (1 << E::bits); ++code)
      value[code] = u8(integers_of<E>.value[code] + raise);
  }
};

/// As it is, for half a byte a code: what the codes of A become.
template <class E>
struct signed_table {
  u8 value[16] = {};
  constexpr signed_table() {
    for (int code = 0; code < (1 << E::bits); ++code) value[code] = u8(integers_of<E>.value[code]);
  }
};

constexpr int bit_width(u32 n) { return n == 0 ? 0 : 1 + bit_width(n / 2); }

/// Bits of a stored scale's significand.
template <class F>
inline constexpr int significand_bits = 24;
template <>
inline constexpr int significand_bits<ue8m0> = 1;
template <class F>
  requires requires { F::max_code; }
inline constexpr int significand_bits<F> = F::mantissa_bits + 1;

/// Scales of these magnitudes, up to 2^50 and down to its inverse, may be multiplied with each other and with
/// elements in any order without leaving FP32's normal range; so may 0 and NaN.
inline constexpr int moderate_exponent = 50;
QUADRILLE_LEAF constexpr bool is_moderate(float scale) {  // no branches, so that it vectorises
  u32 const field = magnitude_bits(scale) >> 23;
  return (u32(is_zero(scale)) | u32(is_nan(scale)) |
          u32(field - (127 - moderate_exponent) <= 2 * moderate_exponent)) != 0;
}
template <class F>
inline constexpr bool is_always_moderate = false;
template <class F>
  requires requires { F::max_code; }
inline constexpr bool is_always_moderate<F> = is_moderate(F::max) && is_moderate(F::min_subnormal);

/// Scales of a byte, E4M3 or UE8M0, that are ordinary: no NaN, not negative, and moderate. They lie between two
/// codes. Moved left by `shift`, the fields are where a float has them: the value over `unit`.
template <class F>
struct ordinary_scales {
  static constexpr int first = 0;
  static constexpr int last = int(F::max_code);
  static constexpr int shift = 23 - F::mantissa_bits;
  static constexpr float unit = exp2i(127 - F::bias);
};
template <>
struct ordinary_scales<ue8m0> {
  static constexpr int first = 127 - moderate_exponent;
  static constexpr int last = 127 + moderate_exponent;
  static constexpr int shift = 23;
  static constexpr float unit = 1;
};

/// The exponent of a power of two, as a float: -infinity of 0, NaN of NaN. In bits, as a loop over them vectorises.
QUADRILLE_LEAF constexpr u32 exponent_of(u32 power) {
  u32 const exponent = bits_of(float(i32(power >> 23) - 127));
  u32 const finite = power == 0 ? infinity_bits | 1u << 31 : exponent;
  return power > infinity_bits ? power : finite;
}

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
