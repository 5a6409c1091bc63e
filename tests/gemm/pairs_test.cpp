// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm of every pair of stock recipes that may be multiplied, against long double.

#include "reference.hpp"
#include "support/catch.hpp"

#include <string>
#include <tuple>

using namespace gemm_test;

namespace {

constexpr i64 rows = 5;
constexpr i64 cols = 7;

template <class R>
struct sides {
  char const* name;
  quantized<R> a;
  quantized<R> b;
  sides(char const* n, i64 depth)
      : name(n),
        a(quantize<R>(host, uneven(rows, depth, 31).ref(), {.seed = 1}, 5)),
        b(quantize<R>(host, normal(cols, depth, 32).ref(), {.seed = 2}, 5)) {}
};

template <class Left, class... Right>
void require_row_of_pairs(Left const& left, std::tuple<Right...> const& all) {
  std::apply(
      [&](auto const&... right) {
        auto const check = [&](auto const& r) {
          INFO(std::string(left.name) + " x " + r.name);
          CHECK(first_wrong<float>(left.a, r.b, rows, cols, left.a.cols()) == -1);
        };
        (check(right), ...);
      },
      all);
}

template <class... Recipe>
void require_all_pairs(sides<Recipe>... recipe) {
  std::tuple<sides<Recipe>...> const all(recipe...);
  (require_row_of_pairs(recipe, all), ...);
}

#define SIDES(recipe, depth) sides<recipe>(#recipe, depth)

}  // namespace

TEST_CASE("pairs of recipes without rotation, K with a partial last block") {
  constexpr i64 depth = 267;
  require_all_pairs(SIDES(nvfp4, depth), SIDES(nvfp4_weight, depth), SIDES(nvfp4_gradient, depth),
                    SIDES(nvfp4_four_over_six, depth), SIDES(nvfp4_fp8_exact, depth),
                    SIDES(nvfp4_per_row, depth), SIDES(mxfp4, depth), SIDES(mxfp4_even, depth),
                    SIDES(mxfp4_ceil, depth), SIDES(mxfp4_round_up, depth),
                    SIDES(quartet2_forward, depth));
}

TEST_CASE("pairs of recipes with the published rotation of 16") {
  constexpr i64 depth = 272;
  require_all_pairs(SIDES(nvfp4_wgrad, depth), SIDES(nvfp4_wgrad_gradient, depth),
                    SIDES(ufp4, depth), SIDES(ufp4_gradient, depth), SIDES(ufp4_two_level, depth),
                    SIDES(ufp4_two_level_gradient, depth));
}

TEST_CASE("recipes whose rotation only they have, with themselves") {
  constexpr i64 depth = 256;
  require_all_pairs(SIDES(quartet_forward, depth));
  require_all_pairs(SIDES(quartet_backward, depth));
  require_all_pairs(SIDES(mxfp4_tseng, depth));
  require_all_pairs(SIDES(quartet2_backward, depth));
}
