// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Number formats: which values do the codes mean, and between which two codes does x lie.
///
/// OCP Microscaling Formats (MX) v1.0 section 5.3 (E2M1, E2M3, E3M2, UE8M0), OCP 8-bit floating point
/// (OFP8) v1.0 (E4M3, E5M2). Casts agree with the CUDA headers' host conversions.

#include <quadrille/detail/std.hpp>
#include <quadrille/rounding.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// What the codes at the top of a minifloat mean.
enum class specials {
  none,  ///< every code is finite (E2M1)
  nan,   ///< the largest magnitude code is NaN, there is no infinity (OCP E4M3)
  ieee   ///< the top exponent holds infinity and NaN (E5M2)
};

/// What a cast does with a magnitude that rounds beyond the largest finite one.
enum class overflow {
  saturate,  ///< the largest finite magnitude; also for infinity
  special    ///< NaN (specials::nan) or infinity (specials::ieee); formats without either saturate
};

/// A format of block elements. Codes are `bits` wide, in the low bits of a byte.
///   encode<Rounding>(x, random)        the code of x, saturating; NaN as the format's text says
///   encode_finite<Rounding>(x, random) the same for x known not to be NaN: branch-free
///   decode(code)                       exact
///   max, min_subnormal                 largest and smallest positive values
template <class F>
concept element_format = requires(float x, u32 code) {
  { F::bits } -> detail::same_as<int const&>;
  { F::mantissa_bits } -> detail::same_as<int const&>;
  { F::max } -> detail::same_as<float const&>;
  { F::min_subnormal } -> detail::same_as<float const&>;
  { F::template encode<nearest_even>(x, code) } -> detail::same_as<u8>;
  { F::template encode_finite<nearest_even>(x, code) } -> detail::same_as<u32>;
  { F::decode(code) } -> detail::same_as<float>;
};

/// A format of block scales: `storage` is what is kept for each block, `nan` marks a poisoned block.
/// encode_finite takes x >= 0, not NaN, and returns the code in a type that vectorises (u32 or float).
template <class F>
concept scale_format = requires(float x, typename F::storage s) {
  { F::max } -> detail::same_as<float const&>;
  { F::nan } -> detail::same_as<typename F::storage const&>;
  { F::template encode<nearest_even>(x) } -> detail::same_as<typename F::storage>;
  static_cast<typename F::storage>(F::template encode_finite<nearest_even>(x));
  { F::decode(s) } -> detail::same_as<float>;
  requires detail::is_nan(F::decode(F::nan));
};

namespace detail {
// The fraction of a double as a float, rounded to odd: exact against 0, 1/2 and 24 random bits.
QUADRILLE_LEAF constexpr float round_to_odd(double fraction) {
  constexpr u64 dropped = (u64(1) << 29) - 1;
  u64 const bits = bits_of(fraction != 0 && fraction < 0x1p-64 ? 0x1p-64 : fraction);
  return float(as_double((bits & ~dropped) | (u64((bits & dropped) != 0) << 29)));
}
QUADRILLE_LEAF constexpr float round_to_odd(float fraction) { return fraction; }

// The parts of the two IEEE types that a cast starts from.
template <class T>
struct ieee;
template <class T>
inline constexpr bool is_ieee = is_same_v<T, float> || is_same_v<T, double>;
template <>
struct ieee<float> {
  using integer = u32;
  using ordered = i32;
  static constexpr int mantissa_bits = 23;
  static constexpr int bias = 127;
  static constexpr integer sign = integer(1) << 31;
  static constexpr integer infinity = integer(0xff) << 23;
  static constexpr integer smallest_normal = integer(1) << 23;
};
template <>
struct ieee<double> {
  using integer = u64;
  using ordered = i64;
  static constexpr int mantissa_bits = 52;
  static constexpr int bias = 1023;
  static constexpr integer sign = integer(1) << 63;
  static constexpr integer infinity = integer(0x7ff) << 52;
  static constexpr integer smallest_normal = integer(1) << 52;
};

// Minimum and maximum of non-negative numbers, as integers: unlike a comparison of floats this
// vectorises everywhere, keeps subnormals under any flag, and puts NaN above infinity.
template <class T>
QUADRILLE_LEAF constexpr T min_magnitude(T a, T b) {
  using ordered = typename ieee<T>::ordered;
  return __builtin_bit_cast(T, min(__builtin_bit_cast(ordered, a), __builtin_bit_cast(ordered, b)));
}
template <class T>
QUADRILLE_LEAF constexpr T max_magnitude(T a, T b) {
  using ordered = typename ieee<T>::ordered;
  return __builtin_bit_cast(T, max(__builtin_bit_cast(ordered, a), __builtin_bit_cast(ordered, b)));
}

template <int E, int M, specials S, bool Signed>
QUADRILLE_HD consteval int checked_width() {
  static_assert(
      1 <= E && 0 <= M && E + M + Signed <= 8,
      "quadrille: minifloat<E, M> does not fit one byte; write E + M + sign <= 8, E >= 1");
  static_assert(
      S == specials::none || E >= 2,
      "quadrille: minifloat<1, M> has no codes to spare for infinity or NaN; write E >= 2 or "
      "specials::none");
  return E + M + Signed;
}
}  // namespace detail

