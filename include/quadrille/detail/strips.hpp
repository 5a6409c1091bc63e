// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Matrices that are contiguous along their columns, read in strips of rows. Host only.

#include <vector>

#include <quadrille/detail/parallel.hpp>
#include <quadrille/recipe.hpp>
#include <quadrille/storage.hpp>

namespace quadrille::detail {

/// True if neighbours along a row are far from each other, and along a column side by side.
template <class T>
bool is_turned(matrix_ref<T> x) {
  return x.row_stride == 1 && x.col_stride != 1 && x.rows > 1;
}

// Copies rows [row, row + out.rows) of x. By squares, so that each line of memory is used while it is near.
template <class T>
void copy_strip(matrix_ref<T const> x, i64 row, matrix_ref<T> out) {
  constexpr i64 side = 16;
  for (i64 r = 0; r < out.rows; r += side)
    for (i64 c = 0; c < out.cols; c += side) {
      i64 const rows = min(side, out.rows - r);
      i64 const cols = min(side, out.cols - c);
      T square[side][side];
      for (i64 j = 0; j < cols; ++j)
        for (i64 i = 0; i < rows; ++i) square[i][j] = x(row + r + i, c + j);
      for (i64 i = 0; i < rows; ++i)
        for (i64 j = 0; j < cols; ++j) out(r + i, c + j) = square[i][j];
    }
}

/// f(strip, first_row) for strips of whole block rows, each a copy in row-major order, in parallel.
template <recipe R, class T, class F>
void for_each_strip(host_policy where, matrix_ref<T const> x, F const& f) {
  constexpr i64 height = max(1, 16 / R::block::rows) * R::block::rows;
  parallel_for(where.threads, x.rows, height, [&](i64 first, i64 last) {
    std::vector<T> copy(std::size_t(height * x.cols));
    for (i64 row = first; row < last; row += height) {
      matrix_ref<T> const strip(copy.data(), min(height, last - row), x.cols);
      copy_strip(x, row, strip);
      f(matrix_ref<T const>(strip), row);
    }
  });
}

}  // namespace quadrille::detail
