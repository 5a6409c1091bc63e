// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// From the accumulators of wgmma to an epilogue.
///
/// The sums of a thread are pairs of columns, 8 columns apart. They become `width` consecutive columns of D
/// if the rows of B stand in another order: row 4 width block + width quad + 2 pair + one of B is row
/// 4 width block + 8 pair + 2 quad + one of the tile. To the copy engine that is a matter of strides
/// (permuted_rows). If N is not whole blocks, B stands in its own order, and the threads of a quad exchange
/// sums (slower).

#include <quadrille/cuda/gemm/tensor_map.cuh>
#include <quadrille/cuda/gemm/tile_filter.cuh>

namespace quadrille::detail {

/// Boxes of 128 rows of B for an epilogue of some width, or in their own order if that is 0.
constexpr tensor_shape<5> permuted_rows(u64 bytes, u64 rows, u64 stride, u32 width) {
  if (width == 0)
    return {{bytes, 1, 1, 1, rows}, {stride, stride, stride, stride}, {128, 1, 1, 1, 128}};
  return {{bytes, 2, 4, width / 2, rows / (4 * width)},
          {stride, width * stride, 2 * stride, 4 * width * stride},
          {128, 2, 4, width / 2, 128 / (4 * width)}};
}

/// `width` sums of consecutive columns of a row: this thread's, if B is permuted.
template <int Width, int N>
__device__ __forceinline__ void consecutive(float const (&d)[N], int block, int half,
                                            float (&sums)[Width]) {
#pragma unroll
  for (int i = 0; i < Width; ++i) sums[i] = d[block * 2 * Width + i / 2 * 4 + half * 2 + i % 2];
}

/// The same if it is not: they are pairs of columns of this thread's quad.
template <int Width, int N>
__device__ __forceinline__ void exchanged(float const (&d)[N], int block, int half,
                                          float (&sums)[Width]) {
#pragma unroll
  for (int i = 0; i < Width; ++i)
#pragma unroll
    for (int to = 0; to < 4; ++to) {
      int const from = block * 2 * Width + (to * Width + i) / 8 * 4 + half * 2 + i % 2;
      float const sum = __shfl_sync(~0u, d[from], i % 8 / 2, 4);
      if (int(threadIdx.x) % 4 == to) sums[i] = sum;
    }
}

/// Gives this thread's sums of a tile to the epilogue; `row` is the first of its two rows. Whole: all of them
/// are to be computed, and B is permuted; with nothing to ask, the stores overlap.
template <bool Whole, class Epilogue, int N>
__device__ __forceinline__ void hand_over(gemm_segments const& segments, tile_filter const& filter,
                                          bool is_permuted, Epilogue const& epilogue,
                                          gemm_tile const& tile, i64 row, float const (&d)[N]) {
  constexpr int width = Epilogue::width;
  static_assert(width == 8 || width == 16 || width == 32);
  i64 const first = tile.col + i64(threadIdx.x % 4) * width;
#pragma unroll
  for (int block = 0; block < N / (2 * width); ++block) {
    i64 const col = first + block * 4 * width;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sums[width];
      if (Whole || is_permuted)
        consecutive(d, block, half, sums);
      else
        exchanged(d, block, half, sums);
      i64 const at = row + half * 8;
      if (Whole || (at < tile.row_end && col < segments.cols &&
                    filter.takes(at, tile.segment * segments.cols + col)))
        epilogue.store(tile.segment, at, col, sums);
    }
  }
}

}  // namespace quadrille::detail
