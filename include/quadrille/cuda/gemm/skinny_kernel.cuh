// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = X W^T for few rows of X (tokens) and prepacked 4-bit W: bound by reading W once. Any GPU from sm_80.
///
/// W is the A operand of mma.sync m16n8k16 and X the B operand. Both come through shared memory: W by a ring of
/// each warp's own, X by one that all share. The multiplying warps stand in a grid of
/// row_warps x k_warps: each owns `units` units of 16 rows of W, and every k_warps-th stretch of `steps`
/// records along K. (Where twice as many warps share the last row warp's stretches, the multiprocessor's four
/// schedulers have as many warps each.) Another warp keeps the ring full, or two where the copy engine cannot, or
/// four that decode X where it is quantized: see skinny_source.cuh. A block takes
/// tile after tile (all of K, for row_warps * units units and up to 8 * Tiles tokens), and both streams
/// run on across the seam. The order of every sum is fixed.
///
/// Shared memory:
///   stages    of X: k_warps x steps tiles of tokens x 128 bytes, swizzled as the copy engine does
///   weights   of each multiplying warp: `ahead` stretches, codes and then scales
///   sums      FP32: buffers x tokens x (rows + 4), to add the k_warps and to turn rows into columns
///   barriers  for each stage: full (the copies have landed), empty (every multiplying warp has read it)
///   first     tiles before each segment, if their sizes are on the device

#include <quadrille/cuda/gemm/skinny_source.cuh>

