// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = A B^T on Hopper's tensor cores (sm_90a), both operands in memory as the tensor cores read them: BF16,
/// FP16, or any two FP8 types.
///
/// Thread blocks stay resident and walk over tiles of 128 x Cols. A pair of blocks (a cluster) has two tiles
/// one below the other: each block fetches its rows of A, and half of the rows of B for both.
///   warpgroup 0     one thread fetches: a ring of stages, 128 bytes of K each
///   warpgroups 1, 2 multiply and hand over 64 rows each
/// Shared memory
///   stage[i]   A 128 rows, then B Cols rows (see hand_over.cuh), of 128 bytes, swizzled by 128 bytes
///   full[i]    the stage's bytes have arrived
///   empty[i]   both warpgroups of every block that the stage's bytes go to have read the last ones
///   tile[i]    which tile comes; known when its first stage is full
///   taken[i]   every warp that multiplies has read it
///
/// FP8 sums: the tensor cores keep about 13 bits of them, so that every 128 elements of K they start
/// afresh and are added to others in FP32, 64 columns at a time. `Fast` leaves that out.
///
/// Limits, on an H200 at 8192^3: BF16 and fast FP8 multiply 97 % of the time, the rest is the epilogue.
/// Promoted FP8 takes 1.06 times as long as fast FP8 (see bench/gemm_gpu_notes.md).

#include <bit>

#include <quadrille/arch/target.hpp>
#include <quadrille/cuda/gemm/dense_ring.cuh>
#include <quadrille/cuda/gemm/hand_over.cuh>
#include <quadrille/cuda/gemm/hopper.cuh>
#include <quadrille/cuda/gemm/tensor_map.cuh>

namespace quadrille::detail {

/// Fetches 128 bytes of K of this block's rows of A, and of its part of B's rows for the whole cluster.
template <class Shape>
__device__ __forceinline__ void fetch_step(dense_ring<Shape> const& ring, CUtensorMap const& a,
                                           CUtensorMap const& b, i32 byte, i32 a_row, i32 b_block,
                                           i32 box_blocks, int rank) {
  namespace ptx = cuda::ptx;
  wait_for(ring.empty(), ring.phase ^ 1);
  ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, ring.full(),
                                 Shape::stage_bytes);
  ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, ring.a(), &a, {byte, a_row},
                            ring.full());
#pragma unroll
  for (int part = 0; part < Shape::cols / (128 * Shape::cluster); ++part) {
    int const box = rank + part * Shape::cluster;
    i32 const at[5] = {byte, 0, 0, 0, b_block + box * box_blocks};
    u8* const to = ring.b() + box * 128 * 128;
    if constexpr (Shape::cluster > 1)
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &b, at, ring.full(),
                                u16((1 << Shape::cluster) - 1));
    else
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, &b, at, ring.full());
  }
}

/// Says which tile comes next, for the threads that wait for the next stage.
template <class Shape>
__device__ __forceinline__ void announce(dense_ring<Shape>& ring, announced_tile const& tile) {
  wait_for(ring.shared.taken + ring.tiles % 2, ring.tiles / 2 % 2 ^ 1);
  ring.shared.tile[ring.tiles++ % 2] = tile;
}
/// A stage without bytes.
template <class Shape>
__device__ __forceinline__ void pass_stage(dense_ring<Shape>& ring) {
  wait_for(ring.empty(), ring.phase ^ 1);
  cuda::ptx::mbarrier_arrive(ring.full());
  ring.advance();
}

/// Fetches all tiles of this block, and says at the end that there is none.
template <class Shape>
__device__ __forceinline__ void fetch_tiles(dense_work const& work, CUtensorMap const& a,
                                            CUtensorMap const& b, dense_ring<Shape> ring) {
  int const rank = int(cuda::ptx::get_sreg_cluster_ctarank());
  i32 const box_blocks = 128 >> work.log2_block;
  typename Shape::walk walk(work.segments, blockIdx.x / Shape::cluster, gridDim.x / Shape::cluster);
  announced_tile tile;
  while (walk.next(tile)) {
    auto const taken = work.taken_of(tile, Shape::rows * Shape::cluster, Shape::cols);
    if (!taken.any) continue;
    i32 const b_block = i32(work.b_row(tile) >> work.log2_block);
    tile.row += rank * Shape::rows;
    tile.is_whole = taken.all && tile.row + Shape::rows <= tile.row_end &&
                    tile.col + Shape::cols <= work.segments.cols;
    announce(ring, tile);
    if (work.steps == 0) pass_stage(ring);
    for (i32 step = 0; step < work.steps; ++step, ring.advance())
      fetch_step(ring, a, b, step * 128, i32(tile.row), b_block, box_blocks, rank);
  }
  tile.segment = -1;
  announce(ring, tile);
  pass_stage(ring);
}

/// The tile that the next stage begins.
template <class Shape>
__device__ __forceinline__ announced_tile take_tile(dense_ring<Shape>& ring) {
  wait_for(ring.full(), ring.phase);
  announced_tile const tile = ring.shared.tile[ring.tiles % 2];
  __syncwarp();
  if (threadIdx.x % 32 == 0) cuda::ptx::mbarrier_arrive(ring.shared.taken + ring.tiles % 2);
  ++ring.tiles;
  return tile;
}

