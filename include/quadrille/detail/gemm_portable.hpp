// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// GEMM in plain loops, for any operands and any processor, in the stated order of operations: what the
/// vector kernels are held against. Host only.

#include <quadrille/detail/gemm_output.hpp>
#include <quadrille/detail/operand.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

// Columns of D that are computed side by side.
inline constexpr int portable_cols = 64;

/// B's part: element values transposed, so that the columns of D are contiguous, and scales.
template <class A, class B>
struct portable_panel {
  static constexpr int step = common_block<A, B>;
  static constexpr int depth_limit = step * max(1, 256 / step);  // columns of K decoded at a time
  using sum = select_t<exact_float_dot<A, B, step>, float, double>;
  float values[depth_limit * portable_cols];
  float scales[depth_limit / step * portable_cols];

  void load(B const& b, i64 first_col, i64 first_k, int depth) {
    float row[depth_limit];
    float row_scales[depth_limit / step];
    for (int n = 0; n < portable_cols; ++n) {
      bool const exists = first_col + n < b.rows();
      if (exists) b.template load<step>(first_col + n, first_k, depth, row, row_scales);
      for (int k = 0; k < depth_limit; ++k)
        values[k * portable_cols + n] = exists && k < depth ? row[k] : 0;
      for (int j = 0; j < depth_limit / step; ++j)
        scales[j * portable_cols + n] = exists && j * step < depth ? row_scales[j] : 0;
    }
  }

  // sums[n] += the products of one row of A, completed with zeros to whole blocks, with the panel.
  void multiply(float const* a, float const* a_scales, int depth, float* sums) const {
    for (int j = 0; j * step < depth; ++j) {
      float const* const a_block = a + j * step;
      float const* const b_block = values + j * step * portable_cols;
      for (int n = 0; n < portable_cols; ++n) {
        sum dot = 0;
        for (int k = 0; k < step; ++k) dot += sum(a_block[k]) * sum(b_block[k * portable_cols + n]);
        float const scale = mul(a_scales[j], scales[j * portable_cols + n]);
        sums[n] = add(sums[n], mul(scale, float(dot)));
      }
    }
  }
};

template <class A, class B, class T>
class portable_gemm {
  using panel = portable_panel<A, B>;
  static constexpr int max_rows = 128;

 public:
  portable_gemm(A const& a, B const& b, matrix_ref<T> d, gemm_options<T> const& options)
      : a_(a), b_(b), d_(d), output_(a, b, d, options) {}

  /// Rows [first_row, last_row) and columns [first_col, last_col) of D.
  void operator()(i64 first_row, i64 last_row, i64 first_col, i64 last_col) {
    for (i64 row = first_row; row < last_row; row += max_rows)
      for (i64 col = first_col; col < last_col; col += portable_cols)
        tile(row, int(min(i64(max_rows), last_row - row)), col,
             int(min(i64(portable_cols), last_col - col)));
  }

 private:
  void tile(i64 row, int rows, i64 col, int cols) {
    float sums[max_rows * portable_cols] = {};
    constexpr int depth_limit = panel::depth_limit;
    for (i64 k = 0; k < a_.cols(); k += depth_limit) {
      int const depth = int(min(i64(depth_limit), a_.cols() - k));
      panel_.load(b_, col, k, depth);
      for (int m = 0; m < rows; ++m) {
        float values[depth_limit] = {};
        float scales[depth_limit / panel::step];
        a_.template load<panel::step>(row + m, k, depth, values, scales);
        panel_.multiply(values, scales, depth, sums + m * portable_cols);
      }
    }
    for (int m = 0; m < rows; ++m) output_.write(row + m, col, cols, sums + m * portable_cols);
  }

  A a_;
  B b_;
  matrix_ref<T> d_;
  gemm_output<A, B, T> output_;
  panel panel_;
};

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
