// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// GEMM micro-kernels for AVX2 and FMA: a tile of `rows` rows of A by one panel of 16 columns of D, two
/// vectors. Panels and packed rows: see detail/panel.hpp. Only to be called where cpu() says so.

#include <immintrin.h>

#include <quadrille/detail/integer_element.hpp>
#include <quadrille/detail/panel.hpp>

QUADRILLE_EXACT_BEGIN
QUADRILLE_TARGET_BEGIN("avx2,fma")
namespace quadrille::detail {

/// A float's bits in every lane; the floats at `words`.
[[gnu::always_inline]] inline __m256 broadcast_half(u32 bits) {
  return _mm256_castsi256_ps(_mm256_set1_epi32(i32(bits)));
}
[[gnu::always_inline]] inline __m256 load_floats(u32 const* words) {
  return _mm256_castsi256_ps(_mm256_load_si256(reinterpret_cast<__m256i const*>(words)));
}

/// 8 words of codes from each of 8 rows, interleaved into half of a panel's lanes.
[[gnu::always_inline]] inline void interleave_8x8(u8 const* codes, i64 row_bytes, u32* out) {
  __m256i a[8];
  __m256i b[8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r)
    a[r] = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(codes + r * row_bytes));
#pragma GCC unroll 8
  for (int r = 0; r < 8; r += 2) {
    b[r] = _mm256_unpacklo_epi32(a[r], a[r + 1]);
    b[r + 1] = _mm256_unpackhi_epi32(a[r], a[r + 1]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < 8; r += 4) {  // a[r + i]: words i and i + 4 of rows r .. r + 3
    a[r] = _mm256_unpacklo_epi64(b[r], b[r + 2]);
    a[r + 1] = _mm256_unpackhi_epi64(b[r], b[r + 2]);
    a[r + 2] = _mm256_unpacklo_epi64(b[r + 1], b[r + 3]);
    a[r + 3] = _mm256_unpackhi_epi64(b[r + 1], b[r + 3]);
  }
#pragma GCC unroll 8
  for (int i = 0; i < 4; ++i) {
    auto* const to = reinterpret_cast<__m256i*>(out + i * 16);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(a[i], a[i + 4], 0x20));
    _mm256_storeu_si256(to + 8, _mm256_permute2x128_si256(a[i], a[i + 4], 0x31));
  }
}
/// 16 words of codes from each of 16 rows, interleaved into a panel.
inline void interleave_by_halves(u8 const* codes, i64 row_bytes, u32* out) {
  for (int words = 0; words < 16; words += 8)
    for (int r = 0; r < 16; r += 8)
      interleave_8x8(codes + r * row_bytes + words * 4, row_bytes, out + words * 16 + r);
}

/// N = 8 or 16 scales of a byte from each of 16 rows, interleaved into a panel: [scale][row].
template <int N>
[[gnu::always_inline]] inline void interleave_bytes(u8 const* scales, i64 row_bytes, u8* out) {
  __m128i a[16];
#pragma GCC unroll 16
  for (int r = 0; r < 16; ++r) {
    auto const* const row = reinterpret_cast<__m128i const*>(scales + r * row_bytes);
    a[r] = N == 16 ? _mm_loadu_si128(row) : _mm_loadl_epi64(row);
  }
#pragma GCC unroll 4
  for (int round = 0; round < 4; ++round) {  // four perfect shuffles of 16 rows transpose
    __m128i b[16];
#pragma GCC unroll 8
    for (int r = 0; r < 8; ++r) {
      b[2 * r] = _mm_unpacklo_epi8(a[r], a[r + 8]);
      b[2 * r + 1] = _mm_unpackhi_epi8(a[r], a[r + 8]);
    }
#pragma GCC unroll 16
    for (int r = 0; r < 16; ++r) a[r] = b[r];
  }
#pragma GCC unroll 16
  for (int i = 0; i < N; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(out) + i, a[i]);
}
/// n scales a row, n a multiple of 8.
inline void interleave_scales_by_bytes(u8 const* scales, i64 row_bytes, int n, u8* out) {
  int i = 0;
  for (; i + 16 <= n; i += 16) interleave_bytes<16>(scales + i, row_bytes, out + i * 16);
  if (i < n) interleave_bytes<8>(scales + i, row_bytes, out + i * 16);
}

