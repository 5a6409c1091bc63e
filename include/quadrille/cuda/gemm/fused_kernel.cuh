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
    prepare(shared);
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

/// Tokens of a tile, and how many clusters share its K.
struct fused_choice {
  int tokens = 256;
  int split = 1;
};

/// Tiles of two thread blocks; with sizes on the device, at most this many.
inline i64 fused_tiles(gemm_segments const& work, int tokens) {
  i64 const along_rows = work.offsets == nullptr ? work.count * ceil_div(work.each, i64(tokens))
                                                 : work.rows / tokens + work.count;
  return along_rows * ceil_div(work.cols, i64(fused::rows * fused::cluster));
}

/// The fastest for the shape by measured clocks of a slab, of a tile's end, and of splitting K.
inline fused_choice choose_fused(gemm_segments const& work, i64 clusters, bool may_split) {
  struct cost {
    int tokens;
    i64 slab;
    i64 tile;
  };
  constexpr cost costs[] = {{256, 1060, 5000}, {128, 600, 3000}, {64, 430, 2000}};
  constexpr i64 splitting = 13000;
  i64 const slabs = ceil_div(work.depth, i64(fused::slab));
  i64 const each = ceil_div(work.rows, i64(max(work.count, 1)));
  fused_choice best;
  i64 least = -1;
  for (cost const& c : costs) {
    i64 const tiles = work.count * ceil_div(each, i64(c.tokens)) *
                      ceil_div(work.cols, i64(fused::rows * fused::cluster));
    for (i64 split = 1; split == 1 || (may_split && c.tokens <= 128 && tiles * split <= clusters &&
                                       split <= slabs);
         ++split) {
      i64 const time =
          ceil_div(tiles * split, clusters) * (ceil_div(slabs, split) * c.slab + c.tile) +
          (split > 1 ? splitting : 0);
      if (least < 0 || time < least) {
        least = time;
        best = {c.tokens, int(split)};
      }
    }
  }
  return best;
}

/// Bytes of workspace: counters, then sums.
inline std::size_t fused_counter_bytes(i64 tiles) {
  return std::size_t(ceil_div(tiles * fused::cluster * 4, i64(256)) * 256);
}
inline std::size_t fused_workspace(gemm_segments const& work, fused_choice choice) {
  if (choice.split == 1) return 0;
  i64 const tiles = fused_tiles(work, choice.tokens);
  return fused_counter_bytes(tiles) +
         std::size_t(tiles * choice.split * fused::cluster * fused::rows * choice.tokens * 4);
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

template <int Tokens, class R, class Epilogue>
void launch_fused_tiles(stream_policy where, gemm_segments const& work,
                        prepacked_ref<R, u8 const> const& w, bf16 const* x, i64 x_stride,
                        void* workspace, bool is_clear, Epilogue const& epilogue, int split) {
  auto* const kernel = fused::kernel<Tokens, R, Epilogue>;
  constexpr std::size_t shared = sizeof(fused::memory<R, Tokens>);
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)),
             "asking for shared memory");
  cudaLaunchAttribute pair{};
  pair.id = cudaLaunchAttributeClusterDimension;
  pair.val.clusterDim = {fused::cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(fused::cluster);
  config.blockDim = dim3(fused::threads);
  config.dynamicSmemBytes = shared;
  config.stream = where.stream;
  config.attrs = &pair;
  config.numAttrs = 1;
  int resident = 0;
  check_cuda(cudaOccupancyMaxActiveClusters(&resident, kernel, &config),
             "asking for the occupancy of a kernel");
  i64 const tiles = fused_tiles(work, Tokens);
  i64 const walkers = max(i64(1), min(tiles, i64(resident) / split));
  config.gridDim = dim3(unsigned(fused::cluster * split * walkers));
  CUtensorMap x_map{};
  CUtensorMap w_map{};
  if (work.depth != 0) {
    w_map = fused_w_map(w, fused::memory<R, Tokens>::slabs);
    x_map = make_tensor_map<2>(x, {{cuuint64_t(work.depth) * 2, cuuint64_t(work.rows)},
                                   {cuuint64_t(x_stride) * 2},
                                   {128, cuuint32_t(Tokens / fused::cluster)}});
  }
  auto* const counters = static_cast<u32*>(workspace);
  float4* partial = nullptr;
  if (split > 1) {
    partial = reinterpret_cast<float4*>(static_cast<u8*>(workspace) + fused_counter_bytes(tiles));
    if (!is_clear)
      check_cuda(cudaMemsetAsync(counters, 0, fused_counter_bytes(tiles), where.stream),
                 "clearing counters");
  }
  fused::arguments<R, Epilogue> const args{work, w, epilogue, split, partial, counters};
  check_cuda(cudaLaunchKernelEx(&config, kernel, args, x_map, w_map), "launching a kernel");
}

/// Clusters that run at once on the current device.
inline i64 fused_clusters() {
  return max(1, device_attribute(cudaDevAttrMultiProcessorCount) / fused::cluster);
}

/// Bytes of workspace that launch_fused uses on the current device.
inline std::size_t fused_workspace(gemm_segments const& work) {
  return fused_workspace(work, choose_fused(work, fused_clusters(), true));
}

/// Enqueues D = X W^T on the current device, which has_hopper_code(). X is_mappable(). Segment s takes
/// matrix s of w; w.outer is the epilogue's business. `workspace` is fused_workspace(work) bytes, aligned to 256;
/// null: small products are slower. Counters at its beginning are cleared, a launch more, unless is_clear: if
/// nothing but launch_fused for the same work has written to it since it was zeros, they are zeros.
template <class R, class Epilogue>
void launch_fused(stream_policy where, gemm_segments const& work,
                  prepacked_ref<R, u8 const> const& w, bf16 const* x, i64 x_stride, void* workspace,
                  Epilogue const& epilogue, bool is_clear = false) {
  require_equal(w.rows, work.cols, "the number of rows of the prepacked weights");
  require_equal(w.cols, work.depth, "the number of columns of the prepacked weights");
  require_equal(w.count, work.count, "the number of matrices of prepacked weights");
  require(
      has_hopper_code(),
      "the fused kernel needs Hopper's tensor cores; run it on sm_90 with code for sm_90a, or take "
      "another path");
  require(work.depth < i64(1) << 30, "K is too long for the fused kernel; it is less than 2^30");
  if (work.rows == 0 || work.cols == 0 || work.count == 0) return;
  fused_choice const choice = choose_fused(work, fused_clusters(), workspace != nullptr);
  auto const enqueue = [&]<int Tokens> {
    launch_fused_tiles<Tokens>(where, work, w, x, x_stride, workspace, is_clear, epilogue,
                               choice.split);
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
