// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The two long loops of quantization for AVX-512: maxima of blocks, and codes. Only to be called where
/// detail/cpu.hpp says so.

#include <immintrin.h>

#include <quadrille/detail/std.hpp>

QUADRILLE_EXACT_BEGIN
QUADRILLE_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512cd")
namespace quadrille::detail {

struct avx512_codes {
  /// Magnitude bits of the largest of each block; Size is a multiple of 16, blocks too. NaN is largest.
  template <int Size>
  static void block_amax(float const* x, int blocks, float* amax) {
    for (int b = 0; b < blocks; b += 16, x += 16 * Size) {
      __m512i quads[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) quads[i] = max_of_four<Size>(x + 4 * i * Size);
      __m512i const low = max_of(_mm512_shuffle_i32x4(quads[0], quads[1], 0x44),
                                 _mm512_shuffle_i32x4(quads[0], quads[1], 0xee));
      __m512i const high = max_of(_mm512_shuffle_i32x4(quads[2], quads[3], 0x44),
                                  _mm512_shuffle_i32x4(quads[2], quads[3], 0xee));
      _mm512_storeu_ps(amax + b,
                       _mm512_castsi512_ps(max_of(_mm512_shuffle_i32x4(low, high, 0x88),
                                                  _mm512_shuffle_i32x4(low, high, 0xdd))));
    }
  }

  /// Codes of values times their blocks' factors, to nearest even and saturating, two a byte; Blocks * Size
  /// is a multiple of 128. E is a signed minifloat of 4 bits, and no value is NaN.
  template <class E, int Size, int Blocks>
  static void encode_nearest(float const* x, float const* amax, float const* factors, u8* bytes) {
    if constexpr (has_vbmi) {
      float steps[Blocks];
      if (in_half_steps<E>(amax, factors, Blocks, steps))
        return encode_by_table<E, Size>(x, steps, Blocks * Size, bytes);
    }
    for (int at = 0; at < Blocks * Size; at += 128, factors += 128 / Size, bytes += 64) {
      __m512i codes[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i)
        codes[i] = round<E>(_mm512_mul_ps(_mm512_loadu_ps(x + at + 16 * i),
                                          _mm512_set1_ps(factors[16 * i / Size])));
      _mm512_storeu_si512(bytes, pack(codes));
    }
  }

  /// The same by stochastic rounding with 8 random bits each.
  template <class E, int Size>
  static void encode_stochastic(float const* x, float const* factors, u8 const* random, int n,
                                u8* bytes) {
    for (int at = 0; at < n; at += 128, factors += 128 / Size, bytes += 64) {
      __m512i codes[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; ++i)
        codes[i] = round_up_by<E>(
            _mm512_mul_ps(_mm512_loadu_ps(x + at + 16 * i), _mm512_set1_ps(factors[16 * i / Size])),
            _mm512_cvtepu8_epi32(
                _mm_loadu_si128(reinterpret_cast<__m128i const*>(random + at + 16 * i))));
      _mm512_storeu_si512(bytes, pack(codes));
    }
  }

  /// n outputs of philox4x32 (random.hpp), n a multiple of 16, for the counters (group, row, row_high,
  /// stream).
  static void philox(u32 const* group, u32 const* row, u32 const* row_high, u32 stream, u64 key,
                     int n, u32* out) {
    for (int i = 0; i < n; i += 16, out += 64) {
      __m512i c[4] = {_mm512_loadu_si512(group + i), _mm512_loadu_si512(row + i),
                      _mm512_loadu_si512(row_high + i), _mm512_set1_epi32(i32(stream))};
      u32 key_low = u32(key);
      u32 key_high = u32(key >> 32);
#pragma GCC unroll 10
      for (int round = 0; round < 10; ++round) {
        __m512i const first = c[0];
        __m512i const second = c[2];
        c[0] = mixed(high_product(second, 0xCD9E8D57u), c[1], key_low);
        c[2] = mixed(high_product(first, 0xD2511F53u), c[3], key_high);
        c[1] = _mm512_mullo_epi32(second, _mm512_set1_epi32(i32(0xCD9E8D57u)));
        c[3] = _mm512_mullo_epi32(first, _mm512_set1_epi32(i32(0xD2511F53u)));
        key_low += 0x9E3779B9u;
        key_high += 0xBB67AE85u;
      }
      store_transposed(c, out);
    }
  }

