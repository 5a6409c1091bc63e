// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The kernel of wide_block.cuh, and how its tiles are launched.

#include <quadrille/cuda/gemm/fused_kernel.cuh>
#include <quadrille/cuda/gemm/wide_block.cuh>

namespace quadrille::detail {

namespace wide {
template <int Tokens, class R, class Epilogue>
static __global__ void __launch_bounds__(threads, 1)
    kernel(__grid_constant__ arguments<R, Epilogue> const args,
           __grid_constant__ CUtensorMap const x_map, __grid_constant__ CUtensorMap const w_map) {
  if constexpr (target::has_wgmma) {
    extern __shared__ __align__(1024) u8 dynamic[];
    auto& shared = *reinterpret_cast<memory<R, Tokens>*>(dynamic);
    prepare(shared, share<Tokens>(args), args.x_rows);
    ::cuda::ptx::barrier_cluster_arrive();
    cudaTriggerProgrammaticLaunchCompletion();
    int const copier = int(threadIdx.x - consumers) / 32;
    if (threadIdx.x < consumers) {
      hopper::take_registers<112>();
      ::cuda::ptx::barrier_cluster_wait();
      cudaGridDependencySynchronize();
      consume(args, shared);
    } else {
      hopper::give_registers<32>();
      if (copier < w_copiers) {  // what it copies to is this block's
        if (!args.is_w_early) cudaGridDependencySynchronize();
        if (fused::elect()) copy_w(args, w_map, shared, copier);
        __syncwarp();
        ::cuda::ptx::barrier_cluster_wait();
      } else {
        ::cuda::ptx::barrier_cluster_wait();
        if (args.work.offsets != nullptr) cudaGridDependencySynchronize();
        if (fused::elect()) copy_x(args, x_map, shared);
        __syncwarp();
      }
    }
    // The other block may still copy into this one's shared memory and arrive at its barriers.
    ::cuda::ptx::barrier_cluster_arrive();
    ::cuda::ptx::barrier_cluster_wait();
  }
}
}  // namespace wide

#pragma GCC visibility push(hidden)  // see stream.cuh

/// Enqueues tiles of some tokens and `slabs` slabs of rows, at most `pairs` at a time.
template <int Tokens, class R, class Epilogue>
void launch_wide_tiles(stream_policy where, gemm_segments const& work,
                       prepacked_ref<R, u8 const> const& w, bf16 const* x, i64 x_stride,
                       bool is_w_constant, Epilogue const& epilogue, int slabs, i64 pairs) {
  auto* const kernel = wide::kernel<Tokens, R, Epilogue>;
  using memory = wide::memory<R, Tokens>;
  static_assert(sizeof(memory) <= 226 * 1024);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  int(sizeof(memory))),
             "asking for shared memory");
  int const x_rows = fused_x_rows(work, Tokens, 1);
  CUtensorMap x_map{};
  CUtensorMap w_map{};
  if (work.depth != 0) {
    w_map = fused_w_map(w, memory::slabs, 1);
    x_map = fused_x_map(x, x_stride, work, x_rows);
  }
  wide::arguments<R, Epilogue> args{
      work, w, epilogue, work.cols, slabs, x_rows, is_w_constant && work.offsets == nullptr};
  args.work.cols = ceil_div(w.groups(), i64(slabs)) * 64;
  i64 const tiles = tile_count(args.work, Tokens, 64);
  launch_with({in_clusters(2), starting_early()}, where, kernel,
              dim3(unsigned(2 * min(tiles, pairs))), wide::threads, sizeof(memory), args, x_map,
              w_map);
}

#pragma GCC visibility pop

}  // namespace quadrille::detail
