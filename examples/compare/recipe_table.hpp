// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The recipes that the program knows. To add one, add a line to `recipe_table`.

#include <array>
#include <cstddef>
#include <quadrille/recipes.hpp>
#include <string_view>
#include <tuple>
#include <vector>

namespace comparison {

/// Gradient recipes round at random or carry corrections; they are run only when asked for.
enum class purpose { forward, gradient };

/// Any recipe without its rotation: the program rotates its input itself, one time for all recipes.
template <class R>
struct unrotated : R {
  using rotation = quadrille::identity;
};

/// A recipe, its name on the command line, and what it is. Where a GEMM quantizes activations by
/// another recipe than weights, that one comes second.
template <class R, class Activation = R>
struct row {
  using recipe = unrotated<R>;
  using activation = unrotated<Activation>;
  std::string_view name;
  std::string_view text;
  purpose use = purpose::forward;
};

inline constexpr std::tuple recipe_table{
    row<quadrille::nvfp4>{"nvfp4", "E2M1; an E4M3 scale for 16 elements, FP32 for the tensor"},
    row<quadrille::nvfp4_weight, quadrille::nvfp4>{
        "nvfp4-16x16", "nvfp4 with a scale for 16x16 weights; activations by nvfp4"},
    row<quadrille::nvfp4_four_over_six>{"nvfp4-four-over-six",
                                        "nvfp4; a block's maximum lands on 6 or on 4"},
    row<quadrille::nvfp4_fp8_exact>{"nvfp4-fp8-exact",
                                    "nvfp4; scales that FP8 tensor cores multiply exactly"},
    row<quadrille::nvfp4_per_row>{"nvfp4-per-row", "nvfp4 with an FP32 scale for each row"},
    row<quadrille::mxfp4>{"mxfp4", "E2M1; a power of two for 32 elements, rounded down (OCP)"},
    row<quadrille::mxfp4_even>{"mxfp4-even", "mxfp4; the maximum is rounded before its exponent"},
    row<quadrille::mxfp4_ceil>{"mxfp4-ceil", "mxfp4; the maximum's exponent is rounded up"},
    row<quadrille::mxfp4_round_up>{"mxfp4-round-up", "mxfp4; the scale is rounded up, no clipping"},
    row<quadrille::ufp4>{"ufp4",
                         "uniform grid E1M2; an FP32 scale for 16 elements; for rotated data"},
    row<quadrille::ufp4_two_level>{"ufp4-two-level",
                                   "uniform grid E1M2 with the scales of nvfp4; for rotated data"},
    row<quadrille::quartet_forward>{
        "quartet-forward", "mxfp4; the scale from the standard deviation; for rotated data"},
    row<quadrille::nvfp4_gradient>{"nvfp4-gradient", "nvfp4, rounded stochastically",
                                   purpose::gradient},
    row<quadrille::ufp4_two_level_gradient>{
        "ufp4-two-level-gradient", "ufp4-two-level, rounded stochastically, headroom 16/17",
        purpose::gradient},
    row<quadrille::quartet_backward>{"quartet-backward", "mxfp4 of 3/4 of the values",
                                     purpose::gradient},
    row<quadrille::quartet2_backward>{"quartet2-backward", "nvfp4 with MS-EDEN corrected scales",
                                      purpose::gradient},
    row<quadrille::mxfp4_tseng>{"mxfp4-tseng", "mxfp4 of 3/4 of the values, rounded stochastically",
                                purpose::gradient},
};
inline constexpr std::size_t recipe_count = std::tuple_size_v<decltype(recipe_table)>;

/// make(row) of every row, as an array.
template <class Make>
constexpr auto for_every_recipe(Make make) {
  return std::apply([&](auto const&... rows) { return std::array{make(rows)...}; }, recipe_table);
}

/// What is known of a recipe at run time; its index is its line in the table.
struct recipe_info {
  std::string_view name;
  std::string_view text;
  purpose use;
  double bits;              ///< stored for each element, its share of the block scale included
  std::size_t granularity;  ///< columns must be a multiple of it
  std::vector<float> grid;  ///< values of the codes >= 0, over the largest one
};
std::array<recipe_info, recipe_count> const& recipes();

}  // namespace comparison