/// A binary floating-point number of E exponent and M mantissa bits in one byte, sign on top.
/// Bias 2^(E-1)-1 unless given (1 for E = 1); exponent field 0 is subnormal.
/// NaN encodes to the NaN code without sign, or to the largest magnitude where there is none
/// (as the CUDA headers do). The sign of zero is kept.
template <int E, int M, specials S = specials::none, bool Signed = true,
          int Bias = (E == 1 ? 1 : (1 << (E - 1)) - 1)>
class minifloat {
 public:
  using storage = u8;
  static constexpr int exponent_bits = E;
  static constexpr int mantissa_bits = M;
  static constexpr int bias = Bias;
  static constexpr bool is_signed = Signed;
  static constexpr int bits = detail::checked_width<E, M, S, Signed>();
  static constexpr bool has_nan = S != specials::none;
  static constexpr bool has_infinity = S == specials::ieee;
  /// Exponents of the smallest normal and of the largest finite number.
  static constexpr int min_exponent = 1 - Bias;
  static constexpr u32 max_code = (1u << (E + M)) - 1 -
                                  (S == specials::nan    ? 1u
                                   : S == specials::ieee ? 1u << M
                                                         : 0u);
  static constexpr int max_exponent = int(max_code >> M) - Bias;
  static constexpr u8 infinity = u8(((1u << E) - 1) << M);
  static constexpr u8 nan = u8((1u << (E + M)) - 1);

  /// The value of a code.
  QUADRILLE_LEAF static constexpr float decode(u32 code) {
    if constexpr (is_hardware_e4m3)
      if (!__builtin_is_constant_evaluated()) return detail::from_e4m3(code);
    u32 const magnitude = code & magnitude_mask;
    u32 const field = detail::max(magnitude >> M, 1u);
    u32 const steps = magnitude - ((field - 1) << M);
    float const step = detail::as_float((field + u32(127 - Bias - M)) << 23);
    float value = float(i32(steps)) * step;
    if constexpr (has_nan) value = magnitude > max_code ? special(magnitude) : value;
    return detail::as_float(detail::bits_of(value) | sign_of(code) << 31);
  }

  static constexpr float max =
      float((1 << M) | int(max_code & ((1u << M) - 1))) * detail::exp2i(max_exponent - M);
  static constexpr float min_normal = detail::exp2i(min_exponent);
  static constexpr float min_subnormal = detail::exp2i(min_exponent - M);
  static constexpr float epsilon = detail::exp2i(-M);

  /// The code of x by one rounding, from float, double, fp16, bf16 or another type that converts to float
  /// exactly. Unsigned formats take the magnitude.
  template <rounding_mode R = nearest_even, overflow O = overflow::saturate, class T>
  QUADRILLE_LEAF static constexpr u8 encode(T x, u32 random = 0) {
    if constexpr (!detail::is_ieee<T>)
      return encode<R, O>(static_cast<float>(x), random);
    else
      return encode_ieee<R, O>(x, random);
  }
  /// encode for x not NaN, saturating, without branches.
  template <rounding_mode R = nearest_even>
  QUADRILLE_LEAF static constexpr u32 encode_finite(float x, u32 random = 0) {
    if constexpr (is_hardware_e4m3 && detail::is_same_v<R, nearest_even>)
      if (!__builtin_is_constant_evaluated()) return detail::to_e4m3(x);
    u32 const code = round<R, overflow::saturate>(detail::magnitude(x), random);
    return Signed ? code | (detail::bits_of(x) >> 31) << (E + M) : code;
  }

