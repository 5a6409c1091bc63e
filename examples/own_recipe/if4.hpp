// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// IF4 (arXiv 2603.28765): NVFP4 in which each block of 16 chooses between two grids of largest value
/// 6, E2M1 and INT4 * 6/7. The choice is kept in the sign bit of the E4M3 block scale, which NVFP4
/// does not use.
///
/// The codes are E2M1's throughout. For a block of integers `bend` moves integer k to the value of
/// code k and is linear in between, so where x lies between two codes is not changed, and every
/// rounding mode, stochastic or to even, does the right thing. The decoder bends back.

#include <quadrille/recipes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// Between these two, -ffast-math changes no byte.
QUADRILLE_EXACT_BEGIN
namespace example {

/// 0 1 2 3 4 5 6 7 -> 0 .5 1 1.5 2 3 4 6, odd. Without rounding.
inline float bend(float x) {
  float const a = std::fabs(x);
  return std::copysign(std::max({a / 2, a - 2, 2 * a - 8}), x);
}
/// The inverse of bend.
inline float unbend(float y) {
  float const a = std::fabs(y);
  return std::copysign(std::min({2 * a, a + 2, (a + 8) / 2}), y);
}

struct if4_scale : quadrille::two_level<quadrille::e4m3> {
  using nvfp4_scale = quadrille::two_level<quadrille::e4m3>;
  static constexpr bool reads_values = true;
  static constexpr quadrille::u32 integer_bit = 0x80;

  struct grid_map {
    float factor;
    bool is_integer;
    float operator()(float x, int) const { return is_integer ? bend(x * factor) : x * factor; }
  };
  /// No field may be called `factor`: the GEMM takes that for a plain multiplication.
  struct decoder_map {
    float step;
    bool is_integer;
    float operator()(float value, int i) const {
      return quadrille::linear_decoder{step}(is_integer ? unbend(value) : value, i);
    }
  };

  /// NVFP4's scale, with the grid of smaller squared error; E2M1 if equal.
  template <class Element>
  static auto choose(quadrille::block_values const& block, quadrille::outer_scale const& outer) {
    auto const stock = nvfp4_scale::choose<Element>(block, outer);
    quadrille::chosen_scale const floats{stock.stored, grid_map{stock.to_grid.factor, false}};
    // A finite factor: 0 x infinity would be a NaN.
    float const factor =
        std::min(stock.to_grid.factor * (7.f / 6), std::numeric_limits<float>::max());
    quadrille::chosen_scale const integers{stock.stored | integer_bit, grid_map{factor, true}};
    bool const is_better =
        error<Element>(block, outer, integers) < error<Element>(block, outer, floats);
    return is_better ? integers : floats;
  }
  static decoder_map decoder(stored s, float outer_decode) {
    float const factor = nvfp4_scale::decoder(s & 0x7F, outer_decode).factor;
    bool const is_integer = (s & integer_bit) != 0;
    return {is_integer ? factor * (6.f / 7) : factor, is_integer};
  }

 private:
  template <class Element, class Chosen>
  static float error(quadrille::block_values const& block, quadrille::outer_scale const& outer,
                     Chosen const& chosen) {
    auto const decode = decoder(stored(chosen.stored), outer.decode);
    float sum = 0;
    for (int i = 0; i < block.n; ++i) {
      auto const code = Element::encode_finite(chosen.to_grid(block.x[i], i));
      sum += quadrille::squared_error::of(decode(Element::decode(code), i) - block.x[i]);
    }
    return sum;
  }
};

struct if4 : quadrille::nvfp4 {
  using scale = if4_scale;
};

}  // namespace example
QUADRILLE_EXACT_END
