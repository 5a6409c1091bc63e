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
///
/// Vector kernels (detail/gemm_tiled.hpp) keep this order bit for bit where both operands are quantized. If one
/// is plain, they multiply decoded weights with it and sum by FP32 FMA from the first column to the last (for
/// a single row block by block), or by BF16 pairs where the plain one is BF16 and the weights are exact in it:
/// as accurate, other bytes.

#include <quadrille/detail/cpu.hpp>
#include <quadrille/detail/gemm_portable.hpp>
#include <quadrille/detail/gemm_tiled.hpp>
#include <quadrille/detail/operand.hpp>
#include <quadrille/detail/prepacked_operand.hpp>
#include <quadrille/quantize.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

namespace detail {
template <int A, int B>
inline constexpr bool blocks_nest = A == 0 || B == 0 || nests<max(A, 1), max(B, 1)>;

template <class A, class B>
consteval bool check_operands() {
  if constexpr (is_prepacked<A>) {
    static_assert(
        !is_prepacked<A>,
        "quadrille: gemm's A is prepacked; panels are of B, whose rows become D's columns, "
        "pass the prepacked weights as B");
  } else if constexpr (!is_same_v<typename A::rotation, typename B::rotation>) {
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

template <class A, class B, class T>
void run_portable(host_policy where, A const& a, B const& b, matrix_ref<T> d,
                  gemm_options<T> const& options) {
  constexpr i64 products_a_task = i64(1) << 20;
  i64 const row_products = max(i64(1), a.cols() * d.cols);
  i64 const grain = max(i64(1), products_a_task / row_products);
  parallel_for(where.threads, d.rows, grain, [&](i64 first, i64 last) {
    portable_gemm<A, B, T>(a, b, d, options)(first, last, 0, d.cols);
  });
}

// Runs the GEMM with the fastest kernel of the list; false if none may be used here.
template <template <class, class, class> class Product, class Kernels, class A, class B, class T>
bool run_tiled(host_policy where, A const& a, B const& b, matrix_ref<T> d,
               gemm_options<T> const& options) {
  return Kernels::with_best([&]<class Kernel>() {
    tiled_gemm<Kernel, Product<Kernel, A, B>, A, B, T>(where, a, b, d, options)();
  });
}

template <class A, class B, class T>
void run_gemm(host_policy where, A const& a, B const& b, matrix_ref<T> d,
              gemm_options<T> const& options) {
  bool done = d.rows == 0 || d.cols == 0;
  if constexpr (is_int8_product<A, B>) {
    done = done || run_tiled<int8_product, int8_kernels>(where, a, b, d, options);
  } else {
    if constexpr (is_bf16_product<A, B>)
      done = done || (d.rows > 1 && run_tiled<bf16_product, bf16_kernels>(where, a, b, d, options));
    if constexpr (A::is_quantized != B::is_quantized)
      done = done || run_tiled<float_product, float_kernels>(where, a, b, d, options);
  }
  if (!done) run_portable(where, a, b, d, options);
}
}  // namespace detail

/// D = alpha A B^T + beta C + bias. A and B are each a quantized matrix (quantized<R>, quantized_ref or, for
/// B, prepacked<R>) or a plain matrix_ref of float, fp16, bf16 or CUDA's types; D likewise plain. Same bytes for any
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
    detail::run_gemm(where, left, right, d, options);
  }
}

}  // namespace quadrille
QUADRILLE_EXACT_END