  /// decode(encode_finite(x)) for x >= 0, without passing through a code.
  QUADRILLE_LEAF static constexpr float round_magnitude(float x) requires(M >= 1) {
    float const a = detail::min_magnitude(x, max);
    float const exponent = detail::as_float(detail::bits_of(a) & detail::infinity_bits);
    float const binade = detail::max_magnitude(exponent, min_normal);
    float const sum =
        a + binade * detail::exp2i(23 - M);  // has steps of one code; products are exact
    return sum - binade * detail::exp2i(23 - M);
  }

  minifloat() = default;
  template <class T>
  QUADRILLE_LEAF constexpr explicit minifloat(T x) : code_(encode(x)) {}
  QUADRILLE_LEAF static constexpr minifloat from_code(u8 code) {
    minifloat result;
    result.code_ = code;
    return result;
  }
  QUADRILLE_LEAF constexpr u8 code() const { return code_; }
  QUADRILLE_LEAF constexpr explicit operator float() const { return decode(code_); }

 private:
  static constexpr u32 magnitude_mask = (1u << (E + M)) - 1;
  static constexpr bool is_hardware_e4m3 =
      detail::has_e4m3_conversion && E == 4 && M == 3 && S == specials::nan && Signed && Bias == 7;

  QUADRILLE_LEAF static constexpr u32 sign_of(u32 code) { return Signed ? code >> (E + M) & 1 : 0; }
  QUADRILLE_LEAF static constexpr float special(u32 magnitude) {
    return detail::as_float(has_infinity && magnitude == infinity ? detail::infinity_bits
                                                                  : 0x7fc00000u);
  }

  template <class R, overflow O, class T>
  QUADRILLE_LEAF static constexpr u8 encode_ieee(T x, u32 random) {
    using ieee = detail::ieee<T>;
    auto const raw = detail::bits_of(x);
    auto const magnitude = raw & ~ieee::sign;
    u32 const sign = Signed ? u32((raw & ieee::sign) != 0) << (E + M) : 0;
    if (magnitude > ieee::infinity) return has_nan ? nan : u8(max_code);
    T const a = __builtin_bit_cast(T, detail::max(magnitude, ieee::smallest_normal));
    u32 const code = round<R, O>(magnitude == 0 ? T(0) : a, random);
    if constexpr (O == overflow::special && has_nan)
      if (code > max_code) return u8(sign | (has_infinity ? infinity : nan));
    return u8(sign | code);
  }

  // Magnitude code of a >= 0. With overflow::special it may exceed max_code.
  template <class R, overflow O, class T>
  QUADRILLE_LEAF static constexpr u32 round(T a, u32 random) {
    constexpr T limit =
        O == overflow::saturate || !has_nan ? T(max) : T(detail::exp2i(max_exponent)) * 2;
    a = detail::min_magnitude(a, limit);
    using ieee = detail::ieee<T>;
    T const exponent =
        __builtin_bit_cast(T, detail::bits_of(a) >> ieee::mantissa_bits << ieee::mantissa_bits);
    T const binade = detail::max_magnitude(exponent, T(min_normal));  // 2^e
    if constexpr (detail::is_same_v<R, nearest_even> && detail::is_same_v<T, float> && M >= 1)
      return round_nearest_even(a, binade);
    else
      return round_general<R>(a, binade, random);
  }

