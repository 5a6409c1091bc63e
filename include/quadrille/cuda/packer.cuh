// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Eight grid coordinates to one word of 4-bit codes, in registers. Each packer gives the codes of
/// Format::encode_finite<Rounding>; the specialisations need fewer instructions for it.

#include <quadrille/arch/target.hpp>
#include <quadrille/format.hpp>
#include <quadrille/random.hpp>

namespace quadrille::detail {

__device__ __forceinline__ float fma_even(float a, float b, float c) {
  float r;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  return r;
}
__device__ __forceinline__ float fma_toward_zero(float a, float b, float c) {
  float r;
  asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  return r;
}
__device__ __forceinline__ float add_toward_zero(float a, float b) {
  float r;
  asm("add.rz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
/// The larger of two magnitudes; NaN if either is one.
__device__ __forceinline__ float larger_magnitude(float a, float b) {
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(magnitude(a)), "f"(magnitude(b)));
  return r;
}
/// The same for the two BF16 or FP16 numbers of a word; their signs are arbitrary.
template <bool IsBf16>
__device__ __forceinline__ u32 larger_magnitudes(u32 a, u32 b) {
  u32 r;
  if constexpr (target::has_xorsign && IsBf16)
    asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  else if constexpr (target::has_xorsign)
    asm("max.NaN.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  else if constexpr (IsBf16)
    asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a & 0x7fff7fffu), "r"(b & 0x7fff7fffu));
  else
    asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(r) : "r"(a & 0x7fff7fffu), "r"(b & 0x7fff7fffu));
  return r;
}
/// The largest magnitudes among the first and among the second numbers of N words, by halves: short chains.
template <bool IsBf16, int N>
__device__ __forceinline__ u32 largest_pair_of(u32 const* w) {
  if constexpr (N == 1)
    return w[0];
  else
    return larger_magnitudes<IsBf16>(largest_pair_of<IsBf16, N / 2>(w),
                                     largest_pair_of<IsBf16, N - N / 2>(w + N / 2));
}

