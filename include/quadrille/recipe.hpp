// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Recipes: five policies that together say how a tensor becomes 4-bit codes and scales.

#include <quadrille/block.hpp>
#include <quadrille/detail/std.hpp>
#include <quadrille/format.hpp>
#include <quadrille/rotation.hpp>
#include <quadrille/rounding.hpp>
#include <quadrille/scale.hpp>

namespace quadrille {

namespace detail {
template <class R>
concept has_element = requires {
  requires element_format<typename R::element>;
};
template <class R>
concept has_block = requires {
  requires block_shape<typename R::block>;
};
template <class R>
concept has_scale = requires {
  requires scale_hierarchy<typename R::scale>;
};
template <class R>
concept has_rounding = requires {
  requires rounding_mode<typename R::rounding>;
};
template <class R>
concept has_rotation = requires {
  requires block_rotation<typename R::rotation>;
};

template <int Rotation, int BlockCols>
inline constexpr bool nests = Rotation % BlockCols == 0 || BlockCols % Rotation == 0;

template <int Bits, int BlockCols>
inline constexpr bool fills_bytes = Bits > 4 || BlockCols % 2 == 0;

template <int Rows, int Cols>
inline constexpr bool fits_a_tile = Rows <= 16384 / Cols;

template <int Rows, int Cols>
inline constexpr bool has_elements = Rows >= 1 && Cols >= 1;

template <outer_scope Scope, int BlockRows>
inline constexpr bool row_scale_fits = Scope != outer_scope::row || BlockRows == 1;

template <int Group, int BlockRows, int BlockCols, int Rotation>
inline constexpr bool correction_fits = Group == 0 || (BlockRows == 1 && Group % BlockCols == 0 &&
                                                       nests<Rotation, max(Group, 1)>);

template <class R>
QUADRILLE_HD consteval bool members_fit() {
  using block = typename R::block;
  if constexpr (!has_elements<block::rows, block::cols>) {
    static_assert(
        has_elements<block::rows, block::cols>,
        "quadrille: the block is empty; block::rows and block::cols are at least 1, write "
        "shape<1, 16>");
  } else if constexpr (!fits_a_tile<block::rows, block::cols>) {
    static_assert(fits_a_tile<block::rows, block::cols>,
                  "quadrille: the block is too large; a block has at most 16384 elements, write a "
                  "smaller shape "
                  "or let an outer scale serve the tensor");
  } else if constexpr (!fills_bytes<R::element::bits, block::cols>) {
    static_assert(
        fills_bytes<R::element::bits, block::cols>,
        "quadrille: the block ends inside a byte; two 4-bit codes share one, write an even "
        "block::cols");
  } else if constexpr (!nests<R::rotation::size, block::cols>) {
    static_assert(
        nests<R::rotation::size, block::cols>,
        "quadrille: the rotation crosses a block edge; its size must divide block::cols or "
        "be a multiple of it, write random_hadamard<block::cols>");
  } else if constexpr (!row_scale_fits<R::scale::scope, block::rows>) {
    static_assert(
        row_scale_fits<R::scale::scope, block::rows>,
        "quadrille: the block shares a scale between rows that have scales of their own; with "
        "outer_scope::row a block has one row, write shape<1, 16>");
  } else if constexpr (!correction_fits<correction_group<typename R::scale>, block::rows,
                                        block::cols, R::rotation::size>) {
    static_assert(correction_fits<correction_group<typename R::scale>, block::rows, block::cols,
                                  R::rotation::size>,
                  "quadrille: the scale correction crosses a block edge; its group holds whole "
                  "blocks of one row and nests with the rotation, write eden<block::cols> and "
                  "shape<1, N>");
  } else {
    return true;
  }
  return false;
}

// False where the error was given.
template <class R>
QUADRILLE_HD consteval bool is_sound() {
  if constexpr (!detail::has_element<R>) {
    static_assert(
        detail::has_element<R>,
        "quadrille: recipe::element is missing or is not an element format; it says which "
        "values the codes mean, write using element = e2m1;");
  } else if constexpr (!detail::has_block<R>) {
    static_assert(
        detail::has_block<R>,
        "quadrille: recipe::block is missing or is not a block shape; it says which elements "
        "share one scale, write using block = shape<1, 16>;");
  } else if constexpr (!detail::has_scale<R>) {
    static_assert(detail::has_scale<R>,
                  "quadrille: recipe::scale is missing or is not a scale hierarchy (a bare format? "
                  "write one_level<F> or two_level<F>)");
  } else if constexpr (!detail::has_rounding<R>) {
    static_assert(
        detail::has_rounding<R>,
        "quadrille: recipe::rounding is missing or is not a rounding mode; it picks between "
        "two neighbouring codes, write using rounding = nearest_even;");
  } else if constexpr (!detail::has_rotation<R>) {
    static_assert(
        detail::has_rotation<R>,
        "quadrille: recipe::rotation is missing or is not a rotation; it says in which basis "
        "we quantize, write using rotation = identity;");
  } else {
    return detail::members_fit<R>();
  }
  return false;
}

// Stands in for what is no recipe, so that one mistake is one error and not a page.
struct stand_in {
  using element = e2m1;
  using block = shape<1, 16>;
  using scale = two_level<e4m3>;
  using rounding = nearest_even;
  using rotation = identity;
};
template <class R>
using checked_recipe = select_t<is_sound<R>(), R, stand_in>;
}  // namespace detail

/// The composition rules: true for a valid recipe, otherwise one error in one sentence.
/// The first member that is wrong is the one reported.
template <class R>
QUADRILLE_HD consteval bool check_recipe() {
  return detail::is_sound<R>() || true;  // the error was given: a second one would say nothing
}

/// A recipe names its five members:
///   struct mine { using element = e2m1; using block = shape<1, 16>; using scale = two_level<e4m3>;
///                 using rounding = nearest_even; using rotation = identity; };
/// Deriving from a recipe and redeclaring a member makes another one.
template <class R>
concept recipe = detail::has_element<R> && detail::has_block<R> && detail::has_scale<R> &&
    detail::has_rounding<R> && detail::has_rotation<R>;

/// Stored bits of an element: its code and its share of the block scale (as a GEMM reads them: a 2D
/// block keeps one scale for each of its rows). An outer scale for the tensor or row is not counted.
template <class R>
inline constexpr double bits_per_element = (R::element::bits <= 4 ? 4 : 8) +
                                           double(R::scale::stored_bits) / R::block::cols;

/// Consecutive columns that are quantized together: the larger of block, rotation and correction.
template <class R>
inline constexpr int unit_cols = detail::max(detail::max(R::block::cols, R::rotation::size),
                                             correction_group<typename R::scale>);

}  // namespace quadrille
