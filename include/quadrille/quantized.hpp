// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A quantized matrix that owns its memory, on the host.

#include <vector>

#include <quadrille/detail/check.hpp>
#include <quadrille/storage.hpp>

namespace quadrille {

namespace detail {
template <class T>
void require_data(matrix_ref<T> x) {
  require(x.data != nullptr || x.rows == 0 || x.cols == 0,
          "the matrix has no data; pass a pointer to rows x cols elements");
}
template <class R, class Byte>
void require_data(quantized_ref<R, Byte> q) {
  require(q.rows == 0 || q.cols == 0 || (q.codes != nullptr && q.scales != nullptr),
          "the quantized matrix has no codes or no scales; pass both pointers, or use quantized<R>");
  require(
      q.rows == 0 || R::scale::scope == outer_scope::none || q.outer != nullptr,
      "the quantized matrix has no outer scales; the recipe keeps one for the tensor or each row, "
      "pass a pointer to them");
}

inline void check_size(i64 rows, i64 cols) {
  require(rows >= 0 && cols >= 0,
          "a matrix has a negative extent; rows and columns are at least 0");
  require(rows == 0 || cols <= (i64(1) << 60) / rows,
          "a matrix is too large; rows x cols is at most 2^60");
}

// Rotations and corrections act on whole groups of columns; a partial block is fine.
template <class R>
void check_extents(i64 rows, i64 cols) {
  constexpr i64 group = max(R::rotation::size, correction_group<typename R::scale>);
  check_size(rows, cols);
  require(
      cols % group == 0,
      "the columns do not fill whole rotation groups; a rotation acts on whole groups, make cols "
      "a multiple of rotation::size or pad both operands with zeros");
}
}  // namespace detail

/// rows x cols elements of recipe R in host memory; see quantized_ref for the layout.
/// Columns run along K. K must be a multiple of the rotation (padding one operand would change the
/// product); a partial last block is fine.
template <class R>
class quantized {
  using checked = detail::checked_recipe<R>;

 public:
  using recipe = R;
  using stored = typename checked::scale::stored;

  quantized() = default;
  /// `rotation_seed` is what seeded_signs draw from: the two operands of a GEMM need the same one.
  /// Throws quadrille::error if an extent is negative or cols is not a multiple of the rotation.
  explicit quantized(i64 rows, i64 cols, u64 rotation_seed = 0)
      : rows_(rows), cols_(cols), rotation_seed_(rotation_seed) {
    detail::check_extents<checked>(rows, cols);
    codes_.resize(std::size_t(rows * row_bytes<typename checked::element>(cols)));
    scales_.resize(std::size_t(rows * detail::ceil_div(cols, i64(checked::block::cols))));
    constexpr outer_scope scope = checked::scale::scope;
    outer_.resize(std::size_t(scope == outer_scope::none  ? 0
                              : scope == outer_scope::row ? rows
                                                          : 1));
  }

  i64 rows() const { return rows_; }
  i64 cols() const { return cols_; }
  std::vector<u8> const& codes() const { return codes_; }
  std::vector<stored> const& scales() const { return scales_; }
  /// Decode factors beyond the block scales: one, one a row, or none, by R::scale::scope.
  std::vector<float> const& outer() const { return outer_; }
  u64 rotation_seed() const { return rotation_seed_; }

  quantized_ref<checked> ref() {
    return {codes_.data(), scales_.data(), outer_.data(), rows_, cols_, rotation_seed_};
  }
  quantized_ref<checked, u8 const> ref() const {
    return {codes_.data(), scales_.data(), outer_.data(), rows_, cols_, rotation_seed_};
  }

 private:
  i64 rows_ = 0;
  i64 cols_ = 0;
  std::vector<u8> codes_;
  std::vector<stored> scales_;
  std::vector<float> outer_;
  u64 rotation_seed_ = 0;
};

}  // namespace quadrille
