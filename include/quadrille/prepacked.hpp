// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Weights in the order in which the host GEMM reads them: a permutation of a quantized matrix.

#include <cstring>
#include <vector>

#include <quadrille/detail/aligned.hpp>
#include <quadrille/detail/panel.hpp>
#include <quadrille/quantized.hpp>

namespace quadrille {

/// A quantized matrix of 4-bit elements for use as gemm's B, packed once and used many times: worth it
/// where A has few rows. Results are those of the quantized matrix, bit for bit.
///
/// Rows go in panels of 16. In a panel, words of 8 codes follow each other as [k / 8][row], and scales as
/// [block][row]; rows and columns are completed with zeros to whole panels and blocks.
template <class R>
class prepacked {
  using checked = detail::checked_recipe<R>;
  using element = typename checked::element;
  static_assert(element::bits <= 4,
                "quadrille: prepacked weights are of 4-bit elements; wider codes take a byte each, "
                "pass the quantized matrix to gemm");
  static_assert(checked::block::cols % detail::word_codes == 0,
                "quadrille: prepacked weights have blocks of whole words; a word is 8 codes, make "
                "block::cols a multiple of 8");

 public:
  using recipe = R;
  using stored = typename checked::scale::stored;

  prepacked() = default;
  explicit prepacked(quantized<R> const& q)
      : rows_(q.rows()), cols_(q.cols()), outer_(q.outer()), rotation_seed_(q.rotation_seed()) {
    i64 const panels = detail::ceil_div(rows_, i64(detail::panel_rows));
    scale_cols_ = detail::ceil_div(cols_, i64(checked::block::cols));
    words_a_row_ = scale_cols_ * (checked::block::cols / detail::word_codes);
    words_ = detail::aligned_array<u32>(panels * words_a_row_ * detail::panel_rows);
    scales_.resize(std::size_t(panels * scale_cols_ * detail::panel_rows));
    for (i64 row = 0; row < panels * detail::panel_rows; ++row) pack_row(q, row);
  }

  i64 rows() const { return rows_; }
  i64 cols() const { return cols_; }
  i64 scale_cols() const { return scale_cols_; }
  i64 words_a_row() const { return words_a_row_; }
  std::vector<float> const& outer() const { return outer_; }
  u64 rotation_seed() const { return rotation_seed_; }

  /// Words [k / 8] and scales [block] of a panel's rows, 16 of each side by side.
  u32 const* words(i64 panel, i64 first) const {
    return words_.data() + (panel * words_a_row_ + first) * detail::panel_rows;
  }
  stored const* scales(i64 panel, i64 block) const {
    return scales_.data() + (panel * scale_cols_ + block) * detail::panel_rows;
  }

  /// Code of (row, column).
  u32 code(i64 row, i64 col) const {
    u32 const word =
        words(row / detail::panel_rows, col / detail::word_codes)[row % detail::panel_rows];
    return word >> (4 * (col % detail::word_codes)) & 15;
  }
  /// Scale of a block of a row.
  stored scale(i64 row, i64 block) const {
    return scales(row / detail::panel_rows, block)[row % detail::panel_rows];
  }

 private:
  void pack_row(quantized<R> const& q, i64 row) {
    i64 const panel = row / detail::panel_rows;
    i64 const lane = row % detail::panel_rows;
    i64 const bytes = row < rows_ ? row_bytes<element>(cols_) : 0;
    for (i64 w = 0; w < words_a_row_; ++w) {
      u32 word = 0;
      i64 const left = detail::min(i64(4), bytes - w * 4);
      if (left > 0) std::memcpy(&word, q.codes().data() + row * bytes + w * 4, std::size_t(left));
      words_.data()[(panel * words_a_row_ + w) * detail::panel_rows + lane] = word;
    }
    for (i64 block = 0; block < scale_cols_ && row < rows_; ++block)
      scales_[std::size_t((panel * scale_cols_ + block) * detail::panel_rows + lane)] =
          q.scales()[std::size_t(row * scale_cols_ + block)];
  }

  i64 rows_ = 0;
  i64 cols_ = 0;
  i64 scale_cols_ = 0;
  i64 words_a_row_ = 0;
  detail::aligned_array<u32> words_;
  std::vector<stored> scales_;
  std::vector<float> outer_;
  u64 rotation_seed_ = 0;
};

/// q in the order that gemm reads fastest: gemm(host, x, prepack(w), d).
template <class R>
prepacked<R> prepack(quantized<R> const& q) {
  return prepacked<R>(q);
}

}  // namespace quadrille
