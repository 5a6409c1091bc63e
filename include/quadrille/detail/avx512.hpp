// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// GEMM micro-kernels for AVX-512: a tile of `rows` rows of A by up to `max_panels` panels of 16 columns
/// of D. Panels and packed rows: see detail/panel.hpp. Only to be called where cpu() says so.

#include <immintrin.h>

#include <quadrille/detail/avx2.hpp>
#include <quadrille/detail/panel.hpp>

QUADRILLE_EXACT_BEGIN
QUADRILLE_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512cd")
namespace quadrille::detail {

/// A float's bits, in every lane.
[[gnu::always_inline]] inline __m512 broadcast(u32 bits) {
  return _mm512_castsi512_ps(_mm512_set1_epi32(i32(bits)));
}

/// 16 words of codes from each of 16 rows, interleaved into a panel.
inline void interleave_16x16(u8 const* codes, i64 row_bytes, u32* out) {
  __m512i a[16];
  __m512i b[16];
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r) a[r] = _mm512_loadu_si512(codes + r * row_bytes);
#pragma GCC unroll 16
  for (int r = 0; r < 16; r += 2) {
    b[r] = _mm512_unpacklo_epi32(a[r], a[r + 1]);
    b[r + 1] = _mm512_unpackhi_epi32(a[r], a[r + 1]);
  }
#pragma GCC unroll 16
  for (int r = 0; r < 16; r += 4) {  // a[r + i]: word i of rows r .. r + 3, for four i 4 apart
    a[r] = _mm512_unpacklo_epi64(b[r], b[r + 2]);
    a[r + 1] = _mm512_unpackhi_epi64(b[r], b[r + 2]);
    a[r + 2] = _mm512_unpacklo_epi64(b[r + 1], b[r + 3]);
    a[r + 3] = _mm512_unpackhi_epi64(b[r + 1], b[r + 3]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    __m512i const low = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88);
    __m512i const low_odd = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xdd);
    __m512i const high = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0x88);
    __m512i const high_odd = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0xdd);
    _mm512_storeu_si512(out + i * 16, _mm512_shuffle_i32x4(low, high, 0x88));
    _mm512_storeu_si512(out + (i + 8) * 16, _mm512_shuffle_i32x4(low, high, 0xdd));
    _mm512_storeu_si512(out + (i + 4) * 16, _mm512_shuffle_i32x4(low_odd, high_odd, 0x88));
    _mm512_storeu_si512(out + (i + 12) * 16, _mm512_shuffle_i32x4(low_odd, high_odd, 0xdd));
  }
}

/// The scales of n blocks of a panel as the bits of floats; false if one is not ordinary.
template <class F>
bool decode_panel_scales(u8 const* bytes, int n, u32* out) {
  using ordinary = ordinary_scales<F>;
  __m128i farthest = _mm_setzero_si128();
  for (int i = 0; i < n * 16; i += 16) {
    __m128i const stored = _mm_loadu_si128(reinterpret_cast<__m128i const*>(bytes + i));
    farthest = _mm_max_epu8(farthest, _mm_sub_epi8(stored, _mm_set1_epi8(char(ordinary::first))));
    __m512i const bits = _mm512_slli_epi32(_mm512_cvtepu8_epi32(stored), ordinary::shift);
    _mm512_store_ps(out + i,
                    _mm512_mul_ps(_mm512_castsi512_ps(bits), _mm512_set1_ps(ordinary::unit)));
  }
  return _mm_cmpgt_epu8_mask(farthest, _mm_set1_epi8(char(ordinary::last - ordinary::first))) == 0;
}

/// FP32 products by FMA.
struct avx512_float {
  static constexpr auto interleave_scales = interleave_scales_by_bytes;
  template <class F>
  static constexpr auto decode_scales = decode_panel_scales<F>;
  static constexpr auto interleave = interleave_16x16;
  static constexpr int rows = 8;
  static constexpr int max_panels = 3;

