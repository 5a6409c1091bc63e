// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Scale rules: which stored scale does a block get.
///
/// A rule is parameters plus `choose`. To make a variant, derive and redeclare a parameter:
///   struct capped : amax_rule { static constexpr float bound = 256; };
/// (each function receives the derived rule as `Self`). All arithmetic is FP32, one rounding each.

#include <quadrille/detail/std.hpp>
#include <quadrille/format.hpp>
#include <quadrille/rounding.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// What a rule sees of a block: its largest magnitude and, if the rule reads values, the n elements (row by
/// row, after rotation; edge blocks completed with zeros). If one is not finite, neither is amax, and
/// what the rule answers is discarded.
struct block_values {
  float const* x;
  int n;
  float amax;
};

/// The outer FP32 scale: elements are multiplied by `encode` before they meet block scales and by
/// `decode` after. `decode` is what a quantized tensor stores.
struct outer_scale {
  float encode = 1;
  float decode = 1;
};

/// x -> x * factor.
struct multiply_by {
  float factor;
  QUADRILLE_LEAF constexpr float operator()(float x, int) const { return detail::mul(x, factor); }
};
/// x -> x / divisor.
struct divide_by {
  float divisor;
  QUADRILLE_LEAF constexpr float operator()(float x, int) const { return detail::div(x, divisor); }
};
/// A block's scale, to be stored, and the map of its elements to the grid. The scale is in a type that
/// vectorises (u32 for byte codes).
template <class Stored, class Map>
struct chosen_scale {
  Stored stored;
  Map to_grid;
};
template <class Stored, class Map>
chosen_scale(Stored, Map) -> chosen_scale<Stored, Map>;

/// What a rule sees of N blocks side by side, if it chooses for many at once: element i of block b is
/// x[N * i + b].
template <int N, bool EachOuter>
struct block_lanes {
  float const* x;
  int n;
  float const* amax;
  outer_scale const* outer;  // one for all, or one each
  QUADRILLE_LEAF constexpr outer_scale const& outer_of(int b) const {
    return outer[EachOuter ? b : 0];
  }
};
/// A scale's code in a type that vectorises.
template <class F>
using scale_code = decltype(F::encode_finite(1.f));

namespace detail {
// A map as a plain word, if it is one: arrays of structs do not vectorise.
template <class Map>
using map_word = select_t<sizeof(Map) == sizeof(float), float, Map>;

// True if Rule derives from Base and chooses as Base does, whatever parameters it redeclares.
template <class Base, class Rule, class E, class F>
QUADRILLE_HD consteval bool chooses_as() {
  if constexpr (__is_base_of(Base, Rule)) {
    constexpr auto own = &Rule::template choose<Rule, E, F>;
    constexpr auto theirs = &Base::template choose<Rule, E, F>;
    if constexpr (is_same_v<decltype(own), decltype(theirs)>) return own == theirs;
  }
  return false;
}
}  // namespace detail

// ---- Orders of operations. Equal in real arithmetic; they differ in about 1 of 1000 scales and 1 of
// ---- 3000 codes for BF16 data, so bit equality needs one to be named.
//   target(amax, s, max)  the block scale before rounding: amax * s / max, s the outer encode scale
//   map(scale, o)         elements to the grid, for the rounded scale
// A scale that rounded to zero saturates its elements and decodes to zero.

/// What a block's amax is to land on, with its reciprocal: as a constant it saves a division a block.
struct grid_top {
  float value;
  float inverse;
  QUADRILLE_LEAF constexpr grid_top(float top) : value(top), inverse(detail::div(1, top)) {}
  QUADRILLE_LEAF constexpr operator float() const { return value; }
};

/// Transformer Engine's: amax * (s * (1/max)); x * (1 / (scale * (1/s))).
struct te_order {
  QUADRILLE_LEAF static constexpr float target(float amax, float s, grid_top max) {
    return detail::min(detail::mul(amax, detail::mul(s, max.inverse)), detail::float_max);
  }
  QUADRILLE_LEAF static constexpr multiply_by map(float scale, outer_scale const& o) {
    return {detail::min(detail::reciprocal(detail::mul(scale, o.decode)), detail::float_max)};
  }
};
/// Divisions as written on paper: (amax / max) * s; x / (scale / s).
struct divide_order {
  QUADRILLE_LEAF static constexpr float target(float amax, float s, float max) {
    return detail::min(detail::mul(detail::div(amax, max), s), detail::float_max);
  }
  QUADRILLE_LEAF static constexpr divide_by map(float scale, outer_scale const& o) {
    return {detail::max_magnitude(detail::div(scale, o.encode), detail::as_float(1))};
  }
};
/// Folded factors: amax * (s / max); x * (s / scale).
struct reciprocal_order {
  QUADRILLE_LEAF static constexpr float target(float amax, float s, float max) {
    return detail::min(detail::mul(amax, detail::div(s, max)), detail::float_max);
  }
  QUADRILLE_LEAF static constexpr multiply_by map(float scale, outer_scale const& o) {
    return {detail::min(detail::div(o.encode, scale), detail::float_max)};
  }
};

