// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recipes that a user makes: by derivation, out of own policies, and what is none.

#include <type_traits>
#include <vector>

#include <quadrille/quantize.hpp>
#include <quadrille/recipes.hpp>

#include "support/catch.hpp"

namespace {

using namespace quadrille;

struct wide_blocks : nvfp4 {
  using block = shape<1, 32>;
};
struct stochastic_weights : nvfp4_weight {
  using rounding = stochastic<12>;
};
struct nvint4 : nvfp4 {
  using element = int4;
};
struct mxfp6 : mxfp4 {
  using element = e2m3;
};
struct tall_blocks : mxfp4 {
  using block = shape<32, 2>;
};
/// A rotation over several blocks, and one over a part of a block.
struct wide_rotation : nvfp4 {
  using rotation = random_hadamard<128>;
};
struct narrow_rotation : mxfp4 {
  using rotation = hadamard<4>;
};
struct eden_of_kernel : nvfp4 {
  using scale = two_level<e4m3, eden<128>>;
};

/// One's own of each policy.
struct own_block {
  static constexpr int rows = 2;
  static constexpr int cols = 8;
};
struct own_rounding {
  static constexpr int random_bits = 0;
  QUADRILLE_HD static constexpr bool take_upper(float fraction, bool, u32) {
    return fraction > .75f;
  }
};
struct reversal {
  static constexpr int size = 2;
  QUADRILLE_HD static constexpr sign_vector signs(u64) { return {}; }
  QUADRILLE_HD static constexpr void apply(float* x, sign_vector const&) {
    float const first = x[0];
    x[0] = x[1];
    x[1] = first;
  }
  QUADRILLE_HD static constexpr void invert(float* x, sign_vector const& s) { apply(x, s); }
};
struct capped : amax_rule {
  static constexpr float bound = 256;
};
struct all_own {
  using element = minifloat<3, 0>;
  using block = own_block;
  using scale = two_level<ue5m3, capped>;
  using rounding = own_rounding;
  using rotation = reversal;
};

/// Not recipes.
struct no_element {
  using block = shape<1, 16>;
  using scale = two_level<e4m3>;
  using rounding = nearest_even;
  using rotation = identity;
};
struct no_rotation {
  using element = e2m1;
  using block = shape<1, 16>;
  using scale = two_level<e4m3>;
  using rounding = nearest_even;
};
struct bare_scale : nvfp4 {
  using scale = e4m3;
};
struct element_as_block : nvfp4 {
  using block = e2m1;
};
struct scale_as_element : nvfp4 {
  using element = ue8m0;
};
struct rounding_as_rotation : nvfp4 {
  using rotation = nearest_even;
};
struct rotation_as_rounding : nvfp4 {
  using rounding = identity;
};
struct block_of_numbers : nvfp4 {
  struct block {
    int rows, cols;
  };
};

}  // namespace

static_assert(check_recipe<wide_blocks>() && check_recipe<stochastic_weights>());
static_assert(check_recipe<nvint4>() && check_recipe<mxfp6>() && check_recipe<tall_blocks>());
static_assert(check_recipe<wide_rotation>() && check_recipe<narrow_rotation>());
static_assert(check_recipe<eden_of_kernel>() && check_recipe<all_own>());
static_assert(recipe<wide_blocks> && recipe<all_own>);

// One member changes, the others and what is derived from them follow.
static_assert(std::is_same_v<wide_blocks::scale, nvfp4::scale>);
static_assert(std::is_same_v<wide_blocks::element, e2m1>);
static_assert(bits_per_element<wide_blocks> == 4.25 && unit_cols<wide_blocks> == 32);
static_assert(bits_per_element<mxfp6> == 8.25 && bits_per_element<tall_blocks> == 8);
static_assert(bits_per_element<all_own> == 5 && unit_cols<all_own> == 8);
static_assert(unit_cols<wide_rotation> == 128 && unit_cols<narrow_rotation> == 32);
static_assert(unit_cols<eden_of_kernel> == 128);
static_assert(stochastic_weights::block::rows == 16);

static_assert(!recipe<int> && !recipe<e2m1> && !recipe<no_element> && !recipe<no_rotation>);
static_assert(!recipe<bare_scale> && !recipe<element_as_block> && !recipe<scale_as_element>);
static_assert(!recipe<rounding_as_rotation> && !recipe<rotation_as_rounding>);
static_assert(!recipe<block_of_numbers>);

static_assert(block_shape<shape<1, 16>> && block_shape<own_block> && !block_shape<int>);
static_assert(scale_hierarchy<two_level<e4m3>> && scale_hierarchy<one_level<ue8m0, ocp_floor>>);
static_assert(scale_hierarchy<one_level<fp32>> && !scale_hierarchy<e4m3> &&
              !scale_hierarchy<float>);

TEST_CASE("Recipe/User.DerivedOneQuantizesByItsOwnMember") {
  // 32 columns of 6 and then of 1: with blocks of 32 the ones share the scale of the sixes.
  std::vector<float> x(32, 1);
  x[0] = 6;
  matrix_ref<float const> const view(x.data(), 1, 32);
  auto const narrow = quantize<nvfp4>(host, view, {.amax = 2688.f});
  auto const wide = quantize<wide_blocks>(host, view, {.amax = 2688.f});
  CHECK(narrow.scales() == std::vector<u8>{0x38, 0x23});
  CHECK(wide.scales() == std::vector<u8>{0x38});
  CHECK(narrow.codes()[8] == 0x77);
  CHECK(wide.codes()[8] == 0x22);
}

TEST_CASE("Recipe/User.OwnPoliciesQuantize") {
  // Block maxima 16 = max of minifloat<3, 0>, so the scale is 1; neighbours change places.
  std::vector<float> x(16);
  x[0] = 16;
  x[1] = 1.7f;
  x[2] = -1.8f;
  auto const q = quantize<all_own>(host, matrix_ref<float const>(x.data(), 2, 8), {.amax = 4096.f});
  CHECK(q.outer() == std::vector<float>{1});
  CHECK(q.scales() == std::vector<u8>{15 << 3, 15 << 3});
  // Codes of 1, 16, 0, -2: 1.7 is less than 3/4 of the way to 2, and 1.8 more.
  CHECK(q.codes() == std::vector<u8>{0x73, 0xC0, 0, 0, 0, 0, 0, 0});
  std::vector<float> back(16);
  dequantize(host, q, matrix_ref<float>(back.data(), 2, 8));
  std::vector<float> expected(16);
  expected[0] = 16;
  expected[1] = 1;
  expected[2] = -2;
  CHECK(back == expected);
}
