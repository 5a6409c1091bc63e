// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What becomes of the chunks of elements that a kernel has read: a target.
///
/// A target is trivially copyable; one object is made of each kernel argument in each thread. It has
///   recipe                             how its copy is rotated; thread_codec<recipe> is the arithmetic
///   resident                           thread blocks that a multiprocessor is to hold: what the registers
///                                      of its work allow
///   is_whole()                         whether rows of its output are aligned for the widest stores
///   prepare(shared, thread, first, count, stores)   for rows [first, first + count) of a thread block;
///                                      one thread block stores what the copy keeps of them, or of the
///                                      tensor; then the caller synchronizes
///   begin(shared)                      the state of a thread
///   begin_alone(stores)                the same without prepare(), where the outer scale is the tensor's
///   take<Whole>(state, x, amax, row, local, chunk, is_inside)   chunk number `chunk` of a row, as read;
///                                      `local` counts rows from `first` on. Whole says that the chunk is
///                                      whole and is_whole()
///   takes_amax                         whether it wants the amax of x's blocks where the kernel can find
///                                      it before it unpacks x; otherwise it gets no_amax
///   finish(state)                      once a thread
/// Rows and columns are those of the target's matrix: a transposed copy has them exchanged.

#include <quadrille/cuda/source.cuh>
#include <quadrille/cuda/thread_codec.cuh>
#include <quadrille/storage.hpp>

namespace quadrille::detail {

struct no_amax {};

/// `row` times `stride` bytes after `first`, in global memory: one instruction in a loop over rows. The empty
/// statement keeps `first` from being taken apart and added up anew each time.
template <class T>
__device__ __forceinline__ T* row_of(T* first, u32 row, u32 stride) {
  asm("" : "+l"(first));
  __builtin_assume(__isGlobal(first));
  u64 offset;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(offset) : "r"(row), "r"(stride));
  char* const bytes = const_cast<char*>(reinterpret_cast<char const*>(first));
  return reinterpret_cast<T*>(bytes + offset);
}

/// No copy.
struct no_target {
  static constexpr bool exists = false;
  static constexpr bool takes_amax = false;
  static constexpr bool is_row_scaled = false;
  bool is_whole() const { return true; }
};

/// What the threads of a thread block share: outer scales of its rows, or the tensor's.
struct shared_scales {
  float2 outer[256];  // encode, decode
  __device__ outer_scale outer_of(int row) const { return {outer[row].x, outer[row].y}; }
};

/// The amax of a tensor that a kernel of its own has found: each of its thread blocks leaves a part, the largest of
/// which is the amax.
inline constexpr int amax_parts = 256;

/// Outer scales: of the tensor, of rows, or none.
template <recipe R>
struct outer_scales_of {
  using scale = typename R::scale;
  using element = typename R::element;
  static constexpr bool is_stored = scale::scope != outer_scope::none;
  static constexpr bool is_row = scale::scope == outer_scope::row;
  float const* amax;
  float* decode;             // where the decode factors go; null: nowhere
  bool is_in_parts = false;  // a tensor's amax, for of_tensor()

  /// For rows [first, first + count), by threads that are numbered from 0 on, count of them or more.
  __device__ void prepare(shared_scales& shared, u32 thread, u32 first, int count, i64 rows,
                          bool stores) const {
    if constexpr (is_stored) {
      if (is_row ? thread >= u32(count) || first + thread >= u32(rows) : thread > 0) return;
      u32 const at = is_row ? first + thread : 0;
      outer_scale const o = scale::template outer<element>(amax[at]);
      shared.outer[thread] = make_float2(o.encode, o.decode);
      if (stores && decode != nullptr) decode[at] = o.decode;
    }
  }

  /// The tensor's, for a warp on its own.
  __device__ outer_scale of_tensor(bool stores) const {
    outer_scale const result = scale::template outer<element>(is_in_parts ? largest_part() : *amax);
    if (stores && decode != nullptr) *decode = result.decode;
    return result;
  }

