// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Prepacking on the GPU, and back: the layout is prepacked_layout.cuh's.

#include <cstdint>
#include <utility>

#include <quadrille/cuda/gemm/prepacked_layout.cuh>
#include <quadrille/cuda/stream.cuh>
#include <quadrille/quantized.hpp>
#include <quadrille/storage.hpp>

namespace quadrille {
namespace detail {

template <class R, class Layout>
struct prepack_arguments {
  quantized_ref<R, u8 const, Layout> q;
  prepacked_ref<R> p;
};

/// The sixteen codes of a row from column col on, four bytes each word, as multiplications take them: zeros where
/// the scale stands for zero or NaN or where there is no such element, and the scale's sign in the codes.
template <class R, class Layout>
__device__ __forceinline__ uint2 codes_to_pack(quantized_ref<R, u8 const, Layout> const& q, i64 row,
                                               i64 col) {
  i64 const bytes = row_bytes<typename R::element>(q.cols);
  u8 const* const from = q.codes + row * bytes + col / 2;
  if (col + 16 <= q.cols && reinterpret_cast<std::uintptr_t>(from) % 8 == 0)
    return *reinterpret_cast<uint2 const*>(from);
  u32 words[2] = {};
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (col / 2 + i < bytes) words[i / 4] |= u32(from[i]) << i % 4 * 8;
  return {words[0], words[1]};
}
template <class R>
__device__ __forceinline__ u32 with_scale(u32 codes, u32 scale) {
  using code = fragment_code<typename R::element>;
  if constexpr (is_same_v<typename R::scale::format, ue8m0>) {
    return scale == ue8m0::nan ? 0 : codes;
  } else {
    if ((scale & 0x7f) == 0) return 0;
    return code::offset == 0 && (scale & 0x80) != 0 ? codes ^ 0x88888888u : codes;
  }
}
/// Byte i of lane t of four becomes byte t of lane i.
__device__ __forceinline__ u32 transpose_quad(u32 bytes) {
  u32 other = __shfl_xor_sync(0xffffffffu, bytes, 1);
  bytes = __byte_perm(bytes, other, threadIdx.x % 2 == 0 ? 0x6240 : 0x3715);
  other = __shfl_xor_sync(0xffffffffu, bytes, 2);
  return __byte_perm(bytes, other, threadIdx.x % 4 < 2 ? 0x5410 : 0x3276);
}

inline constexpr int slabs_at_once = 4;  // enough reads under way

/// A thread block makes `slabs_at_once` records, one unit a warp. Lane 4 g + t reads rows g and g + 8 of the unit,
/// columns 16 t to 16 t + 15 of the record, and their scales.
template <class R, class Layout>
static __global__ void __launch_bounds__(128) prepack_kernel(prepack_arguments<R, Layout> args) {
  using layout = prepacked_layout<R>;
  using code = typename layout::code;
  auto const& [q, p] = args;
  i64 const first_slab = i64(blockIdx.x) * slabs_at_once;
  int const unit_row = int(threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4);
  int const t = int(threadIdx.x % 4);
  u32 const groups = u32(p.groups());
  u32 const all_groups = u32(p.count) * groups;
  for (u32 at = blockIdx.y; at < all_groups; at += gridDim.y) {
    u32 const matrix = at / groups;
    i64 const row_end = (matrix + 1) * p.rows;
    i64 const row = matrix * p.rows + i64(at - matrix * groups) * layout::rows + unit_row;

    uint2 codes[slabs_at_once][2] = {};
    u32 scales[slabs_at_once][2] = {};
#pragma unroll
    for (int i = 0; i < slabs_at_once; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        i64 const col = (first_slab + i) * layout::cols + 16 * t;
        if (row + 8 * half >= row_end || col >= q.cols) continue;
        codes[i][half] = codes_to_pack(q, row + 8 * half, col);
        scales[i][half] = q.scale(row + 8 * half, col / R::block::cols);
      }

#pragma unroll
    for (int i = 0; i < slabs_at_once; ++i) {
      if (first_slab + i >= p.slabs()) break;
      u8* const to = p.data + (i64(at) * p.slabs() + first_slab + i) * layout::bytes;
      u32 pairs[4];  // rows g, g + 8 of columns 2t, then of 2t + 8: a byte for each 16 columns
      int const block = t * 16 / layout::scale_cols;
      u32 packed = 0;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        u32 stored = scales[i][half];
        pairs[half] = transpose_quad(with_scale<R>(codes[i][half].x, stored));
        pairs[half + 2] = transpose_quad(with_scale<R>(codes[i][half].y, stored));
        if (is_same_v<typename layout::format, e4m3> && code::offset != 0 && stored > 0x80)
          stored = 0x7f;  // offset binary has no sign to give it to: NaN, not a wrong value
        packed |= u32(layout::scale::pack(stored))
                  << 8 * layout::scale_byte(unit_row + 8 * half, block);
      }
      packed |= __shfl_xor_sync(0xffffffffu, packed, layout::scale_cols / 16);
      if (t * 16 % (2 * layout::scale_cols) == 0)
        *reinterpret_cast<u32*>(to + layout::scale_word(unit_row, block)) =
            rotate_left(packed, layout::scale::rotation);
      u32 v[2][2][4];
#pragma unroll
      for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int k = 0; k < 4; ++k)
          v[j / 2][j % 2][k] = code::raw(two_codes(pairs[k] >> 8 * j & 255));
      reinterpret_cast<uint4*>(to)[threadIdx.x] =
          uint4{code::gather(v[0], 0), code::gather(v[0], 1), code::gather(v[1], 0),
                code::gather(v[1], 1)};
    }
  }
}

