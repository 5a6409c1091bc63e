// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The kernel of fused_block.cuh, and its launch.

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
    prepare(shared, args.split);
    wait_for_earlier_work();
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

}  // namespace fused

/// Tokens of a tile, and how many blocks share its K.
struct fused_choice {
  int tokens = 256;
  int split = 1;
  constexpr int blocks() const { return split == 1 ? 2 : split; }  // of a cluster
  constexpr int rows() const { return split == 1 ? 2 * fused::rows : fused::rows; }
};

/// The fastest for the shape by measured clocks of a slab, of a tile's end, and of splitting K; resident[n] is how
/// many clusters of n blocks run at once.
inline fused_choice choose_fused(gemm_segments const& work,
                                 i64 const (&resident)[fused::most_split + 1]) {
  struct cost {
    int tokens;
    i64 slab;
    i64 tile;
  };
  constexpr cost costs[] = {{256, 1050, 5000}, {128, 580, 3000}, {64, 400, 2000}};
  constexpr i64 splitting = 4000;
  i64 const slabs = ceil_div(work.depth, i64(fused::slab));
  i64 const each = ceil_div(work.rows, i64(max(work.count, 1)));
  fused_choice best;
  i64 least = -1;
  for (cost const& c : costs)
    for (int split = 1; split <= (c.tokens <= 128 ? fused::most_split : 1); ++split) {
      fused_choice const choice{c.tokens, split};
      i64 const tiles =
          work.count * ceil_div(each, i64(c.tokens)) * ceil_div(work.cols, i64(choice.rows()));
      i64 const time = ceil_div(tiles, resident[choice.blocks()]) *
                           (ceil_div(slabs, i64(split)) * c.slab + c.tile) +
                       (split > 1 ? splitting : 0);
      if (least < 0 || time < least) {
        least = time;
        best = choice;
      }
    }
  return best;
}

#pragma GCC visibility push(hidden)  // see stream.cuh

/// Prepacked weights as [groups][records along K][words]: boxes are some records of two groups.
template <class R>
CUtensorMap fused_w_map(prepacked_ref<R, u8 const> const& w, int slabs) {
  static auto const encode = tensor_map_encoder();
  constexpr cuuint64_t piece = prepacked_layout<R>::bytes / fused::pieces;
  cuuint64_t const extent[3] = {piece / 4, cuuint64_t(w.slabs() * fused::pieces),
                                cuuint64_t(w.count * w.groups())};
  cuuint64_t const stride[2] = {piece, piece * extent[1]};
  cuuint32_t const box[3] = {piece / 4, cuuint32_t(slabs * fused::pieces), 2};
  cuuint32_t const each[3] = {1, 1, 1};
  CUtensorMap map{};
  CUresult const status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 3, const_cast<u8*>(w.data), extent, stride, box,
             each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check_cuda(status == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "making a tensor map");
  return map;
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

/// What launch_fused does, and how many clusters of two run at once.
template <class R, class Epilogue>
fused_choice choose_fused(gemm_segments const& work, i64& clusters) {
  i64 resident[fused::most_split + 1] = {};  // the same whatever the tokens: one block fits
  for (int blocks = 2; blocks <= fused::most_split; ++blocks)
    resident[blocks] = fused_resident<64, R, Epilogue>(blocks);
  clusters = resident[2];
  return choose_fused(work, resident);
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
  fused_choice const choice{Tokens, split};
  i64 const tiles = tile_count(work, Tokens, choice.rows());
  CUtensorMap x_map{};
  CUtensorMap w_map{};
  if (work.depth != 0) {
    w_map = fused_w_map(w, fused::memory<R, Tokens>::slabs);
    x_map = make_tensor_map<2>(x, {{cuuint64_t(work.depth) * 2, cuuint64_t(work.rows)},
                                   {cuuint64_t(x_stride) * 2},
                                   {128, cuuint32_t(split == 1 ? Tokens / 2 : Tokens)}});
  }
  fused::arguments<R, Epilogue> args{work, w, epilogue, work.cols, split};
  if (split == 1) args.work.cols = ceil_div(work.cols, i64(2 * fused::rows)) * fused::rows;
  launch_with({in_clusters(unsigned(choice.blocks())), starting_early()}, where, kernel,
              dim3(unsigned(choice.blocks() * (split > 1 ? tiles : min(tiles, clusters)))),
              fused::threads, shared, args, x_map, w_map);
}

/// Enqueues D = X W^T on the current device, which has_hopper_code(). X is_mappable(). Segment s takes
/// matrix s of w; w.outer is the epilogue's business.
template <class R, class Epilogue>
void launch_fused(stream_policy where, gemm_segments const& work,
                  prepacked_ref<R, u8 const> const& w, bf16 const* x, i64 x_stride,
                  Epilogue const& epilogue) {
  require_equal(w.rows, work.cols, "the number of rows of the prepacked weights");
  require_equal(w.cols, work.depth, "the number of columns of the prepacked weights");
  require_equal(w.count, work.count, "the number of matrices of prepacked weights");
  require(
      has_hopper_code(),
      "the fused kernel needs Hopper's tensor cores; run it on sm_90 with code for sm_90a, or take "
      "another path");
  require(work.depth < i64(1) << 30, "K is too long for the fused kernel; it is less than 2^30");
  if (work.rows == 0 || work.cols == 0 || work.count == 0) return;
  i64 clusters = 0;
  fused_choice const choice = choose_fused<R, Epilogue>(work, clusters);
  auto const enqueue = [&]<int Tokens> {
    launch_fused_tiles<Tokens>(where, work, w, x, x_stride, epilogue, choice.split, clusters);
  };
  if (choice.tokens == 256)
    enqueue.template operator()<256>();
  else if (choice.tokens == 128)
    enqueue.template operator()<128>();
  else
    enqueue.template operator()<64>();
}

#pragma GCC visibility pop

}  // namespace quadrille::detail