/// The scales of n blocks of a panel as the bits of floats; false if one is not ordinary.
template <class F>
bool decode_scales_by_halves(u8 const* bytes, int n, u32* out) {
  using ordinary = ordinary_scales<F>;
  __m128i farthest = _mm_setzero_si128();
  for (int i = 0; i < n * 16; i += 16) {
    __m128i const stored = _mm_loadu_si128(reinterpret_cast<__m128i const*>(bytes + i));
    farthest = _mm_max_epu8(farthest, _mm_sub_epi8(stored, _mm_set1_epi8(char(ordinary::first))));
    __m128i const halves[2] = {stored, _mm_srli_si128(stored, 8)};
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      __m256i const bits = _mm256_slli_epi32(_mm256_cvtepu8_epi32(halves[h]), ordinary::shift);
      _mm256_store_ps(reinterpret_cast<float*>(out + i + h * 8),
                      _mm256_mul_ps(_mm256_castsi256_ps(bits), _mm256_set1_ps(ordinary::unit)));
    }
  }
  __m128i const most = _mm_set1_epi8(char(ordinary::last - ordinary::first));
  return _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(farthest, most), most)) == 0xffff;
}

/// FP32 products by FMA.
struct avx2_float {
  static constexpr auto interleave_scales = interleave_scales_by_bytes;
  template <class F>
  static constexpr auto decode_scales = decode_scales_by_halves<F>;
  static constexpr auto interleave = interleave_by_halves;
  static constexpr int rows = 6;
  static constexpr int max_panels = 1;

  template <int Rows, int Panels>
  [[gnu::noinline]] static void multiply(tile_sources const& from, int steps, float* sums,
                                         i64 stride) {
    __m256 acc[Rows][2];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h) acc[r][h] = _mm256_loadu_ps(sums + r * stride + h * 8);
    for (int s = 0; s < steps; ++s) {
      __m256 b[2];
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h) b[h] = load_floats(from.b + s * 16 + h * 8);
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        __m256 const a = broadcast_half(from.a[s * rows + r]);
#pragma GCC unroll 16
        for (int h = 0; h < 2; ++h) acc[r][h] = _mm256_fmadd_ps(a, b[h], acc[r][h]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h) _mm256_storeu_ps(sums + r * stride + h * 8, acc[r][h]);
  }

  /// The values of 8 codes in each of 16 rows, times the rows' scales.
  static void expand(u32 const* codes, u32 const* scales, float const* table, u32* out) {
    __m256 const lower = _mm256_loadu_ps(table);
    __m256 const upper = _mm256_loadu_ps(table + 8);
#pragma GCC unroll 16
    for (int h = 0; h < 2; ++h) {
      __m256i const words = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(codes + h * 8));
      __m256 const scale = load_floats(scales + h * 8);
#pragma GCC unroll 16
      for (int k = 0; k < 8; ++k) {
        __m256i const code = _mm256_srli_epi32(words, 4 * k);
        __m256 const is_upper = _mm256_castsi256_ps(_mm256_slli_epi32(code, 28));
        __m256 const value = _mm256_blendv_ps(_mm256_permutevar8x32_ps(lower, code),
                                              _mm256_permutevar8x32_ps(upper, code), is_upper);
        _mm256_store_ps(reinterpret_cast<float*>(out) + k * 16 + h * 8,
                        _mm256_mul_ps(value, scale));
      }
    }
  }
};

/// Integer products: unsigned bytes of B times signed bytes of A, four steps of which fit 16 bits.
struct avx2_int8 {
  static constexpr auto interleave_scales = interleave_scales_by_bytes;
  template <class F>
  static constexpr auto decode_scales = decode_scales_by_halves<F>;
  static constexpr auto interleave = interleave_by_halves;
  static constexpr int rows = 4;
  static constexpr int max_panels = 1;

