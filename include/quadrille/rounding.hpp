// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Rounding modes: given where a magnitude lies between two neighbouring codes, choose one.

#include <quadrille/detail/std.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// A rounding mode decides from three facts about a magnitude, and keeps no state:
///   fraction  position between the lower and the upper code, in [0, 1); never rounded across 0 or 1/2
///   odd       whether the lower code is odd
///   random    `random_bits` uniform random bits (0 when `random_bits` is 0)
template <class R>
concept rounding_mode = requires(float fraction, bool odd, u32 random) {
  { R::random_bits } -> detail::same_as<int const&>;
  requires R::random_bits >= 0;
  { R::take_upper(fraction, odd, random) } -> detail::same_as<bool>;
};

/// IEEE 754 roundTiesToEven.
struct nearest_even {
  static constexpr int random_bits = 0;
  QUADRILLE_LEAF static constexpr bool take_upper(float fraction, bool odd, u32) {
    return (fraction > 0.5f) | ((fraction == 0.5f) & odd);
  }
};

/// IEEE 754 roundTiesToAway; microxcaling's "nearest".
struct ties_away {
  static constexpr int random_bits = 0;
  QUADRILLE_LEAF static constexpr bool take_upper(float fraction, bool, u32) {
    return fraction >= 0.5f;
  }
};

/// IEEE 754 roundTowardZero.
struct toward_zero {
  static constexpr int random_bits = 0;
  QUADRILLE_LEAF static constexpr bool take_upper(float, bool, u32) { return false; }
};

/// The next larger magnitude unless exact. With UE8M0 this is "round up" (cvt.rp).
struct away_from_zero {
  static constexpr int random_bits = 0;
  QUADRILLE_LEAF static constexpr bool take_upper(float fraction, bool, u32) {
    return detail::bits_of(fraction) != 0;
  }
};

namespace detail {
// In a function: to clang a class whose own assertion fails models no concept, a second error.
template <int Bits>
QUADRILLE_HD consteval int checked_random_bits() {
  static_assert(
      1 <= Bits && Bits <= 24,
      "quadrille: stochastic<Bits> has too few or too many bits; a float fraction holds 24, "
      "write stochastic<1> to stochastic<24>");
  return Bits;
}
}  // namespace detail

/// Stochastic rounding with `Bits` random bits r: up iff fraction + r / 2^Bits >= 1, so that
/// floor(2^Bits fraction) of the 2^Bits words round up. The bias is less than 2^-Bits of a step,
/// toward zero; exact values never move. Bits from 1 to 24.
template <int Bits>
struct stochastic {
  static constexpr int random_bits = detail::checked_random_bits<Bits>();
  QUADRILLE_LEAF static constexpr bool take_upper(float fraction, bool, u32 random) {
    u32 const threshold = u32(i32(fraction * float(1 << Bits)));  // exact: a power of two
    return ((threshold + (random & ((1u << Bits) - 1))) >> Bits) != 0;
  }
};

static_assert(rounding_mode<nearest_even> && rounding_mode<ties_away> &&
              rounding_mode<toward_zero> && rounding_mode<away_from_zero> &&
              rounding_mode<stochastic<8>>);

}  // namespace quadrille
QUADRILLE_EXACT_END
