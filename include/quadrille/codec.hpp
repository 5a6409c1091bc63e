// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Blocks to codes and back: amax, scale, round. One text for every recipe, host and device.

#include <quadrille/detail/std.hpp>
#include <quadrille/recipe.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

namespace detail {
/// Largest magnitude of each of `Blocks` consecutive blocks of `Size` values, by pairwise maxima over
/// all blocks at once: plain loops of this shape vectorise, a reduction per block does not. A block
/// that holds a NaN or an infinity gets one of them.
template <int Blocks, int Size>
QUADRILLE_HD constexpr void block_amax(float const* x, float* amax) {
  if constexpr (Size == 1) {
    for (int b = 0; b < Blocks; ++b) amax[b] = magnitude(x[b]);
  } else if constexpr (Size % 2 == 0) {
    float pairs[Blocks * Size / 2];
    for (int i = 0; i < Blocks * Size / 2; ++i)
      pairs[i] = max_magnitude(magnitude(x[2 * i]), magnitude(x[2 * i + 1]));
    block_amax<Blocks, Size / 2>(pairs, amax);
  } else {
    for (int b = 0; b < Blocks; ++b) {
      amax[b] = 0;
      for (int i = 0; i < Size; ++i) amax[b] = max_magnitude(amax[b], magnitude(x[b * Size + i]));
    }
  }
}

/// N = Blocks * Size values, block after block, to lanes: element i of block b to out[Blocks * i + b]. Each
/// pass sorts by one digit of i; plain loops of this shape vectorise, others do not.
template <int N, int Size>
QUADRILLE_HD constexpr void to_lanes(float const* x, float* __restrict out) {
  constexpr int radix = Size % 4 == 0 ? 4 : Size % 2 == 0 ? 2 : Size;
  if constexpr (Size == radix) {
    for (int q = 0; q < N / radix; ++q)
      for (int digit = 0; digit < radix; ++digit) out[N / radix * digit + q] = x[radix * q + digit];
  } else {
    float sorted[N];
    to_lanes<N, radix>(x, sorted);
    to_lanes<N, Size / radix>(sorted, out);
  }
}

/// True if any of n magnitudes is a NaN or an infinity.
QUADRILLE_HD constexpr bool any_nonfinite(float const* magnitudes, int n) {
  u32 carry = 0;
  for (int i = 0; i < n; ++i) carry |= bits_of(magnitudes[i]) + 0x00800000u;
  return carry >> 31 != 0;
}
}  // namespace detail

/// Encodes blocks of recipe R. A block is block_size floats, row by row, rotated already.
template <recipe R>
struct block_codec {
  using element = typename R::element;
  using scale = typename R::scale;
  using rounding = typename R::rounding;
  using stored = typename scale::stored;
  static constexpr int block_size = R::block::rows * R::block::cols;
  static constexpr bool is_random = rounding::random_bits > 0;
  static constexpr bool is_corrected = correction_group<scale> > 0;
  static constexpr bool is_row_scaled = scale::scope == outer_scope::row;
  /// The integer that one element's random bits come in.
  static constexpr int random_width = quadrille::random_width<rounding::random_bits>;
  using random_word =
      detail::select_t<random_width == 8, u8, detail::select_t<random_width == 16, u16, u32>>;

  using chosen = decltype(scale::template choose<element>(block_values{}, outer_scale{}));
  using map = decltype(chosen::to_grid);
  using map_word = detail::map_word<map>;
  using wide_scale = decltype(chosen::stored);

  /// Scales of `Blocks` consecutive blocks of known amax.
  template <int Blocks>
  QUADRILLE_HD static constexpr void choose(float const* x, float const* amax,
                                            outer_scale const* outer, wide_scale* wide_scales,
                                            map_word* maps) {
    if constexpr (Blocks > 1 && requires { requires scale::template chooses_lanes<element>; }) {
      float lanes[Blocks * block_size];
      detail::to_lanes<Blocks * block_size, block_size>(x, lanes);
      block_lanes<Blocks, is_row_scaled> const blocks{lanes, block_size, amax, outer};
      scale::template choose_lanes<element>(blocks, wide_scales, maps);
    } else {
      for (int b = 0; b < Blocks; ++b) {
        chosen const c = scale::template choose<element>({x + b * block_size, block_size, amax[b]},
                                                         outer[is_row_scaled ? b : 0]);
        wide_scales[b] = c.stored;
        maps[b] = __builtin_bit_cast(map_word, c.to_grid);
      }
    }
  }

  /// Scales and codes of `Blocks` consecutive blocks. One that holds a NaN or an infinity is poisoned:
  /// the scale format's NaN and codes 0.
  ///   outer    the outer scale: one, or with a scale a row one for each block
  ///   random   a word for each element, or null for a rounding without random bits
  ///   grid     receives each element's grid coordinate if the scales are corrected afterwards
  template <int Blocks>
  QUADRILLE_HD static constexpr void encode(float const* x, outer_scale const* outer,
                                            random_word const* random, stored* scales, u32* codes,
                                            float* grid) {
    float amax[Blocks];
    wide_scale wide_scales[Blocks];
    map_word maps[Blocks];
    detail::block_amax<Blocks, block_size>(x, amax);
    choose<Blocks>(x, amax, outer, wide_scales, maps);
    for (int b = 0; b < Blocks; ++b) scales[b] = stored(wide_scales[b]);
    // Widened first: a loop over bytes and floats together is given the short vectors of the bytes.
    u32 words[is_random ? Blocks * block_size : 1] = {};
    if constexpr (is_random)
      for (int i = 0; i < Blocks * block_size; ++i) words[i] = random[i];
    for (int b = 0; b < Blocks; ++b) {
      map const to_grid = __builtin_bit_cast(map, maps[b]);
      for (int i = 0; i < block_size; ++i) {
        int const at = b * block_size + i;
        float const y = to_grid(x[at], i);
        if constexpr (is_corrected) grid[at] = y;
        codes[at] = element::template encode_finite<rounding>(y, words[is_random ? at : 0]);
      }
    }
    if (detail::any_nonfinite(amax, Blocks))
      for (int b = 0; b < Blocks; ++b)
        if (!detail::is_finite(amax[b])) poison(b, scales, codes, grid);
  }

  /// Values of one block.
  QUADRILLE_HD static constexpr void decode(stored s, float outer_decode, u32 const* codes,
                                            float* x) {
    auto const decoder = scale::decoder(s, outer_decode);
    for (int i = 0; i < block_size; ++i) x[i] = decoder(element::decode(codes[i]), i);
  }

 private:
  QUADRILLE_HD static constexpr void poison(int b, stored* scales, u32* codes, float* grid) {
    scales[b] = scale::poison;
    for (int i = b * block_size; i < (b + 1) * block_size; ++i) {
      codes[i] = 0;
      if constexpr (is_corrected) grid[i] = 0;
    }
  }
};

}  // namespace quadrille
QUADRILLE_EXACT_END