 private:
  static __m512i mixed(__m512i a, __m512i b, u32 key) {  // a ^ b ^ key
    return _mm512_ternarylogic_epi32(a, b, _mm512_set1_epi32(i32(key)), 0x96);
  }
  static __m512i high_product(__m512i a, u32 factor) {
    __m512i const f = _mm512_set1_epi32(i32(factor));
    __m512i const even = _mm512_srli_epi64(_mm512_mul_epu32(a, f), 32);
    __m512i const odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), f);
    return _mm512_mask_mov_epi32(even, 0xaaaa, odd);
  }
  // Word w of output i to out[4 i + w].
  static void store_transposed(__m512i const (&c)[4], u32* out) {
    __m512i const low01 = _mm512_unpacklo_epi32(c[0], c[1]);
    __m512i const low23 = _mm512_unpacklo_epi32(c[2], c[3]);
    __m512i const high01 = _mm512_unpackhi_epi32(c[0], c[1]);
    __m512i const high23 = _mm512_unpackhi_epi32(c[2], c[3]);
    // rows[r]: outputs r, r + 4, r + 8, r + 12
    __m512i const rows[4] = {
        _mm512_unpacklo_epi64(low01, low23), _mm512_unpackhi_epi64(low01, low23),
        _mm512_unpacklo_epi64(high01, high23), _mm512_unpackhi_epi64(high01, high23)};
    __m512i const a = _mm512_shuffle_i32x4(rows[0], rows[1], 0x44);
    __m512i const b = _mm512_shuffle_i32x4(rows[2], rows[3], 0x44);
    __m512i const c2 = _mm512_shuffle_i32x4(rows[0], rows[1], 0xee);
    __m512i const d = _mm512_shuffle_i32x4(rows[2], rows[3], 0xee);
    _mm512_storeu_si512(out, _mm512_shuffle_i32x4(a, b, 0x88));
    _mm512_storeu_si512(out + 16, _mm512_shuffle_i32x4(a, b, 0xdd));
    _mm512_storeu_si512(out + 32, _mm512_shuffle_i32x4(c2, d, 0x88));
    _mm512_storeu_si512(out + 48, _mm512_shuffle_i32x4(c2, d, 0xdd));
  }

  static __m512i max_of(__m512i a, __m512i b) { return _mm512_max_epi32(a, b); }

  // The larger of each lane of a block's magnitudes.
  template <int Size>
  static __m512i lane_maxima(float const* x) {
    __m512i const mask = _mm512_set1_epi32(0x7fffffff);
    __m512i result = _mm512_and_si512(_mm512_loadu_si512(x), mask);
#pragma GCC unroll 8
    for (int i = 16; i < Size; i += 16)
      result = max_of(result, _mm512_and_si512(_mm512_loadu_si512(x + i), mask));
    return result;
  }
  // Maxima of four blocks: in each quarter of the vector one a block.
  template <int Size>
  static __m512i max_of_four(float const* x) {
    __m512i const a = lane_maxima<Size>(x);
    __m512i const b = lane_maxima<Size>(x + Size);
    __m512i const c = lane_maxima<Size>(x + 2 * Size);
    __m512i const d = lane_maxima<Size>(x + 3 * Size);
    __m512i const ab = max_of(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    __m512i const cd = max_of(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    return max_of(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  }

  // minifloat::round_nearest_even: one addition rounds, see there. The product in it is exact, so that
  // fusing it changes nothing.
  template <class E>
  static __m512i round(__m512 y) {
    constexpr int mantissa = E::mantissa_bits;
    constexpr u32 magnitudes = (1u << (E::exponent_bits + mantissa)) - 1;
    constexpr u32 field = u32(127 + E::min_exponent + 23 - mantissa) << mantissa;
    constexpr float raise = float(i32((0u - field) & (2 * magnitudes + 1))) * exp2i(-mantissa);
    __m512i const a = saturated<E>(y);
    __m512i const binade = binade_of<E>(a);
    __m512i const sum = _mm512_castps_si512(
        _mm512_fmadd_ps(_mm512_castsi512_ps(binade), _mm512_set1_ps(exp2i(23 - mantissa) + raise),
                        _mm512_castsi512_ps(a)));
    __m512i const code = _mm512_add_epi32(sum, _mm512_srli_epi32(sum, 23 - mantissa));
    return with_sign<E>(code, y);
  }

  // minifloat::round_general with stochastic<8>, in units of 1/256 of a step: what carries into a whole
  // step rounds up.
  template <class E>
  static __m512i round_up_by(__m512 y, __m512i random) {
    constexpr int mantissa = E::mantissa_bits;
    constexpr u32 units = u32(2 * 127 + mantissa + 8) << 23;
    __m512i const a = saturated<E>(y);
    __m512i const binade = binade_of<E>(a);
    __m512 const per_step =
        _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(i32(units)), binade));
    __m512i const fine = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_castsi512_ps(a), per_step));
    __m512i const steps = _mm512_srli_epi32(_mm512_add_epi32(fine, random), 8);
    __m512i const below = _mm512_srli_epi32(
        _mm512_sub_epi32(binade, _mm512_set1_epi32(i32(bits_of(E::min_normal)))), 23 - mantissa);
    return with_sign<E>(_mm512_add_epi32(steps, below), y);
  }

  // Bits of min(|y|, max); and of 2^e of a number, at least the smallest normal one.
  template <class E>
  static __m512i saturated(__m512 y) {
    return _mm512_castps_si512(_mm512_range_ps(y, _mm512_set1_ps(E::max), 0xa));
  }
  template <class E>
  static __m512i binade_of(__m512i a) {
    return _mm512_max_epi32(_mm512_and_si512(a, _mm512_set1_epi32(i32(infinity_bits))),
                            _mm512_set1_epi32(i32(bits_of(E::min_normal))));
  }
  // The low bits of a code, under the sign of y.
  template <class E>
  static __m512i with_sign(__m512i code, __m512 y) {
    return _mm512_ternarylogic_epi32(_mm512_set1_epi32((1 << (E::bits - 1)) - 1), code,
                                     _mm512_srli_epi32(_mm512_castps_si512(y), 32 - E::bits), 0xca);
  }

  // 128 codes into 64 bytes, in order.
  static __m512i pack(__m512i const (&codes)[8]) {
    __m512i const halves[2] = {_mm512_packus_epi16(_mm512_packus_epi32(codes[0], codes[1]),
                                                   _mm512_packus_epi32(codes[2], codes[3])),
                               _mm512_packus_epi16(_mm512_packus_epi32(codes[4], codes[5]),
                                                   _mm512_packus_epi32(codes[6], codes[7]))};
    return pack_bytes(halves);
  }
  // The same from codes of a byte, each half in the order in which four vectors of words are packed.
  static __m512i pack_bytes(__m512i const (&halves)[2]) {
    __m512i const pair = _mm512_set1_epi16(0x1001);  // low + 16 high
    __m512i const order =
        _mm512_set_epi16(31, 23, 15, 7, 30, 22, 14, 6, 29, 21, 13, 5, 28, 20, 12, 4, 27, 19, 11, 3,
                         26, 18, 10, 2, 25, 17, 9, 1, 24, 16, 8, 0);
    return _mm512_permutexvar_epi16(order,
                                    _mm512_packus_epi16(_mm512_maddubs_epi16(halves[0], pair),
                                                        _mm512_maddubs_epi16(halves[1], pair)));
  }

  // Codes by a table. Between two codes rounding turns at a multiple of half the smallest step. In these half
  // steps a magnitude is known well enough by floor + ceiling: an even number if it is an integer, else
  // the odd one between.
  template <class E>
  struct half_steps {
    static constexpr float a_unit = 2 / E::min_subnormal;
    static_assert(2 * a_unit * E::max < 64);
    alignas(64) u8 code[64] = {};
    constexpr half_steps() {
      for (int i = 0; i < 64; ++i) code[i] = u8(E::encode_finite(float(i) / (2 * a_unit)));
    }
  };

  // Factors to half steps. False if a block's values might leave the range of integers.
  template <class E>
  static bool in_half_steps(float const* amax, float const* factors, int blocks, float* steps) {
    __mmask16 fits = 0xffff;
    for (int b = 0; b < blocks; b += 16) {
      __m512 const most = _mm512_loadu_ps(amax + b);
      __m512 const step =
          _mm512_mul_ps(_mm512_loadu_ps(factors + b), _mm512_set1_ps(half_steps<E>::a_unit));
      __mmask16 const is_some = _mm512_cmp_ps_mask(most, _mm512_setzero_ps(), _CMP_NEQ_OQ);
      __mmask16 const is_near =
          _mm512_cmp_ps_mask(_mm512_mul_ps(most, step), _mm512_set1_ps(0x1p29f), _CMP_LT_OQ);
      fits &= __mmask16(is_near | ~is_some);
      _mm512_storeu_ps(steps + b, _mm512_maskz_mov_ps(is_some, step));
    }
    return fits == 0xffff;
  }

  template <class E, int Size>
  static void encode_by_table(float const* x, float const* steps, int n, u8* bytes) {
    static constexpr half_steps<E> table{};
    __m512i const codes = _mm512_load_si512(table.code);
    for (int at = 0; at < n; at += 128, steps += 128 / Size, bytes += 64) {
      __m512i halves[2];
#pragma GCC unroll 2
      for (int h = 0; h < 2; ++h) {
        __m512i sums[4];
        __m512i signs[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          __m512 const value = _mm512_loadu_ps(x + at + 64 * h + 16 * i);
          __m512 const y = _mm512_mul_ps(value, _mm512_set1_ps(steps[(64 * h + 16 * i) / Size]));
          sums[i] = _mm512_add_epi32(
              _mm512_cvt_roundps_epi32(y, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC),
              _mm512_cvt_roundps_epi32(y, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC));
          signs[i] = _mm512_castps_si512(value);
        }
        __m512i const magnitude =
            _mm512_min_epu8(_mm512_abs_epi8(saturated_bytes(sums)), _mm512_set1_epi8(63));
        halves[h] = _mm512_ternarylogic_epi32(
            _mm512_permutexvar_epi8(magnitude, codes), _mm512_srli_epi16(saturated_bytes(signs), 4),
            _mm512_set1_epi8(1 << (E::bits - 1)), 0xf8);  // code | (sign & its bit)
      }
      _mm512_storeu_si512(bytes, pack_bytes(halves));
    }
  }
  static __m512i saturated_bytes(__m512i const (&words)[4]) {
    return _mm512_packs_epi16(_mm512_packs_epi32(words[0], words[1]),
                              _mm512_packs_epi32(words[2], words[3]));
  }
};

}  // namespace quadrille::detail
QUADRILLE_TARGET_END
QUADRILLE_EXACT_END
