// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Row by row: each thread reads 16 or 32 consecutive elements and hands them to the target.
///
/// A block of 256 threads covers `lanes` threads along the columns x 256 / lanes rows: 16 x 16 where 16
/// rows share scales.

#include <utility>

#include <cooperative_groups.h>

#include <quadrille/cuda/source.cuh>
#include <quadrille/cuda/target.cuh>

namespace quadrille::detail {

inline constexpr int row_threads = 256;

/// How thread blocks are laid over the matrix: each works through tiles of rows, one after another: `deep` of them
/// through `depth` tiles, those after them through `shallow`, so that all end at about the same time. A thread
/// asks for its next elements before it works on the present ones.
struct row_tiling {
  u32 tiles;
  u32 deep;
  u32 depth;
  u32 shallow;
  int log2_lanes;
  bool is_reversed;  // last rows first: what the pass before read last may still be in the L2 cache

  __device__ u32 first(u32 block) const {
    return block < deep ? block * depth : deep * depth + (block - deep) * shallow;
  }
  __device__ u32 count(u32 block) const {
    return min(block < deep ? depth : shallow, tiles - first(block));
  }
  u32 blocks() const { return deep + ceil_div(tiles - deep * depth, shallow); }
};

/// Sum over the `lanes` threads of each row, in a fixed order; every thread gets its row's.
__device__ inline float sum_of_row(float mine, int row, int lane, int lanes) {
  __shared__ float sums[row_threads];
  float* const of_row = sums + row * lanes;
  of_row[lane] = mine;
  __syncthreads();
  for (int half = lanes / 2; half > 0; half /= 2) {
    if (lane < half) of_row[lane] = add(of_row[lane], of_row[lane + half]);
    __syncthreads();
  }
  return of_row[0];
}

/// The state of a thread. Where there is one outer scale each finds it: two divisions, but nothing waits for a
/// thread that does them.
template <class Target>
__device__ auto prepared(Target const& target, shared_scales& shared, u32 first, int count,
                         bool stores) {
  if constexpr (Target::shares_outer && !Target::is_row_scaled) {
    return target.begin_alone(stores && threadIdx.x == 0);
  } else {
    target.prepare(shared, threadIdx.x, first, count, stores);
    if constexpr (Target::shares_outer) __syncthreads();
    return target.begin(shared);
  }
}

/// The amax of each block, from elements as they lie in memory: where the source can tell and the target
/// wants it.
template <class Target, class Source, class Raw>
__device__ auto amax_of_raw(Source const& source, Raw const& raw) {
  if constexpr (Target::takes_amax)
    if constexpr (requires { source.template amax_of_blocks<Target::codec::block_cols>(raw); })
      return source.template amax_of_blocks<Target::codec::block_cols>(raw);
    else
      return no_amax{};
  else
    return no_amax{};
}
__device__ inline void clear(no_amax) {}
template <int Blocks>
__device__ void clear(block_amaxes<Blocks>& amax) {
#pragma unroll
  for (int b = 0; b < Blocks; ++b) amax.at[b] = 0;
}

/// A thread block's tiles: `count` of them, the first from row `first` on, each `step` rows after the one
/// before.
struct row_walk {
  u32 first;
  u32 count;
  u32 step;
};

/// Hands a thread its elements of all tiles; the target's state at the end.
template <bool Whole, class Target, class Source>
__device__ auto take_all(Source const& source, Target const& target, shared_scales& outer,
                         int log2_lanes, row_walk walk, bool stores) {
  constexpr int chunk = Target::codec::chunk;
  u32 const lanes = 1u << log2_lanes;
  u32 const rows = row_threads >> log2_lanes;
  int const local_row = int(threadIdx.x >> log2_lanes);
  u32 const cols = u32(source.cols);
  u32 const last = u32(source.rows) - 1;
  u32 const index = blockIdx.x * lanes + (threadIdx.x & (lanes - 1));
  u32 const col = index * chunk;
  u32 row = walk.first + local_row;
  float x[chunk];
  typename Source::template raw<chunk> raw{};
  if (row < u32(source.rows) && col < cols) raw = source.template fetch<chunk, Whole>(row, col);
  auto state = prepared(target, outer, walk.first, int(rows), stores);
#pragma unroll 1
  while (true) {
    auto amax = amax_of_raw<Target>(source, raw);
    source.values(raw, row, col, x);
    bool const is_inside = row < u32(source.rows) && col < cols;
    if constexpr (Target::is_square)
      if (!is_inside) {
        clear(amax);
#pragma unroll
        for (int i = 0; i < chunk; ++i) x[i] = 0;
      }
    if (walk.count > 1 && col < cols)  // what lies below the matrix is read as its last row
      raw = source.template fetch<chunk, Whole>(min(row + walk.step, last), col);
    target.template take<Whole>(state, x, amax, row, local_row, index, is_inside);
    if (--walk.count == 0) return state;
    row += walk.step;
    if constexpr (Target::is_row_scaled) {
      walk.first += walk.step;
      __syncthreads();
      state = prepared(target, outer, walk.first, int(rows), stores);
    }
  }
}

/// Whole: every chunk of every row is whole and aligned.
template <bool Whole, class Target, class Source>
__global__ static void __launch_bounds__(row_threads, Target::resident)
    row_kernel(Source source, Target target, row_tiling tiling) {
  constexpr int chunk = Target::codec::chunk;
  __shared__ shared_scales outer;
  u32 const lanes = 1u << tiling.log2_lanes;
  u32 const rows = row_threads >> tiling.log2_lanes;
  u32 const block = blockIdx.z * gridDim.y + blockIdx.y;
  u32 const tile = tiling.first(block);
  bool const stores = blockIdx.x == 0 && (Target::is_row_scaled || block == 0);
  if (tile >= tiling.tiles) return;
  wait_for_earlier_work();
  row_walk walk{(tiling.is_reversed ? tiling.tiles - 1 - tile : tile) * rows, tiling.count(block),
                tiling.is_reversed ? 0 - rows : rows};

  if constexpr (Source::has_statistic) {  // one thread block reads the whole row, twice
    u32 const lane = threadIdx.x & (lanes - 1);
    int const local_row = int(threadIdx.x >> tiling.log2_lanes);
    u32 const cols = u32(source.cols);
    auto state = prepared(target, outer, walk.first, int(rows), stores);
    while (true) {
      u32 const row = walk.first + local_row;
      bool const exists = row < u32(source.rows);
      float sum = 0;
      if (exists)
        for (u32 col = lane * chunk; col < cols; col += lanes * chunk)
          sum = add(sum, source.template partial<chunk>(row, col));
      float const statistic = source.statistic(sum_of_row(sum, local_row, int(lane), int(lanes)));
      float x[chunk];
      for (u32 index = lane; (index - lane) * chunk < cols; index += lanes) {
        bool const is_inside = exists && index * chunk < cols;
#pragma unroll
        for (int i = 0; i < chunk; ++i) x[i] = 0;
        if (is_inside) source.values(row, index * chunk, statistic, x);
        target.template take<Whole>(state, x, no_amax{}, row, local_row, index, is_inside);
      }
      if (--walk.count == 0) break;
      walk.first += walk.step;
      __syncthreads();
      if constexpr (Target::is_row_scaled)
        state = prepared(target, outer, walk.first, int(rows), stores);
    }
    target.finish(state);
  } else {
    auto state = take_all<Whole>(source, target, outer, tiling.log2_lanes, walk, stores);
    target.finish(state);
  }
}

/// First the amax, then the codes: a thread block reads its tiles again, last one first, from the L2 cache.
/// All thread blocks run at once. `amax` is target's, and may hold anything before.
template <bool Whole, class Amax, class Target, class Source>
__global__ static void __launch_bounds__(row_threads, Target::resident)
    measuring_row_kernel(Source source, Amax amax, Target target, u32 tiles, int log2_lanes) {
  __shared__ shared_scales outer;
  auto const grid = cooperative_groups::this_grid();
  u32 const rows = row_threads >> log2_lanes;
  u32 const first = u32(u64(blockIdx.y) * tiles / gridDim.y);
  u32 const count = u32(u64(blockIdx.y + 1) * tiles / gridDim.y) - first;
  u32 const last = (first + count - 1) * rows;
  bool const is_first = blockIdx.x == 0 && blockIdx.y == 0;
  if (is_first && threadIdx.x == 0) *amax.amax = 0;
  auto cleared = grid.barrier_arrive();
  auto largest =
      take_all<Whole>(source, amax, outer, log2_lanes, {first * rows, count, rows}, false);
  grid.barrier_wait(std::move(cleared));
  amax.finish(largest);
  grid.sync();
  take_all<Whole>(source, target, outer, log2_lanes, {last, count, 0 - rows}, is_first);
}

/// Threads along the columns: as many as waste few, at least those that share a rotation.
inline int log2_row_lanes(i64 chunks, int least) {
  int best = 0;
  while (1 << best < least) ++best;
  for (int log2 = best + 1; log2 <= 8; ++log2)
    if (ceil_div(chunks, i64(1) << log2) << log2 <= chunks + chunks / 8) best = log2;
  return best;
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <class Source, class Target>
void launch_rows(stream_policy where, Source const& source, Target const& target,
                 bool is_reversed) {
  using codec = typename Target::codec;
  i64 const chunks = ceil_div(source.cols, i64(codec::chunk));
  int const log2 = Target::is_square ? 4 : log2_row_lanes(chunks, codec::lanes);
  i64 const columns = Source::has_statistic ? 1 : max(i64(1), ceil_div(chunks, i64(1) << log2));
  i64 const tiles = max(i64(1), ceil_div(source.rows, i64(row_threads >> log2)));
  bool const is_whole = source.is_whole(codec::chunk) && target.is_whole();
  auto const kernel =
      is_whole ? row_kernel<true, Target, Source> : row_kernel<false, Target, Source>;
  // So many tiles a thread block that its start counts little, in whole waves of blocks, and a last wave of small ones.
  constexpr bool is_large = codec::chunk > 16;
  i64 const resident = max(i64(1), resident_blocks(kernel, row_threads, 0) / columns);
  i64 const shallow = tiles > resident && !is_large ? 2 : 1;
  i64 const others = max(i64(0), tiles - resident * shallow);
  i64 const slots = resident * max(i64(1), ceil_div(others, resident * (is_large ? 12 : 8)));
  i64 const depth = max(shallow, (others + (is_large ? slots / 2 : slots - 1)) / slots);
  i64 const deep = min(others / depth, slots);
  row_tiling const tiling{u32(tiles), u32(deep), u32(depth), u32(shallow), log2, is_reversed};
  launch_early(where, kernel, grid_of(columns, tiling.blocks()), row_threads, 0, source, target,
               tiling);
}

/// Finds amax and quantizes, in one launch; false if the matrix is too large for that.
template <class Source, class Amax, class Target>
bool launch_measuring_rows(stream_policy where, Source const& source, Amax const& amax,
                           Target const& target) {
  using codec = typename Target::codec;
  if (source.rows * source.cols * i64(sizeof(typename Source::value)) >
      device_attribute(cudaDevAttrL2CacheSize) * i64(3) / 4)
    return false;
  i64 const chunks = ceil_div(source.cols, i64(codec::chunk));
  int const log2 = log2_row_lanes(chunks, codec::lanes);
  i64 const columns = max(i64(1), ceil_div(chunks, i64(1) << log2));
  i64 const tiles = max(i64(1), ceil_div(source.rows, i64(row_threads >> log2)));
  bool const is_whole = source.is_whole(codec::chunk) && target.is_whole();
  auto const kernel = is_whole ? measuring_row_kernel<true, Amax, Target, Source>
                               : measuring_row_kernel<false, Amax, Target, Source>;
  i64 const at_once = min(tiles, resident_blocks(kernel, row_threads, 0) / columns);
  if (at_once == 0) return false;
  launch_with({all_at_once()}, where, kernel, dim3(unsigned(columns), unsigned(at_once)),
              row_threads, 0, source, amax, target, u32(tiles), log2);
  return true;
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
