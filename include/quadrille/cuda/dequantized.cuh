// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A quantized matrix as a source: what dequantize and requantize read.

#include <quadrille/cuda/source.cuh>

namespace quadrille {
namespace detail {
/// How much of the decoding a source does.
enum class decoding {
  complete,  ///< the values, rotated back: what requantize reads
  operand,   ///< element x block scale, as it is in a GEMM: neither the outer scale nor the rotation
  element    ///< the values of the codes alone
};

/// The values of a quantized matrix.
template <class R, class Layout, decoding Decoding = decoding::complete>
struct dequantized_source {
  using E = typename R::element;
  using value = float;
  static constexpr bool is_matrix = false;
  static constexpr bool has_statistic = false;
  quantized_ref<R, u8 const, Layout> q;
  sign_vector signs;
  i64 rows;
  i64 cols;
  bool is_vectorized;
  bool stays_rotated = Decoding != decoding::complete;

  explicit dequantized_source(quantized_ref<R, u8 const, Layout> from)
      : q(from),
        signs(R::rotation::signs(from.rotation_seed)),
        rows(from.rows),
        cols(from.cols),
        is_vectorized(is_aligned(from.codes, row_bytes<typename R::element>(from.cols), 8)) {}

  bool is_whole(int n) const {
    return E::bits <= 4 && is_vectorized && n % 8 == 0 && cols % n == 0;
  }
  void require_valid(device_scope const& device) const {
    require(rows == 0 || cols == 0 || (q.codes != nullptr && q.scales != nullptr),
            "the quantized matrix has no codes or no scales; pass both pointers, or use "
            "device_quantized<R>");
    require(R::scale::scope == outer_scope::none || rows == 0 || q.outer != nullptr,
            "the quantized matrix has no outer scales; the recipe keeps one for the tensor or each "
            "row, "
            "pass a pointer to them");
    device.require_reachable(q.codes, "the quantized matrix");
    device.require_reachable(q.scales, "the scales of the quantized matrix");
    device.require_reachable(q.outer, "the outer scale of the quantized matrix");
  }

  template <int N>
  struct raw {
    static constexpr int block_cols = R::block::cols;
    /// Consecutive elements that surely share a scale.
    static constexpr int each = N % block_cols == 0 ? block_cols : block_cols % N == 0 ? N : 1;
    u32 codes[N * (E::bits <= 4 ? 4 : 8) / 32 + 1];
    typename R::scale::stored scale[N / each];
    float outer;
  };

  template <int N, bool Whole>
  __device__ raw<N> fetch(u32 row, u32 col) const {
    raw<N> result{};
    u8 const* const from = q.codes + u64(row) * u64(row_bytes<E>(cols));
    result.outer = Decoding == decoding::complete ? q.outer_decode(row) : 1.f;
#pragma unroll
    for (u32 b = 0; b < N / raw<N>::each; ++b) {
      u32 const at = col + b * raw<N>::each;
      if (Whole || at < u32(cols)) result.scale[b] = q.scale(row, at / u32(R::block::cols));
    }
    if constexpr (Whole && N % 16 != 0) {
#pragma unroll
      for (int k = 0; k < N / 8; ++k)
        result.codes[k] = __ldg(reinterpret_cast<u32 const*>(from + col / 2) + k);
    } else if constexpr (Whole) {
#pragma unroll
      for (int k = 0; k < N / 16; ++k) {
        uint2 const w = __ldg(reinterpret_cast<uint2 const*>(from + col / 2) + k);
        result.codes[2 * k] = w.x;
        result.codes[2 * k + 1] = w.y;
      }
    } else {
      constexpr int width = E::bits <= 4 ? 4 : 8;
#pragma unroll
      for (int i = 0; i < N; ++i)
        if (col + i < u32(cols))
          result.codes[i * width / 32] |= load_code<E>(from, col + i) << (i * width % 32);
    }
    return result;
  }

  /// In the rotated basis.
  template <int N>
  __device__ void decode(raw<N> const& from, u32 row, u32 col, float (&out)[N]) const {
    constexpr int block_cols = R::block::cols;
    constexpr int each = raw<N>::each;
    constexpr int width = E::bits <= 4 ? 4 : 8;
    int const row_in_block = int(row % u32(R::block::rows)) * block_cols;
    if constexpr (is_linear<typename R::scale> && width == 4 && N % 8 == 0 && each % 8 == 0) {
      decode_words(from, out);
    } else {
#pragma unroll
      for (int b = 0; b < N / each; ++b) {
        int const first =
            row_in_block + (each == block_cols ? 0 : int((col + b * each) % u32(block_cols)));
        auto const decoder = R::scale::decoder(from.scale[b], from.outer);
#pragma unroll
        for (int i = 0; i < each; ++i) {
          int const at = b * each + i;
          u32 const code = from.codes[at * width / 32] >> (at * width % 32) & ((1u << width) - 1);
          out[at] = Decoding == decoding::element ? E::decode(code)
                                                  : decoder(E::decode(code), first + i);
        }
      }
    }
    if (col + N > u32(cols))
#pragma unroll
      for (int i = 0; i < N; ++i)
        if (col + i >= u32(cols)) out[i] = 0;
  }

  // Eight codes at a time, where a block has one factor. The unit moves to the factor, exactly unless that
  // overflows.
  template <int N>
  __device__ static void decode_words(raw<N> const& from, float (&out)[N]) {
    using unpack = unpacker<E>;
    constexpr int each = raw<N>::each;
#pragma unroll
    for (int b = 0; b < N / each; ++b) {
      float const factor = Decoding == decoding::element
                               ? 1.f
                               : R::scale::decoder(from.scale[b], from.outer).factor;
      float const moved = mul(factor, 1 / unpack::unit);
      bool const is_moved = magnitude(moved) <= float_max;
#pragma unroll
      for (int k = b * each / 8; k < (b + 1) * each / 8; ++k)
        unpack::unpack(from.codes[k], out + 8 * k);
#pragma unroll
      for (int i = b * each; i < (b + 1) * each; ++i)
        out[i] = is_moved ? mul(out[i], moved) : mul(mul(out[i], 1 / unpack::unit), factor);
    }
  }

  template <int N>
  __device__ void values(raw<N> const& from, u32 row, u32 col, float (&out)[N]) const {
    constexpr int group = R::rotation::size;
    if constexpr (N % group == 0) {
      decode(from, row, col, out);
      if (stays_rotated) return;
#pragma unroll
      for (int i = 0; i < N; i += group) R::rotation::invert(out + i, signs);
    } else if (stays_rotated) {
      decode(from, row, col, out);
    } else {  // the whole of a larger rotation, for a part of it
      u32 const first = col / group * group;
      u32 const inside = min(row, u32(rows) - 1);  // a kernel may ask for rows below the last
      float whole[group];
      decode(fetch<group, false>(inside, first), inside, first, whole);
      R::rotation::invert(whole, signs);
#pragma unroll
      for (int i = 0; i < N; ++i) out[i] = whole[int(col - first) + i];
    }
  }
  template <int N>
  __device__ void load(u32 row, u32 col, float (&out)[N]) const {
    values(fetch<N, false>(row, col), row, col, out);
  }
};
}  // namespace detail

/// The values of q, to quantize them again: quantize(on(stream), dequantized(q), other).
template <class R, class Byte, class Layout>
auto dequantized(quantized_ref<R, Byte, Layout> q) {
  return detail::dequantized_source<R, Layout>(q);
}

}  // namespace quadrille
