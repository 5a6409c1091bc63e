// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantized matrices that keep their FP8 form (see fold_kernel.cuh) for products to come: gemm's FP8 path makes it anew
/// in each call, which for a few hundred rows of the other operand takes as long as half the product.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <quadrille/cuda/gemm/decoded.cuh>

namespace quadrille {

/// A quantized matrix, and folded_bytes<R>(rows, cols) bytes of device memory that fold() fills, at a multiple of 256.
/// The matrix itself is still read: where an element does not fit FP8 beside the others of its row, and by other paths.
template <class R, class Layout = row_major_scales>
struct folded_ref {
  using recipe = R;
  quantized_ref<R, u8 const, Layout> q;
  void* data = nullptr;
};

namespace detail {

template <recipe R, class Layout>
struct folded_operand : device_operand<R, Layout> {
  using base = device_operand<R, Layout>;
  static constexpr bool is_folded = true;
  void* data;

  void require_valid(device_scope const& device) const {
    base::require_valid(device);
    require(data != nullptr || this->q.rows == 0 || this->q.cols == 0,
            "the folded matrix has no data; pass what fold() wrote");
    require(reinterpret_cast<std::uintptr_t>(data) % 256 == 0,
            "the folded matrix is misaligned; its data starts at a multiple of 256 bytes, as what "
            "cudaMalloc returns");
    device.require_reachable(data, "the folded matrix");
  }
};

/// The same place for fold() and gemm.
template <class T, class R, class Layout>
fp8_operand<T> place_folded(space& memory, device_operand<R, Layout> const& from) {
  u8* const marks = memory.take<u8>(mark_count(from));
  return place_fp8<T>(memory, from, marks);
}
template <class T, class R, class Layout>
fp8_operand<T> place_fp8(space&, folded_operand<R, Layout> const& from, u8*) {
  space own(workspace{from.data, 0});
  return place_folded<T>(own, static_cast<device_operand<R, Layout> const&>(from));
}

template <class R, class Layout>
folded_operand<R, Layout> as_device_operand(folded_ref<R, Layout> f) {
  return {{f.q}, f.data};
}

template <recipe R>
consteval bool check_foldable() {
  using operand = device_operand<R, row_major_scales>;
  static_assert(operand::fits_e4m3 || operand::fits_e5m2,
                "quadrille: fold keeps what FP8 holds exactly; element x block scale of this "
                "recipe has more than four significand bits, pass the quantized matrix to gemm");
  return operand::fits_e4m3 || operand::fits_e5m2;
}
}  // namespace detail

/// Bytes that fold() needs: one an element, and some for each row.
template <class R>
std::size_t folded_bytes(i64 rows, i64 cols) {
  using checked = detail::checked_recipe<R>;
  if constexpr (detail::check_foldable<checked>()) {
    detail::check_extents<checked>(rows, cols);
    using operand = detail::device_operand<checked, row_major_scales>;
    operand from{};
    from.q.rows = rows;
    from.q.cols = cols;
    detail::space counted;
    detail::place_folded<detail::fp8_of<operand>>(counted, from);
    return counted.used();
  }
  return 0;
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// Fills f.data from f.q.
template <recipe R, class Layout>
void fold(stream_policy where, folded_ref<R, Layout> f) {
  using namespace detail;
  if constexpr (check_foldable<R>()) {
    using operand = device_operand<R, Layout>;
    using T = fp8_of<operand>;
    device_scope const device(f.data, where);
    as_device_operand(f).require_valid(device);
    operand const from{f.q};
    if (from.rows() == 0 || from.cols() == 0) return;
    space own(workspace{f.data, 0});
    fp8_operand<T> const to = place_folded<T>(own, from);
    clear_marks(where, to.marks, mark_count(from));
    launch_fold<T, T, false>(where, from, to.to_fold(), plain_device_operand<float>{}, folded{});
  }
}
#pragma GCC visibility pop

/// A quantized matrix and its FP8 form; owns both. Made by fold().
template <class R, class Layout = row_major_scales>
class device_folded {
  using checked = detail::checked_recipe<R>;

 public:
  using recipe = R;

  device_folded() = default;
  /// Throws what folded_bytes and fold() throw, and cuda_error if there is no memory.
  device_folded(stream_policy where, device_quantized<R, Layout> q)
      : q_(std::move(q)), stream_(where) {
    detail::device_scope const device(q_.ref().codes, where);
    std::size_t const bytes = folded_bytes<R>(q_.rows(), q_.cols());
    detail::check_cuda(cudaMallocAsync(&memory_, detail::max(bytes, std::size_t(1)), where.stream),
                       "allocating a folded matrix");
    fold(where, ref());
  }
  device_folded(device_folded&& other) noexcept { swap(other); }
  device_folded& operator=(device_folded&& other) noexcept {
    swap(other);
    return *this;
  }
  ~device_folded() {
    if (memory_ == nullptr) return;
    detail::device_scope const device(memory_);
    cudaFreeAsync(memory_, stream_.stream);
  }

  device_quantized<R, Layout> const& quantized() const { return q_; }
  folded_ref<checked, Layout> ref() const { return {q_.ref(), memory_}; }

 private:
  void swap(device_folded& other) {
    std::swap(q_, other.q_);
    std::swap(memory_, other.memory_);
    std::swap(stream_, other.stream_);
  }

  device_quantized<R, Layout> q_;
  void* memory_ = nullptr;
  stream_policy stream_{};
};

#pragma GCC visibility push(hidden)
/// gemm(on(stream), x, fold(on(stream), quantize<mxfp4>(on(stream), w)), d)
template <class R, class Layout>
device_folded<R, Layout> fold(stream_policy where, device_quantized<R, Layout> q) {
  return {where, std::move(q)};
}
#pragma GCC visibility pop

namespace detail {
template <class R, class Layout>
auto as_device_operand(device_folded<R, Layout> const& f) {
  return as_device_operand(f.ref());
}
}  // namespace detail
}  // namespace quadrille