  template <int Rows, int Panels>
  [[gnu::noinline]] static void multiply(tile_sources const& from, int steps, float* sums,
                                         i64 stride) {
    __m512 acc[Rows][Panels];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) acc[r][p] = _mm512_loadu_ps(sums + r * stride + p * 16);
    for (int s = 0; s < steps; ++s) {
      __m512 b[Panels];
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p)
        b[p] = _mm512_load_ps(from.b + p * from.panel_stride + s * 16);
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        __m512 const a = broadcast(from.a[s * rows + r]);
#pragma GCC unroll 16
        for (int p = 0; p < Panels; ++p) acc[r][p] = _mm512_fmadd_ps(a, b[p], acc[r][p]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) _mm512_storeu_ps(sums + r * stride + p * 16, acc[r][p]);
  }

  /// One row of A by one panel, codes decoded on the way: `words` words a block, the first row of a tile.
  [[gnu::noinline]] static void multiply_row(u32 const* a, panel_codes const& from,
                                             float const* table, int words, int blocks,
                                             float* sums) {
    __m512 const entries = _mm512_loadu_ps(table);
    __m512 acc = _mm512_loadu_ps(sums);
    for (int block = 0; block < blocks; ++block) {
      __m512 dots[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
      for (int w = block * words; w < (block + 1) * words; ++w) {
        __m512i const codes = _mm512_loadu_si512(from.words + w * 16);
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k)
          dots[k % 2] = _mm512_fmadd_ps(
              _mm512_permutexvar_ps(_mm512_srli_epi32(codes, unsigned(4 * k)), entries),
              broadcast(a[(w * 8 + k) * rows]), dots[k % 2]);
      }
      acc = _mm512_fmadd_ps(_mm512_add_ps(dots[0], dots[1]),
                            _mm512_load_ps(from.scales + block * 16), acc);
    }
    _mm512_storeu_ps(sums, acc);
  }

  /// The values of 8 codes in each of 16 rows, times the rows' scales.
  static void values(u32 const* codes, u32 const* scales, float const* table, __m512* out) {
    __m512i const words = _mm512_loadu_si512(codes);
    __m512 const entries = _mm512_loadu_ps(table);
    __m512 const scale = _mm512_load_ps(scales);
#pragma GCC unroll 16
    for (int k = 0; k < 8; ++k)
      out[k] = _mm512_mul_ps(
          _mm512_permutexvar_ps(_mm512_srli_epi32(words, unsigned(4 * k)), entries), scale);
  }
  static void expand(u32 const* codes, u32 const* scales, float const* table, u32* out) {
    __m512 value[8];
    values(codes, scales, table, value);
#pragma GCC unroll 16
    for (int k = 0; k < 8; ++k) _mm512_store_ps(out + k * 16, value[k]);
  }
};

}  // namespace quadrille::detail
QUADRILLE_TARGET_END

QUADRILLE_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512bf16")
namespace quadrille::detail {

/// BF16 products, two of a pair of columns at once.
struct avx512_bf16 {
  static constexpr auto interleave_scales = interleave_scales_by_bytes;
  template <class F>
  static constexpr auto decode_scales = decode_panel_scales<F>;
  static constexpr auto interleave = interleave_16x16;
  static constexpr int rows = 8;
  static constexpr int max_panels = 3;

  template <int Rows, int Panels>
  [[gnu::noinline]] static void multiply(tile_sources const& from, int steps, float* sums,
                                         i64 stride) {
    __m512 acc[Rows][Panels];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) acc[r][p] = _mm512_loadu_ps(sums + r * stride + p * 16);
    for (int s = 0; s < steps; ++s) {
      __m512bh b[Panels];
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p)
        b[p] = __m512bh(_mm512_load_si512(from.b + p * from.panel_stride + s * 16));
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        __m512bh const a = __m512bh(_mm512_set1_epi32(i32(from.a[s * rows + r])));
#pragma GCC unroll 16
        for (int p = 0; p < Panels; ++p) acc[r][p] = _mm512_dpbf16_ps(acc[r][p], a, b[p]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) _mm512_storeu_ps(sums + r * stride + p * 16, acc[r][p]);
  }

  static void expand(u32 const* codes, u32 const* scales, float const* table, u32* out) {
    __m512 value[8];
    avx512_float::values(codes, scales, table, value);
    __m512i const high = _mm512_set1_epi32(i32(0xffff0000u));
#pragma GCC unroll 16
    for (int k = 0; k < 8; k += 2) {
      __m512i const odd = _mm512_and_si512(_mm512_castps_si512(value[k + 1]), high);
      __m512i const even = _mm512_srli_epi32(_mm512_castps_si512(value[k]), 16);
      _mm512_store_si512(out + k * 8, _mm512_or_si512(odd, even));
    }
  }
};

}  // namespace quadrille::detail
QUADRILLE_TARGET_END

QUADRILLE_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx512cd,avx512vnni")
namespace quadrille::detail {

/// Integer products by VNNI: unsigned bytes of B times signed bytes of A.
struct avx512_int8 {
  static constexpr auto interleave_scales = interleave_scales_by_bytes;
  template <class F>
  static constexpr auto decode_scales = decode_panel_scales<F>;
  static constexpr auto interleave = interleave_16x16;
  static constexpr int rows = 4;
  static constexpr int max_panels = 3;
  static constexpr bool has_row_kernel = true;
  static constexpr bool adds_exponents = true;

