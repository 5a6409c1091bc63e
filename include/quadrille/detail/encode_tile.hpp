// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A whole tile to codes and scales by the vector kernels, where they know the recipe. Host only.

#include <quadrille/detail/cpu.hpp>
#include <quadrille/detail/tile.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

// Whether the vector kernels know a recipe: a 4-bit minifloat after one multiplication, to nearest even or
// with 8 random bits.
template <recipe R>
inline constexpr bool has_code_kernel = false;
template <recipe R>
  requires requires { R::element::min_exponent; }
inline constexpr bool has_code_kernel<R> =
    !code_kernels::is_empty && R::element::bits == 4 && R::element::is_signed &&
    R::element::mantissa_bits >= 1 &&
    (is_same_v<typename R::rounding, nearest_even> ||
     is_same_v<typename R::rounding, stochastic<8>>)&&!block_codec<R>::is_corrected &&
    block_codec<R>::block_size % 16 == 0 && block_codec<R>::block_size <= 128 &&
    tiling<R>::blocks % 16 == 0 && is_same_v<typename block_codec<R>::map, multiply_by>;

// block_codec::encode and pack_codes by vector kernels. False if a block is not finite: it poisons.
template <class Kernel, recipe R>
bool encode_tile(float const* x, outer_scale const* outer,
                 typename block_codec<R>::random_word const* random,
                 typename R::scale::stored* scales, u8* bytes) {
  using codec = block_codec<R>;
  using scale = typename R::scale;
  using element = typename R::element;
  constexpr int size = codec::block_size;
  constexpr int blocks = tiling<R>::blocks;
  float amax[blocks];
  float factors[blocks];
  typename codec::wide_scale wide_scales[blocks];
  Kernel::template block_amax<size>(x, blocks, amax);
  codec::template choose<blocks>(x, amax, outer, wide_scales, factors);
  if (any_nonfinite(amax, blocks)) return false;
  for (int b = 0; b < blocks; ++b) scales[b] = typename scale::stored(wide_scales[b]);
  if constexpr (codec::is_random)
    Kernel::template encode_stochastic<element, size>(x, factors, random, blocks * size, bytes);
  else
    Kernel::template encode_nearest<element, size, blocks>(x, amax, factors, bytes);
  return true;
}

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
