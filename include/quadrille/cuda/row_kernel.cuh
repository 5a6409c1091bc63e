// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Row by row: each thread reads 16 or 32 consecutive elements and hands them to the target.
///
/// A block of 256 threads covers `lanes` threads along the columns x 256 / lanes rows: 16 x 16 where 16
/// rows share scales.

#include <quadrille/cuda/source.cuh>
#include <quadrille/cuda/target.cuh>

namespace quadrille::detail {

inline constexpr int row_threads = 256;
inline constexpr int amax_threads = 1024;

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

/// Thread blocks that a multiprocessor is to hold: fewer than the target says where elements of four bytes wait in
/// registers.
template <class Target, class Source>
constexpr int row_resident() {
  constexpr bool is_wide = Source::is_matrix && sizeof(typename Source::value) > 2;
  return is_wide ? min(Target::resident, 4) : Target::resident;
}

/// Whole: every chunk of every row is whole and aligned.
template <bool Whole, class Target, class Source>
__global__ static void __launch_bounds__(row_threads, row_resident<Target, Source>())
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

/// The amax of the tensor in parts, which the targets of a second kernel put together. Thread blocks fill the GPU
/// once; each leaves the largest of its tiles, and copies of it where there are more parts than blocks.
template <bool Whole, class Amax, class Source>
__global__ static void __launch_bounds__(amax_threads, 1)
    amax_kernel(Source source, Amax amax, u32 tiles, int log2_lanes) {
  constexpr int chunk = Amax::codec::chunk;
  using raw = typename Source::template raw<chunk>;
  // Tiles whose elements a thread has asked for: fewer where it must unpack them.
  constexpr bool unpacks = is_same_v<no_amax, decltype(amax_of_raw<Amax>(source, raw{}))>;
  constexpr u32 ahead = max(1, (unpacks ? 64 : 128) / int(sizeof(raw)));
  u32 const lanes = 1u << log2_lanes;
  u32 const rows = amax_threads >> log2_lanes;
  u32 const local_row = threadIdx.x >> log2_lanes;
  u32 const index = blockIdx.x * lanes + (threadIdx.x & (lanes - 1));
  u32 const col = index * chunk;
  u32 const cols = u32(source.cols);
  u32 const last = u32(source.rows) - 1;
  typename Amax::state largest{};
  raw parts[ahead]{};
  wait_for_earlier_work();
  // What lies below the matrix is read as its last row.
  auto const fetch = [&](raw& to, u32 tile) {
    if (tile < tiles && col < cols)
      to = source.template fetch<chunk, Whole>(min(tile * rows + local_row, last), col);
  };
#pragma unroll
  for (u32 i = 0; i < ahead; ++i) fetch(parts[i], blockIdx.y + i * gridDim.y);
#pragma unroll 1
  for (u32 first = blockIdx.y; first < tiles; first += ahead * gridDim.y)
#pragma unroll
    for (u32 i = 0; i < ahead; ++i) {
      u32 const tile = first + i * gridDim.y;
      if (tile >= tiles) break;
      float x[chunk];
      auto const known = amax_of_raw<Amax>(source, parts[i]);
      source.values(parts[i], min(tile * rows + local_row, last), col, x);
      amax.template take<Whole>(largest, x, known, 0, 0, index, col < cols);
      fetch(parts[i], tile + ahead * gridDim.y);
    }
  amax.finish_part(largest, blockIdx.y * gridDim.x + blockIdx.x, gridDim.x * gridDim.y);
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

/// Finds the tensor's amax, in amax_parts parts; false if there are more columns than thread blocks that do so.
template <class Source, class Amax>
bool launch_amax(stream_policy where, Source const& source, Amax const& amax) {
  using codec = typename Amax::codec;
  i64 const chunks = ceil_div(source.cols, i64(codec::chunk));
  int const log2 = log2_row_lanes(chunks, codec::lanes);
  i64 const columns = max(i64(1), ceil_div(chunks, i64(1) << log2));
  i64 const tiles = max(i64(1), ceil_div(source.rows, i64(amax_threads >> log2)));
  auto const kernel = source.is_whole(codec::chunk) ? amax_kernel<true, Amax, Source>
                                                    : amax_kernel<false, Amax, Source>;
  i64 const most = min(resident_blocks(kernel, amax_threads, 0), i64(amax_parts));
  if (columns > most) return false;
  launch_early(where, kernel, dim3(unsigned(columns), unsigned(min(tiles, most / columns))),
               amax_threads, 0, source, amax, u32(tiles), log2);
  return true;
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