  // One float add does it: a + binade * 2^(23-M) has steps of exactly one code. The addend is raised
  // by a few steps, so that adding the sum's own exponent field completes the code. The product is
  // exact, hence contraction changes nothing.
  QUADRILLE_LEAF static constexpr u32 round_nearest_even(float a, float binade) {
    constexpr u32 mask = 2 * magnitude_mask + 1;  // one bit more than a code, for overflow::special
    constexpr u32 field = u32(127 + min_exponent + 23 - M) << M;
    constexpr float raise = float(i32((0u - field) & mask)) * detail::exp2i(-M);
    u32 const sum = detail::bits_of(a + binade * (detail::exp2i(23 - M) + raise));
    return (sum + (sum >> (23 - M))) & mask;
  }

  template <class R, class T>
  QUADRILLE_LEAF static constexpr u32 round_general(T a, T binade, u32 random) {
    using ieee = detail::ieee<T>;
    constexpr auto twice_bias = typename ieee::integer(2 * ieee::bias + M) << ieee::mantissa_bits;
    T const per_step = __builtin_bit_cast(T, twice_bias - detail::bits_of(binade));  // 2^(M-e)
    T const steps = detail::mul(a, per_step);
    i32 const lower = i32(steps);
    float const fraction = detail::round_to_odd(detail::sub(steps, T(lower)));
    auto const above = detail::bits_of(binade) - detail::bits_of(T(min_normal));
    u32 const code = u32(lower) + u32(above >> (ieee::mantissa_bits - M));
    return code + u32(R::take_upper(fraction, (code & 1) != 0, random));
  }

  u8 code_;
};

using e2m1 = minifloat<2, 1>;                  ///< 0 0.5 1 1.5 2 3 4 6 and their negatives
using e1m2 = minifloat<1, 2>;                  ///< the uniform grid k/4, k = 0..7, sign-magnitude
using e2m3 = minifloat<2, 3>;                  ///< OCP FP6, max 7.5
using e3m2 = minifloat<3, 2>;                  ///< OCP FP6, max 28
using e4m3 = minifloat<4, 3, specials::nan>;   ///< OCP FP8, max 448
using e5m2 = minifloat<5, 2, specials::ieee>;  ///< OCP FP8, max 57344
using ue5m3 = minifloat<5, 3, specials::ieee, false>;  ///< unsigned scale, max 61440

/// Two's-complement integers of `Bits` bits from `Low` to 2^(Bits-1)-1. NaN encodes to the largest.
/// There is no negative zero.
template <int Bits, int Low>
class twos_complement {
 public:
  static constexpr int bits = Bits;
  static constexpr int mantissa_bits = Bits - 2;  // of the largest binade, as the MX rules count
  static constexpr int high = (1 << (Bits - 1)) - 1;
  static constexpr int low = Low;
  static constexpr float max = float(high);
  static constexpr float min_subnormal = 1;  // the step

  QUADRILLE_LEAF static constexpr float decode(u32 code) {
    return float(i32(code << (32 - Bits)) >> (32 - Bits));
  }
  template <rounding_mode R = nearest_even, class T>
  QUADRILLE_LEAF static constexpr u8 encode(T x, u32 random = 0) {
    if constexpr (!detail::is_ieee<T>)
      return encode<R>(static_cast<float>(x), random);
    else
      return encode_ieee<R>(x, random);
  }
  template <rounding_mode R = nearest_even>
  QUADRILLE_LEAF static constexpr u32 encode_finite(float x, u32 random = 0) {
    return round<R>(x, random);
  }

  twos_complement() = default;
  template <class T>
  QUADRILLE_LEAF constexpr explicit twos_complement(T x) : code_(encode(x)) {}
  QUADRILLE_LEAF static constexpr twos_complement from_code(u8 code) {
    twos_complement result;
    result.code_ = code;
    return result;
  }
  QUADRILLE_LEAF constexpr u8 code() const { return code_; }
  QUADRILLE_LEAF constexpr explicit operator float() const { return decode(code_); }

 private:
  static constexpr u32 mask = (1u << Bits) - 1;

