// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Scale hierarchies: how many levels of scales, stored how, chosen by which rule.
///
/// A block's scale is a pair of maps: `to_grid` takes an element to the element format's grid, and the
/// decoder takes a grid value back. Most are one multiplication; a hierarchy may depend on the
/// position inside the block (HiF4) or bend the grid (IF4), and the codec does not notice.

#include <quadrille/detail/std.hpp>
#include <quadrille/format.hpp>
#include <quadrille/scale_rules.hpp>
#include <quadrille/scale_search.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// How many elements share the outer FP32 scale: none is stored, one a tensor, or one a row.
enum class outer_scope { none, tensor, row };

/// A scale hierarchy for blocks.
///   stored                     what is kept for each block; stored_bits of it carry information
///   scope                      who shares the outer FP32 scale
///   reads_values               false if choose() needs no more of a block than its amax
///   poison                     the stored scale of a block that holds a NaN or an infinity
///   outer<Element>(amax)       the outer scale for elements of at most amax
///   choose<Element>(block, o)  the block's scale: .stored, and .to_grid(x, i) for element i, which is no
///                              NaN for finite x
///   decoder(stored, decode)    map (grid value, i) -> element, `decode` being the outer scale's. If it
///                              is a linear_decoder, the GEMM scales sums of whole blocks
/// and, if it changes scales after the elements are rounded (MS-EDEN), correction_group and
///   correct(group, scales, random)   new stored scales for the group's blocks
/// Both may come for many blocks at once too, for vector code on the host: choose_lanes and correct_lanes, used
/// where chooses_lanes<Element> and corrects_lanes<Element> are true.
template <class S>
concept scale_hierarchy = requires(block_values block, outer_scale o, typename S::stored stored) {
  { S::scope } -> detail::same_as<outer_scope const&>;
  { S::stored_bits } -> detail::same_as<int const&>;
  { S::reads_values } -> detail::same_as<bool const&>;
  { S::poison } -> detail::same_as<typename S::stored const&>;
  { S::template outer<e2m1>(0.f) } -> detail::same_as<outer_scale>;
  static_cast<typename S::stored>(S::template choose<e2m1>(block, o).stored);
  { S::template choose<e2m1>(block, o).to_grid(0.f, 0) } -> detail::same_as<float>;
  { S::decoder(stored, 1.f)(0.f, 0) } -> detail::same_as<float>;
};

/// Decodes by one multiplication.
struct linear_decoder {
  float factor;
  QUADRILLE_LEAF constexpr float operator()(float value, int) const {
    return detail::mul(value, factor);
  }
};

/// True if the decoder is one multiplication for the whole block.
template <class S>
inline constexpr bool is_linear =
    detail::is_same_v<decltype(S::decoder(typename S::stored{}, 1.f)), linear_decoder>;

/// Elements whose block scales are corrected together after rounding; 0 for none.
template <class S>
inline constexpr int correction_group = 0;
template <class S>
  requires requires { S::correction_group; }
inline constexpr int correction_group<S> = S::correction_group;

namespace detail {
template <class Rule>
inline constexpr int rule_correction_group = 0;
template <class Rule>
  requires requires { Rule::correction_group; }
inline constexpr int rule_correction_group<Rule> = Rule::correction_group;

template <class Rule, class E, class F>
QUADRILLE_HD consteval bool rule_chooses_lanes() {
  if constexpr (requires { typename Rule::chooses_lanes; })
    return chooses_as<typename Rule::chooses_lanes, Rule, E, F>();
  return false;
}

template <class Rule, class E, class F>
QUADRILLE_HD consteval bool rule_corrects_lanes() {
  if constexpr (requires { typename Rule::corrects_lanes; })
    return &Rule::template correct<E, F> == &Rule::corrects_lanes::template correct<E, F>;
  return false;
}

template <class F, class Rule, outer_scope Scope>
struct leveled {
  using format = F;
  using rule = Rule;
  using stored = typename F::storage;
  static constexpr outer_scope scope = Scope;
  static constexpr int stored_bits = F::bits;
  static constexpr bool reads_values = Rule::reads_values;
  static constexpr stored poison = F::nan;
  static constexpr int correction_group = rule_correction_group<Rule>;

  template <class E>
  QUADRILLE_LEAF static constexpr outer_scale outer(float amax) {
    if constexpr (Scope == outer_scope::none)
      return Rule::template fixed_outer<Rule>();
    else
      return Rule::template outer<Rule, E, F>(amax);
  }
  template <class E>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& block, outer_scale const& o) {
    return Rule::template choose<Rule, E, F>(block, o);
  }
  // Whether it has a choose_lanes that is choose() for many blocks at once.
  template <class E>
  static constexpr bool chooses_lanes = rule_chooses_lanes<Rule, E, F>();
  template <class E, int N, bool EachOuter, class Word>
  QUADRILLE_HD static constexpr void choose_lanes(block_lanes<N, EachOuter> const& blocks,
                                                  scale_code<F>* stored, Word* maps) {
    Rule::template choose_lanes<Rule, E, F>(blocks, stored, maps);
  }
  QUADRILLE_LEAF static constexpr linear_decoder decoder(stored s, float outer_decode) {
    return linear_decoder{mul(F::decode(s), outer_decode)};
  }
  template <class E>
  QUADRILLE_HD static constexpr void correct(correction_input<E> const& group, stored* scales,
                                             block_random const& random) {
    Rule::template correct<E, F>(group, scales, random);
  }
  // Whether it has a correct_lanes that is correct() for many groups at once.
  template <class E>
  static constexpr bool corrects_lanes = rule_corrects_lanes<Rule, E, F>();
  template <int N>
  QUADRILLE_HD static constexpr void correct_lanes(correction_lanes<N> const& groups,
                                                   u32 const* words, stored* scales) {
    Rule::template correct_lanes<F>(groups, words, scales);
  }
};

template <class F>
struct default_rule {
  using type = amax_rule;
};
template <>
struct default_rule<ue8m0> {
  using type = ocp_floor;
};
template <>
struct default_rule<fp32> {
  using type = inverse_amax;
};
}  // namespace detail

/// One scale of format F a block: one_level<ue8m0, ocp_floor> is MX, one_level<fp32> is UFP4's.
template <scale_format F, class Rule = typename detail::default_rule<F>::type>
struct one_level : detail::leveled<F, Rule, outer_scope::none> {};

namespace detail {
template <class F, outer_scope Scope>
QUADRILLE_HD consteval outer_scope checked_scope() {
  static_assert(
      !is_same_v<F, ue8m0>,
      "quadrille: two_level<ue8m0> is redundant; a power-of-two block scale needs no tensor "
      "scale, use one_level<ue8m0>");
  static_assert(
      Scope != outer_scope::none,
      "quadrille: two_level without an outer scale is one level; the scope says who shares "
      "it, write outer_scope::tensor or outer_scope::row, or use one_level<F>");
  return Scope;
}
}  // namespace detail

/// A scale of format F a block and an FP32 scale for the tensor or for each row: NVFP4's
/// two_level<e4m3>.
template <scale_format F, class Rule = amax_rule, outer_scope Scope = outer_scope::tensor>
struct two_level : detail::leveled<F, Rule, detail::checked_scope<F, Scope>()> {};

}  // namespace quadrille
QUADRILLE_EXACT_END
