// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rules that choose for many blocks at once choose as they do for each block alone.

#include <algorithm>

#include "quantize/probe.hpp"

#include <quadrille/codec.hpp>
#include <quadrille/recipes.hpp>

namespace {
using namespace test;
using namespace quadrille;

/// NVFP4 with another scale.
template <class Scale, class Element = e2m1>
struct scaled : nvfp4 {
  using scale = Scale;
  using element = Element;
};
struct low_bound : four_over_six<> {
  static constexpr float bound = 1e-3f;  // decode factors overflow
};
/// A choice of its own over an inherited search.
struct always_one : four_over_six<> {
  template <class Self, class E, class F>
  static constexpr auto choose(block_values const&, outer_scale const& o) {
    return chosen_scale{F::encode_finite(1.f), te_order::map(1, o)};
  }
};

std::vector<floats> inputs_of(std::size_t n) {
  return {inputs::normal(n, 1),
          inputs::student_t3(n, 2),
          inputs::tie_aligned(n, 3, {0, 0.5f, 1, 1.5f, 2, 3, 4, 6}),
          inputs::subnormal(n, 4),
          inputs::bit_patterns(n, 5),
          floats(n, 0.f)};
}

template <class R>
void choose_as_alone() {
  using codec = block_codec<R>;
  using scale = typename R::scale;
  using element = typename R::element;
  constexpr int blocks = 24;
  constexpr int size = codec::block_size;
  STATIC_REQUIRE(scale::template chooses_lanes<element>);
  for (floats const& x : inputs_of(blocks * size)) {
    float amaxes[blocks];
    detail::block_amax<blocks, size>(x.data(), amaxes);
    for (float const amax : {oracle::amax_finite(x), 0.01f, 1.f}) {
      outer_scale const o = scale::template outer<element>(amax);
      std::vector<outer_scale> const outer(blocks, o);
      typename codec::wide_scale stored[blocks];
      typename codec::map_word maps[blocks];
      codec::template choose<blocks>(x.data(), amaxes, outer.data(), stored, maps);
      for (int b = 0; b < blocks; ++b) {
        if (!detail::is_finite(amaxes[b])) continue;
        auto const want =
            scale::template choose<element>({&x[std::size_t(b * size)], size, amaxes[b]}, o);
        auto const map = __builtin_bit_cast(typename codec::map, maps[b]);
        CHECK(stored[b] == want.stored);
        CHECK(detail::bits_of(map(1, 0)) == detail::bits_of(want.to_grid(1, 0)));
      }
    }
  }
}
}  // namespace

TEST_CASE("Scale/ManyBlocks.FourOverSix") {
  choose_as_alone<nvfp4_four_over_six>();
  choose_as_alone<scaled<two_level<e4m3, four_over_six<absolute_error>, outer_scope::row>>>();
  choose_as_alone<scaled<two_level<e4m3, four_over_six<>>, int4_full>>();
  choose_as_alone<scaled<two_level<e4m3, low_bound>>>();
}

TEST_CASE("Scale/ManyBlocks.ErrorSearch") {
  choose_as_alone<scaled<two_level<e4m3, error_search<>>>>();
  choose_as_alone<scaled<two_level<ue5m3, error_search<1, 2>>, e2m3>>();
}

TEST_CASE("Scale/ManyBlocks.Fp8Exact") { choose_as_alone<nvfp4_fp8_exact>(); }

TEST_CASE("Scale/ManyBlocks.Quest") { choose_as_alone<quartet_forward>(); }

TEST_CASE("Scale/ManyBlocks.EdenCorrectsAsEachGroupAlone") {
  using scale = two_level<e4m3, eden<32>>;
  constexpr int groups = 40;
  constexpr int size = 32;
  constexpr int each = 2;
  STATIC_REQUIRE(scale::corrects_lanes<e2m1>);
  for (float const sigma : {1.f, 0.f, 1e-30f, 1e25f}) {
    floats const grid = inputs::normal(groups * size, 6, sigma);
    floats y(grid.size());
    floats rounded(grid.size());
    std::vector<u32> codes(grid.size());
    for (std::size_t i = 0; i < grid.size(); ++i) {
      std::size_t const at = i % size * groups + i / size;
      codes[i] = e2m1::encode_finite(grid[i]);
      y[at] = grid[i];
      rounded[at] = e2m1::decode(codes[i]);
    }
    u32 words[groups * each];
    u8 together[groups * each];
    u8 alone[groups * each];
    block_random const random{{7, 1}, 3, 0, size / each};
    for (int b = 0; b < groups * each; ++b) {
      words[b] = random(b);
      together[b] = alone[b] = b % 5 == 0 ? e4m3::nan : u8(b);
    }
    scale::correct_lanes(correction_lanes<groups>{y.data(), rounded.data(), size, each}, words,
                         together);
    for (int g = 0; g < groups; ++g)
      scale::correct<e2m1>(
          {&grid[std::size_t(g * size)], &codes[std::size_t(g * size)], size, each},
          alone + g * each, {random.key, random.row, g * size, random.block_cols});
    CHECK(std::equal(alone, alone + groups * each, together));
  }
}

TEST_CASE("Scale/ManyBlocks.AChoiceOfItsOwnCounts") {
  using mine = two_level<e4m3, always_one>;
  STATIC_REQUIRE(!mine::chooses_lanes<e2m1>);
  floats const x(32, 3);
  float const amaxes[2] = {3, 3};
  outer_scale const outer;
  u32 stored[2];
  float maps[2];
  block_codec<scaled<mine>>::choose<2>(x.data(), amaxes, &outer, stored, maps);
  CHECK(stored[0] == e4m3::encode(1.f));
  CHECK(stored[1] == e4m3::encode(1.f));
}