  __device__ float largest_part() const {
    u32 largest = 0;
#pragma unroll
    for (int i = 0; i < amax_parts / 32; ++i)
      largest = max(largest, bits_of(amax[threadIdx.x % 32 + 32 * i]));
    return as_float(__reduce_max_sync(0xffffffffu, largest));
  }

  /// Of a tensor, kept in registers; of a row, looked up.
  struct view {
    shared_scales const* shared;
    outer_scale one;
    __device__ explicit view(outer_scale o) : shared(nullptr), one(o) {}
    __device__ explicit view(shared_scales const& s) : shared(&s) {
      if constexpr (!is_stored)
        one = scale::template outer<element>(0);
      else if constexpr (!is_row)
        one = s.outer_of(0);
    }
    __device__ outer_scale of(int local_row) const {
      if constexpr (is_row) return shared->outer_of(local_row);
      return one;
    }
  };
};

/// Codes and scales of recipe R.
template <recipe R, class Layout, int Chunk>
struct encode_target {
  using recipe = R;
  using codec = thread_codec<R, Chunk>;
  static constexpr bool exists = true;
  static constexpr bool is_square = codec::is_square;
  static constexpr int resident = Chunk > 16 ? 3
                                  : codec::is_random || codec::is_corrected || codec::is_contested
                                      ? 4
                                      : 5;
  static constexpr bool shares_outer = outer_scales_of<R>::is_stored;
  static constexpr bool is_row_scaled = outer_scales_of<R>::is_row;
  static constexpr bool takes_amax = R::rotation::size == 1;
  quantized_ref<R, u8, Layout> q;
  outer_scales_of<R> outer;
  random_source random;
  sign_vector signs;
  u32 scale_cols;
  u32 code_stride;     // bytes of a row of codes
  bool is_vectorized;  // rows of codes start at multiples of 8 bytes

  bool is_whole() const { return is_vectorized; }

  using state = typename outer_scales_of<R>::view;
  __device__ void prepare(shared_scales& shared, u32 thread, u32 first, int count,
                          bool stores) const {
    outer.prepare(shared, thread, first, count, q.rows, stores);
  }
  __device__ state begin(shared_scales const& shared) const { return state(shared); }
  __device__ state begin_alone(bool stores) const { return state(outer.of_tensor(stores)); }
  template <bool Whole, class Amax>
  __device__ void take(state& s, float (&x)[codec::chunk], Amax const& known, u32 row, int local,
                       u32 chunk, bool is_inside) const {
    codec::rotate(x, signs);
    u32 codes[codec::chunk / 8];
    typename codec::stored scales[codec::blocks];
    typename codec::amaxes amax;
    if constexpr (is_same_v<Amax, no_amax>)
      amax = codec::amax_of_blocks(x);
    else
      amax = known;
    codec::encode(x, amax, s.of(local), random, row, chunk, codes, scales);
    if (is_inside) store<Whole>(row, chunk, codes, scales);
  }
  __device__ void finish(state&) const {}

  /// The same for a thread on its own: amax is what prepare() is given.
  __device__ void take_alone(float (&x)[codec::chunk], u32 row, u32 chunk) const {
    static_assert(codec::lanes == 1 && !is_square);
    outer_scale own = R::scale::template outer<typename R::element>(0);
    if constexpr (shares_outer)
      own = R::scale::template outer<typename R::element>(outer.amax[is_row_scaled ? row : 0]);
    if constexpr (shares_outer)
      if (chunk == 0 && (is_row_scaled || row == 0))
        outer.decode[is_row_scaled ? row : 0] = own.decode;
    codec::rotate(x, signs);
    u32 codes[codec::chunk / 8];
    typename codec::stored scales[codec::blocks];
    codec::encode(x, codec::amax_of_blocks(x), own, random, row, chunk, codes, scales);
    store<false>(row, chunk, codes, scales);
  }

