// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What is quantized: a matrix in device memory, or a computation that a quantize kernel runs on the fly.
///
/// A source is trivially copyable and has
///   rows, cols
///   value                        a type that holds its elements exactly: 2 bytes or float
///   is_whole(n)                  whether every row is a whole number of n elements, aligned for the
///                                widest loads
///   fetch<N, Whole>(row, col)    what memory holds of elements (row, col .. col + N), as it is: a kernel
///                                asks for it early and unpacks it late. Reads nothing from cols on;
///                                Whole says that is_whole(N)
///   values<N>(raw, row, col, x)  those elements, zeros from cols on
///   load<N>(row, col, x)         both at once, for any N
///   is_matrix                    whether it is elements in memory as values, at address(row, col)
///   has_statistic                see rms_normalized

#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <quadrille/codec.hpp>
#include <quadrille/cuda/packer.cuh>
#include <quadrille/cuda/stream.cuh>
#include <quadrille/cuda/thread_codec.cuh>
#include <quadrille/storage.hpp>

namespace quadrille {
namespace detail {

template <class T>
inline constexpr bool is_bf16 = is_same_v<T, bf16> || is_same_v<T, __nv_bfloat16>;
template <class T>
inline constexpr bool is_fp16 = is_same_v<T, fp16> || is_same_v<T, __half>;

/// The type in which a tile of T's values is kept exactly.
template <class T>
using tile_value = select_t<is_bf16<T>, __nv_bfloat16, select_t<is_fp16<T>, __half, float>>;

/// The larger of the two magnitudes that a word of 16-bit values holds.
template <class T>
__device__ __forceinline__ float larger_half(u32 pair) {
  if constexpr (is_bf16<T>)
    return larger_magnitude(as_float(pair << 16), as_float(pair & 0xffff0000u));
  return larger_magnitude(__half2float(__ushort_as_half(u16(pair))),
                          __half2float(__ushort_as_half(u16(pair >> 16))));
}

/// The largest magnitude of each block of `Cols` of T's values, two of which are a word.
template <class T, int Cols, int Words>
__device__ block_amaxes<2 * Words / Cols> amaxes_of_words(u32 const (&w)[Words]) {
  block_amaxes<2 * Words / Cols> result;
#pragma unroll
  for (int b = 0; b < 2 * Words / Cols; ++b)
    result.at[b] = larger_half<T>(largest_pair_of<is_bf16<T>, Cols / 2>(w + b * (Cols / 2)));
  return result;
}

template <class T>
__device__ __forceinline__ float to_float(T x) {
  if constexpr (is_bf16<T>)
    return as_float(u32(__builtin_bit_cast(u16, x)) << 16);
  else if constexpr (is_fp16<T>)
    return __half2float(__ushort_as_half(__builtin_bit_cast(u16, x)));
  else
    return static_cast<float>(x);
}
/// To T, to nearest even.
template <class T>
__device__ __forceinline__ T from_float(float x) {
  if constexpr (is_bf16<T>)
    return __builtin_bit_cast(T, __bfloat16_as_ushort(__float2bfloat16_rn(x)));
  else if constexpr (is_fp16<T>)
    return __builtin_bit_cast(T, __half_as_ushort(__float2half_rn(x)));
  else
    return static_cast<T>(x);
}

/// True if every row of a matrix, `stride` elements apart, starts at a multiple of `bytes`.
template <class T>
bool is_aligned(T const* p, i64 stride, int bytes) {
  return reinterpret_cast<std::uintptr_t>(p) % std::uintptr_t(bytes) == 0 &&
         stride * i64(sizeof(T)) % bytes == 0;
}

template <class T>
struct matrix_source {
  using value = tile_value<T>;
  static constexpr bool is_matrix = sizeof(T) == sizeof(value);
  static constexpr bool has_statistic = false;
  matrix_ref<T const> x;
  i64 rows;
  i64 cols;
  u32 stride;  // bytes of a row, where is_whole
  bool is_vectorized;

  explicit matrix_source(matrix_ref<T const> m)
      : x(m),
        rows(m.rows),
        cols(m.cols),
        stride(u32(m.row_stride * i64(sizeof(T)))),
        is_vectorized(16 % sizeof(T) == 0 && m.col_stride == 1 &&
                      is_aligned(m.data, m.row_stride, 16)) {}

  bool is_whole(int n) const {
    return is_vectorized && cols % n == 0 && x.row_stride * i64(sizeof(T)) == i64(stride);
  }
  void require_valid(device_scope const& device) const {
    require(rows == 0 || cols == 0 || x.data != nullptr,
            "the matrix has no data; pass a pointer to rows x cols elements");
    device.require_reachable(x.data, "the matrix");
  }

  /// Of element (row, col), where is_whole.
  __device__ T const* address(u32 row, u32 col) const {
    return reinterpret_cast<T const*>(reinterpret_cast<char const*>(x.data + col) +
                                      u64(row) * stride);
  }
  template <int N>
  struct raw {
    static constexpr int count = max(1, int(N * sizeof(T) / 16));
    uint4 word[count];
  };