/// What becomes of a block scale that rounds to zero.
enum class zero_scale {
  keep,      ///< stays 0, the block decodes to 0 (Transformer Engine)
  one,       ///< 1 (Quartet II, FP-Quant)
  smallest,  ///< the format's smallest positive value (TetraJet-v2)
};

namespace detail {
template <class F, zero_scale Zero, class Code>
QUADRILLE_LEAF constexpr Code nonzero(Code code) {
  constexpr Code one = F::encode_finite(1.f);
  if constexpr (Zero == zero_scale::one) return code == 0 ? one : code;
  if constexpr (Zero == zero_scale::smallest)
    return max(code, Code(1));  // code 1 of every minifloat
  return code;
}
}  // namespace detail

/// The block's amax lands on the largest element: NVFP4's rule (arXiv 2509.25149). Rules derived from it
/// read the parameters that their text names.
struct amax_rule {
  using order = te_order;
  /// amax of the whole tensor maps to this block scale; 0 means the scale format's largest value.
  static constexpr float bound = 0;
  /// The block's amax lands on headroom * the largest element; below 1, stochastic rounding cannot be
  /// clipped after the scale was rounded down.
  static constexpr float headroom = 1;
  static constexpr zero_scale zero = zero_scale::keep;
  static constexpr bool reads_values = false;

  template <class Self>
  QUADRILLE_LEAF static constexpr outer_scale fixed_outer() {
    return {};
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr outer_scale outer(float amax) {
    constexpr float top = (Self::bound == 0 ? F::max : Self::bound) * (E::max * Self::headroom);
    float encode = detail::min(detail::div(top, amax), detail::float_max);
    if (detail::is_zero(amax) || detail::is_zero(encode)) encode = 1;
    return {encode, detail::div(1, encode)};
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& b, outer_scale const& o) {
    constexpr grid_top top = E::max * Self::headroom;
    float const target = Self::order::target(b.amax, o.encode, top);
    auto const stored = detail::nonzero<F, Self::zero>(F::encode_finite(target));
    // Where no instruction decodes, rounding alone gives the stored scale's value sooner.
    if constexpr (Self::zero == zero_scale::keep && !detail::has_e4m3_conversion &&
                  requires { F::round_magnitude(target); })
      return chosen_scale{stored, Self::order::map(F::round_magnitude(target), o)};
    else
      return chosen_scale{stored, Self::order::map(F::decode(stored), o)};
  }
};
/// amax_rule in the two other orders of operations.
struct divide_rule : amax_rule {
  using order = divide_order;
};
struct reciprocal_rule : amax_rule {
  using order = reciprocal_order;
};
/// amax_rule with Quartet II's headroom 16/17 for stochastic rounding: an E4M3 scale rounds down by at
/// most 1/17, so nothing is clipped and nothing is biased.
struct headroom_rule : amax_rule {
  static constexpr float headroom = 16.f / 17.f;
};

/// An unrounded scale: stores amax / max and encodes with x * (max / amax). For fp32 scales; with
/// divide_rule they encode with x / (amax / max) instead.
struct inverse_amax : amax_rule {
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& b, outer_scale const&) {
    float const factor = detail::min(detail::div(E::max, b.amax), detail::float_max);
    return chosen_scale{F::encode_finite(detail::div(b.amax, E::max)), multiply_by{factor}};
  }
};

// ---- Powers of two (OCP MX v1.0 section 6.3, and its four readings).
namespace detail {
/// Exponent of the largest finite magnitude.
template <class E>
inline constexpr int max_exponent_of = int(bits_of(E::max) >> 23) - 127;

/// Biased exponent of the power of two at or above the value with these bits, not below 2^-127.
QUADRILLE_LEAF constexpr u32 exponent_above(u32 bits) {
  u32 const field = bits >> 23;
  u32 const exact = field == 0 ? 0x00400000u : 0u;
  return field + u32((bits & 0x7fffffu) > exact);
}
QUADRILLE_LEAF constexpr u32 clamp_exponent(i32 byte) { return u32(max(0, min(byte, 254))); }

/// Bits of 2^(127 - byte).
QUADRILLE_LEAF constexpr u32 inverse_bits(u32 byte) {
  u32 const bits = (254u - byte) << 23;
  return bits == 0 ? 0x00400000u : bits;
}
}  // namespace detail

/// Common part of the power-of-two rules; `byte<Element>(amax)` is what they differ in.
struct power_of_two_rule {
  /// Elements are multiplied by this before they meet the scale and divided after decoding: 3/4 keeps
  /// amax below 6 where ocp_floor would clip it (Tseng et al., arXiv 2502.20586; Quartet, 2505.14669).
  static constexpr float headroom = 1;
  static constexpr bool reads_values = false;

