// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Scale rules that try several scales on the block's elements, or correct a scale afterwards.

#include <quadrille/detail/std.hpp>
#include <quadrille/format.hpp>
#include <quadrille/random.hpp>
#include <quadrille/scale_rules.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// Error of one element, for rules that compare candidates: of(|decoded| - |x|), or of(decoded - x) for
/// formats and maps that are not symmetric.
struct squared_error {
  QUADRILLE_LEAF static constexpr float of(float difference) {
    return detail::mul(difference, difference);
  }
};
struct absolute_error {
  QUADRILLE_LEAF static constexpr float of(float difference) {
    return detail::magnitude(difference);
  }
};

namespace detail {
template <class E>
concept rounds_magnitudes = requires(float x) {
  E::round_magnitude(x);
};

// Sum of errors of a block under one scale, in FP32, element after element.
template <class Error, class E, class Map>
QUADRILLE_HD constexpr float block_error(block_values const& b, Map to_grid, float decode) {
  float sum = 0;
  if constexpr (rounds_magnitudes<E> &&
                (is_same_v<Map, multiply_by> || is_same_v<Map, divide_by>)) {
    for (int i = 0; i < b.n; ++i) {
      float const a = magnitude(b.x[i]);
      sum = add(sum, Error::of(sub(mul(E::round_magnitude(to_grid(a, i)), decode), a)));
    }
  } else {
    for (int i = 0; i < b.n; ++i) {
      float const value = E::decode(E::encode_finite(to_grid(b.x[i], i)));
      sum = add(sum, Error::of(sub(mul(value, decode), b.x[i])));
    }
  }
  return sum;
}

// The best of several stored scales; the first one wins ties, also if all errors are infinite.
template <class Rule, class E, class F>
struct scale_contest {
  using code = decltype(F::encode_finite(1.f));
  using chosen = chosen_scale<code, decltype(Rule::order::map(1.f, outer_scale{}))>;
  block_values b;
  outer_scale o;
  chosen best{};
  float least = as_float(infinity_bits);
  bool is_empty = true;

  QUADRILLE_HD constexpr void enter(code stored) {
    float const scale = F::decode(stored);
    auto const to_grid = Rule::order::map(scale, o);
    float const error = block_error<typename Rule::error, E>(b, to_grid, mul(scale, o.decode));
    bool const better = is_empty || bits_of(error) < bits_of(least);  // neither is negative
    is_empty = false;
    best = better ? chosen{stored, to_grid} : best;
    least = better ? error : least;
  }
};
}  // namespace detail

/// Four over six (arXiv 2512.02010): the block's amax lands on 6 or on 4, whichever errs less; on 6 if
/// equal. In general on max or on max / 1.5. The bound 256 keeps 1.5 times each scale inside E4M3.
template <class Error = squared_error>
struct four_over_six : amax_rule {
  using error = Error;
  static constexpr float bound = 256;
  static constexpr bool reads_values = true;

  template <class Self, class E, class F>
  QUADRILLE_HD static constexpr auto choose(block_values const& b, outer_scale const& o) {
    detail::scale_contest<Self, E, F> contest{b, o};
    enter_all<E, F>(contest, b.amax, o);
    return contest.best;
  }
  /// The two scales, whoever compares them.
  template <class E, class F, class Contest>
  QUADRILLE_HD static constexpr void enter_all(Contest& contest, float amax, outer_scale const& o) {
    float const base = divide_order::target(amax, o.encode, E::max);
    contest.enter(F::encode_finite(base));
    contest.enter(F::encode_finite(detail::mul(base, 1.5f)));
  }
};

/// Tries the scale codes from `Below` under to `Above` over the amax rule's and keeps the one with the
/// least squared error; the smallest if equal. For byte formats.
template <int Below = 4, int Above = 4>
struct error_search : amax_rule {
  using error = squared_error;
  static constexpr bool reads_values = true;

