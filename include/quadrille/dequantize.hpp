// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// dequantize on the host, multi-threaded, for any recipe.

#include <vector>

#include <quadrille/detail/check.hpp>
#include <quadrille/detail/cpu.hpp>
#include <quadrille/detail/parallel.hpp>
#include <quadrille/detail/rotate_groups.hpp>
#include <quadrille/quantized.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// Settings of one dequantization.
struct dequantize_options {
  /// Stay in the rotated basis in place of rotating back.
  bool rotated = false;
};

namespace detail {
inline constexpr i64 elements_a_task = i64(1) << 16;

inline i64 rows_a_task(i64 cols) { return max(i64(1), elements_a_task / max(i64(1), cols)); }

template <class R, class T>
void check_same_shape(matrix_ref<T> x, quantized_ref<R, u8 const> q) {
  check_extents<R>(q.rows, q.cols);
  require_equal(x.rows, q.rows, "the number of rows of the matrix");
  require_equal(x.cols, q.cols, "the number of columns of the matrix");
  require_data(x);
  require_data(q);
}

// Codes of n columns from `first` on, an even one, as words.
template <class E>
void unpack_codes(u8 const* row, i64 first, int n, u32* codes) {
  if constexpr (E::bits <= 4) {
    u8 const* const bytes = row + first / 2;
    for (int i = 0; i < n / 2; ++i) {
      codes[2 * i] = bytes[i] & 15u;
      codes[2 * i + 1] = bytes[i] >> 4;
    }
    if (n % 2 != 0) codes[n - 1] = bytes[n / 2] & 15u;
  } else {
    for (int i = 0; i < n; ++i) codes[i] = row[first + i];
  }
}

// The first n values of a block's row.
template <recipe R, class Decoder>
void decode_block(u32 const* codes, Decoder const& decoder, int in_block, int n, float* out) {
  for (int i = 0; i < n; ++i) out[i] = decoder(R::element::decode(codes[i]), in_block + i);
}

// A row of q as floats, in the rotated basis.
template <recipe R>
void decode_row(quantized_ref<R, u8 const> q, i64 row, float* out) {
  using E = typename R::element;
  constexpr int block_cols = R::block::cols;
  constexpr int blocks_at_once = max(1, 256 / block_cols);
  u8 const* const codes = q.codes + row * row_bytes<E>(q.cols);
  typename R::scale::stored const* const scales = q.scales + row * q.scale_cols();
  int const in_block = int(row % R::block::rows * block_cols);
  float const outer = q.outer_decode(row);
  for (i64 b = 0; b < q.scale_cols(); b += blocks_at_once) {
    u32 words[blocks_at_once * block_cols];
    i64 const first = b * block_cols;
    int const n = int(min(q.cols - first, i64(blocks_at_once * block_cols)));
    unpack_codes<E>(codes, first, n, words);
    int const whole = n / block_cols;
    for (int k = 0; k < whole; ++k)  // a constant extent makes the better code
      decode_block<R>(words + k * block_cols, R::scale::decoder(scales[b + k], outer), in_block,
                      block_cols, out + first + k * block_cols);
    if (n % block_cols != 0)
      decode_block<R>(words + whole * block_cols, R::scale::decoder(scales[b + whole], outer),
                      in_block, n % block_cols, out + first + whole * block_cols);
  }
}

template <class T>
void store_row(float const* values, matrix_ref<T> x, i64 row) {
  T* const out = x.data + row * x.row_stride;
  if (x.col_stride == 1)
    for (i64 col = 0; col < x.cols; ++col) out[col] = static_cast<T>(values[col]);
  else
    for (i64 col = 0; col < x.cols; ++col) out[col * x.col_stride] = static_cast<T>(values[col]);
}
}  // namespace detail

/// Dequantizes q into x (any strides; float, fp16, bf16 or CUDA's types), rotated back unless asked.
/// A poisoned block decodes to NaN. Throws quadrille::error, before anything is written, if the shapes
/// differ.
template <class R, class T>
void dequantize(host_policy where, quantized_ref<R, u8 const> q, matrix_ref<T> x,
                dequantize_options const& options = {}) {
  detail::check_same_shape<R>(x, q);
  sign_vector const signs = R::rotation::signs(q.rotation_seed);
  detail::parallel_for(
      where.threads, q.rows, detail::rows_a_task(q.cols), [&](i64 first, i64 last) {
        bool const in_place = detail::is_same_v<T, float> && x.col_stride == 1;
        std::vector<float> buffer(in_place ? 0 : std::size_t(q.cols));
        for (i64 row = first; row < last; ++row) {
          float* values = buffer.data();
          if constexpr (detail::is_same_v<T, float>)
            if (in_place) values = x.data + row * x.row_stride;
          detail::decode_row<R>(q, row, values);
          if (!options.rotated)
            detail::group_rotation<typename R::rotation>::invert(values, q.cols, signs);
          if (!in_place) detail::store_row(values, x, row);
        }
      });
}

template <class R, class T>
void dequantize(host_policy where, quantized<R> const& q, matrix_ref<T> x,
                dequantize_options const& options = {}) {
  dequantize(where, q.ref(), x, options);
}

}  // namespace quadrille
QUADRILLE_EXACT_END