/// x with its magnitude cut to `most`.
__device__ __forceinline__ float clamped(float x, float most) {
  if constexpr (target::has_xorsign) {
    float r;
    asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(r) : "f"(x), "f"(most));
    return r;
  }
  return as_float(bits_of(min(magnitude(x), most)) | (bits_of(x) & 0x80000000u));
}
/// E4M3 or E5M2 codes of two numbers, the first in the low byte.
template <class F>
__device__ __forceinline__ u16 two_fp8_codes(float low, float high) {
  u16 r;
  if constexpr (is_same_v<F, e4m3>)
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  else
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  return r;
}
/// Those of every other element of y[0 .. 8). Joined by a move, which the conversions do; a shift would be one.
template <class F>
__device__ __forceinline__ u32 four_fp8_codes(float const* y) {
  u32 r;
  asm("mov.b32 %0, {%1, %2};"
      : "=r"(r)
      : "h"(two_fp8_codes<F>(y[0], y[2])), "h"(two_fp8_codes<F>(y[4], y[6])));
  return r;
}
/// Eight magnitude codes and the sign bits, bit 7 of each byte, of the even and the odd elements.
__device__ __forceinline__ u32 with_signs(u32 codes, u32 even_signs, u32 odd_signs) {
  return codes | (even_signs >> 4 & 0x08080808u) | (odd_signs & 0x80808080u);
}
/// -x, whatever x is.
__device__ __forceinline__ float negated(float x) {
  float r;
  asm("neg.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
/// Four times the step of E2M1's grid at y, over `unit`: 2, 4 or 8 below 2, 4 or 8 `unit`, 16 below 16. The
/// product is subnormal below 2 `unit`, so its exponent field is 0 to 3. A multiplication and one operation
/// on bits where a maximum would be two on the busier pipe.
__device__ __forceinline__ float e2m1_step(float y, float unit) {
  float z;
  float r;
  // 2^-127 / unit by its bits: --use_fast_math would flush the division.
  asm("mul.rn.f32 %0, %1, %2;" : "=f"(z) : "f"(y), "f"(as_float(bits_of(1.f) - bits_of(unit))));
  asm("lop3.b32 %0, %1, 0x01800000, 0x40000000, 0xea;" : "=f"(r) : "f"(z));
  return r;
}
/// Four bytes that hold codes, even and odd elements apart, and the elements' signs, to eight codes.
__device__ __forceinline__ u32 interleave(u32 even, u32 odd, u32 even_signs, u32 odd_signs) {
  return (even & 0x07070707u) | ((even_signs >> 4) & 0x08080808u) | ((odd << 4) & 0x70707070u) |
         (odd_signs & 0x80808080u);
}
/// Bytes `which` (0 lowest) of four words.
template <int Which>
__device__ __forceinline__ u32 gather_bytes(u32 a, u32 b, u32 c, u32 d) {
  constexpr u32 selector = u32(Which) | u32(Which + 4) << 4;
  return __byte_perm(__byte_perm(a, b, selector), __byte_perm(c, d, selector), 0x5410);
}
/// The signs of x[0], x[2], x[4], x[6] in bits 7, 15, 23, 31.
__device__ __forceinline__ u32 four_signs(float const* x) {
  if constexpr (has_e4m3_conversion) return four_fp8_codes<e4m3>(x);
  return gather_bytes<3>(bits_of(x[0]), bits_of(x[2]), bits_of(x[4]), bits_of(x[6]));
}

/// What takes elements to the grid: a factor, a factor and a cut, or nothing.
struct scaling {
  float factor;
  __device__ float of(float x) const { return mul(x, factor); }
  __device__ scaling times(float unit) const { return {mul(factor, unit)}; }
};
struct clipped_scaling {
  float factor;
  float most;
  __device__ float of(float x) const { return clamped(mul(x, factor), most); }
  __device__ clipped_scaling times(float unit) const {
    return {mul(factor, unit), mul(most, unit)};
  }
};
struct no_scaling {
  __device__ float of(float x) const { return x; }
  __device__ scaling times(float unit) const { return {unit}; }
};

/// pack(x, by, random): x[0 .. 8), which `by`, a scaling by a positive factor, takes to grid coordinates, each
/// below `limit` in magnitude; `random` the Philox words of these eight elements, lowest lane first.
template <class E, rounding_mode R>
struct packer {
  static constexpr float limit = as_float(infinity_bits);
  template <class Scaling>
  __device__ static u32 pack(float const* x, Scaling const& by, u32 const* random) {
    constexpr int width = random_width<R::random_bits>;
    u32 result = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      u32 word = 0;
      if constexpr (R::random_bits > 0) word = random[i * width / 32] >> (i * width % 32);
      if constexpr (width < 32) word &= (1u << width) - 1;
      result |= (E::template encode_finite<R>(by.of(x[i]), word) & 15u) << (4 * i);
    }
    return result;
  }
};

/// Eight codes, each in the low bits of a word that has nothing else in its low half.
__device__ __forceinline__ u32 join_codes(u32 const (&c)[8]) {
  u32 const low = ((c[3] * 16 + c[2]) * 16 + c[1]) * 16 + c[0];
  u32 const high = ((c[7] * 16 + c[6]) * 16 + c[5]) * 16 + c[4];
  return __byte_perm(low, high, 0x5410);
}

/// What a number a >= 0 is added to so that the sum's low bits are its E2M1 code, then `FractionBits` bits of
/// its fraction: the step of a's binade is that of the sum, and two more steps a binade complete the code.
/// `binade` holds a's, 0 below 2, in its low bits, and nothing else that the product does not shift out but
/// `Rest`.
template <int FractionBits, u32 Rest>
__device__ __forceinline__ float e2m1_addend(float binade) {
  constexpr u32 factor = 0x00800000 + (2u << FractionBits);
  constexpr u32 first = bits_of(exp2i(22 - FractionBits));
  return as_float(bits_of(binade) * factor + (first - Rest * factor));
}

/// E2M1 to nearest even. Near 2 and 4 both steps round alike, so that the binade may be told by a line: 9/4
/// and 9/2 are the latest, and less than three times that is the limit.
template <>
struct packer<e2m1, nearest_even> {
  static constexpr bool is_native = target::has_e2m1_conversion;
  static constexpr bool uses_fp8 = !is_native && has_e4m3_conversion;
  static constexpr float limit = 6.5f;

  template <class Scaling>
  __device__ static u32 pack(float const* x, Scaling const& by, u32 const*) {
    if constexpr (is_native)
      return pack_native(x, by);
    else
      return pack_integer(x, by);
  }

  /// Where uses_fp8, in two steps: |y| rounded to the grid times `unit`, and eight of these to codes. Adding
  /// and subtracting 3/2 2^22 times the binade rounds. In units of 2^-6 the result is an exact E4M3 number whose
  /// byte is 000EEM00, in units of 2^-14 an E5M2 number whose byte is 0000EEM0; so odd and even elements
  /// interleave after one shift.
  static constexpr float even_unit = 0x1p-14f;
  static constexpr float odd_unit = 0x1p-6f;
  __device__ static float round(float y, float unit) {
    float const t = e2m1_step(y, unit);
    return fma_even(t, -0x1.8p21f * unit, fma_even(t, 0x1.8p21f * unit, magnitude(y)));
  }
  __device__ static u32 magnitude_codes(float const* rounded) {
    return (four_fp8_codes<e4m3>(rounded + 1) * 8 + four_fp8_codes<e5m2>(rounded)) >> 1;
  }
  __device__ static u32 add_signs(u32 codes, float const* x) {
    return with_signs(codes, four_signs(x), four_signs(x + 1));
  }

 private:
  template <class Scaling>
  __device__ static u32 pack_native(float const* x, Scaling const& by) {
    float y[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) y[i] = by.of(x[i]);
    u32 r;
    asm("{ .reg .b8 a, b, c, d;\n"
        "cvt.rn.satfinite.e2m1x2.f32 a, %2, %1;\n"
        "cvt.rn.satfinite.e2m1x2.f32 b, %4, %3;\n"
        "cvt.rn.satfinite.e2m1x2.f32 c, %6, %5;\n"
        "cvt.rn.satfinite.e2m1x2.f32 d, %8, %7;\n"
        "mov.b32 %0, {a, b, c, d}; }"
        : "=r"(r)
        : "f"(y[0]), "f"(y[1]), "f"(y[2]), "f"(y[3]), "f"(y[4]), "f"(y[5]), "f"(y[6]), "f"(y[7]));
    return r;
  }
  template <class Scaling>
  __device__ static u32 pack_integer(float const* x, Scaling const& by) {
    u32 codes[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) codes[i] = code(by.of(magnitude(x[i])));
    return add_signs(join_codes(codes), x);
  }
  __device__ static u32 code(float a) {
    float const binade = fma_toward_zero(a, 57.f / 128, 0x1p23f);
    return bits_of(add(a, e2m1_addend<0, bits_of(0x1p23f)>(binade)));
  }
};

/// E1M2 to nearest even: the subnormal numbers of E4M3 are its grid, so one conversion rounds and packs.
template <>
struct packer<e1m2, nearest_even> {
  static constexpr float limit = 1.875f;

  template <class Scaling>
  __device__ static u32 pack(float const* x, Scaling const& by, u32 const*) {
    auto const to_units = by.times(has_e4m3_conversion ? 0x1p-7f : 1.f);
    float y[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) y[i] = to_units.of(x[i]);
    if constexpr (has_e4m3_conversion) {
      u32 const even = four_fp8_codes<e4m3>(y);
      u32 const odd = four_fp8_codes<e4m3>(y + 1);
      return interleave(even, odd, even, odd);
    } else {
      return interleave(gather_bytes<0>(code(y[0]), code(y[2]), code(y[4]), code(y[6])),
                        gather_bytes<0>(code(y[1]), code(y[3]), code(y[5]), code(y[7])),
                        four_signs(y), four_signs(y + 1));
    }
  }

 private:
  __device__ static u32 code(float y) { return bits_of(add(magnitude(y), 0x1p21f)); }
};

/// Stochastic rounding with up to eight bits. A sum rounded toward zero leaves the lower code and 8 bits
/// of the fraction side by side in its low half; adding the random byte carries into the code.
template <class Format>
struct stochastic_packer {
  template <class Scaling>
  __device__ static u32 pack(float const* x, Scaling const& by, u32 const* random, int bits) {
    u32 w[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) w[i] = Format::code_and_fraction(by.of(magnitude(x[i])));
    u32 const codes = rounded(w + 1, random, bits, 8) * 16 + rounded(w, random, bits, 0);
    return with_signs(codes, four_signs(x), four_signs(x + 1));
  }

 private:
  // Codes of elements 0, 2, 4, 6 after `w`, whose random bytes start at bit `at` of each word.
  __device__ static u32 rounded(u32 const* w, u32 const* random, int bits, int at) {
    u32 const low = sums(w[0], w[2], bytes(random[0], bits, at));
    u32 const high = sums(w[4], w[6], bytes(random[1], bits, at));
    return __byte_perm(low, high, 0x7531);
  }
  // In halves, and no code above 7.
  __device__ static u32 sums(u32 a, u32 b, u32 random) {
    return __viaddmin_u16x2(__byte_perm(a, b, 0x5410), random, 0x07ff07ffu);
  }
  // Bytes at / 8 and at / 8 + 2, each in a half, their low `bits` bits moved to the top.
  __device__ static u32 bytes(u32 word, int bits, int at) {
    u32 const two = __byte_perm(word, 0, at == 0 ? 0x4240 : 0x4341);
    u32 const mask = ((1u << bits) - 1) * 0x00010001u;
    return bits == 8 ? two : (two & mask) << (8 - bits);
  }
};
/// From 6 on the binade is too large; the sum is beyond code 7 then, as it should be.
struct e2m1_fraction {
  __device__ static u32 code_and_fraction(float a) {
    float const binade = add_toward_zero(a, 0x1p24f);
    return bits_of(add_toward_zero(a, e2m1_addend<8, bits_of(0x1p24f)>(binade)));
  }
};
struct e1m2_fraction {
  __device__ static u32 code_and_fraction(float a) { return bits_of(add_toward_zero(a, 0x1p13f)); }
};

template <int Bits>
  requires(Bits <= 8)
struct packer<e2m1, stochastic<Bits>> : stochastic_packer<e2m1_fraction> {
  static constexpr float limit = 16;
  template <class Scaling>
  __device__ static u32 pack(float const* x, Scaling const& by, u32 const* random) {
    return stochastic_packer<e2m1_fraction>::pack(x, by, random, Bits);
  }
};
template <int Bits>
  requires(Bits <= 8)
struct packer<e1m2, stochastic<Bits>> : stochastic_packer<e1m2_fraction> {
  static constexpr float limit = 32;
  template <class Scaling>
  __device__ static u32 pack(float const* x, Scaling const& by, u32 const* random) {
    return stochastic_packer<e1m2_fraction>::pack(x, by, random, Bits);
  }
};

/// Two halves of the numbers that the low two bytes are in E4M3.
__device__ __forceinline__ u32 halves_of_e4m3(u32 bytes) {
  u32 r;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(u16(bytes)));
  return r;
}
__device__ __forceinline__ float float_of_half(u32 bits) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(u16(bits)));
  return r;
}

