// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The host's GEMM on CUDA cores, operation for operation: for every pair of operands, on every GPU. Where
/// no tensor-core type holds the operands, and what the fast kernels are compared with.
///
/// A thread block of 256 threads makes a tile of 64 x 64, a thread 4 x 4 of it: rows ty + 16 i, columns
/// tx + 16 j. Shared memory holds up to 32 columns of K of both operands, and the scales of one block.

#include <quadrille/cuda/gemm/operand.cuh>
#include <quadrille/cuda/gemm/tile_filter.cuh>

namespace quadrille::detail {

inline constexpr int reference_tile = 64;

/// Columns of K that are in shared memory at once: the largest part of a block up to 32.
template <int Block>
inline constexpr int part_of_block = [] {
  int part = min(Block, 32);
  while (Block % part != 0) --part;
  return part;
}();

/// Rows [first, end) of an operand, columns [k, k + Step) of K; zeros outside.
template <int Step, class Operand>
__device__ void load_values(Operand const& from, i64 first, i64 end, i64 k, float* values) {
  constexpr int pitch = reference_tile + 1;
  for (int i = int(threadIdx.x); i < Step * reference_tile; i += 256) {
    i64 const row = first + i / Step;
    bool const exists = row < end && k + i % Step < from.cols();
    values[i % Step * pitch + i / Step] = exists ? from.value(row, k + i % Step) : 0.f;
  }
}
template <class Operand>
__device__ void load_scales(Operand const& from, i64 first, i64 end, i64 k, float* scales) {
  for (int i = int(threadIdx.x); i < reference_tile; i += 256)
    scales[i] = first + i < end ? from.scale(first + i, k) : 0.f;
}
__device__ __forceinline__ float multiply_add(float x, float y, float z) {
  return __fmaf_rn(x, y, z);
}
__device__ __forceinline__ double multiply_add(double x, double y, double z) {
  return __fma_rn(x, y, z);
}

template <class A, class B, class Epilogue>
static __global__ void __launch_bounds__(256)
    reference_kernel(gemm_segments const work, A const a, B const b, tile_filter const filter,
                     Epilogue const __grid_constant__ epilogue) {
  constexpr int tile = reference_tile;
  constexpr int pitch = tile + 1;
  constexpr int block = common_block<A, B>;
  constexpr int step = part_of_block<block>;
  using sum_type = select_t<exact_float_dot<A, B, block>, float, double>;
  __shared__ float a_values[step * pitch];
  __shared__ float b_values[step * pitch];
  __shared__ float a_scales[tile];
  __shared__ float b_scales[tile];
  __shared__ float sums_of_tile[tile][tile + 1];
  int const tx = int(threadIdx.x) % 16;
  int const ty = int(threadIdx.x) / 16;
  wait_for_earlier_work();
  if (!filter.takes_some(work)) return;

  tile_walk<tile, tile> walk(work, blockIdx.x, gridDim.x);
  for (gemm_tile at; walk.next(at);) {
    i64 const b_row = at.segment * work.cols + at.col;
    i64 const b_end = (at.segment + 1) * work.cols;
    if (!filter.taken_of(at.row, min(at.row + tile, at.row_end), b_row, min(b_row + tile, b_end))
             .any)
      continue;
    float sums[4][4] = {};
    for (i64 k = 0; k < work.depth; k += block) {
      sum_type dots[4][4] = {};
      for (int part = 0; part < block; part += step) {
        __syncthreads();
        load_values<step>(a, at.row, at.row_end, k + part, a_values);
        load_values<step>(b, b_row, b_end, k + part, b_values);
        if (part == 0) {
          load_scales(a, at.row, at.row_end, k, a_scales);
          load_scales(b, b_row, b_end, k, b_scales);
        }
        __syncthreads();
#pragma unroll 4
        for (int kk = 0; kk < step; ++kk)
#pragma unroll
          for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
              dots[i][j] = multiply_add(sum_type(a_values[kk * pitch + ty + 16 * i]),
                                        sum_type(b_values[kk * pitch + tx + 16 * j]), dots[i][j]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sums[i][j] = add(sums[i][j], mul(mul(a_scales[ty + 16 * i], b_scales[tx + 16 * j]),
                                           float(dots[i][j])));
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) sums_of_tile[ty + 16 * i][tx + 16 * j] = sums[i][j];
    __syncthreads();
    constexpr int width = Epilogue::width;
    for (int i = int(threadIdx.x); i < tile * tile / width; i += 256) {
      i64 const row = at.row + i / (tile / width);
      int const col = i % (tile / width) * width;
      if (row >= at.row_end || at.col + col >= work.cols || !filter.takes(row, b_row + col))
        continue;
      float x[width];
#pragma unroll
      for (int j = 0; j < width; ++j) x[j] = sums_of_tile[i / (tile / width)][col + j];
      epilogue.store(at.segment, row, at.col + col, x);
    }
    __syncthreads();
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <class A, class B, class Epilogue>
void launch_reference(stream_policy where, gemm_segments const& work, A const& a, B const& b,
                      tile_filter const& filter, Epilogue const& epilogue) {
  auto const kernel = reference_kernel<A, B, Epilogue>;
  i64 const tiles =
      ceil_div(work.rows + i64(work.count) * (reference_tile - 1), i64(reference_tile)) *
      ceil_div(work.cols, i64(reference_tile));
  i64 const blocks = min(max(i64(1), tiles), resident_blocks(kernel, 256, 0));
  launch_early(where, kernel, dim3(unsigned(blocks)), 256, 0, work, a, b, filter, epilogue);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