  template <int N, bool Whole>
  __device__ raw<N> fetch(u32 row, u32 col) const {
    static_assert(N * sizeof(T) % 16 == 0);
    if (Whole || (is_vectorized && col + N <= u32(cols))) {
      raw<N> result;
      T const* const from = Whole ? address(row, col) : x.data + col + u64(row) * u64(x.row_stride);
#pragma unroll
      for (int v = 0; v < raw<N>::count; ++v)
        result.word[v] = __ldg(reinterpret_cast<uint4 const*>(from) + v);
      return result;
    }
    parts<N> all{};
    T const* from = x.data + u64(row) * u64(x.row_stride) + u64(col) * u64(x.col_stride);
    int const valid = int(cols) - int(col);
#pragma unroll
    for (int i = 0; i < N; ++i) {
      if (i < valid) all.at[i] = *from;
      from += x.col_stride;
    }
    return __builtin_bit_cast(raw<N>, all);
  }

  template <int N>
  __device__ static void values(raw<N> const& from, u32, u32, float (&out)[N]) {
    if constexpr (is_bf16<T>) {
#pragma unroll
      for (int v = 0; v < raw<N>::count; ++v) {
        u32 const w[4] = {from.word[v].x, from.word[v].y, from.word[v].z, from.word[v].w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          out[8 * v + 2 * i] = as_float(w[i] << 16);
          out[8 * v + 2 * i + 1] = as_float(w[i] & 0xffff0000u);
        }
      }
    } else {
      parts<N> const all = __builtin_bit_cast(parts<N>, from);
#pragma unroll
      for (int i = 0; i < N; ++i) out[i] = to_float(all.at[i]);
    }
  }

  /// The largest magnitude of each block of `Cols` elements, two elements at a time.
  template <int Cols, int N>
  __device__ static block_amaxes<N / Cols> amax_of_blocks(raw<N> const& from) requires(is_bf16<T> ||
                                                                                       is_fp16<T>) {
    u32 w[N / 2];
#pragma unroll
    for (int v = 0; v < raw<N>::count; ++v) {
      w[4 * v] = from.word[v].x;
      w[4 * v + 1] = from.word[v].y;
      w[4 * v + 2] = from.word[v].z;
      w[4 * v + 3] = from.word[v].w;
    }
    return amaxes_of_words<T, Cols>(w);
  }

  template <int N>
  __device__ void load(u32 row, u32 col, float (&out)[N]) const {
    T const* from = x.data + u64(row) * u64(x.row_stride) + u64(col) * u64(x.col_stride);
#pragma unroll
    for (int i = 0; i < N; ++i)
      out[i] = col + i < u32(cols) ? to_float(from[i * x.col_stride]) : 0.f;
  }

 private:
  template <int N>
  struct alignas(16) parts {
    T at[N];
  };
};

/// Rows and columns exchanged.
template <class Source>
struct transposed_source {
  using value = typename Source::value;
  static constexpr bool is_matrix = false;
  static constexpr bool has_statistic = false;
  static_assert(
      !Source::has_statistic,
      "quadrille: rms_normalized is quantized along columns; its rows must be complete first, "
      "write the normalized matrix and quantize that");
  Source source;
  i64 rows;
  i64 cols;

  bool is_whole(int) const { return false; }
  void require_valid(device_scope const& device) const { source.require_valid(device); }
  template <int N>
  struct raw {
    float x[N];
  };
  template <int N, bool Whole>
  __device__ raw<N> fetch(u32 row, u32 col) const {
    raw<N> result;
    load(row, col, result.x);
    return result;
  }
  template <int N>
  __device__ static void values(raw<N> const& from, u32, u32, float (&out)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) out[i] = from.x[i];
  }
  template <int N>
  __device__ void load(u32 row, u32 col, float (&out)[N]) const {
#pragma unroll
    for (int i = 0; i < N; ++i) {
      float one[1] = {0};
      if (col + i < u32(cols)) source.load(col + i, row, one);
      out[i] = one[0];
    }
  }
};
template <class S>
inline constexpr bool is_transposed = false;
template <class S>
inline constexpr bool is_transposed<transposed_source<S>> = true;

template <class S>
inline constexpr bool is_source = requires {
  S::has_statistic;
};

/// A source from what users pass: a matrix_ref, or a source already.
template <class T>
matrix_source<T> as_source(matrix_ref<T> x) {
  return matrix_source<T>(x);
}
template <class T>
matrix_source<T> as_source(matrix_ref<T const> x) {
  return matrix_source<T>(x);
}
template <class S>
  requires is_source<S> S as_source(S const& source) { return source; }
}  // namespace detail

/// x with rows and columns exchanged: quantize(on(stream), transposed(x), q) makes the copy along the other
/// axis, reading x tile by tile. (x.transposed() works too, more slowly.)
template <class X>
auto transposed(X const& x) {
  auto const source = detail::as_source(x);
  return detail::transposed_source<std::remove_const_t<decltype(source)>>{source, source.cols,
                                                                          source.rows};
}

}  // namespace quadrille