template <class R, class Layout>
struct unpack_arguments {
  prepacked_ref<R, u8 const> p;
  quantized_ref<R, u8, Layout> q;
};

/// A thread block for each record, as above.
template <class R, class Layout>
static __global__ void __launch_bounds__(128) unpack_kernel(unpack_arguments<R, Layout> args) {
  using layout = prepacked_layout<R>;
  using code = typename layout::code;
  auto const& [p, q] = args;
  i64 const records = p.count * p.groups() * p.slabs();
  int const lane = threadIdx.x % 32;
  for (i64 record = blockIdx.x; record < records; record += gridDim.x) {
    i64 const group = record / p.slabs() % p.groups();
    i64 const matrix = record / p.slabs() / p.groups();
    i64 const row_end = (matrix + 1) * p.rows;
    i64 const first_row = matrix * p.rows + group * layout::rows;
    i64 const first_col = record % p.slabs() * layout::cols;
    u8 const* const from = p.data + record * layout::bytes;

    i64 const row = first_row + threadIdx.x / 32 * 16 + lane / 4;
    uint4 const codes = reinterpret_cast<uint4 const*>(from)[threadIdx.x];
    u32 const words[2][2] = {{codes.x, codes.y}, {codes.z, codes.w}};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      u32 v[4];
      code::spread(words[j / 2], j % 2, v);
      for (int i = 0; i < 4; ++i) {
        i64 const col = first_col + 16 * j + lane % 4 * 2 + i / 2 * 8;
        i64 const r = row + i % 2 * 8;
        if (r >= row_end || col >= q.cols) continue;
        u32 const high = col + 1 < q.cols ? code::code(v[i] >> 16) : 0;
        q.codes[r * row_bytes<typename R::element>(q.cols) + col / 2] =
            u8(code::code(v[i] & 0xffff) | high << 4);
      }
    }
    for (int i = threadIdx.x; i < layout::rows * 2 * layout::scale_words; i += 128) {
      int const r = i / (2 * layout::scale_words);
      i64 const col = first_col + i % (2 * layout::scale_words) * layout::scale_cols;
      if (first_row + r >= row_end || col >= q.cols || col % R::block::cols != 0) continue;
      int const block = i % (2 * layout::scale_words);
      u32 const four =
          rotate_right(*reinterpret_cast<u32 const*>(from + layout::scale_word(r, block)),
                       layout::scale::rotation);
      q.scale(first_row + r, col / R::block::cols) =
          layout::scale::unpack(four >> 8 * layout::scale_byte(r, block) & 255);
    }
  }
}

template <class R, class Quantized, class Prepacked>
void require_prepackable(Quantized const& q, Prepacked const& p) {
  require(p.rows >= 0 && p.cols >= 0 && p.count >= 0,
          "prepacked weights have a negative extent; rows, columns and count are at least 0");
  require_equal(q.rows, p.rows * p.count, "the number of rows of the quantized matrix");
  require_equal(q.cols, p.cols, "the number of columns of the quantized matrix");
  require_extents(q.rows, q.cols);
  require(p.size() == 0 || (p.data != nullptr && q.codes != nullptr && q.scales != nullptr),
          "the prepacked or the quantized matrix has no data; pass pointers to all of it");
  require(reinterpret_cast<std::uintptr_t>(p.data) % 128 == 0,
          "prepacked weights are not aligned; their records start at multiples of 128 bytes");
}
}  // namespace detail

#pragma GCC visibility push(hidden)  // see stream.cuh
/// Prepacks q (device memory) into p.data. Outer factors stay where they are: p.outer = q.outer.
template <recipe R, class Byte, class Layout>
void prepack(stream_policy where, quantized_ref<R, Byte, Layout> q, prepacked_ref<R> p) {
  using namespace detail;
  require_prepackable<R>(q, p);
  if (p.size() == 0) return;
  device_scope const device(p.data, where);
  device.require_reachable(q.codes, "the quantized matrix");
  dim3 const grid(unsigned(ceil_div(p.slabs(), i64(slabs_at_once))),
                  unsigned(min(p.count * p.groups(), i64(32768))));
  launch(where, prepack_kernel<R, Layout>, grid, 128, 0, prepack_arguments<R, Layout>{q, p});
}

