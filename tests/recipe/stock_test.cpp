// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The stock recipes: the five members that each publication names, and what follows from them.

#include <type_traits>

#include <quadrille/recipes.hpp>

#include "support/catch.hpp"

namespace {

using namespace quadrille;

template <class R, class Element, class Block, class Scale, class Rounding, class Rotation>
constexpr bool is =
    recipe<R>&& check_recipe<R>() &&
    std::is_same_v<typename R::element, Element>&& std::is_same_v<typename R::block, Block>&& std::
        is_same_v<typename R::scale, Scale>&& std::is_same_v<
            typename R::rounding, Rounding>&& std::is_same_v<typename R::rotation, Rotation>;

using rne = nearest_even;
using sr8 = stochastic<8>;
using r16 = random_hadamard<16, published_signs>;
template <int N>
using fresh = random_hadamard<N, seeded_signs>;
template <class Rule>
using mx = one_level<ue8m0, Rule>;

}  // namespace

// NVFP4 (arXiv 2509.25149): R16 with fixed signs on wgrad only, SR on gradients, 16x16 weights.
static_assert(is<nvfp4, e2m1, shape<1, 16>, two_level<e4m3>, rne, identity>);
static_assert(is<nvfp4_weight, e2m1, shape<16, 16>, two_level<e4m3>, rne, identity>);
static_assert(is<nvfp4_gradient, e2m1, shape<1, 16>, two_level<e4m3>, sr8, identity>);
static_assert(is<nvfp4_wgrad, e2m1, shape<1, 16>, two_level<e4m3>, rne, r16>);
static_assert(is<nvfp4_wgrad_gradient, e2m1, shape<1, 16>, two_level<e4m3>, sr8, r16>);
static_assert(nvfp4::scale::rule::bound == 0 && nvfp4::scale::rule::headroom == 1);
static_assert(nvfp4::scale::scope == outer_scope::tensor);
static_assert(std::is_same_v<nvfp4::scale::rule::order, te_order>);

// Four over six (2512.02010): two candidates under the cap 256.
static_assert(is<nvfp4_four_over_six, e2m1, shape<1, 16>,
                 two_level<e4m3, four_over_six<squared_error>>, rne, identity>);
static_assert(nvfp4_four_over_six::scale::rule::bound == 256);
static_assert(is<nvfp4_fp8_exact, e2m1, shape<1, 16>, two_level<e4m3, fp8_exact>, rne, identity>);
static_assert(is<nvfp4_per_row, e2m1, shape<1, 16>, two_level<e4m3, amax_rule, outer_scope::row>,
                 rne, identity>);

// MXFP4 (OCP Microscaling v1.0), and the scale rules in use.
static_assert(is<mxfp4, e2m1, shape<1, 32>, mx<ocp_floor>, rne, identity>);
static_assert(is<mxfp4_even, e2m1, shape<1, 32>, mx<ocp_even>, rne, identity>);
static_assert(is<mxfp4_ceil, e2m1, shape<1, 32>, mx<ocp_ceil>, rne, identity>);
static_assert(is<mxfp4_round_up, e2m1, shape<1, 32>, mx<round_up>, rne, identity>);
static_assert(mxfp4::scale::scope == outer_scope::none);

// UFP4 (2606.20381): E1M2, rotated in all three GEMMs, SR on gradients.
static_assert(is<ufp4, e1m2, shape<1, 16>, one_level<fp32>, rne, r16>);
static_assert(is<ufp4_gradient, e1m2, shape<1, 16>, one_level<fp32>, sr8, r16>);
static_assert(is<ufp4_two_level, e1m2, shape<1, 16>, two_level<e4m3>, rne, r16>);
static_assert(
    is<ufp4_two_level_gradient, e1m2, shape<1, 16>, two_level<e4m3, headroom_rule>, sr8, r16>);
static_assert(headroom_rule::headroom == 16.f / 17);

// Quartet (2505.14669 v4): QuEST scales and H32 forward; 3/4 x to nearest, with signs, backward.
static_assert(is<quartet_forward, e2m1, shape<1, 32>, mx<quest>, rne, hadamard<32>>);
static_assert(is<quartet_backward, e2m1, shape<1, 32>, mx<floor_three_quarters>, rne, fresh<32>>);
static_assert(floor_three_quarters::headroom == .75f);

// Quartet II (2601.22813): four over six forward, MS-EDEN in a fresh R128 basis backward.
static_assert(is<quartet2_forward, e2m1, shape<1, 16>,
                 two_level<e4m3, four_over_six<squared_error>>, rne, identity>);
static_assert(
    is<quartet2_backward, e2m1, shape<1, 16>, two_level<e4m3, eden<16>>, rne, fresh<128>>);
static_assert(correction_group<quartet2_backward::scale> == 16);
static_assert(correction_group<nvfp4::scale> == 0);

// Tseng et al. (2502.20586): 3/4 x under floor, SR, signs of every call, Hadamard 64.
static_assert(is<mxfp4_tseng, e2m1, shape<1, 32>, mx<floor_three_quarters>, sr8, fresh<64>>);

// Stored bits of an element: 4 and the block's share of its scale.
static_assert(bits_per_element<nvfp4> == 4.5 && bits_per_element<nvfp4_weight> == 4.5);
static_assert(bits_per_element<nvfp4_gradient> == 4.5 && bits_per_element<nvfp4_wgrad> == 4.5);
static_assert(bits_per_element<nvfp4_wgrad_gradient> == 4.5);
static_assert(bits_per_element<nvfp4_four_over_six> == 4.5);
static_assert(bits_per_element<nvfp4_fp8_exact> == 4.5 && bits_per_element<nvfp4_per_row> == 4.5);
static_assert(bits_per_element<mxfp4> == 4.25 && bits_per_element<mxfp4_even> == 4.25);
static_assert(bits_per_element<mxfp4_ceil> == 4.25 && bits_per_element<mxfp4_round_up> == 4.25);
static_assert(bits_per_element<ufp4> == 6 && bits_per_element<ufp4_gradient> == 6);
static_assert(bits_per_element<ufp4_two_level> == 4.5);
static_assert(bits_per_element<ufp4_two_level_gradient> == 4.5);
static_assert(bits_per_element<quartet_forward> == 4.25 &&
              bits_per_element<quartet_backward> == 4.25);
static_assert(bits_per_element<quartet2_forward> == 4.5 &&
              bits_per_element<quartet2_backward> == 4.5);
static_assert(bits_per_element<mxfp4_tseng> == 4.25);

// Columns that are quantized together: the larger of block, rotation and correction.
static_assert(unit_cols<nvfp4> == 16 && unit_cols<nvfp4_weight> == 16 && unit_cols<mxfp4> == 32);
static_assert(unit_cols<mxfp4_tseng> == 64 && unit_cols<quartet2_backward> == 128);

TEST_CASE("Recipe/Stock.AllAreComposedAsPublished") { SUCCEED("the static assertions above"); }
