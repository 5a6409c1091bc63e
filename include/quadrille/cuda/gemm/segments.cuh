// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What a GEMM kernel computes, and in which order its tiles come.
///
/// One product D = A B^T is a segment. A strided batch and a mixture of experts are several: they share N and
/// K, their rows of A and D follow one another, and so do their matrices B.
///
/// What a kernel does with finished sums is its epilogue's business. An epilogue is trivially copyable and has
///   width                              consecutive columns of D that a thread hands over: 8, 16 or 32
///   store(segment, row, col, sums)     sums[width] of D(row, col ..): a row that exists, and columns of which
///                                      at least the first exists; col is a multiple of width

#include <quadrille/detail/std.hpp>

namespace quadrille::detail {

struct gemm_segments {
  i64 rows = 0;   ///< of A and D, all segments together
  i64 cols = 0;   ///< N: columns of D, and rows of B in each segment
  i64 depth = 0;  ///< K
  i32 count = 1;
  i64 each = 0;  ///< rows of each segment, if there are no offsets
  /// In device memory, count + 1 ascending numbers: segment s has rows [offsets[s], offsets[s + 1]).
  i32 const* offsets = nullptr;

  QUADRILLE_HD constexpr i64 first_row(i32 segment) const {
    return offsets != nullptr ? offsets[segment] : segment * each;
  }
};

/// A tile of D: rows [row, row_end) and columns from col. It may have fewer than a full tile's.
struct gemm_tile {
  i32 segment;
  i64 row;
  i64 row_end;  // of the segment
  i64 col;
};

/// Tiles of all segments; more than there are, if their sizes are only known to the device.
constexpr i64 tile_count(gemm_segments const& all, i64 tile_rows, i64 tile_cols) {
  i64 const rows = all.offsets != nullptr ? all.rows / tile_rows + all.count
                                          : all.count * ceil_div(all.each, tile_rows);
  return rows * ceil_div(all.cols, tile_cols);
}

/// Walks the tiles of a persistent thread block: number `first`, then every `step`-th. Within a segment
/// the tiles of `band_rows` rows of tiles come column by column, so that what runs at once shares operands;
/// the next band comes back from the last column, whose operands are still in the L2.
template <int TileRows, int TileCols>
class tile_walk {
 public:
  QUADRILLE_HD tile_walk(gemm_segments const& all, i64 first, i64 step)
      : all_(all),
        index_(u32(first)),
        step_(u32(step)),
        cols_(u32(ceil_div(all.cols, i64(TileCols)))),
        end_(all.first_row(0)) {
    enter();
  }

  /// The next tile; false if there is none.
  QUADRILLE_HD bool next(gemm_tile& tile) {
    while (index_ >= tile_rows_ * cols_) {
      if (segment_ + 1 >= all_.count) return false;
      index_ -= tile_rows_ * cols_;
      ++segment_;
      enter();
    }
    u32 const band = index_ / (cols_ * band_rows);
    u32 const inside = index_ - band * (cols_ * band_rows);
    u32 const rows = min(band_rows, tile_rows_ - band * band_rows);
    u32 const col = inside / rows;
    u32 const row = band * band_rows + inside - col * rows;
    tile = {segment_, begin_ + i64(row) * TileRows, end_,
            i64(band % 2 == 0 ? col : cols_ - 1 - col) * TileCols};
    index_ += step_;
    return true;
  }

 private:
  static constexpr u32 band_rows = max(1, 2048 / TileRows);

  QUADRILLE_HD void enter() {
    begin_ = end_;
    end_ = all_.first_row(segment_ + 1);
    tile_rows_ = u32(ceil_div(end_ - begin_, i64(TileRows)));
  }

  gemm_segments const& all_;
  u32 index_;  // 2^32 tiles would be more than 2^44 bytes of D
  u32 step_;
  u32 cols_;
  i32 segment_ = 0;
  i64 begin_ = 0;
  i64 end_;
  u32 tile_rows_ = 0;
};

}  // namespace quadrille::detail
