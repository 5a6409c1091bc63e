// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The kernel of fused_block.cuh, and how its tiles are launched.

#include <quadrille/cuda/gemm/fused_block.cuh>

namespace quadrille::detail {

namespace fused {
template <int Tokens, class R, class Epilogue>
static __global__ void __launch_bounds__(threads, 1)
    kernel(__grid_constant__ arguments<R, Epilogue> const args,
           __grid_constant__ CUtensorMap const x_map, __grid_constant__ CUtensorMap const w_map) {
  if constexpr (target::has_wgmma) {
    extern __shared__ __align__(1024) u8 dynamic[];
    auto& shared = *reinterpret_cast<memory<R, Tokens>*>(dynamic);
    prepare(shared, args.split, args.x_rows);
    cudaTriggerProgrammaticLaunchCompletion();
    if (threadIdx.x < consumers || args.work.offsets != nullptr) cudaGridDependencySynchronize();
    if (threadIdx.x >= consumers) {
      hopper::give_registers<40>();
      if (threadIdx.x < consumers + 32 && elect()) produce(args, x_map, w_map, shared);
      __syncwarp();
    } else {
      hopper::take_registers<232>();
      consume(args, shared);
    }
    // The other block may still copy into this one's shared memory and arrive at its barriers.
    ::cuda::ptx::barrier_cluster_arrive();
    ::cuda::ptx::barrier_cluster_wait();
  }
}

/// Of a cluster.
constexpr int blocks(int split) { return split == 1 ? 2 : split; }
constexpr int rows_of_cluster(int split) { return split == 1 ? 2 * rows : rows; }

}  // namespace fused

#pragma GCC visibility push(hidden)  // see stream.cuh

/// Prepacked weights as [groups][records along K][words]: boxes are some records of some groups.
template <class R>
CUtensorMap fused_w_map(prepacked_ref<R, u8 const> const& w, int slabs, int groups) {
  static auto const encode = tensor_map_encoder();
  constexpr cuuint64_t piece = prepacked_layout<R>::bytes / fused::pieces;
  cuuint64_t const extent[3] = {piece / 4, cuuint64_t(w.slabs() * fused::pieces),
                                cuuint64_t(w.count * w.groups())};
  cuuint64_t const stride[2] = {piece, piece * extent[1]};
  cuuint32_t const box[3] = {piece / 4, cuuint32_t(slabs * fused::pieces), cuuint32_t(groups)};
  cuuint32_t const each[3] = {1, 1, 1};
  CUtensorMap map{};
  CUresult const status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 3, const_cast<u8*>(w.data), extent, stride, box,
             each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check_cuda(status == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "making a tensor map");
  return map;
}

/// Rows of X: boxes are 64 k of some tokens.
inline CUtensorMap fused_x_map(bf16 const* x, i64 stride, gemm_segments const& work, int tokens) {
  return make_tensor_map<2>(x, {{cuuint64_t(work.depth) * 2, cuuint64_t(work.rows)},
                                {cuuint64_t(stride) * 2},
                                {128, cuuint32_t(tokens)}});
}

/// How many of them a box brings, where `boxes` make a tile. If there is only one tile along the tokens, few more than
/// there are, or none: a box that reaches beyond the last one takes longer.
inline int fused_x_rows(gemm_segments const& work, int tokens, int boxes) {
  if (work.offsets != nullptr || work.each >= tokens) return tokens / boxes;
  int const rows = int(ceil_div(work.each, i64(boxes)));
  // The second box begins where the pattern of swizzled rows does.
  return boxes == 1 ? rows : int(ceil_div(rows, 8)) * 8;
}

/// Clusters of that many thread blocks that run at once. A cluster lies in one GPC, and these have an uneven number
/// of multiprocessors: an H200 runs 66 of two, but only 30 of four.
template <int Tokens, class R, class Epilogue>
i64 fused_resident(int blocks) {
  auto* const kernel = fused::kernel<Tokens, R, Epilogue>;
  constexpr std::size_t shared = sizeof(fused::memory<R, Tokens>);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
             "asking for shared memory");
  cudaLaunchAttribute cluster = in_clusters(unsigned(blocks));
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(blocks));
  config.blockDim = dim3(fused::threads);
  config.dynamicSmemBytes = shared;
  config.attrs = &cluster;
  config.numAttrs = 1;
  int resident = 0;
  check_cuda(cudaOccupancyMaxActiveClusters(&resident, kernel, &config),
             "asking for the occupancy of a kernel");
  return max(1, resident);
}

/// Enqueues tiles of some tokens, `clusters` at a time unless K is split.
template <int Tokens, class R, class Epilogue>
void launch_fused_tiles(stream_policy where, gemm_segments const& work,
                        prepacked_ref<R, u8 const> const& w, bf16 const* x, i64 x_stride,
                        Epilogue const& epilogue, int split, i64 clusters) {
  auto* const kernel = fused::kernel<Tokens, R, Epilogue>;
  constexpr std::size_t shared = sizeof(fused::memory<R, Tokens>);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
             "asking for shared memory");
  int const blocks = fused::blocks(split);
  i64 const tiles = tile_count(work, Tokens, fused::rows_of_cluster(split));
  int const x_rows = fused_x_rows(work, Tokens, split == 1 ? 2 : 1);
  CUtensorMap x_map{};
  CUtensorMap w_map{};
  if (work.depth != 0) {
    w_map = fused_w_map(w, fused::memory<R, Tokens>::slabs, 2);
    x_map = fused_x_map(x, x_stride, work, x_rows);
  }
  fused::arguments<R, Epilogue> args{work, w, epilogue, work.cols, split, x_rows};
  if (split == 1) args.work.cols = ceil_div(work.cols, i64(2 * fused::rows)) * fused::rows;
  launch_with({in_clusters(unsigned(blocks)), starting_early()}, where, kernel,
              dim3(unsigned(blocks * (split > 1 ? tiles : min(tiles, clusters)))), fused::threads,
              shared, args, x_map, w_map);
}

#pragma GCC visibility pop

}  // namespace quadrille::detail
