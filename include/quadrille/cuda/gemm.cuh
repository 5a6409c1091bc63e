// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = f(alpha A B^T + beta C + bias) on the GPU, for any two operands; exact in its operands.
///
/// A is M x K, B is N x K, both K-contiguous. Each operand is decoded into the narrowest type in which
/// element x block scale does not round: FP8 with one exponent a row, BF16, FP16, or, where scales are FP32,
/// the elements alone with sums scaled block by block. Tensor cores add such products in FP32 and may truncate:
/// the error is that of the additions. Which type and which kernel, explain() says.
///
/// A call only enqueues work: it allocates nothing, waits for nothing, can be captured into a graph, and gives the
/// same bits each time. It throws quadrille::error before anything is enqueued if an argument is wrong, and
/// cuda_error if CUDA refuses.

#include <quadrille/cuda/gemm/choose.cuh>
#include <quadrille/gemm.hpp>

namespace quadrille {
namespace detail {

#pragma GCC visibility push(hidden)  // see stream.cuh

// ---- What is checked before anything is enqueued.

template <class A, class B, class T>
void check_device_gemm(device_scope const& device, A const& a, B const& b, i64 rows, i64 cols,
                       device_gemm_options<T> const& options) {
  require(options.groups >= 1, "gemm has no groups; groups is at least 1");
  require_equal(b.cols(), a.cols(), "K of gemm's B (its columns)");
  require_equal(rows, a.rows(), "the number of rows of gemm's D");
  require_equal(cols * options.groups, b.rows(),
                "the number of rows of gemm's B (groups x columns of D)");
  if constexpr (B::is_prepacked)
    require_equal(b.p.count, options.groups,
                  "the number of matrices of gemm's prepacked B (groups)");
  require(options.offsets != nullptr || a.rows() % options.groups == 0,
          "the rows of gemm's A do not fill whole groups; every product has as many rows, or pass "
          "offsets");
  require(a.signs() == b.signs(),
          "gemm operands were rotated with different seeds; along K rotations only cancel if they "
          "are the same, pass one rotation_seed to quantize or device_quantized for both");
  require_extents(a.rows(), a.cols());
  require_extents(b.rows(), b.cols());
  a.require_valid(device);
  b.require_valid(device);
  device.require_reachable(options.bias, "gemm's bias");
  device.require_reachable(options.device_alpha, "device_alpha");
  device.require_reachable(options.offsets, "offsets");
  device.require_reachable(options.workspace.data, "the workspace");
  if (options.beta == 0) return;
  require(options.c.data != nullptr, "beta is not 0 but C is missing; set options.c");
  require_equal(options.c.rows, rows, "the number of rows of gemm's C");
  require_equal(options.c.cols, cols, "the number of columns of gemm's C");
  device.require_reachable(options.c.data, "gemm's C");
}

inline void require_workspace(workspace given, std::size_t needed) {
  if (needed != 0 && (given.data == nullptr || given.bytes < needed))
    throw error("quadrille: the workspace of gemm has " + std::to_string(given.bytes) +
                " bytes but the path that it takes needs " + std::to_string(needed) +
                "; pass explain(a, b, d, options).workspace_bytes bytes as options.workspace");
  require(reinterpret_cast<std::uintptr_t>(given.data) % 256 == 0,
          "the workspace of gemm is misaligned; it starts at a multiple of 256 bytes, as what "
          "cudaMalloc returns");
}

template <class A, class B, class T, class F>
linear_epilogue<T, F> linear_epilogue_of(A const& a, B const& b, i64 cols,
                                         device_gemm_options<T> const& options, F const& f) {
  linear_epilogue<T, F> e{};
  e.scale = {options.alpha, options.device_alpha, a.factor(), b.factor()};
  e.beta = options.beta;
  e.c = options.c;
  e.bias = options.bias;
  e.cols = cols;
  e.f = f;
  return e;
}

// before(): what is enqueued first, once all is checked.
template <gemm_path Path, class A, class B, class T, class Epilogue, class Before>
gemm_plan gemm_with(stream_policy where, A const& a, B const& b, void const* d, i64 rows, i64 cols,
                    device_gemm_options<T> const& options, Epilogue const& epilogue,
                    bool only_plans, Before const& before) {
  device_scope const device(d, where);
  check_device_gemm(device, a, b, rows, cols, options);
  if (!only_plans) device.require_reachable(d, "gemm's D");
  gemm_segments const work{rows,           cols, a.cols(), options.groups, rows / options.groups,
                           options.offsets};
  gemm_call planned{where, work, space(), true, only_plans, options.constant_b, {}};
  run_gemm<Path>(planned, a, b, options, epilogue);
  if (only_plans) return planned.plan;
  if (rows == 0 || cols == 0) return planned.plan;
  require_workspace(options.workspace, planned.plan.workspace_bytes);
  before();
  gemm_call call{where, work, space(options.workspace), false, false, options.constant_b, {}};
  run_gemm<Path>(call, a, b, options, epilogue);
  return call.plan;
}

template <gemm_path Path, class A, class B, class T, class F>
gemm_plan gemm_into(stream_policy where, A const& a, B const& b, matrix_ref<T> d,
                    device_gemm_options<T> const& options, F const& f, bool only_plans) {
  static_assert(
      sizeof(T) >= 2,
      "quadrille: gemm's D is FP8; that keeps too little of a sum, write BF16, FP16 or FP32 "
      "or quantize D with a recipe");
  require(d.data != nullptr || d.rows == 0 || d.cols == 0,
          "the matrix has no data; pass a pointer to rows x cols elements");
  bool const is_vectorized = d.col_stride == 1 && is_aligned(d.data, d.row_stride, 16);
  matrix_epilogue<T, F> const epilogue{linear_epilogue_of(a, b, d.cols, options, f), d,
                                       is_vectorized};
  return gemm_with<Path>(where, a, b, d.data, d.rows, d.cols, options, epilogue, only_plans, [] {});
}

template <gemm_path Path, class A, class B>
consteval bool check_product() {
  using left = std::remove_const_t<A>;
  using right = std::remove_const_t<B>;
  if constexpr (check_operands<left, right>())
    return check_path<Path, left, right>();
  else
    return false;
}

template <class R>
inline constexpr bool quantizes_in_place =
    fits_threads<R>&& R::block::rows == 1 && R::rotation::size <= least_chunk<R>;

template <gemm_path Path, class A, class B, class R, class Layout, class T, class F>
gemm_plan gemm_into(stream_policy where, A const& a, B const& b, quantized_ref<R, u8, Layout> d,
                    device_gemm_options<T> const& options, device_quantize_options const& how,
                    F const& f, bool only_plans) {
  static_assert(quantizes_in_place<R>,
                "quadrille: gemm's D is quantized where its sums are finished; a block and a "
                "rotation lie in 16 or 32 columns of one row there, write D as a matrix and "
                "quantize that");
  if constexpr (quantizes_in_place<R>) {
    device_scope const device(d.codes, where);
    require_target(device, d.rows, d.cols, d, how);
    require(
        R::scale::scope == outer_scope::none || how.amax != nullptr,
        "gemm's quantized D has no amax; it is written before its largest element is known, pass "
        "a calibrated or delayed one");
    using epilogue_type = quantizing_epilogue<R, Layout, T, F>;
    epilogue_type const epilogue{linear_epilogue_of(a, b, d.cols, options, f),
                                 encode_target_of<least_chunk<R>>(d, how.amax, how)};
    return gemm_with<Path>(where, a, b, d.codes, d.rows, d.cols, options, epilogue, only_plans,
                           [&] { clear_padding(where, d); });
  }
  return {};
}
#pragma GCC visibility pop
}  // namespace detail

#pragma GCC visibility push(hidden)  // see stream.cuh
/// D = f(alpha A B^T + beta C + bias). A and B are each a device_quantized or quantized_ref of any recipe, or
/// a plain matrix_ref (float, fp16, bf16, CUDA's types, FP8 included), or a device_folded or folded_ref; B may be a
/// device_prepacked or prepacked_ref. D is a plain matrix_ref. The outer
/// scales of the operands are read from device memory when the kernel runs. `f` is a trivially copyable
/// functor with `__device__ float operator()(float x, i64 row, i64 col) const`: activation, residual, ...
/// D may be C but must not overlap A or B. Any M, N, K.
/// gemm<gemm_path::mma>(...) takes that path and compiles no other.
template <gemm_path Path = gemm_path::automatic, class A, class B, class T, class F = no_activation>
void gemm(stream_policy where, A const& a, B const& b, matrix_ref<T> d,
          device_gemm_options<T> const& options = {}, F const& f = {}) {
  auto const left = detail::as_device_operand(a);
  auto const right = detail::as_device_operand(b);
  if constexpr (detail::check_product<Path, decltype(left), decltype(right)>())
    detail::gemm_into<Path>(where, left, right, d, options, f, false);
}

/// The same with D quantized by the kernel that makes it; `how` as for quantize, with an amax where the recipe
/// has an outer scale. C and bias are of type T.
template <gemm_path Path = gemm_path::automatic, class A, class B, class R, class Layout,
          class T = bf16, class F = no_activation>
void gemm(stream_policy where, A const& a, B const& b, quantized_ref<R, u8, Layout> d,
          device_quantize_options const& how, device_gemm_options<T> const& options = {},
          F const& f = {}) {
  auto const left = detail::as_device_operand(a);
  auto const right = detail::as_device_operand(b);
  if constexpr (detail::check_product<Path, decltype(left), decltype(right)>())
    detail::gemm_into<Path>(where, left, right, d, options, how, f, false);
}

/// How gemm would make this product on the device of D, and the workspace that it needs. Throws what gemm
/// would throw, except for a missing workspace.
template <gemm_path Path = gemm_path::automatic, class A, class B, class T>
gemm_plan explain(A const& a, B const& b, matrix_ref<T> d,
                  device_gemm_options<T> const& options = {}) {
  auto const left = detail::as_device_operand(a);
  auto const right = detail::as_device_operand(b);
  if constexpr (detail::check_product<Path, decltype(left), decltype(right)>())
    return detail::gemm_into<Path>(on(nullptr), left, right, d, options, no_activation{}, true);
  return {};
}
#pragma GCC visibility pop

}  // namespace quadrille
