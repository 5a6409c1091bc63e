// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The block scales of a whole tile corrected after its elements were rounded (MS-EDEN). Host only.

#include <quadrille/detail/cpu.hpp>
#include <quadrille/detail/tile.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

template <recipe R>
class tile_correction {
  using tiles = tiling<R>;
  using scale = typename R::scale;
  using element = typename R::element;
  static constexpr int group = correction_group<scale>;
  static constexpr int group_blocks = group / tiles::block_size;
  static constexpr int groups = tiles::elements / group;

 public:
  /// Of units [first, first + count).
  tile_correction(i64 first, int count, i64 units_a_row, i64 first_row, random_key key)
      : blocks_(count * tiles::unit_blocks), key_(key) {
    for (int k = 0; k < count; ++k) {
      i64 const row = first_row + (first + k) / units_a_row;
      i64 const col = (first + k) % units_a_row * tiles::unit;
      for (int b = 0; b < tiles::unit_blocks; ++b) {
        rows_[k * tiles::unit_blocks + b] = row;
        cols_[k * tiles::unit_blocks + b] = col + b * tiles::block_cols;
      }
    }
  }

  /// New scales. `grid` and `codes` are a whole tile's.
  void correct(float const* grid, u32 const* codes, typename scale::stored* scales) const {
    if constexpr (requires { requires scale::template corrects_lanes<element>; }) {
      correct_together(grid, codes, scales);
    } else {
      for (int b = 0; b < blocks_; b += group_blocks) {
        int const at = b * tiles::block_size;
        scale::template correct<element>({grid + at, codes + at, group, group_blocks}, scales + b,
                                         {key_, rows_[b], cols_[b], tiles::block_cols});
      }
    }
  }

 private:
  // Lanes are groups: the sums of a group have a stated order.
  void correct_together(float const* grid, u32 const* codes, typename scale::stored* scales) const {
    float y[tiles::elements];
    float rounded[tiles::elements];
    u32 words[tiles::blocks];
    to_lanes<tiles::elements, group>(grid, y);
    if constexpr (rounds_magnitudes<element> && is_same_v<typename R::rounding, nearest_even>) {
      for (int i = 0; i < tiles::elements; ++i)
        rounded[i] = as_float(bits_of(element::round_magnitude(magnitude(y[i]))) |
                              (bits_of(y[i]) ^ magnitude_bits(y[i])));
    } else {
      float values[tiles::elements];
      for (int i = 0; i < tiles::elements; ++i) values[i] = element::decode(codes[i]);
      to_lanes<tiles::elements, group>(values, rounded);
    }
    draw(words);
    scale::correct_lanes(correction_lanes<groups>{y, rounded, group, group_blocks}, words, scales);
  }

  // The word that block_random draws for each block.
  void draw(u32* words) const {
    constexpr int bits = block_random::bits;
    random_key const key = block_random::key_of(key_);
    if constexpr (!code_kernels::is_empty && tiles::blocks % 16 == 0) {
      u32 groups_of[tiles::blocks];
      u32 rows[tiles::blocks];
      u32 rows_high[tiles::blocks];
      for (int b = 0; b < tiles::blocks; ++b) {
        groups_of[b] = u32(u64(cols_[b]) / random_group<bits>);
        rows[b] = u32(rows_[b]);
        rows_high[b] = u32(u64(rows_[b]) >> 32);
      }
      bool const is_drawn = code_kernels::with_best([&]<class Kernel>() {
        u32 drawn[4 * tiles::blocks];
        Kernel::philox(groups_of, rows, rows_high, key.stream, key.seed, tiles::blocks, drawn);
        for (int b = 0; b < tiles::blocks; ++b)
          words[b] = drawn[4 * b + int(u64(cols_[b]) % random_group<bits>)];
      });
      if (is_drawn) return;
    }
    for (int b = 0; b < tiles::blocks; ++b) words[b] = random_bits<bits>(key, rows_[b], cols_[b]);
  }

  int blocks_;
  random_key key_;
  i64 rows_[tiles::blocks] = {};
  i64 cols_[tiles::blocks] = {};
};

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