/// Lets the next bytes into a stage that this warpgroup has read, in every block of the cluster.
template <class Shape>
__device__ __forceinline__ void release(dense_ring<Shape> const& ring, int stage) {
  u32 const thread = threadIdx.x % 128;
  if (thread < Shape::cluster) hopper::arrive_in_cluster(ring.shared.empty + stage, thread);
}

/// d (64 x Cols) += this warpgroup's rows of A times B^T.
template <class Mma, class Shape>
__device__ __forceinline__ void multiply_tile(dense_ring<Shape>& ring, i32 steps, int a_row,
                                              float (&d)[Shape::cols / 2]) {
  for (i32 step = 0; step < steps; ++step, ring.advance()) {
    wait_for(ring.full(), ring.phase);
    u32 const a = ring.descriptor() + a_row * 8;
    u32 const b = ring.descriptor() + Shape::a_bytes / 16;
    hopper::wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      Mma::template multiply<Shape::cols>(d, dense_tile(a + 2 * k), dense_tile(b + 2 * k), 1);
    hopper::wgmma_commit();
    hopper::wgmma_wait<1>();
    if (step != 0) release(ring, ring.last_stage());
  }
  hopper::wgmma_wait<0>();
  hopper::wgmma_hold(d);
  if (steps != 0) release(ring, ring.last_stage());
}

/// The same with sums that start afresh in every stage. Two sets of them take turns: while one is multiplied,
/// the other is added.
template <class Mma, class Shape>
__device__ __forceinline__ void multiply_tile_promoted(dense_ring<Shape>& ring, i32 steps,
                                                       int a_row, float (&d)[Shape::cols / 2]) {
  constexpr int parts = Shape::cols / 64;
  static_assert(parts % 2 == 0, "each step begins with the first set");
  float sums[2][32];
#pragma unroll
  for (float& sum : sums[1]) sum = 0;
  for (i32 step = 0; step < steps; ++step, ring.advance()) {
    wait_for(ring.full(), ring.phase);
    u32 const stage = __shfl_sync(~0u, ring.descriptor(), 0);  // known to be uniform
    u32 const a = stage + a_row * 8;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      u32 const b = stage + Shape::a_bytes / 16 + part * 64 * 8;
      auto& now = sums[part % 2];
      auto& last = sums[1 - part % 2];
      // The compiler would serialize all wgmma if sums that are added were under way from step to step.
      if (part == 0) {
        hopper::wgmma_wait<0>();
        hopper::wgmma_hold(last);
      }
      hopper::wgmma_hold(now);
      hopper::wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; ++k)
        Mma::template multiply<64>(now, dense_tile(a + 2 * k), dense_tile(b + 2 * k), k != 0);
      hopper::wgmma_commit();
      hopper::wgmma_wait<1>();
      hopper::wgmma_hold(last);
      if (part == 0 && step != 0) release(ring, ring.last_stage());
#pragma unroll
      for (int i = 0; i < 32; ++i) d[(part + parts - 1) % parts * 32 + i] += last[i];
    }
  }
  hopper::wgmma_wait<0>();
  hopper::wgmma_hold(sums[1]);
  if (steps != 0) release(ring, ring.last_stage());
#pragma unroll
  for (int i = 0; i < 32; ++i) d[(parts - 1) * 32 + i] += sums[1][i];
}

template <class TA, class TB, bool Fast, class Shape, class Epilogue>
__device__ __forceinline__ void make_tiles(dense_work const& work, Epilogue const& epilogue,
                                           dense_ring<Shape> ring) {
  using mma = hopper::wgmma<TA, TB>;
  constexpr bool is_promoted = mma::k == 32 && !Fast;
  int const a_row = __shfl_sync(~0u, int(threadIdx.x / 128 - 1) * 64, 0);  // known to be uniform
  int const warp = int(threadIdx.x / 32 % 4);
  int const first = a_row + warp * 16 + int(threadIdx.x % 32 / 4);
  for (;;) {
    announced_tile const tile = take_tile(ring);
    if (tile.segment < 0) break;
    float d[Shape::cols / 2];
#pragma unroll
    for (float& sum : d) sum = 0;
    if (work.steps == 0) {
      release(ring, ring.stage);
      ring.advance();
    }
    if constexpr (is_promoted)
      multiply_tile_promoted<mma>(ring, work.steps, a_row, d);
    else
      multiply_tile<mma>(ring, work.steps, a_row, d);
    bool const is_permuted = work.log2_block != 0;
    i64 const row = tile.row + first;
    if (is_permuted && tile.is_whole)
      hand_over<true>(work.segments, work.filter, true, epilogue, tile, row, d);
    else
      hand_over<false>(work.segments, work.filter, is_permuted, epilogue, tile, row, d);
  }
}

