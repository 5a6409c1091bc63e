// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Matrices before and after quantization.

#include <quadrille/detail/std.hpp>
#include <quadrille/recipe.hpp>
#include <quadrille/scale_layout.hpp>

namespace quadrille {

/// A view of rows x cols elements at data[r * row_stride + c * col_stride]. Strides are in elements and
/// need not be dense. T is float, fp16, bf16, __half, __nv_bfloat16 or another
/// type that converts to float exactly.
template <class T>
struct matrix_ref {
  T* data = nullptr;
  i64 rows = 0;
  i64 cols = 0;
  i64 row_stride = 0;
  i64 col_stride = 1;

  constexpr matrix_ref() = default;
  QUADRILLE_HD constexpr matrix_ref(T* d, i64 r, i64 c) : matrix_ref(d, r, c, c) {}
  QUADRILLE_HD constexpr matrix_ref(T* d, i64 r, i64 c, i64 row_s, i64 col_s = 1)
      : data(d), rows(r), cols(c), row_stride(row_s), col_stride(col_s) {}
  /// A view that only reads, of one that may write.
  template <class U>
  requires detail::same_as<U const, T> QUADRILLE_HD constexpr matrix_ref(matrix_ref<U> const& other)
      : matrix_ref(other.data, other.rows, other.cols, other.row_stride, other.col_stride) {}

  QUADRILLE_HD constexpr T& operator()(i64 r, i64 c) const {
    return data[r * row_stride + c * col_stride];
  }
  /// The same elements, rows and columns exchanged: how to quantize along the other axis.
  QUADRILLE_HD constexpr matrix_ref transposed() const {
    return {data, cols, rows, col_stride, row_stride};
  }
};

/// Bytes of one row of codes: two 4-bit codes share a byte, the even element in the low nibble; wider
/// codes take a byte each. The spare nibble of an odd row is 0.
template <class E>
QUADRILLE_HD constexpr i64 row_bytes(i64 cols) {
  return E::bits <= 4 ? (cols + 1) / 2 : cols;
}

/// Code of column `col` in a row of codes.
template <class E>
QUADRILLE_LEAF constexpr u32 load_code(u8 const* row, i64 col) {
  if constexpr (E::bits <= 4)
    return (col & 1) != 0 ? row[col / 2] >> 4 : row[col / 2] & 15u;
  else
    return row[col];
}

/// A quantized matrix as pointers: what kernels take. Trivially copyable.
///   codes    rows x row_bytes<element>(cols) bytes
///   scales   rows x scale_cols(), row-major unless Layout says otherwise; a block of several rows
///            repeats its scale in each
///   outer    decode factors: one, or one a row, or none (null), by R::scale::scope
///   rotation_seed   what seeded signs were drawn from
/// quantized_ref<R> may write, quantized_ref<R, u8 const> only reads.
template <recipe R, class Byte = u8, class Layout = row_major_scales>
struct quantized_ref {
  static_assert(check_recipe<R>());
  static constexpr bool is_const = detail::is_same_v<Byte, u8 const>;
  using stored =
      detail::select_t<is_const, typename R::scale::stored const, typename R::scale::stored>;
  using factor = detail::select_t<is_const, float const, float>;

  Byte* codes = nullptr;
  stored* scales = nullptr;
  factor* outer = nullptr;
  i64 rows = 0;
  i64 cols = 0;
  u64 rotation_seed = 0;

  quantized_ref() = default;
  QUADRILLE_HD constexpr quantized_ref(Byte* code_bytes, stored* block_scales,
                                       factor* outer_factors, i64 row_count, i64 col_count,
                                       u64 seed = 0)
      : codes(code_bytes),
        scales(block_scales),
        outer(outer_factors),
        rows(row_count),
        cols(col_count),
        rotation_seed(seed) {}
  template <class Other>
    requires(is_const&& detail::is_same_v<Other, u8>)
  QUADRILLE_HD constexpr quantized_ref(quantized_ref<R, Other, Layout> const& q)
      : quantized_ref(q.codes, q.scales, q.outer, q.rows, q.cols, q.rotation_seed) {}

  QUADRILLE_HD constexpr i64 scale_cols() const {
    return detail::ceil_div(cols, i64(R::block::cols));
  }
  /// Number of stored scales, padding included.
  QUADRILLE_HD constexpr i64 scale_count() const { return Layout::size(rows, scale_cols()); }
  /// Scale of the block that holds (row, block * block::cols).
  QUADRILLE_HD constexpr stored& scale(i64 row, i64 block) const {
    return scales[Layout::offset(row, block, scale_cols())];
  }
  /// Decode factor of row r beyond its block scales.
  QUADRILLE_HD constexpr float outer_decode(i64 r) const {
    if constexpr (R::scale::scope == outer_scope::none)
      return R::scale::template outer<typename R::element>(0).decode;
    else
      return outer[R::scale::scope == outer_scope::row ? r : 0];
  }
};

}  // namespace quadrille