/// The canonical codes and scales again, into q's memory.
template <recipe R, class Byte, class Layout>
void unpack(stream_policy where, prepacked_ref<R, Byte> p, quantized_ref<R, u8, Layout> q) {
  using namespace detail;
  require_prepackable<R>(q, p);
  if (p.size() == 0) return;
  device_scope const device(p.data, where);
  device.require_reachable(q.codes, "the quantized matrix");
  i64 const count = q.scale_count();
  if (count != q.rows * q.scale_cols())  // padding of tiled scales is zero
    check_cuda(cudaMemsetAsync(q.scales, 0, std::size_t(count) * sizeof(*q.scales), where.stream),
               "clearing the padding of the scales");
  i64 const blocks = min(p.size() / prepacked_layout<R>::bytes, i64(1) << 20);
  launch(where, unpack_kernel<R, Layout>, dim3(unsigned(blocks)), 128, 0,
         unpack_arguments<R, Layout>{p, q});
}
#pragma GCC visibility pop

/// Prepacked weights that own their memory: one stream-ordered allocation, made and freed on the stream given,
/// and nothing else is kept. The outer factors are copied, so that the quantized matrix may go.
template <class R>
class device_prepacked {
  using checked = detail::checked_recipe<R>;

 public:
  using recipe = R;

  device_prepacked() = default;
  /// `count` matrices of rows x cols, undefined until packed.
  device_prepacked(stream_policy where, i64 rows, i64 cols, i32 count = 1, u64 rotation_seed = 0)
      : stream_(where) {
    detail::require(
        rows >= 0 && cols >= 0 && count >= 0,
        "prepacked weights have a negative extent; rows, columns and count are at least 0");
    ref_ = {nullptr, nullptr, rows, cols, count, rotation_seed};
    std::size_t const outer = (std::size_t(ref_.size()) + 255) / 256 * 256;
    detail::check_cuda(
        cudaMallocAsync(&memory_, detail::max(outer + outer_bytes(), std::size_t(1)), where.stream),
        "allocating prepacked weights");
    ref_.data = static_cast<u8*>(memory_);
    if (outer_bytes() != 0) ref_.outer = reinterpret_cast<float*>(ref_.data + outer);
  }
  device_prepacked(device_prepacked&& other) noexcept { swap(other); }
  device_prepacked& operator=(device_prepacked&& other) noexcept {
    swap(other);
    return *this;
  }
  ~device_prepacked() {
    if (memory_ == nullptr) return;
    detail::device_scope const device(memory_);
    cudaFreeAsync(memory_, stream_.stream);
  }

  i64 rows() const { return ref_.rows; }
  i64 cols() const { return ref_.cols; }
  i32 count() const { return ref_.count; }
  u64 rotation_seed() const { return ref_.rotation_seed; }
  prepacked_ref<checked> ref() { return ref_; }
  prepacked_ref<checked, u8 const> ref() const { return ref_; }
  std::size_t outer_bytes() const {
    constexpr outer_scope scope = checked::scale::scope;
    return sizeof(float) * std::size_t(scope == outer_scope::none     ? 0
                                       : scope == outer_scope::tensor ? 1
                                                                      : ref_.rows * ref_.count);
  }

 private:
  void swap(device_prepacked& other) {
    std::swap(memory_, other.memory_);
    std::swap(ref_, other.ref_);
    std::swap(stream_, other.stream_);
  }

  void* memory_ = nullptr;
  prepacked_ref<checked> ref_{};
  stream_policy stream_{};
};

#pragma GCC visibility push(hidden)
/// Prepacked copy of q: `count` matrices whose rows follow one another. q is not needed afterwards, when the
/// stream has come that far.
template <recipe R, class Byte, class Layout>
device_prepacked<R> prepack(stream_policy where, quantized_ref<R, Byte, Layout> q, i32 count = 1) {
  detail::require(
      count > 0 && q.rows % count == 0,
      "the rows do not divide into that many matrices; all have the same number of rows");
  detail::device_scope const device(q.codes, where);
  device_prepacked<R> p(where, q.rows / count, q.cols, count, q.rotation_seed);
  prepack(where, q, p.ref());
  if (p.outer_bytes() != 0 && q.rows > 0)
    detail::check_cuda(cudaMemcpyAsync(const_cast<float*>(p.ref().outer), q.outer, p.outer_bytes(),
                                       cudaMemcpyDeviceToDevice, where.stream),
                       "copying outer scales");
  return p;
}
#pragma GCC visibility pop

}  // namespace quadrille