template <class TA, class TB, bool Fast, class Shape, class Epilogue>
static __global__ void __launch_bounds__(Shape::threads, 1)
    dense_kernel(dense_work const __grid_constant__ work, CUtensorMap const __grid_constant__ a,
                 CUtensorMap const __grid_constant__ b, Epilogue const __grid_constant__ epilogue) {
  if constexpr (target::has_wgmma) {
    namespace ptx = cuda::ptx;
    extern __shared__ u8 dense_memory[];
    __shared__ dense_barriers<Shape> shared;
    u32 const unaligned = u32(__cvta_generic_to_shared(dense_memory)) % 1024;
    u8* const data = dense_memory + (1024 - unaligned) % 1024;
    u32 const tile = __shfl_sync(~0u, u32(hopper::swizzled_tile(data)), 0);  // known to be uniform
    // Likewise, or every wait begins by computing it.
    u32 const barriers = __shfl_sync(~0u, u32(__cvta_generic_to_shared(&shared)), 0);
    dense_ring<Shape> const ring{
        data, tile, *static_cast<dense_barriers<Shape>*>(__cvta_shared_to_generic(barriers))};
    if (threadIdx.x == 0) {
      asm volatile("prefetch.tensormap [%0];" ::"l"(&a) : "memory");
      asm volatile("prefetch.tensormap [%0];" ::"l"(&b) : "memory");
      for (int i = 0; i < Shape::stages; ++i) {
        ptx::mbarrier_init(shared.full + i, 1);
        ptx::mbarrier_init(shared.empty + i, 2 * Shape::cluster);
      }
      for (mbarrier& taken : shared.taken) ptx::mbarrier_init(&taken, 8);
      ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    wait_for_earlier_work();
    if (threadIdx.x < 128) {
      hopper::give_registers<56>();
      if (threadIdx.x == 0) fetch_tiles(work, a, b, ring);
      __syncwarp();  // or the rest of the warp waits below, and slows its first thread down
    } else {
      hopper::take_registers<224>();
      make_tiles<TA, TB, Fast>(work, epilogue, ring);
    }
    // A block's memory is its cluster's until all are done.
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <class TA, class TB, bool Fast, class Shape, class Epilogue>
void launch_dense_shape(stream_policy where, dense_work const& work, CUtensorMap const& a,
                        CUtensorMap const& b, Epilogue const& epilogue) {
  auto* const kernel = dense_kernel<TA, TB, Fast, Shape, Epilogue>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  Shape::shared_bytes),
             "asking for shared memory");
  i64 const clusters =
      resident_blocks(kernel, Shape::threads, Shape::shared_bytes) / Shape::cluster;
  i64 const tiles = tile_count(work.segments, Shape::rows * Shape::cluster, Shape::cols);
  launch_with({in_clusters(Shape::cluster), starting_early()}, where, kernel,
              dim3(unsigned(min(clusters, tiles) * Shape::cluster)), Shape::threads,
              Shape::shared_bytes, work, a, b, epilogue);
}

using dense_large = dense_shape<256, 2>;
using dense_small = dense_shape<128, 1>;

/// By waves of tiles on the current device. The small one is half the work, and takes slightly more than half
/// the time.
inline bool takes_large_tiles(gemm_segments const& work) {
  i64 const blocks = device_attribute(cudaDevAttrMultiProcessorCount);
  i64 const large_waves = ceil_div(2 * tile_count(work, 256, 256), blocks);
  i64 const small_waves = ceil_div(tile_count(work, 128, 128), blocks);
  return 20 * large_waves <= 11 * small_waves;
}

/// D = A B^T. A is work.rows x work.depth; rows [s work.cols, (s + 1) work.cols) of B are segment s's. Both
/// are is_mappable().
template <class TA, class TB, bool Fast, class Epilogue>
void launch_dense(stream_policy where, gemm_segments const& segments, void const* a, i64 a_stride,
                  void const* b, i64 b_stride, Epilogue const& epilogue,
                  tile_filter const& filter = {}) {
  require(has_hopper_code(),
          "the dense kernel needs a Hopper GPU and code for sm_90a; compile with "
          "-gencode arch=compute_90a,code=sm_90a, or leave the path to the library");
  if (segments.rows == 0 || segments.cols == 0) return;
  constexpr int width = Epilogue::width;
  u64 const bytes = u64(segments.depth) * (32 / hopper::wgmma<TA, TB>::k);
  u64 const b_rows = u64(segments.count) * u64(segments.cols);
  bool const is_whole = segments.cols % (4 * width) == 0;
  dense_work const work{segments, filter, i32(ceil_div(bytes, u64(128))),
                        is_whole ? std::countr_zero(4u * width) : 0};
  CUtensorMap a_map{};
  CUtensorMap b_map{};
  if (bytes != 0) {
    a_map = make_tensor_map<2>(a, {{bytes, u64(segments.rows)}, {u64(a_stride)}, {128, 128}});
    b_map =
        make_tensor_map<5>(b, permuted_rows(bytes, b_rows, u64(b_stride), is_whole ? width : 0));
  }
  if (takes_large_tiles(segments))
    launch_dense_shape<TA, TB, Fast, dense_large>(where, work, a_map, b_map, epilogue);
  else
    launch_dense_shape<TA, TB, Fast, dense_small>(where, work, a_map, b_map, epilogue);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