 private:
  __device__ typename codec::stored& scale_at(u32 row, u32 chunk, int b) const {
    u32 const first = chunk * codec::blocks;
    if constexpr (is_same_v<Layout, row_major_scales>)
      return row_of(q.scales + first, row, scale_cols * u32(sizeof(*q.scales)))[b];
    else
      return q.scales[Layout::offset(row, first + b, scale_cols)];
  }
  template <bool Whole>
  __device__ void store(u32 row, u32 chunk, u32 const (&codes)[codec::chunk / 8],
                        typename codec::stored const (&scales)[codec::blocks]) const {
    u32 const col = chunk * codec::chunk;
    u8* const out = row_of(q.codes + chunk * (codec::chunk / 2), row, code_stride);
    if (Whole || (is_vectorized && col + codec::chunk <= u32(q.cols))) {
#pragma unroll
      for (int k = 0; k < codec::chunk / 16; ++k)
        reinterpret_cast<uint2*>(out)[k] = make_uint2(codes[2 * k], codes[2 * k + 1]);
    } else {
      int const bytes =
          int(min(i64(codec::chunk / 2), row_bytes<typename R::element>(q.cols - col)));
#pragma unroll
      for (int i = 0; i < codec::chunk / 2; ++i)
        if (i < bytes) out[i] = u8(codes[i / 4] >> (i % 4 * 8));
    }
#pragma unroll
    for (int b = 0; b < codec::blocks; ++b)
      if (Whole || col + b * codec::block_cols < u32(q.cols)) scale_at(row, chunk, b) = scales[b];
  }
};

/// The largest finite magnitude of the matrix, or of each row, into amax (zeroed before).
template <recipe R, int Chunk>
struct amax_target {
  static constexpr bool exists = true;
  static constexpr bool is_square = false;
  static constexpr int resident = Chunk > 16 ? 3 : 5;
  static constexpr bool takes_amax = R::rotation::size == 1;
  static constexpr bool shares_outer = false;
  static constexpr bool is_row_scaled = false;
  using recipe = R;
  using codec = thread_codec<R, Chunk>;
  float* amax;
  sign_vector signs;

  bool is_whole() const { return true; }

  using state = float;
  __device__ void prepare(shared_scales&, u32, u32, int, bool) const {}
  __device__ state begin(shared_scales const&) const { return 0; }
  template <bool, class Amax>
  __device__ void take(state& largest, float (&x)[codec::chunk], Amax const& known, u32 row, int,
                       u32, bool is_inside) const {
    codec::rotate(x, signs);
    float const mine = is_inside ? finite_amax(x, known) : 0.f;
    if constexpr (R::scale::scope == outer_scope::row) {
      u32 const peers = __match_any_sync(0xffffffffu, row);
      u32 const bits = __reduce_max_sync(peers, bits_of(mine));
      if (is_inside && (threadIdx.x & 31) == __ffs(int(peers)) - 1) enter(amax + row, bits);
    } else {
      largest = max_magnitude(largest, mine);
    }
  }
  __device__ void finish(state& largest) const {
    if constexpr (R::scale::scope != outer_scope::row) {
      u32 const all = largest_of_block(largest);
      if (threadIdx.x == 0) enter(amax, all);
    }
  }
  /// Leaves the amax of thread block number `block` of `blocks` in its parts; finish() enters it into the only one.
  __device__ void finish_part(state& largest, u32 block, u32 blocks) const {
    u32 const all = largest_of_block(largest);
    if (threadIdx.x == 0)
      for (u32 part = block; part < u32(amax_parts); part += blocks) amax[part] = as_float(all);
  }

 private:
  // Thread 0 gets it.
  __device__ static u32 largest_of_block(float mine) {
    __shared__ u32 warps[32];
    __syncthreads();  // another target may have used it
    u32 const bits = __reduce_max_sync(0xffffffffu, bits_of(mine));
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = bits;
    __syncthreads();
    u32 all = 0;
    if (threadIdx.x == 0)
      for (u32 w = 0; w < blockDim.x / 32; ++w) all = max(all, warps[w]);
    return all;
  }
  // Most chunks are finite: those of which a kernel knows the blocks' amax are looked at no further.
  template <class Amax>
  __device__ static float finite_amax(float const (&x)[codec::chunk], Amax const& known) {
    if constexpr (!is_same_v<Amax, no_amax>) {
      float largest = known.at[0];
#pragma unroll
      for (int b = 1; b < codec::blocks; ++b) largest = larger_magnitude(largest, known.at[b]);
      if (is_finite(largest)) return largest;
    }
    return codec::finite_amax(x);
  }
  // The bits of non-negative floats are ordered as the floats are.
  __device__ static void enter(float* to, u32 bits) {
    if (bits != 0) atomicMax(reinterpret_cast<u32*>(to), bits);
  }
};

