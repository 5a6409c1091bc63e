// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = A B^T by mma.sync, both operands in memory as BF16 or FP16: every GPU from sm_80 on.
///
/// Thread blocks of eight warps stay resident and walk over tiles of 128 x 256; a warp has 64 x 64 sums. Each
/// block's stages, tile after tile, are one sequence: copies run ahead of multiplications across tiles.
/// Shared memory
///   tiles      whose copies have begun
///   stage[i]   rows of A, then of B, `depth` columns of K (mma_tile.cuh)
/// While a warp multiplies 16 columns of K, it reads the operands of the next 16 and issues a part of the copies
/// into the stage that was read before this one. Before the last 16 all warps meet: from there on the next
/// stage is complete and this one is free.

#include <quadrille/cuda/gemm/mma_tile.cuh>

namespace quadrille::detail {

/// sums += the products of 16 columns of K.
template <class T, class Shape, int MTiles, int NTiles>
__device__ __forceinline__ void multiply(float (&sums)[MTiles][NTiles][4],
                                         mma_fragments<Shape> const& of) {
#pragma unroll
  for (int m = 0; m < MTiles; ++m)
#pragma unroll
    for (int i = 0; i < NTiles; ++i) {
      int const n = m % 2 == 0 ? i : NTiles - 1 - i;  // to and fro: the next reuses an operand
      ampere::multiply<T>(sums[m][n], of.a[m], of.b[n / 2][n % 2 * 2], of.b[n / 2][n % 2 * 2 + 1]);
    }
}

template <class T, class Shape, class Epilogue>
static __global__ void __launch_bounds__(Shape::threads, 1)
    mma_kernel(gemm_segments const __grid_constant__ work,
               mma_operands<T> const __grid_constant__ operands,
               Epilogue const __grid_constant__ epilogue) {
  if constexpr (target::compute_capability >= 80) {
    using fragments_type = mma_fragments<Shape>;
    constexpr int steps = Shape::depth / 16;
    wait_for_earlier_work();
    extern __shared__ __align__(128) u8 mma_memory[];
    __shared__ tile_ring tiles;
    u32 const ring = ampere::shared_address(mma_memory);
    auto const after = [ring](u32 stage) {
      constexpr u32 all = Shape::stages * Shape::stage_bytes;
      return stage + Shape::stage_bytes == ring + all ? ring : stage + Shape::stage_bytes;
    };
    auto const all = [](gemm_tile const&) { return true; };
    auto const started = [](gemm_tile const&) {};

    int const tile_stages = max(1, int(ceil_div(work.depth, i64(Shape::depth))));
    stage_sequence<Shape, T> copies(work, operands, tile_stages, tiles);
    u32 write = ring;
    for (int i = 0; i < Shape::stages - 1; ++i, write = after(write)) {
      copies.next(write, all, started);
      copies.copy(write, 0, 1);
      ampere::commit_copies();
    }
    ampere::wait_for_copies<Shape::stages - 2>();
    __syncthreads();
    warp_part<Shape> const part;
    u32 read = ring;
    fragments_type fragments[2];
    fragments[0].load(read, part, 0);

    for (u32 number = 0; number < copies.entered(); ++number) {
      float sums[fragments_type::m_tiles][fragments_type::n_tiles][4] = {};
      for (int stage = 0; stage < tile_stages; ++stage) {
        copies.next(write, all, started);
#pragma unroll
        for (int step = 0; step < steps; ++step) {
          if (step == steps - 1) {
            ampere::commit_copies();
            ampere::wait_for_copies<Shape::stages - 2>();
            __syncthreads();
            read = after(read);
          }
          fragments[(step + 1) % 2].load(read, part, (step + 1) % steps);
          if (step < steps - 1) copies.copy(write, step, steps - 1);
          multiply<T>(sums, fragments[step % 2]);
        }
        write = after(write);
      }
      gemm_tile const tile = tiles[number];
      hand_over_sums<Epilogue::width>(sums, part, [&](int row, int col, auto& x) {
        if (tile.row + row < tile.row_end && tile.col + col < work.cols)
          epilogue.store(tile.segment, tile.row + row, tile.col + col, x);
      });
    }
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <class Shape, class T, class Epilogue>
void launch_mma_shape(stream_policy where, gemm_segments const& work,
                      mma_operands<T> const& operands, Epilogue const& epilogue) {
  i64 const tiles = tile_count(work, Shape::rows, Shape::cols);
  if (tiles == 0) return;
  auto const kernel = mma_kernel<T, Shape, Epilogue>;
  std::size_t const shared = std::size_t(Shape::stages) * Shape::stage_bytes;
  prepare_stages(kernel, Shape::stages, Shape::stage_bytes);
  i64 const blocks = min(tiles, resident_blocks(kernel, Shape::threads, shared));
  launch_early(where, kernel, dim3(unsigned(blocks)), Shape::threads, shared, work, operands,
               epilogue);
}

using mma_large = mma_shape<128, 256, 64, 64, 64, 3>;  // sm_80, sm_90 and sm_100
using mma_small = mma_shape<128, 256, 64, 64, 32, 4>;  // of 99 KB: sm_86, sm_89 and sm_120

/// D = A B^T: A has work.rows x work.depth elements, B work.count * work.cols x work.depth. Rows start at
/// multiples of 16 bytes; what follows the last column of K is not read. T is bf16, fp16 or CUDA's types.
/// Throws before anything is launched if the GPU cannot run the kernel.
template <class T, class Epilogue>
void launch_mma(stream_policy where, gemm_segments const& work, T const* a, i64 a_stride,
                T const* b, i64 b_stride, Epilogue const& epilogue) {
  require_depth(work);
  mma_operands<T> const operands{a, a_stride, b, b_stride};
  if (shared_limit() > mma_large::stages * mma_large::stage_bytes + 1024)
    launch_mma_shape<mma_large>(where, work, operands, epilogue);
  else
    launch_mma_shape<mma_small>(where, work, operands, epilogue);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
