// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = alpha A B^T + beta C + bias on the host, for any two operands; exact within each block.
///
/// A is M x K, B is N x K: both K-contiguous, as the tensor cores want them. A B and A^T B are had by
/// quantizing the other operand along its other axis (matrix_ref::transposed), not by another GEMM.
///
/// The order of operations, for each element of D, over the blocks of K from the first to the last (the
/// shorter of the two operands' blocks):
///   dot   = sum a_k b_k              element values without scales, exact for 4-bit elements
///   sum   = sum + (scale_a scale_b) dot                                   FP32, one rounding each
/// and then ((alpha outer_a) outer_b) sum + beta C + bias, left to right. Products of E4M3 or UE8M0
/// scales and 4-bit dots are exact in FP32, so only the additions between blocks round. The product of
/// two block scales must stay in FP32's range.

#include <quadrille/detail/operand.hpp>
#include <quadrille/quantize.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// C and bias may be absent; C is not read when beta is 0. bias has an entry for each column of D.
template <class T>
struct gemm_options {
  float alpha = 1;
  float beta = 0;
  matrix_ref<T const> c = {};
  T const* bias = nullptr;
};

namespace detail {
template <int A, int B>
inline constexpr bool blocks_nest = A == 0 || B == 0 || nests<max(A, 1), max(B, 1)>;

template <class A, class B>
consteval bool check_operands() {
  if constexpr (!is_same_v<typename A::rotation, typename B::rotation>) {
    static_assert(
        is_same_v<typename A::rotation, typename B::rotation>,
        "quadrille: gemm operands carry different rotations; along K they only cancel if both "
        "are the same, quantize both with the same recipe::rotation");
  } else if constexpr (!blocks_nest<A::block_cols, B::block_cols>) {
    static_assert(
        blocks_nest<A::block_cols, B::block_cols>,
        "quadrille: gemm operands disagree on the block length along K; one must divide the "
        "other, write the same block::cols on both sides");
  } else {
    return true;
  }
  return false;
}

// Columns of D that are computed side by side.
inline constexpr int panel_cols = 64;

// B's part: element values transposed, so that the columns of D are contiguous, and scales.
template <class A, class B>
struct gemm_panel {
  static constexpr int step = common_block<A, B>;
  static constexpr int depth_limit = step * max(1, 256 / step);  // columns of K decoded at a time
  using sum = select_t<exact_float_dot<A, B, step>, float, double>;
  float values[depth_limit * panel_cols];
  float scales[depth_limit / step * panel_cols];

  void load(B const& b, i64 first_col, i64 first_k, int depth) {
    float row[depth_limit];
    float row_scales[depth_limit / step];
    for (int n = 0; n < panel_cols; ++n) {
      bool const exists = first_col + n < b.rows();
      if (exists) b.template load<step>(first_col + n, first_k, depth, row, row_scales);
      for (int k = 0; k < depth_limit; ++k)
        values[k * panel_cols + n] = exists && k < depth ? row[k] : 0;
      for (int j = 0; j < depth_limit / step; ++j)
        scales[j * panel_cols + n] = exists && j * step < depth ? row_scales[j] : 0;
    }
  }

  // sums[n] += the products of one row of A, completed with zeros to whole blocks, with the panel.
  void multiply(float const* a, float const* a_scales, int depth, float* sums) const {
    for (int j = 0; j * step < depth; ++j) {
      float const* const a_block = a + j * step;
      float const* const b_block = values + j * step * panel_cols;
      for (int n = 0; n < panel_cols; ++n) {
        sum dot = 0;
        for (int k = 0; k < step; ++k) dot += sum(a_block[k]) * sum(b_block[k * panel_cols + n]);
        float const scale = mul(a_scales[j], scales[j * panel_cols + n]);
        sums[n] = add(sums[n], mul(scale, float(dot)));
      }
    }
  }
};

template <class A, class B, class T>
class gemm_task {
  using panel = gemm_panel<A, B>;
  static constexpr int max_rows = 128;

 public:
  gemm_task(A const& a, B const& b, matrix_ref<T> d, gemm_options<T> const& options)
      : a_(a), b_(b), d_(d), options_(options) {}