/// The bits of clip_mask.
template <recipe R, int Chunk>
struct mask_target {
  static constexpr bool exists = true;
  static constexpr bool is_square = false;
  static constexpr int resident = Chunk > 16 ? 3 : 5;
  static constexpr bool takes_amax = false;
  static constexpr bool shares_outer = outer_scales_of<R>::is_stored;
  static constexpr bool is_row_scaled = outer_scales_of<R>::is_row;
  using recipe = R;
  using codec = thread_codec<R, Chunk>;
  u8* mask;
  i64 rows;
  i64 cols;
  outer_scales_of<R> outer;
  sign_vector signs;

  bool is_whole() const { return true; }

  using state = typename outer_scales_of<R>::view;
  __device__ void prepare(shared_scales& shared, u32 thread, u32 first, int count, bool) const {
    outer.prepare(shared, thread, first, count, rows, false);
  }
  __device__ state begin(shared_scales const& shared) const { return state(shared); }
  __device__ state begin_alone(bool) const { return state(outer.of_tensor(false)); }
  template <bool>
  __device__ void take(state& s, float (&x)[codec::chunk], no_amax, u32 row, int local, u32 chunk,
                       bool is_inside) const {
    u32 const col = chunk * codec::chunk;
    codec::rotate(x, signs);
    u32 bits = codec::unclipped(x, s.of(local));
    if (!is_inside) return;
    u32 const valid = min(u32(codec::chunk), u32(cols) - col);
    if (valid < 32) bits &= (1u << valid) - 1;
    u8* const out = mask + u64(row) * u64(ceil_div(cols, i64(8))) + col / 8;
    for (u32 i = 0; i < ceil_div(valid, 8u); ++i) out[i] = u8(bits >> 8 * i);
  }
  __device__ void finish(state&) const {}
};

/// Writes a row's values as T, `Chunk` a thread: 8 of two bytes are one store, next to its neighbours'.
template <class T, int Chunk>
struct write_target {
  static constexpr bool exists = true;
  static constexpr bool is_square = false;
  static constexpr int resident = Chunk > 16 ? 3 : Chunk > 8 ? 5 : 6;
  static constexpr bool takes_amax = false;
  static constexpr bool shares_outer = false;
  static constexpr bool is_row_scaled = false;
  struct codec {
    static constexpr int chunk = Chunk;
    static constexpr int lanes = 1;
  };
  matrix_ref<T> to;
  bool is_vectorized;

  bool is_whole() const { return is_vectorized; }

  struct state {};
  __device__ void prepare(shared_scales&, u32, u32, int, bool) const {}
  __device__ state begin(shared_scales const&) const { return {}; }
  template <bool Whole>
  __device__ void take(state&, float (&x)[Chunk], no_amax, u32 row, int, u32 chunk,
                       bool is_inside) const {
    if (!is_inside) return;
    u32 const col = chunk * Chunk;
    T* const out = to.data + u64(row) * u64(to.row_stride) + u64(col) * u64(to.col_stride);
    constexpr int each = max(1, int(16 / sizeof(T)));
    struct alignas(16) vector {
      T at[each];
    };
    if (Whole || (is_vectorized && col + Chunk <= u32(to.cols))) {
#pragma unroll
      for (int v = 0; v < Chunk / each; ++v) {
        vector part;
#pragma unroll
        for (int i = 0; i < each; ++i) part.at[i] = from_float<T>(x[v * each + i]);
        reinterpret_cast<uint4*>(out)[v] = __builtin_bit_cast(uint4, part);
      }
    } else {
#pragma unroll
      for (int i = 0; i < Chunk; ++i)
        if (col + i < u32(to.cols)) out[i * to.col_stride] = from_float<T>(x[i]);
    }
  }
  __device__ void finish(state&) const {}
};

}  // namespace quadrille::detail