namespace quadrille::detail {

/// A warp: first[s] = tiles before segment s.
template <class Shape>
__device__ __forceinline__ void count_tiles(gemm_segments const& all, i64 tiles_along_n,
                                            u32* first) {
  int const lane = int(threadIdx.x) % 32;
  u32 before = 0;
  for (i32 base = 0; base < all.count; base += 32) {
    i32 const s = base + lane;
    u32 count = 0;
    if (s < all.count)
      count = u32(ceil_div(all.first_row(s + 1) - all.first_row(s), i64(Shape::tokens)) *
                  tiles_along_n);
    u32 sum = count;
    for (int step = 1; step < 32; step *= 2) {
      u32 const other = __shfl_up_sync(0xffffffffu, sum, step);
      if (lane >= step) sum += other;
    }
    if (s < all.count) first[s] = before + sum - count;
    before += __shfl_sync(0xffffffffu, sum, 31);
  }
  if (lane == 0) first[all.count] = before;
}

/// What the copying warps do first, while the others ask for W.
template <class R, class X, class Shape, class Epilogue>
__device__ __forceinline__ void prepare(skinny_arguments<R, X, Epilogue> const& args,
                                        skinny_block<R, X, Shape, Epilogue> const& block,
                                        int warp) {
  for (int i = warp; i < args.grid.depth && block.lane == 0; i += X::copiers) {
    ::cuda::ptx::mbarrier_init(block.full + i, u32(max(1, args.x.copied_by * 32)));
    ::cuda::ptx::mbarrier_init(block.empty + i, u32(args.grid.warps()));
  }
  if constexpr (target::compute_capability >= 90)
    ::cuda::ptx::fence_mbarrier_init(::cuda::ptx::sem_release, ::cuda::ptx::scope_cluster);
  if (args.all.offsets != nullptr && warp == 0) {
    block.wait_for_earlier();
    count_tiles<Shape>(args.all, ceil_div(args.w.groups() * 4, i64(block.block_units())),
                       block.first);
  }
  // Each block asks for other parts of X.
  if constexpr (X::is_decoded) {
    constexpr u32 chunk = decltype(args.x.matrix)::chunk;
    u32 const chunks = u32(args.w.cols) / chunk;  // of a row
    u32 const thread = (blockIdx.x * X::copiers + u32(warp)) * 32 + u32(block.lane);
    u32 const i = thread * (256 / chunk);  // those of 128 bytes of codes
    if (i64(i) < args.all.rows * chunks) args.x.matrix.prefetch(i / chunks, i % chunks * chunk);
  } else if constexpr (target::compute_capability >= 90) {
    if (args.x.copied_by == 0 && warp == 0 && block.lane == 0)
      for (i32 k = i32(blockIdx.x); k < block.slabs; k += i32(gridDim.x))
        hopper::prefetch(args.map, k * 128, 0);
  }
}

template <class R, class X, class Shape, class Epilogue>
static __global__ void __launch_bounds__((Shape::max_warps + X::copiers) * 32, 1)
    skinny_kernel(__grid_constant__ skinny_arguments<R, X, Epilogue> const args) {
  using shape = Shape;
  extern __shared__ __align__(1024) u8 skinny_shared[];
  skinny_grid const& grid = args.grid;
  int const warps = grid.warps();
  int const cols = grid.row_warps * shape::units * 16;
  int const stage_bytes = grid.k_warps * shape::steps * shape::tile_bytes;
  using block_type = skinny_block<R, X, Shape, Epilogue>;
  int const weights = grid.depth * stage_bytes;
  auto* const sums = reinterpret_cast<float*>(skinny_shared + weights +
                                              warps * shape::ahead * block_type::stretch_bytes);
  auto* const full =
      reinterpret_cast<skinny_barrier*>(sums + grid.buffers * shape::tokens * (cols + 4));
  auto* const empty = full + shape::max_depth;
  auto* const first = reinterpret_cast<u32*>(empty + shape::max_depth);
  i32 const slabs = i32(args.w.slabs());
  block_type const block{args,
                         full,
                         empty,
                         ampere::shared_address(skinny_shared),
                         ampere::shared_address(skinny_shared + weights),
                         sums,
                         first,
                         args.rounds,
                         slabs,
                         int(threadIdx.x) % 32};
  int const warp = int(threadIdx.x) / 32;
  if (warp < warps) {
    int const whole_rows = grid.row_warps - int(grid.splits_last);
    int const half = warp - whole_rows * grid.k_warps;  // among those that share stretches
    if (half < 0) {
      int const k_warp = warp / whole_rows;
      block.template multiply_tiles<shape::steps>(
          warp, {warp % whole_rows, k_warp, 0, k_warp * shape::steps});
    } else if constexpr (shape::can_split) {
      block.template multiply_tiles<shape::steps / 2>(
          warp, {whole_rows, half / 2, half % 2, half * (shape::steps / 2)});
    }
    return;
  }
  prepare(args, block, warp - warps);
  block.meet();
  if constexpr (X::is_decoded) {
    decode_activations(args.x, block, warp - warps);
  } else if (args.x.copied_by != 0) {
    block.copy_activations(warp - warps);
  } else if constexpr (target::compute_capability >= 90) {
    if (warp == warps && block.lane == 0) block.fetch_activations();
  }
}

// ---- host

/// Shared memory of a block; 0 if there is no room. Chooses depth and buffers.
template <class R, class Shape>
std::size_t skinny_fit(skinny_grid& grid, i32 segments, std::size_t most) {
  using shape = Shape;
  std::size_t const buffer =
      std::size_t(shape::tokens * (grid.row_warps * shape::units * 16 + 4)) * 4;
  std::size_t const stage = std::size_t(grid.k_warps * shape::steps * shape::tile_bytes);
  using layout = prepacked_layout<R>;
  std::size_t const weights =
      std::size_t(grid.warps() * shape::ahead * shape::steps * shape::units) *
      (layout::unit_bytes + layout::unit_scale_bytes);
  std::size_t const least = weights + 16 * shape::max_depth + std::size_t(segments + 1) * 4;
  for (int depth : {4, 3, 2, 1})
    for (int buffers : {grid.k_warps, 1}) {
      grid.buffers = buffers;
      if (least + grid.buffers * buffer + depth * stage > most) continue;
      grid.depth =
          int(min((most - least - grid.buffers * buffer) / stage, std::size_t(shape::max_depth)));
      return least + grid.buffers * buffer + grid.depth * stage;
    }
  return 0;
}

/// How the warps of a block stand: so that the multiprocessors' shares are equal, and that enough warps are
/// busy in each.
template <class R, class Shape>
skinny_grid skinny_choose(gemm_segments const& all, i64 width, i64 token_tiles, i64 processors,
                          std::size_t shared) {
  using shape = Shape;
  i64 const units = ceil_div(all.cols, i64(64)) * 4;
  i64 const slabs = max(i64(1), ceil_div(all.depth, i64(64)));
  skinny_grid best;
  double best_cost = 0;
  for (int k_warps = 1; k_warps <= shape::max_k_warps; k_warps *= 2)
    for (int row_warps = 1; row_warps * k_warps <= shape::max_warps; ++row_warps) {
      skinny_grid grid{row_warps, k_warps};
      // A multiple of four warps, if there is room: none of a multiprocessor's four schedulers has more of them.
      int const more = (row_warps + 1) * k_warps;
      if (shape::can_split && row_warps * k_warps % 4 != 0 && more % 4 == 0 &&
          more <= shape::max_warps) {
        grid.splits_last = true;
        grid.splits_last = skinny_fit<R, Shape>(grid, all.count, shared) != 0 && grid.depth > 1;
      }
      i64 const each = row_warps * shape::units;
      if (each * 16 % width != 0 || (shape::warpgroups && row_warps % 4 != 0) ||
          skinny_fit<R, Shape>(grid, all.count, shared) == 0)
        continue;
      i64 const turns = ceil_div(ceil_div(units, each) * token_tiles, processors);
      i64 const stretch = k_warps * shape::steps;
      double const records = double(turns * each) * double(ceil_div(slabs, stretch) * stretch);
      double const warps = row_warps * k_warps;
      double const cost = records * max(1., 8 / warps) + double(turns) * (8 + k_warps) * 8;
      if (best.row_warps == 0 || cost < best_cost) {
        best = grid;
        best_cost = cost;
      }
    }
  return best;
}

/// Tiles along the tokens; segments' sizes may be on the device: at most so many.
template <class Shape>
i64 skinny_token_tiles(gemm_segments const& all) {
  return all.offsets == nullptr ? all.count * ceil_div(all.each, i64(Shape::tokens))
                                : all.rows / Shape::tokens + all.count;
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// The same on the current device.
template <class R, class Shape>
skinny_grid skinny_choose(gemm_segments const& all, i64 width) {
  return skinny_choose<R, Shape>(
      all, width, skinny_token_tiles<Shape>(all), device_attribute(cudaDevAttrMultiProcessorCount),
      std::size_t(device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)));
}

/// f(shape), the one for so many rows of X a segment.
template <class F>
void with_skinny_shape(gemm_segments const& all, F const& f) {
  i64 const each = all.offsets == nullptr ? all.each : ceil_div(all.rows, i64(all.count));
  if (each <= 8)
    f(skinny_shape<1, false>{});
  else if (each <= 16)
    f(skinny_shape<2, false>{});
  else if (has_hopper_code())
    f(skinny_shape<4, true>{});
  else
    f(skinny_shape<4, false>{});
}

/// Whether blocks should decode X themselves. Each decodes all of a segment's while it multiplies; that of a row takes
/// about as long as 18 rows of W.
inline bool skinny_decodes(gemm_segments const& all) {
  return all.offsets == nullptr && all.each <= skinny_shape<1, false>::tokens &&
         20 * all.each <= all.cols * all.count / device_attribute(cudaDevAttrMultiProcessorCount);
}

/// The part of D that a thread block makes at once: tokens, and rows of W.
struct skinny_extent {
  int tokens;
  int rows;
};
template <class R>
skinny_extent skinny_extent_of(gemm_segments const& all, i64 width) {
  skinny_extent extent{};
  with_skinny_shape(all, [&]<class Shape>(Shape) {
    extent = {Shape::tokens, skinny_choose<R, Shape>(all, width).row_warps * Shape::units * 16};
  });
  return extent;
}

/// Enqueues tiles as a grid makes them, of which skinny_fit fills in the rest.
template <class Shape, class R, class X, class Epilogue>
void launch_skinny_tiles(stream_policy where, gemm_segments const& all,
                         prepacked_ref<R, u8 const> w, X x, bool is_w_constant,
                         Epilogue const& epilogue, skinny_grid grid) {
  int const processors = device_attribute(cudaDevAttrMultiProcessorCount);
  int const shared = device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  std::size_t const bytes =
      grid.row_warps == 0 ? 0 : skinny_fit<R, Shape>(grid, all.count, std::size_t(shared));
  require(
      bytes != 0,
      "the product has too many segments for the decode kernel; a few thousand fit, call it for "
      "fewer at a time");
  auto const kernel = skinny_kernel<R, X, Shape, Epilogue>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
             "asking for shared memory");
  bool const is_hopper = is_for_sm_90(kernel);
  require(all.rows < i64(1) << 31, "the product has too many rows for the decode kernel");
  CUtensorMap map{};
  if constexpr (!X::is_decoded) {
    bool const can_map = is_hopper && is_mappable(x.data, x.stride * 2) && all.depth > 0 &&
                         all.depth < i64(1) << 30;  // the copy engine counts bytes in 31 bits
    x.copied_by = can_map ? 0 : X::copiers;
    // Rows beyond a segment's last one would cost time, and nobody asks for their sums.
    x.box_rows = i32(all.offsets == nullptr ? min(all.each, i64(Shape::tokens)) : Shape::tokens);
    if (can_map)
      map = make_tensor_map<2>(x.data, {{cuuint64_t(all.depth * 2), cuuint64_t(all.rows)},
                                        {cuuint64_t(x.stride * 2)},
                                        {128, cuuint32_t(x.box_rows)}});
  }
  i64 const units = i64(grid.row_warps) * Shape::units;
  i64 const tiles_along_n = ceil_div(w.groups() * 4, units);
  i64 const token_tiles = all.offsets == nullptr ? ceil_div(all.each, i64(Shape::tokens)) : 0;
  i64 const tiles = tiles_along_n * skinny_token_tiles<Shape>(all);
  require(
      tiles < i64(1) << 31,
      "the product has too many rows for the decode kernel; it is meant for a few, use another");
  launch_with(
      {starting_early(is_hopper)}, where, kernel, dim3(unsigned(min(tiles, i64(processors)))),
      unsigned(32 * (grid.warps() + X::copiers)), bytes,
      skinny_arguments<R, X, Epilogue>{all,
                                       w,
                                       x,
                                       epilogue,
                                       grid,
                                       u32(token_tiles),
                                       u32(tiles_along_n * token_tiles),
                                       i32(ceil_div(w.slabs(), i64(grid.k_warps * Shape::steps))),
                                       map,
                                       is_w_constant && all.offsets == nullptr,
                                       {}});
}

/// Enqueues D = X W^T on the current device, for any number of rows of X: fast up to 32 a segment, and
/// right beyond. Segment s takes matrix s of w; w.outer is the epilogue's business. Needs no workspace.
template <class R, class X, class Epilogue>
void launch_skinny(stream_policy where, gemm_segments const& all, prepacked_ref<R, u8 const> w,
                   X const& x, bool is_w_constant, Epilogue const& epilogue) {
  require_equal(w.rows, all.cols, "the number of rows of the prepacked weights");
  require_equal(w.cols, all.depth, "the number of columns of the prepacked weights");
  require_equal(w.count, all.count, "the number of matrices of prepacked weights");
  if (all.rows == 0 || all.cols == 0 || all.count == 0) return;
  auto const launch = [&]<class Shape>(Shape) {
    launch_skinny_tiles<Shape>(where, all, w, x, is_w_constant, epilogue,
                               skinny_choose<R, Shape>(all, Epilogue::width));
  };
  if constexpr (X::is_decoded)
    launch(skinny_shape<1, false>{});  // see skinny_decodes
  else
    with_skinny_shape(all, launch);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
