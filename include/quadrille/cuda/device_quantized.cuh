// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A quantized matrix that owns its memory, on the GPU.

#include <cstddef>
#include <utility>

#include <quadrille/cuda/quantize.cuh>
#include <quadrille/quantized.hpp>

namespace quadrille {

/// rows x cols elements of recipe R in device memory; see quantized_ref for the layout. One stream-ordered
/// allocation holds codes, scales, outer scales and the workspace that quantize needs: it is made and
/// freed on the stream given, and other streams wait for that one before they use it.
/// Columns run along K and must be a multiple of the rotation.
template <class R, class Layout = row_major_scales>
class device_quantized {
  using checked = detail::checked_recipe<R>;

 public:
  using recipe = R;
  using stored = typename checked::scale::stored;

  device_quantized() = default;
  /// Throws quadrille::error if an extent is negative or cols is not a multiple of the rotation, cuda_error if
  /// there is no memory. The contents are undefined until quantized.
  device_quantized(stream_policy where, i64 rows, i64 cols, u64 rotation_seed = 0)
      : stream_(where) {
    detail::check_extents<checked>(rows, cols);
    ref_ = {nullptr, nullptr, nullptr, rows, cols, rotation_seed};
    std::size_t const scales = aligned(code_bytes());
    std::size_t const outer = aligned(scales + scale_bytes());
    std::size_t const work = aligned(outer + outer_bytes());
    std::size_t const all = work + quantize_workspace<R>(rows, cols);
    detail::check_cuda(cudaMallocAsync(&memory_, detail::max(all, std::size_t(1)), where.stream),
                       "allocating a quantized matrix");
    ref_.codes = static_cast<u8*>(memory_);
    ref_.scales = reinterpret_cast<stored*>(ref_.codes + scales);
    ref_.outer = outer_bytes() == 0 ? nullptr : reinterpret_cast<float*>(ref_.codes + outer);
    workspace_ = {ref_.codes + work, all - work};
  }
  device_quantized(device_quantized&& other) noexcept { swap(other); }
  device_quantized& operator=(device_quantized&& other) noexcept {
    swap(other);
    return *this;
  }
  ~device_quantized() {
    if (memory_ == nullptr) return;
    detail::device_scope const device(memory_);
    cudaFreeAsync(memory_, stream_.stream);
  }

  i64 rows() const { return ref_.rows; }
  i64 cols() const { return ref_.cols; }
  u64 rotation_seed() const { return ref_.rotation_seed; }
  quantized_ref<checked, u8, Layout> ref() { return ref_; }
  quantized_ref<checked, u8 const, Layout> ref() const { return ref_; }
  /// What options.workspace takes for this matrix.
  quadrille::workspace workspace() const { return workspace_; }

  /// A copy in host memory, scales row by row. Waits for `where`.
  quantized<R> to_host(stream_policy where) const {
    quantized<R> result(rows(), cols(), rotation_seed());
    if (memory_ == nullptr) return result;
    auto const to = result.ref();
    std::vector<stored> scales(std::size_t(ref_.scale_count()));
    detail::device_scope const device(memory_);
    copy(where, to.codes, ref_.codes, code_bytes());
    copy(where, scales.data(), ref_.scales, scale_bytes());
    copy(where, to.outer, ref_.outer, outer_bytes());
    detail::check_cuda(cudaStreamSynchronize(where.stream), "copying a quantized matrix");
    for (i64 r = 0; r < rows(); ++r)
      for (i64 c = 0; c < ref_.scale_cols(); ++c)
        to.scale(r, c) = scales[std::size_t(Layout::offset(r, c, ref_.scale_cols()))];
    return result;
  }

 private:
  static std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
  std::size_t code_bytes() const {
    return std::size_t(rows() * row_bytes<typename checked::element>(cols()));
  }
  std::size_t scale_bytes() const { return std::size_t(ref_.scale_count()) * sizeof(stored); }
  std::size_t outer_bytes() const {
    constexpr outer_scope scope = checked::scale::scope;
    return sizeof(float) * std::size_t(scope == outer_scope::none     ? 0
                                       : scope == outer_scope::tensor ? 1
                                                                      : rows());
  }
  static void copy(stream_policy where, void* to, void const* from, std::size_t bytes) {
    if (bytes != 0)
      detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, where.stream),
                         "copying a quantized matrix");
  }
  void swap(device_quantized& other) {
    std::swap(memory_, other.memory_);
    std::swap(ref_, other.ref_);
    std::swap(workspace_, other.workspace_);
    std::swap(stream_, other.stream_);
  }

  void* memory_ = nullptr;
  quantized_ref<checked, u8, Layout> ref_{};
  quadrille::workspace workspace_{};
  stream_policy stream_{};
};

#pragma GCC visibility push(hidden)  // see stream.cuh
/// Quantizes x into q, with q's own workspace.
template <class R, class Layout, class X>
void quantize(stream_policy where, X const& x, device_quantized<R, Layout>& q,
              device_quantize_options options = {}) {
  if (options.workspace.data == nullptr) options.workspace = q.workspace();
  quantize(where, x, q.ref(), options);
}

/// A new quantized matrix of recipe R: quantize<nvfp4>(on(stream), x).
template <class R, class Layout = row_major_scales, class X>
device_quantized<R, Layout> quantize(stream_policy where, X const& x,
                                     device_quantize_options const& options = {},
                                     u64 rotation_seed = 0) {
  auto const source = detail::as_source(x);
  device_quantized<R, Layout> q(where, source.rows, source.cols, rotation_seed);
  quantize(where, x, q, options);
  return q;
}

template <class R, class Layout, class S, class LayoutS, class X>
void quantize_both(stream_policy where, X const& x, device_quantized<R, Layout>& q,
                   device_quantize_options options, device_quantized<S, LayoutS>& q_transposed,
                   device_quantize_options options_transposed) {
  if (options.workspace.data == nullptr) options.workspace = q.workspace();
  if (options_transposed.workspace.data == nullptr)
    options_transposed.workspace = q_transposed.workspace();
  quantize_both(where, x, q.ref(), options, q_transposed.ref(), options_transposed);
}

template <class R, class Layout, class T>
void dequantize(stream_policy where, device_quantized<R, Layout> const& q, matrix_ref<T> x,
                dequantize_options const& options = {}) {
  dequantize(where, q.ref(), x, options);
}

template <class R, class Layout, class S, class LayoutS>
void requantize(stream_policy where, device_quantized<R, Layout> const& from,
                device_quantized<S, LayoutS>& to, device_quantize_options const& options = {}) {
  quantize(where, dequantized(from.ref()), to, options);
}

#pragma GCC visibility pop

}  // namespace quadrille