  template <class Self, class E, class F>
  QUADRILLE_HD static constexpr auto choose(block_values const& b, outer_scale const& o) {
    constexpr grid_top land_on = E::max * Self::headroom;
    int const base = int(F::encode_finite(Self::order::target(b.amax, o.encode, land_on)));
    constexpr int top = int(F::encode_finite(F::max));
    detail::scale_contest<Self, E, F> contest{b, o};
    contest.best = {u32(base), Self::order::map(F::decode(u32(base)), o)};
    contest.is_empty = false;
    for (int code = base - Below; code <= base + Above; ++code)
      if (0 <= code && code <= top) contest.enter(u32(code));
    return contest.best;
  }
};

/// Scales that make every element x scale exact in E4M3, so that FP8 tensor cores multiply the tensor
/// exactly: E4M3 values with significand 1, 1.25 or 1.5. Of 2^e {3/4, 1, 5/4, 3/2, 2, 5/2} around the
/// block's target the one with the least squared error. The result is plain NVFP4 to every reader.
struct fp8_exact : amax_rule {
  using error = squared_error;
  static constexpr float bound = 384;  // the largest such value
  static constexpr bool reads_values = true;
  static constexpr float significands[3] = {1, 1.25f, 1.5f};  // of the scales that it picks

  template <class Self, class E, class F>
  QUADRILLE_HD static constexpr auto choose(block_values const& b, outer_scale const& o) {
    constexpr float ratios[6] = {0.75f, 1, 1.25f, 1.5f, 2, 2.5f};
    constexpr grid_top land_on = E::max;
    float const target = Self::order::target(b.amax, o.encode, land_on);
    float const binade = detail::as_float(detail::bits_of(target) & detail::infinity_bits);
    detail::scale_contest<Self, E, F> contest{b, o};
    // Where no candidate is in range: zero below, the largest one above.
    u32 const outside = target < 1 ? 0u : F::encode_finite(bound);
    contest.best = {outside, Self::order::map(F::decode(outside), o)};
    for (float ratio : ratios) {
      float const scale = detail::mul(binade, ratio);
      u32 const code = F::encode_finite(scale);
      if (code != 0 && F::decode(code) == scale && scale <= bound) contest.enter(code);
    }
    return contest.best;
  }
};

/// What a correction sees: the grid coordinates and codes of the elements of one correction group.
template <class E>
struct correction_input {
  float const* grid;
  u32 const* codes;
  int n;
  int blocks;
};

/// MS-EDEN (Quartet II, arXiv 2601.22813): elements are rounded to nearest, then the block scales of a
/// group are multiplied by sum(y^2) / sum(y q), which undoes the shrinkage of the projection, and
/// rounded stochastically. `Group` is 16 in the paper's algorithm 1, 128 in the published kernel.
/// Encode order: sd = amax / 255.99 / m, scale = E4M3(amax_b / m / sd), y = x / (scale sd), with
/// m = max / (17/16 * 0.93).
template <int Group = 16>
struct eden : amax_rule {
  template <class E>
  static constexpr float target_max = float(double(E::max) / (17. / 16. * 0.93));

  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr outer_scale outer(float amax) {
    float decode = detail::div(detail::div(amax, 255.99f), target_max<E>);
    if (detail::is_zero(decode)) decode = 1;
    return {detail::div(1, decode), decode};
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& b, outer_scale const& o) {
    float const target = detail::div(detail::div(b.amax, target_max<E>), o.decode);
    u32 const stored = detail::nonzero<F, zero_scale::one>(F::encode_finite(target));
    return chosen_scale{stored, divide_by{detail::mul(F::decode(stored), o.decode)}};
  }

  static constexpr int correction_group = Group;

  /// random(b) is the word of block b of the group.
  template <class E, class F>
  QUADRILLE_HD static constexpr void correct(correction_input<E> const& g, u8* stored,
                                             block_random const& random) {
    float squares = 0;
    float products = 0;
    for (int i = 0; i < g.n; ++i) {
      squares = detail::add(squares, detail::mul(g.grid[i], g.grid[i]));
      products = detail::add(products, detail::mul(g.grid[i], E::decode(g.codes[i])));
    }
    float const factor = detail::is_zero(products) ? 1 : detail::div(squares, products);
    for (int block = 0; block < g.blocks; ++block)
      if (stored[block] != F::nan)
        stored[block] = F::template encode<stochastic<24>>(
            detail::mul(F::decode(stored[block]), factor), random(block));
  }
};

}  // namespace quadrille
QUADRILLE_EXACT_END
