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

// Sums of errors of N blocks, each under its scale, in FP32, element after element.
template <class Error, class E, class Map, int N>
QUADRILLE_HD constexpr void block_errors(float const* x, int n, map_word<Map> const* maps,
                                         float const* decode, float* __restrict sums) {
  for (int b = 0; b < N; ++b) sums[b] = 0;
  for (int i = 0; i < n; ++i)
    for (int b = 0; b < N; ++b) {
      Map const to_grid = __builtin_bit_cast(Map, maps[b]);
      float const v = x[N * i + b];
      if constexpr (rounds_magnitudes<E> &&
                    (is_same_v<Map, multiply_by> || is_same_v<Map, divide_by>)) {
        float const a = magnitude(v);
        float const value = E::round_magnitude(to_grid(a, i));
        sums[b] = add(sums[b], Error::of(sub(mul(value, decode[b]), a)));
      } else {
        float const value = E::decode(E::encode_finite(to_grid(v, i)));
        sums[b] = add(sums[b], Error::of(sub(mul(value, decode[b]), v)));
      }
    }
}
}  // namespace detail

/// A code that a rule tries as a block's scale. The handicap is or-ed to the bits of its sum of errors: 0,
/// or all ones where it is out of range. (A bool would not vectorise.)
template <class Code>
struct scale_candidate {
  Code code;
  u32 handicap;
};
template <class Code>
scale_candidate(Code, u32) -> scale_candidate<Code>;

/// Common part of the rules that try several scales on a block's elements and keep the one with the least
/// sum of errors, the first of equal ones. A rule tells
///   error                              of one element
///   target<Self, E>(amax, o)           the scale from which it finds them
///   candidates                         how many it tries
///   candidate<Self, E, F>(k, target)   the k-th as a scale_candidate
///   fallback<Self, E, F>(target)       one that is not tried and to be beaten: its handicap stands for its
///                                      sum. Without it, the first candidate wins if no sum is finite
struct search_rule : amax_rule {
  static constexpr bool reads_values = true;
  using chooses_lanes = search_rule;
  template <class Self, class E, class F>
  static constexpr bool has_fallback = requires {
    Self::template fallback<Self, E, F>(1.f);
  };

  template <class Self, class E, class F>
  QUADRILLE_HD static constexpr auto choose(block_values const& b, outer_scale const& o) {
    using map = decltype(Self::order::map(1.f, o));
    scale_code<F> stored[1];
    detail::map_word<map> to_grid[1];
    choose_lanes<Self, E, F>(block_lanes<1, false>{b.x, b.n, &b.amax, &o}, stored, to_grid);
    return chosen_scale{stored[0], __builtin_bit_cast(map, to_grid[0])};
  }

  template <class Self, class E, class F, int N, bool EachOuter, class Word>
  QUADRILLE_HD static constexpr void choose_lanes(block_lanes<N, EachOuter> const& blocks,
                                                  scale_code<F>* stored, Word* maps) {
    using map = decltype(Self::order::map(1.f, outer_scale{}));
    float target[N];
    scale_code<F> best[N];
    u32 least[N];  // bits of sums, which order as they do: none is negative
    for (int b = 0; b < N; ++b) {
      target[b] = Self::template target<Self, E>(blocks.amax[b], blocks.outer_of(b));
      auto const first = start<Self, E, F>(target[b]);
      best[b] = first.code;
      least[b] = first.handicap;
    }
    for (int k = 0; k < Self::candidates; ++k) {
      scale_code<F> codes[N];
      u32 handicaps[N];
      Word to_grid[N];
      float decode[N];
      float sums[N];
      for (int b = 0; b < N; ++b) {
        outer_scale const& o = blocks.outer_of(b);
        auto const tried = Self::template candidate<Self, E, F>(k, target[b]);
        float const scale = F::decode(tried.code);
        codes[b] = tried.code;
        handicaps[b] = tried.handicap;
        to_grid[b] = __builtin_bit_cast(Word, Self::order::map(scale, o));
        decode[b] = detail::mul(scale, o.decode);
      }
      detail::block_errors<typename Self::error, E, map, N>(blocks.x, blocks.n, to_grid, decode,
                                                            sums);
      for (int b = 0; b < N; ++b) {
        u32 const sum = detail::bits_of(sums[b]) | handicaps[b];
        auto const code = codes[b];  // read both: clang would choose between two addresses
        auto const kept = best[b];
        best[b] = sum < least[b] ? code : kept;
        least[b] = detail::min(sum, least[b]);
      }
    }
    for (int b = 0; b < N; ++b) {
      stored[b] = best[b];
      maps[b] = __builtin_bit_cast(Word, Self::order::map(F::decode(best[b]), blocks.outer_of(b)));
    }
  }

 private:
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto start(float target) {
    if constexpr (has_fallback<Self, E, F>)
      return Self::template fallback<Self, E, F>(target);
    else
      return scale_candidate{Self::template candidate<Self, E, F>(0, target).code, ~0u};
  }
};

/// Four over six (arXiv 2512.02010): the block's amax lands on 6 or on 4, whichever errs less; on 6 if
/// equal. In general on max or on max / 1.5. The bound 256 keeps 1.5 times each scale inside E4M3.
template <class Error = squared_error>
struct four_over_six : search_rule {
  using error = Error;
  static constexpr float bound = 256;
  static constexpr int candidates = 2;