  template <class R, class T>
  QUADRILLE_LEAF static constexpr u8 encode_ieee(T x, u32 random) {
    using ieee = detail::ieee<T>;
    bool const is_nan = (detail::bits_of(x) & ~ieee::sign) > ieee::infinity;
    return u8(is_nan ? u32(high) : round<R>(x, random));
  }
  template <class R, class T>
  QUADRILLE_LEAF static constexpr u32 round(T x, u32 random) {
    if constexpr (detail::is_same_v<R, nearest_even> && detail::is_same_v<T, float>)
      return round_nearest_even(x);
    else
      return round_general<R>(x, random);
  }
  // One addition does it: from 1.5 * 2^23 on, floats are integers, in two's complement below.
  QUADRILLE_LEAF static constexpr u32 round_nearest_even(float x) {
    float const y = detail::min(detail::max(x, float(Low)), float(high));
    return detail::bits_of(detail::add(y, 0x1.8p23f)) & mask;
  }
  template <class R, class T>
  QUADRILLE_LEAF static constexpr u32 round_general(T x, u32 random) {
    using ieee = detail::ieee<T>;
    auto const raw = detail::bits_of(x);
    bool const negative = (raw & ieee::sign) != 0;
    auto const magnitude = raw & ~ieee::sign;
    T const limit = negative ? T(-Low) : T(high);
    // A subnormal rounds as the smallest normal number does, and survives flushing to zero.
    T a = __builtin_bit_cast(
        T, magnitude == 0 ? magnitude : detail::max(magnitude, ieee::smallest_normal));
    a = detail::min_magnitude(a, limit);
    i32 const lower = i32(a);
    float const fraction = detail::round_to_odd(T(a - T(lower)));
    i32 const steps = lower + i32(R::take_upper(fraction, (lower & 1) != 0, random));
    return u32(negative ? -steps : steps) & mask;
  }

  u8 code_;
};

using int4 = twos_complement<4, -7>;       ///< the uniform grid -7..7
using int4_full = twos_complement<4, -8>;  ///< -8..7: one more negative value, hence biased

/// UE8M0, the MX block scale: code b is 2^(b-127), 255 is NaN; no zero, no infinity, no sign.
/// Zero and everything below 2^-127 encode to 0. OCP MX v1.0 section 5.4.1.
class ue8m0 {
 public:
  using storage = u8;
  static constexpr int bits = 8;
  static constexpr float max = detail::exp2i(127);
  static constexpr u8 nan = 255;

  /// Magnitude of x rounded between powers of two (`toward_zero` and `away_from_zero` are the CUDA
  /// headers' two modes). overflow::special sends infinity and what rounds to 2^128 to NaN.
  template <rounding_mode R = nearest_even, overflow O = overflow::saturate>
  QUADRILLE_LEAF static constexpr u8 encode(float x, u32 random = 0) {
    u32 const raw = detail::magnitude_bits(x);
    if (raw > detail::infinity_bits) return nan;
    if (raw < 0x00400000u) return 0;  // below 2^-127
    u32 const field = raw >> 23;
    u32 const mantissa = field == 0 ? (raw - 0x00400000u) << 1 : raw & 0x7fffffu;
    return between<R, O>(i32(field), float(i32(mantissa)) * 0x1p-23f, random);
  }
  template <rounding_mode R = nearest_even, overflow O = overflow::saturate, class T>
    requires(!detail::is_ieee<T>)
  QUADRILLE_LEAF static constexpr u8 encode(T x, u32 random = 0) {
    return encode<R, O>(static_cast<float>(x), random);
  }
  /// One rounding from double.
  template <rounding_mode R = nearest_even, overflow O = overflow::saturate>
  QUADRILLE_LEAF static constexpr u8 encode(double x, u32 random = 0) {
    using ieee = detail::ieee<double>;
    u64 const raw = detail::bits_of(x) & ~ieee::sign;
    if (raw > ieee::infinity) return nan;
    i32 const code = i32(raw >> ieee::mantissa_bits) - ieee::bias + 127;
    if (code < 0) return 0;
    double const mantissa = double(raw & ((u64(1) << ieee::mantissa_bits) - 1));
    return between<R, O>(code, detail::round_to_odd(mantissa * 0x1p-52), random);
  }
  template <rounding_mode R = nearest_even>
  QUADRILLE_LEAF static constexpr u32 encode_finite(float x, u32 random = 0) {
    return encode<R>(x, random);
  }
  QUADRILLE_LEAF static constexpr float decode(u32 code) {
    if (code == nan) return detail::quiet_nan();
    return detail::as_float(code == 0 ? 0x00400000u : code << 23);
  }
  /// 1 / decode(code), exact; the inverse of 2^127 is the subnormal 2^-127.
  QUADRILLE_LEAF static constexpr float inverse(u32 code) { return decode(254u - code); }