  /// With AddsExponents B's scales are exponents.
  template <int Rows, int Panels, int Steps, bool Fused, bool AddsExponents = false>
  [[gnu::noinline]] static void multiply(block_sources const& from, int blocks, float* sums,
                                         i64 stride) {
    __m512 acc[Rows][Panels];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) acc[r][p] = _mm512_loadu_ps(sums + r * stride + p * 16);
    for (int block = 0; block < blocks; ++block) {
      __m512i dot[Rows][Panels];
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (int p = 0; p < Panels; ++p)
          dot[r][p] = _mm512_set1_epi32(i32(from.a_seeds[block * rows + r]));
#pragma GCC unroll 16
      for (int i = 0; i < Steps; ++i) {
        int const s = block * Steps + i;
        __m512i b[Panels];
#pragma GCC unroll 16
        for (int p = 0; p < Panels; ++p)
          b[p] = _mm512_load_si512(from.b + p * from.panel_stride + s * 16);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r) {
          __m512i const a = _mm512_set1_epi32(i32(from.a[s * rows + r]));
#pragma GCC unroll 16
          for (int p = 0; p < Panels; ++p) dot[r][p] = _mm512_dpbusd_epi32(dot[r][p], b[p], a);
        }
      }
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) {
        __m512 const b_scale = _mm512_load_ps(from.b_scales + p * from.panel_stride + block * 16);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r)
          acc[r][p] = add_block<Fused>(
              acc[r][p], dot[r][p],
              scale_product<AddsExponents>(broadcast(from.a_scales[block * rows + r]), b_scale));
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) _mm512_storeu_ps(sums + r * stride + p * 16, acc[r][p]);
  }

  /// One row of A by one panel, codes decoded on the way: the first row of a tile.
  template <int Steps, bool Fused>
  [[gnu::noinline]] static void multiply_row(block_sources const& a, panel_codes const& from,
                                             u8 const* table, int blocks, float* sums) {
    __m512i const entries =
        _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<__m128i const*>(table)));
    __m512 acc = _mm512_loadu_ps(sums);
    for (int block = 0; block < blocks; ++block) {
      __m512i even = _mm512_set1_epi32(i32(a.a_seeds[block * rows]));
      __m512i odd = _mm512_setzero_si512();
#pragma GCC unroll 8
      for (int i = 0; i < Steps / 2; ++i) {
        int const w = block * (Steps / 2) + i;
        u32 const* const tokens = a.a + 2 * w * rows;
        __m512i const codes = _mm512_loadu_si512(from.words + w * 16);
        even =
            _mm512_dpbusd_epi32(even, look_up(entries, codes), _mm512_set1_epi32(i32(tokens[0])));
        odd = _mm512_dpbusd_epi32(odd, look_up(entries, _mm512_srli_epi32(codes, 4)),
                                  _mm512_set1_epi32(i32(tokens[rows])));
      }
      acc = add_block<Fused>(acc, _mm512_add_epi32(even, odd),
                             _mm512_mul_ps(broadcast(a.a_scales[block * rows]),
                                           _mm512_load_ps(from.scales + block * 16)));
    }
    _mm512_storeu_ps(sums, acc);
  }

  /// The bytes of 8 codes in each of 16 rows: of the even ones, then of the odd ones.
  static void expand(u32 const* codes, u8 const* table, u32* out) {
    __m512i const words = _mm512_loadu_si512(codes);
    __m512i const entries =
        _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<__m128i const*>(table)));
    _mm512_store_si512(out, look_up(entries, words));
    _mm512_store_si512(out + 16, look_up(entries, _mm512_srli_epi32(words, 4)));
  }

 private:
  // Entries of the low halves of bytes. `entries` are 16, four times.
  static __m512i look_up(__m512i entries, __m512i bytes) {
    if constexpr (has_vbmi)
      return _mm512_permutexvar_epi8(bytes, entries);
    else
      return _mm512_shuffle_epi8(entries, _mm512_and_si512(bytes, _mm512_set1_epi8(15)));
  }

  // The multiply pipes are what dots wait for; vscalefps takes another.
  template <bool AddsExponents>
  static __m512 scale_product(__m512 a, __m512 b) {
    return AddsExponents ? _mm512_scalef_ps(a, b) : _mm512_mul_ps(a, b);
  }

  // One rounding where the product is exact, else one for the product and one for the sum.
  template <bool Fused>
  static __m512 add_block(__m512 sum, __m512i dot, __m512 scale) {
    __m512 const value = _mm512_cvtepi32_ps(dot);
    if constexpr (Fused) return _mm512_fmadd_ps(value, scale, sum);
    __m512 product = _mm512_mul_ps(value, scale);
    asm("" : "+v"(product));  // keeps clang from contracting it
    return _mm512_add_ps(sum, product);
  }
};

}  // namespace quadrille::detail
QUADRILLE_TARGET_END
QUADRILLE_EXACT_END