  template <class Self, class E>
  QUADRILLE_LEAF static constexpr float target(float amax, outer_scale const& o) {
    return divide_order::target(amax, o.encode, E::max);
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto candidate(int k, float six) {
    return scale_candidate{F::encode_finite(k == 0 ? six : detail::mul(six, 1.5f)), 0u};
  }
};

/// Tries the scale codes from `Below` under to `Above` over the amax rule's and keeps the one with the
/// least squared error; the smallest if equal. For byte formats.
template <int Below = 4, int Above = 4>
struct error_search : search_rule {
  using error = squared_error;
  static constexpr int candidates = Below + 1 + Above;

  template <class Self, class E>
  QUADRILLE_LEAF static constexpr float target(float amax, outer_scale const& o) {
    constexpr grid_top land_on = E::max * Self::headroom;
    return Self::order::target(amax, o.encode, land_on);
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto candidate(int k, float target) {
    constexpr int top = int(F::encode_finite(F::max));
    int const code = int(fallback<Self, E, F>(target).code) - Below + k;
    int const possible = detail::max(0, detail::min(code, top));
    return scale_candidate{u32(possible), code == possible ? 0u : ~0u};
  }
  /// The amax rule's code, if no sum is finite.
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto fallback(float target) {
    return scale_candidate{u32(F::encode_finite(target)), detail::infinity_bits};
  }
};

/// Scales that make every element x scale exact in E4M3, so that FP8 tensor cores multiply the tensor
/// exactly: E4M3 values with significand 1, 1.25 or 1.5. Of 2^e {3/4, 1, 5/4, 3/2, 2, 5/2} around the
/// block's target the one with the least squared error. The result is plain NVFP4 to every reader.
struct fp8_exact : search_rule {
  using error = squared_error;
  static constexpr float bound = 384;  // the largest such value
  static constexpr int candidates = 6;
  static constexpr float significands[3] = {1, 1.25f, 1.5f};  // of the scales that it picks

  template <class Self, class E>
  QUADRILLE_LEAF static constexpr float target(float amax, outer_scale const& o) {
    constexpr grid_top land_on = E::max;
    return Self::order::target(amax, o.encode, land_on);
  }
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto candidate(int k, float target) {
    u32 const exponent = detail::bits_of(target) & detail::infinity_bits;
    float const significand = 1 + 0.25f * float((k + 2) % 3);
    float const ratio = significand * detail::exp2i((k + 2) / 3 - 1);
    float const scale = detail::mul(detail::as_float(exponent), ratio);
    u32 const code = F::encode_finite(scale);
    bool const is_exact = (F::decode(code) == scale) & (code != 0);
    bool const is_possible = is_exact & (scale <= bound);
    return scale_candidate{code, is_possible ? 0u : ~0u};
  }
  /// If no candidate is in range: zero below, the largest one above.
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto fallback(float target) {
    u32 const code = target < 1 ? 0u : u32(F::encode_finite(bound));
    return scale_candidate{code, ~0u};
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

/// N correction groups side by side: element i of group g is at N * i + g.
template <int N>
struct correction_lanes {
  float const* grid;
  float const* rounded;  ///< the values of the codes
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
    float const by = factor(squares, products);
    for (int block = 0; block < g.blocks; ++block)
      if (stored[block] != F::nan)
        stored[block] = u8(corrected<F>(stored[block], by, random(block)));
  }

  using corrects_lanes = eden;

  /// The same for N groups, given the word of each block.
  template <class F, int N>
  QUADRILLE_HD static constexpr void correct_lanes(correction_lanes<N> const& groups,
                                                   u32 const* words, u8* stored) {
    float squares[N] = {};
    float products[N] = {};
    for (int i = 0; i < groups.n; ++i)
      for (int g = 0; g < N; ++g) {
        float const y = groups.grid[N * i + g];
        squares[g] = detail::add(squares[g], detail::mul(y, y));
        products[g] = detail::add(products[g], detail::mul(y, groups.rounded[N * i + g]));
      }
    float factors[N];
    for (int g = 0; g < N; ++g) factors[g] = factor(squares[g], products[g]);
    for (int block = 0; block < groups.blocks; ++block) {
      u32 codes[N];
      u32 random[N];
      for (int g = 0; g < N; ++g) codes[g] = stored[groups.blocks * g + block];
      for (int g = 0; g < N; ++g) random[g] = words[groups.blocks * g + block];
      for (int g = 0; g < N; ++g) codes[g] = corrected<F>(codes[g], factors[g], random[g]);
      for (int g = 0; g < N; ++g) stored[groups.blocks * g + block] = u8(codes[g]);
    }
  }

 private:
  QUADRILLE_LEAF static constexpr float factor(float squares, float products) {
    float const ratio = detail::div(squares, detail::is_zero(products) ? 1 : products);
    return detail::is_zero(products) ? 1 : ratio;
  }
  // NaN stays NaN.
  template <class F>
  QUADRILLE_LEAF static constexpr u32 corrected(u32 code, float by, u32 random) {
    float const scale = detail::mul(F::decode(code), by);
    u32 const rounded = F::template encode_finite<stochastic<24>>(scale, random);
    u32 const is_nan = detail::is_nan(scale) ? ~0u : 0u;  // a mask, as a branch would not vectorise
    return (rounded & ~is_nan) | (F::nan & is_nan);
  }
};

}  // namespace quadrille
QUADRILLE_EXACT_END
