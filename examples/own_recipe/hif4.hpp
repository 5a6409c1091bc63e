// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// HiF4 (arXiv 2602.11287): 64 elements under a tree of three scales in 32 bits.
///   1 x E6M2    for all 64 elements, aimed at the largest group value, 7
///   8 x 1 bit   a factor of 1 or 2 for each 8 elements
///   16 x 1 bit  a factor of 1 or 2 for each 4 elements
/// Elements are S1P2, sign and k/4, which is e1m2; ties round up in magnitude.

#include <quadrille/recipe.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

// Between these two, -ffast-math changes no byte.
QUADRILLE_EXACT_BEGIN
namespace example {

/// Unsigned, 6 exponent bits with bias 48, 2 mantissa bits; no zero, no subnormals, FF is NaN.
struct e6m2 {
  static constexpr quadrille::u32 nan = 0xFF;
  /// From its codes to the upper 11 bits of a float.
  static constexpr quadrille::u32 rebias = (127 - 48) * 4;

  static quadrille::u32 encode(float x) {
    x = std::clamp(x, 0x1p-48f, 49152.f);
    auto const bits = std::bit_cast<quadrille::u32>(x);
    return ((bits + 0xFFFFF + (bits >> 21 & 1)) >> 21) - rebias;  // to nearest, ties to even
  }
  static float decode(quadrille::u32 code) {
    return code == nan ? quadrille::fp32::nan : std::bit_cast<float>((code + rebias) << 21);
  }
};

struct hif4_scale {
  /// E6M2 in bits 0..7, the factors of eight elements in 8..15, those of four in 16..31.
  using stored = quadrille::u32;
  static constexpr auto scope = quadrille::outer_scope::none;
  static constexpr int stored_bits = 32;
  static constexpr bool reads_values = true;
  static constexpr stored poison = e6m2::nan;

  /// The product of element i's two factors: 1, 2 or 4.
  static float factor(stored s, int i) {
    return float((1u << (s >> (8 + i / 8) & 1)) << (s >> (16 + i / 4) & 1));
  }
  struct grid_map {
    float reciprocal;
    stored scale;
    float operator()(float x, int i) const { return x * reciprocal / factor(scale, i); }
  };
  struct decoder_map {
    float base;
    stored scale;
    float operator()(float value, int i) const { return value * base * factor(scale, i); }
  };

  template <class Element>
  static quadrille::outer_scale outer(float) {
    return {};
  }
  /// Base and reciprocal are rounded to BF16; a group whose scaled amax reaches 4 takes the upper
  /// factor 2, and half a group that then still reaches 2 takes the lower.
  template <class Element>
  static auto choose(quadrille::block_values const& block, quadrille::outer_scale const&) {
    stored scale = e6m2::encode(to_bf16(block.amax * to_bf16(1.f / 7)));
    float const reciprocal = to_bf16(1 / e6m2::decode(scale));
    for (int group = 0; group < 8; ++group)
      if (amax(block.x + 8 * group, 8) * reciprocal >= 4) scale |= 1u << (8 + group);
    for (int half = 0; half < 16; ++half)
      if (amax(block.x + 4 * half, 4) * reciprocal / factor(scale, 4 * half) >= 2)
        scale |= 1u << (16 + half);
    return quadrille::chosen_scale{scale, grid_map{reciprocal, scale}};
  }
  static decoder_map decoder(stored s, float) { return {e6m2::decode(s & 0xFF), s}; }

 private:
  static float to_bf16(float x) { return float(quadrille::bf16(x)); }
  static float amax(float const* x, int n) {
    float largest = 0;
    for (int i = 0; i < n; ++i) largest = std::max(largest, std::fabs(x[i]));
    return largest;
  }
};

struct hif4 {
  using element = quadrille::e1m2;
  using block = quadrille::shape<1, 64>;
  using scale = hif4_scale;
  using rounding = quadrille::ties_away;
  using rotation = quadrille::identity;
};

}  // namespace example
QUADRILLE_EXACT_END