  template <int Rows, int Panels, int Steps, bool Fused>
  [[gnu::noinline]] static void multiply(block_sources const& from, int blocks, float* sums,
                                         i64 stride) {
    __m256 acc[Rows][2];
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h) acc[r][h] = _mm256_loadu_ps(sums + r * stride + h * 8);
    for (int block = 0; block < blocks; ++block) {
      __m256i dot[Rows][2];
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
        for (int h = 0; h < 2; ++h)
          dot[r][h] = _mm256_set1_epi32(i32(from.a_seeds[block * rows + r]));
#pragma GCC unroll 16
      for (int s = 0; s < Steps; s += few<Steps>)
        add_steps<few<Steps>>(from, block * Steps + s, dot);
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h) {
        __m256 const b_scale = load_floats(from.b_scales + block * 16 + h * 8);
#pragma GCC unroll 16
        for (int r = 0; r < Rows; ++r)
          acc[r][h] = add_block<Fused>(
              acc[r][h], dot[r][h],
              _mm256_mul_ps(broadcast_half(from.a_scales[block * rows + r]), b_scale));
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h) _mm256_storeu_ps(sums + r * stride + h * 8, acc[r][h]);
  }

  /// The bytes of 8 codes in each of 16 rows: of the even ones, then of the odd ones.
  static void expand(u32 const* codes, u8 const* table, u32* out) {
    __m256i const entries =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<__m128i const*>(table)));
    __m256i const low = _mm256_set1_epi8(15);
#pragma GCC unroll 16
    for (int h = 0; h < 2; ++h) {
      __m256i const words = _mm256_loadu_si256(reinterpret_cast<__m256i const*>(codes + h * 8));
      __m256i const even = _mm256_and_si256(words, low);
      __m256i const odd = _mm256_and_si256(_mm256_srli_epi32(words, 4), low);
      auto* const to = reinterpret_cast<__m256i*>(out + h * 8);
      _mm256_store_si256(to, _mm256_shuffle_epi8(entries, even));
      _mm256_store_si256(to + 2, _mm256_shuffle_epi8(entries, odd));
    }
  }

 private:
  template <int Steps>
  static constexpr int few = Steps % 4 == 0 ? 4 : 2;

  template <int Count, int Rows>
  [[gnu::always_inline]] static void add_steps(block_sources const& from, int first,
                                               __m256i (&dot)[Rows][2]) {
    __m256i pairs[Rows][2] = {};
#pragma GCC unroll 16
    for (int i = 0; i < Count; ++i) {
      int const s = first + i;
      __m256i b[2];
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h)
        b[h] = _mm256_load_si256(reinterpret_cast<__m256i const*>(from.b + s * 16 + h * 8));
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        __m256i const a = _mm256_set1_epi32(i32(from.a[s * rows + r]));
#pragma GCC unroll 16
        for (int h = 0; h < 2; ++h)
          pairs[r][h] = _mm256_add_epi16(pairs[r][h], _mm256_maddubs_epi16(b[h], a));
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (int h = 0; h < 2; ++h)
        dot[r][h] =
            _mm256_add_epi32(dot[r][h], _mm256_madd_epi16(pairs[r][h], _mm256_set1_epi16(1)));
  }

  // One rounding where the product is exact, else one for the product and one for the sum.
  template <bool Fused>
  static __m256 add_block(__m256 sum, __m256i dot, __m256 scale) {
    __m256 const value = _mm256_cvtepi32_ps(dot);
    if constexpr (Fused) return _mm256_fmadd_ps(value, scale, sum);
    __m256 product = _mm256_mul_ps(value, scale);
    asm("" : "+x"(product));  // keeps clang from contracting it
    return _mm256_add_ps(sum, product);
  }
};

}  // namespace quadrille::detail
QUADRILLE_TARGET_END
QUADRILLE_EXACT_END