  void operator()(i64 first_row, i64 last_row) {
    for (i64 row = first_row; row < last_row; row += max_rows)
      for (i64 col = 0; col < d_.cols; col += panel_cols)
        tile(row, int(min(i64(max_rows), last_row - row)), col);
  }

 private:
  void tile(i64 row, int rows, i64 col) {
    float sums[max_rows * panel_cols] = {};
    constexpr int depth_limit = panel::depth_limit;
    for (i64 k = 0; k < a_.cols(); k += depth_limit) {
      int const depth = int(min(i64(depth_limit), a_.cols() - k));
      panel_.load(b_, col, k, depth);
      for (int m = 0; m < rows; ++m) {
        float values[depth_limit] = {};
        float scales[depth_limit / panel::step];
        a_.template load<panel::step>(row + m, k, depth, values, scales);
        panel_.multiply(values, scales, depth, sums + m * panel_cols);
      }
    }
    int const cols = int(min(i64(panel_cols), d_.cols - col));
    for (int m = 0; m < rows; ++m)
      for (int n = 0; n < cols; ++n) store(row + m, col + n, sums[m * panel_cols + n]);
  }

  void store(i64 row, i64 col, float sum) {
    float const scale = mul(mul(options_.alpha, a_.row_factor(row)), b_.row_factor(col));
    float result = mul(scale, sum);
    if (options_.beta != 0)
      result = add(result, mul(options_.beta, static_cast<float>(options_.c(row, col))));
    if (options_.bias != nullptr) result = add(result, static_cast<float>(options_.bias[col]));
    d_(row, col) = static_cast<T>(result);
  }

  A a_;
  B b_;
  matrix_ref<T> d_;
  gemm_options<T> options_;
  panel panel_;
};

template <class A, class B, class T>
void check_gemm(A const& a, B const& b, matrix_ref<T> d, gemm_options<T> const& options) {
  a.check();
  b.check();
  require_equal(b.cols(), a.cols(), "K of gemm's B (its columns)");
  require_equal(d.rows, a.rows(), "the number of rows of gemm's D");
  require_equal(d.cols, b.rows(), "the number of columns of gemm's D (rows of B)");
  require(
      a.signs() == b.signs(),
      "gemm operands were rotated with different seeds; along K rotations only cancel if they are "
      "the same, pass one rotation_seed to quantize or quantized for both");
  require_data(d);
  if (options.beta == 0) return;
  require(options.c.data != nullptr, "beta is not 0 but C is missing; set gemm_options::c");
  require_equal(options.c.rows, d.rows, "the number of rows of gemm's C");
  require_equal(options.c.cols, d.cols, "the number of columns of gemm's C");
}
}  // namespace detail

/// D = alpha A B^T + beta C + bias. A and B are each a quantized matrix (quantized<R> or quantized_ref) or
/// a plain matrix_ref of float, fp16, bf16 or CUDA's types; D likewise plain. Same bytes for any
/// thread count. D may be C but must not overlap A or B. Throws quadrille::error, before anything is
/// written, if shapes or rotations differ or a pointer is missing.
template <class A, class B, class T>
void gemm(host_policy where, A const& a, B const& b, matrix_ref<T> d,
          gemm_options<T> const& options = {}) {
  auto const left = detail::as_operand(a);
  auto const right = detail::as_operand(b);
  using left_type = std::remove_const_t<decltype(left)>;
  using right_type = std::remove_const_t<decltype(right)>;
  if constexpr (detail::check_operands<left_type, right_type>()) {
    detail::check_gemm(left, right, d, options);
    constexpr i64 products_a_task = i64(1) << 20;
    i64 const row_products = detail::max(i64(1), left.cols() * d.cols);
    i64 const grain = detail::max(i64(1), products_a_task / row_products);
    detail::parallel_for(where.threads, d.rows, grain, [&](i64 first, i64 last) {
      detail::gemm_task<left_type, right_type, T>(left, right, d, options)(first, last);
    });
  }
}

}  // namespace quadrille
QUADRILLE_EXACT_END
