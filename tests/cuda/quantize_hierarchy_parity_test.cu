// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Scale hierarchies of a user: factors that depend on the place in the block (as HiF4's), and blocks that
// choose between two grids (as IF4's).

#include "cuda/parity.cuh"

using namespace quadrille;

namespace hierarchy {

/// One E4M3 scale for 64 elements and a factor of 1 or 2 for each 8: in bits 0..7 and 8..15.
struct tree_scale {
  using stored = u32;
  static constexpr outer_scope scope = outer_scope::none;
  static constexpr int stored_bits = 16;
  static constexpr bool reads_values = true;
  static constexpr stored poison = e4m3::nan;

  QUADRILLE_HD static constexpr float factor(stored s, int i) {
    return (s >> (8 + i / 8) & 1) != 0 ? 2.f : 1.f;
  }
  struct grid_map {
    float reciprocal;
    stored scale;
    QUADRILLE_HD constexpr float operator()(float x, int i) const {
      return detail::div(detail::mul(x, reciprocal), factor(scale, i));
    }
  };
  struct decoder_map {
    float base;
    stored scale;
    QUADRILLE_HD constexpr float operator()(float value, int i) const {
      return detail::mul(detail::mul(value, base), factor(scale, i));
    }
  };
  template <class E>
  QUADRILLE_HD static constexpr outer_scale outer(float) {
    return {};
  }
  template <class E>
  QUADRILLE_HD static constexpr auto choose(block_values const& block, outer_scale const&) {
    stored scale = e4m3::encode_finite(detail::div(block.amax, 2 * E::max));
    float const step = detail::max_magnitude(e4m3::decode(scale), e4m3::min_subnormal);
    float const reciprocal = detail::reciprocal(step);
    for (int i = 0; i < block.n; ++i)
      if (detail::mul(detail::magnitude(block.x[i]), reciprocal) > E::max)
        scale |= 1u << (8 + i / 8);
    return chosen_scale{scale, grid_map{reciprocal, scale}};
  }
  QUADRILLE_HD static constexpr decoder_map decoder(stored s, float) {
    return {e4m3::decode(s & 0xFF), s};
  }
};
struct tree : nvfp4 {
  using element = e1m2;
  using block = shape<1, 64>;
  using scale = tree_scale;
  using rounding = ties_away;
};

/// NVFP4, and integers 0 .. 7 as the other grid, marked in the sign bit of the scale.
struct bent_scale : two_level<e4m3> {
  using plain = two_level<e4m3>;
  static constexpr bool reads_values = true;

  /// 0 1 2 3 4 5 6 7 -> 0 .5 1 1.5 2 3 4 6, linear in between.
  QUADRILLE_HD static constexpr float bend(float x) {
    float const a = detail::magnitude(x);
    float const low =
        detail::max_magnitude(detail::mul(a, 0.5f), detail::max(detail::sub(a, 2), 0.f));
    float const bent =
        detail::max_magnitude(low, detail::max(detail::sub(detail::add(a, a), 8), 0.f));
    return detail::as_float(detail::bits_of(bent) | (detail::bits_of(x) & 0x80000000u));
  }
  struct grid_map {
    float step;
    bool is_integer;
    QUADRILLE_HD constexpr float operator()(float x, int) const {
      float const y = detail::mul(x, step);
      return is_integer ? bend(y) : y;
    }
  };
  /// Integers where the block's values are near its amax.
  template <class E>
  QUADRILLE_HD static constexpr auto choose(block_values const& block, outer_scale const& outer) {
    auto const chosen = plain::choose<E>(block, outer);
    int large = 0;
    for (int i = 0; i < block.n; ++i)
      large += detail::magnitude_bits(block.x[i]) > detail::bits_of(detail::mul(block.amax, 0.5f));
    bool const is_integer = 4 * large > block.n;
    float const step = detail::min(
        detail::mul(chosen.to_grid.factor, is_integer ? 7.f / 6 : 1.f), detail::float_max);
    return chosen_scale{chosen.stored | u32(is_integer) << 7, grid_map{step, is_integer}};
  }
};
struct bent : nvfp4_gradient {
  using scale = bent_scale;
};

}  // namespace hierarchy

PARITY(hierarchy::tree)
PARITY(hierarchy::bent)