/// Eight codes of a word to the values that they mean, times `unit`.
template <class E>
struct unpacker {
  static constexpr float unit = 1;
  __device__ static void unpack(u32 word, float* y) {
#pragma unroll
    for (int i = 0; i < 8; ++i) y[i] = E::decode(word >> (4 * i) & 15u);
  }
};
/// Bytes of E4M3 codes of the even and the odd elements.
__device__ __forceinline__ void unpack_e4m3(u32 even, u32 odd, float* y) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    u32 const e = halves_of_e4m3(even >> (16 * k));
    u32 const o = halves_of_e4m3(odd >> (16 * k));
    y[4 * k] = float_of_half(e);
    y[4 * k + 1] = float_of_half(o);
    y[4 * k + 2] = float_of_half(e >> 16);
    y[4 * k + 3] = float_of_half(o >> 16);
  }
}
template <>
struct unpacker<e2m1> {
  static constexpr float unit = has_e4m3_conversion ? 0x1p-6f : 1.f;
  __device__ static void unpack(u32 word, float* y) {
    if constexpr (has_e4m3_conversion)
      unpack_e4m3((word << 2 & 0x1c1c1c1cu) | (word << 4 & 0x80808080u),
                  (word >> 2 & 0x1c1c1c1cu) | (word & 0x80808080u), y);
    else
#pragma unroll
      for (int i = 0; i < 8; ++i) y[i] = e2m1::decode(word >> (4 * i) & 15u);
  }
};
template <>
struct unpacker<e1m2> {
  static constexpr float unit = has_e4m3_conversion ? 0x1p-7f : 1.f;
  __device__ static void unpack(u32 word, float* y) {
    if constexpr (has_e4m3_conversion)
      unpack_e4m3((word & 0x07070707u) | (word << 4 & 0x80808080u),
                  (word >> 4 & 0x07070707u) | (word & 0x80808080u), y);
    else
#pragma unroll
      for (int i = 0; i < 8; ++i) y[i] = e1m2::decode(word >> (4 * i) & 15u);
  }
};

}  // namespace quadrille::detail