  template <class Self>
  QUADRILLE_LEAF static constexpr outer_scale fixed_outer() {
    return {Self::headroom, detail::div(1, Self::headroom)};
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr outer_scale outer(float) {
    return checked<F>();
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& b, outer_scale const&) {
    checked<F>();
    return power<Self>(Self::template byte<E>(b.amax));
  }

 protected:
  template <class F>
  QUADRILLE_LEAF static constexpr outer_scale checked() {
    static_assert(
        detail::is_same_v<F, ue8m0>,
        "quadrille: a power-of-two rule is paired with another scale format than ue8m0; it chooses "
        "exponents, write one_level<ue8m0, rule>, or an amax rule such as amax_rule");
    return {};
  }
  template <class Self>
  QUADRILLE_LEAF static constexpr auto power(u32 byte) {
    float const inverse = detail::as_float(detail::inverse_bits(byte));
    return chosen_scale{byte, multiply_by{detail::mul(inverse, Self::headroom)}};
  }
};
/// 2^(floor(log2 amax) - emax): OCP MX v1.0. Clips up to a quarter of the top binade.
struct ocp_floor : power_of_two_rule {
  template <class E>
  QUADRILLE_LEAF static constexpr u32 byte(float amax) {
    return detail::clamp_exponent(i32(detail::bits_of(amax) >> 23) - detail::max_exponent_of<E>);
  }
};
/// ocp_floor of amax rounded, half up, to the element's mantissa bits: loses at most half a step.
struct ocp_even : power_of_two_rule {
  template <class E>
  QUADRILLE_LEAF static constexpr u32 byte(float amax) {
    constexpr u32 half = 1u << (22 - E::mantissa_bits);
    return detail::clamp_exponent(i32((detail::bits_of(amax) + half) >> 23) -
                                  detail::max_exponent_of<E>);
  }
};
/// 2^(ceil(log2 amax) - emax).
struct ocp_ceil : power_of_two_rule {
  template <class E>
  QUADRILLE_LEAF static constexpr u32 byte(float amax) {
    return detail::clamp_exponent(i32(detail::exponent_above(detail::bits_of(amax))) -
                                  detail::max_exponent_of<E>);
  }
};
/// 2^ceil(log2(amax / max)): never clips. NVIDIA's rule (Mishra et al., arXiv 2506.08027).
struct round_up : power_of_two_rule {
  template <class E>
  QUADRILLE_LEAF static constexpr u32 byte(float amax) {
    constexpr float inverse = detail::div(1, E::max);
    float const ratio = detail::mul(amax, inverse);
    return detail::clamp_exponent(i32(detail::exponent_above(detail::bits_of(ratio))));
  }
};
/// ocp_floor with headroom 3/4.
struct floor_three_quarters : ocp_floor {
  static constexpr float headroom = 0.75f;
};

/// QuEST's: from the standard deviation of the block, 2^floor(log2(clip / max * std + 1e-8)), with the
/// Gaussian MSE-optimal clip in standard deviations (for E2M1; Quartet, arXiv 2505.14669).
struct quest : power_of_two_rule {
  static constexpr float clip = 2.92247856f;
  static constexpr bool reads_values = true;

  using chooses_lanes = quest;

  template <class Self, class E, class F>
  QUADRILLE_HD static constexpr auto choose(block_values const& b, outer_scale const& o) {
    checked<F>();
    u32 byte[1];
    float factor[1];
    choose_lanes<Self, E, F>(block_lanes<1, false>{b.x, b.n, &b.amax, &o}, byte, factor);
    return chosen_scale{byte[0], multiply_by{factor[0]}};
  }

  template <class Self, class E, class F, int N, bool EachOuter>
  QUADRILLE_HD static constexpr void choose_lanes(block_lanes<N, EachOuter> const& blocks,
                                                  u32* __restrict bytes,
                                                  float* __restrict factors) {
    float units[N];  // squares must not overflow
    for (int b = 0; b < N; ++b) units[b] = blocks.amax[b] > 0x1p40f ? 0x1p-80f : 1.f;
    float sums[N] = {};
    float squares[N] = {};
    for (int i = 0; i < blocks.n; ++i)
      for (int b = 0; b < N; ++b) {
        float const v = detail::mul(blocks.x[N * i + b], units[b]);
        sums[b] = detail::add(sums[b], v);
        squares[b] = detail::add(squares[b], detail::mul(v, v));
      }
    for (int b = 0; b < N; ++b) {
      float const mean = detail::div(sums[b], float(blocks.n));
      float const mean_square = detail::div(squares[b], float(blocks.n));
      squares[b] = detail::max(detail::sub(mean_square, detail::mul(mean, mean)), 0.f);
    }
    // Alone: it may set errno, which would keep the rest of a loop from vectorising.
    for (int b = 0; b < N; ++b) squares[b] = detail::sqrt(squares[b]);
    for (int b = 0; b < N; ++b) {
      constexpr float factor = Self::clip / E::max;
      float const deviation = detail::div(squares[b], units[b]);
      float const scale = detail::add(detail::mul(deviation, factor), 1e-8f);
      auto const chosen = power<Self>(detail::clamp_exponent(i32(detail::bits_of(scale) >> 23)));
      bytes[b] = chosen.stored;
      factors[b] = chosen.to_grid.factor;
    }
  }
};

}  // namespace quadrille
QUADRILLE_EXACT_END
