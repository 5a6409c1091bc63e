// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Operands as the dense kernels read them: rows of K contiguous elements, 16 bytes aligned, in the
/// workspace unless they lie so already.

#include <quadrille/cuda/gemm/coded.cuh>
#include <quadrille/cuda/gemm/fold_kernel.cuh>
#include <quadrille/cuda/gemm/plan.cuh>
#include <quadrille/cuda/quantize.cuh>

namespace quadrille::detail {

/// V: bf16, fp16, or the CUDA type of an FP8 format.
template <class V>
struct decoded {
  V* data;
  i64 stride;    // elements
  bool is_made;  // in the workspace, to be filled
};

template <class V, class T>
inline constexpr bool has_bits_of = is_same_v<V, T> || (is_bf16<V> && is_bf16<T>) ||
                                    (is_fp16<V> && is_fp16<T>);

/// K in whole groups of 64 elements.
inline i64 padded_depth(i64 k) { return ceil_div(k, i64(64)) * 64; }

/// Where an operand will be: where it is, or space in the workspace.
template <class V, class Operand>
decoded<V> place_decoded(space& memory, Operand const& from) {
  if constexpr (!Operand::is_quantized)
    if constexpr (has_bits_of<V, typename Operand::value_type>)
      if (from.x.col_stride == 1 && from.x.row_stride >= from.x.cols &&
          is_aligned(from.x.data, from.x.row_stride, 16))
        return {reinterpret_cast<V*>(const_cast<typename Operand::value_type*>(from.x.data)),
                from.x.row_stride, false};
  i64 const stride = padded_depth(from.cols());
  return {memory.take<V>(from.rows() * stride), stride, true};
}

/// Element x block scale, or without the scale, of every element that a source has.
template <decoding Decoding, class R, class Layout>
auto source_of(device_operand<R, Layout> const& from) {
  return dequantized_source<R, Layout, Decoding>(from.q);
}
template <decoding, class T>
auto source_of(plain_device_operand<T> const& from) {
  return matrix_source<T>(from.x);
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <decoding Decoding = decoding::operand, class V, class Operand>
void fill_decoded(stream_policy where, Operand const& from, decoded<V> const& to) {
  if (!to.is_made || from.rows() == 0 || from.cols() == 0) return;
  i64 const tail = to.stride - from.cols();
  if (tail > 0)
    check_cuda(
        cudaMemset2DAsync(to.data + from.cols(), std::size_t(to.stride) * sizeof(V), 0,
                          std::size_t(tail) * sizeof(V), std::size_t(from.rows()), where.stream),
        "clearing the tail of K");
  if constexpr (!Operand::is_quantized)
    if constexpr (has_bits_of<V, typename Operand::value_type>)
      if (from.x.col_stride == 1 && from.x.row_stride >= from.cols())
        return check_cuda(
            cudaMemcpy2DAsync(to.data, std::size_t(to.stride) * sizeof(V), from.x.data,
                              std::size_t(from.x.row_stride) * sizeof(V),
                              std::size_t(from.cols()) * sizeof(V), std::size_t(from.rows()),
                              cudaMemcpyDeviceToDevice, where.stream),
            "copying an operand");
  matrix_ref<V> const target(to.data, from.rows(), from.cols(), to.stride);
  if constexpr (Operand::can_prepack && is_same_v<V, bf16> && Decoding == decoding::operand)
    if (launch_decode_coded(where, coded_matrix(from.q), target)) return;
  constexpr int chunk = sizeof(V) == 1 ? 16 : Operand::is_quantized ? 8 : 16;
  launch_rows(where, source_of<Decoding>(from), write_target<V, chunk>{target, true}, false);
}
#pragma GCC visibility pop

/// The block scales of an operand, one for each `Step` columns: ceil(K / Step) x rows, as a kernel reads them.
template <int Step, class Operand>
static __global__ void __launch_bounds__(256)
    block_scales_kernel(Operand const from, float* to, i64 steps) {
  i64 const count = from.rows() * steps;
  for (i64 i = i64(blockIdx.x) * 256 + threadIdx.x; i < count; i += i64(gridDim.x) * 256)
    to[i] = from.scale(i % from.rows(), i / from.rows() * Step);
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <int Step, class Operand>
void fill_block_scales(stream_policy where, Operand const& from, float* to) {
  i64 const steps = ceil_div(from.cols(), i64(Step));
  if (from.rows() * steps == 0) return;
  i64 const blocks = min(ceil_div(from.rows() * steps, i64(256)), i64(1) << 16);
  launch(where, block_scales_kernel<Step, Operand>, dim3(unsigned(blocks)), 256, 0, from, to,
         steps);
}
#pragma GCC visibility pop

/// The FP8 type that an operand is folded into: E5M2 if it can be, for its wider window.
template <class Operand>
using fp8_of = select_t<Operand::fits_e5m2, e5m2, e4m3>;
template <class T>
using fp8_storage = select_t<is_same_v<T, e5m2>, __nv_fp8_e5m2, __nv_fp8_e4m3>;

/// An FP8 operand and, if it is folded, a factor for each row and a mark for each 128 rows.
template <class T>
struct fp8_operand {
  decoded<fp8_storage<T>> codes;
  float* factors = nullptr;
  u8* marks = nullptr;

  folded to_fold() const {
    return {reinterpret_cast<u8*>(codes.data), codes.stride, factors, marks};
  }
};

template <class Operand>
i64 mark_count(Operand const& from) {
  return is_to_fold<Operand> ? ceil_div(from.rows(), i64(128)) : 0;
}

template <class T, class Operand>
fp8_operand<T> place_fp8(space& memory, Operand const& from, u8* marks) {
  fp8_operand<T> to{place_decoded<fp8_storage<T>>(memory, from)};
  if constexpr (Operand::is_quantized) {
    to.factors = memory.take<float>(from.rows());
    to.marks = marks;
  }
  return to;
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// The marks are zeros before.
template <bool Rounds, class A, class TA, class B, class TB>
void fill_fp8(stream_policy where, A const& a, fp8_operand<TA> const& left, B const& b,
              fp8_operand<TB> const& right) {
  if constexpr (!A::is_quantized) fill_decoded(where, a, left.codes);
  if constexpr (!B::is_quantized) fill_decoded(where, b, right.codes);
  if constexpr (is_to_fold<A> || is_to_fold<B>)
    launch_fold<TA, TB, Rounds>(where, a, left.to_fold(), b, right.to_fold());
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
