// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Scale layouts: row-major, and the 128x4 tiles that cuBLASLt and the Blackwell tensor cores read.

#include <quadrille/detail/std.hpp>

namespace quadrille {

/// Row-major scales: rows x cols.
struct row_major_scales {
  QUADRILLE_LEAF static constexpr i64 size(i64 rows, i64 cols) { return rows * cols; }
  QUADRILLE_LEAF static constexpr i64 offset(i64 row, i64 col, i64 cols) {
    return row * cols + col;
  }
};

/// Tiles of 128 rows x 4 scales, 512 bytes each, row-major over tiles; inside a tile row r, column c is
/// at (r % 32) * 16 + (r / 32) * 4 + c. Rows and columns are padded to whole tiles with zeros.
/// cuBLAS documentation, "1D Block Scaling Factors Layout".
struct tiled_128x4_scales {
  QUADRILLE_LEAF static constexpr i64 size(i64 rows, i64 cols) {
    return detail::ceil_div(rows, i64(128)) * detail::ceil_div(cols, i64(4)) * 512;
  }
  QUADRILLE_LEAF static constexpr i64 offset(i64 row, i64 col, i64 cols) {
    i64 const tile = row / 128 * detail::ceil_div(cols, i64(4)) + col / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + col % 4;
  }
};

/// Row-major scales into tiles; `tiled` has tiled_128x4_scales::size(rows, cols) bytes, all written.
QUADRILLE_HD constexpr void tile_scales(u8 const* row_major, i64 rows, i64 cols, u8* tiled) {
  for (i64 i = 0; i < tiled_128x4_scales::size(rows, cols); ++i) tiled[i] = 0;
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < cols; ++c)
      tiled[tiled_128x4_scales::offset(r, c, cols)] = row_major[r * cols + c];
}

/// Tiles back into rows x cols row-major scales.
QUADRILLE_HD constexpr void untile_scales(u8 const* tiled, i64 rows, i64 cols, u8* row_major) {
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < cols; ++c)
      row_major[r * cols + c] = tiled[tiled_128x4_scales::offset(r, c, cols)];
}

}  // namespace quadrille