 private:
  // The code for a magnitude that lies by `fraction` between `code` and the next power of two.
  template <class R, overflow O>
  QUADRILLE_LEAF static constexpr u8 between(i32 code, float fraction, u32 random) {
    i32 const rounded = code + i32(R::take_upper(fraction, (code & 1) != 0, random));
    return rounded < 255 ? u8(rounded) : O == overflow::special ? nan : u8(254);
  }
};

/// A float as scale format: exact, four bytes.
struct fp32 {
  using storage = float;
  static constexpr int bits = 32;
  static constexpr float max = detail::float_max;
  static constexpr float nan = detail::quiet_nan();
  template <rounding_mode R = nearest_even>
  QUADRILLE_LEAF static constexpr float encode(float x, u32 = 0) {
    return x;
  }
  template <rounding_mode R = nearest_even>
  QUADRILLE_LEAF static constexpr float encode_finite(float x, u32 = 0) {
    return x;
  }
  QUADRILLE_LEAF static constexpr float decode(float x) { return x; }
};

namespace detail {
/// x rounded to bfloat16 precision, to nearest even; NaN and infinity pass.
QUADRILLE_LEAF constexpr float round_to_bf16(float x) {
  u32 const raw = bits_of(x);
  u32 const rounded = (raw + 0x7fffu + (raw >> 16 & 1)) & 0xffff0000u;
  return as_float(is_finite(x) ? rounded : raw | u32(is_nan(x)) << 22);
}

/// Bits of x rounded to binary16, to nearest even; beyond 65504 it is infinity, NaN stays NaN.
QUADRILLE_LEAF constexpr u16 fp16_bits(float x) {
  u32 const sign = bits_of(x) >> 16 & 0x8000u;
  if (is_nan(x)) return u16(sign | 0x7e00u);
  float const a = min(magnitude(x), 65536.f);
  float const binade = max(as_float(bits_of(a) & infinity_bits), 0x1p-14f);
  u32 const sum = bits_of(a + binade * 0x1p13f);  // steps of one unit in the last place
  u32 const code = (sum & 0xfffu) + ((bits_of(binade) - bits_of(0x1p-14f)) >> 13);
  return u16(sign | min(code, 0x7c00u));
}
}  // namespace detail

/// IEEE binary16 and bfloat16 for programs without the CUDA headers: 16 bits in the same layout as
/// __half and __nv_bfloat16. To float exactly, from float to nearest even.
struct fp16 {
  u16 bits;
  fp16() = default;
  QUADRILLE_LEAF constexpr explicit fp16(float x) : bits(detail::fp16_bits(x)) {}
  QUADRILLE_LEAF constexpr explicit operator float() const {
    u32 const magnitude = bits & 0x7fffu;
    u32 const sign = u32(bits & 0x8000u) << 16;
    u32 const special = magnitude >= 0x7c00u ? 0x7f800000u | (magnitude & 0x3ffu) << 13 : 0u;
    u32 const field = detail::max(magnitude >> 10, 1u);
    float const unit = detail::as_float((field + 102) << 23);
    float const value = float(i32(magnitude - ((field - 1) << 10))) * unit;
    return detail::as_float((special != 0 ? special : detail::bits_of(value)) | sign);
  }
};
struct bf16 {
  u16 bits;
  bf16() = default;
  QUADRILLE_LEAF constexpr explicit bf16(float x)
      : bits(u16(detail::bits_of(detail::round_to_bf16(x)) >> 16)) {}
  QUADRILLE_LEAF constexpr explicit operator float() const {
    return detail::as_float(u32(bits) << 16);
  }
};

static_assert(element_format<e2m1> && element_format<e1m2> && element_format<int4>);
static_assert(scale_format<e4m3> && scale_format<ue8m0> && scale_format<fp32>);

}  // namespace quadrille
QUADRILLE_EXACT_END
