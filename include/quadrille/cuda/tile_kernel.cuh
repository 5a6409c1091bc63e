// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Tile by tile: 64 or 128 x 128 elements are read once into shared memory and handed to a target along
/// their rows, to another along their columns, or to both.
///
/// Shared memory: the tile in the source's value type, row after row, with padding after every 16 rows. A
/// warp reads one 4-byte word of 8 neighbouring columns in 4 groups of 16 rows (or 16 and 2 of 32; of 128
/// rows, 4 and 8 or 8 and 4): the padding gives each group banks of its own. Lanes of one column are
/// neighbours, so that they share rotations, and write 32 or 64 contiguous bytes of codes. Thread blocks are
/// small: four or eight a multiprocessor wait for their tiles at different times.

#include <cuda_pipeline_primitives.h>

#include <quadrille/cuda/source.cuh>
#include <quadrille/cuda/target.cuh>

namespace quadrille::detail {

inline constexpr int tile_cols = 128;

/// Of a target along the columns: 128 rows, with twice the threads, if its rotation needs them or if it has
/// none. Then DRAM limits, and it takes longer runs of a column better; instructions limit otherwise.
template <class Cols>
struct tile_shape {
  static constexpr int rows =
      Cols::codec::lanes * Cols::codec::chunk > 64 || Cols::takes_amax ? 128 : 64;
  static constexpr int threads = 2 * rows;
  static constexpr int resident = 1024 / threads;
  static constexpr u32 order = 1024 / rows;  // tiles of a column that are neighbours in the grid
};

template <class Value, int Rows>
struct shared_tile {
  static constexpr int per_word = 4 / int(sizeof(Value));
  static constexpr int row_words = tile_cols / per_word;
  static constexpr int padding = 512 / Rows;  // words after 16 rows
  static constexpr int bytes = (Rows * row_words + Rows / 16 * padding) * 4;
  u32* words;

  /// Where a row starts. row_at(a) + row_at(b) is row_at(a + b) if b is a multiple of 16, or of a divisor of
  /// 16 that is larger than a.
  __device__ static constexpr int row_at(int row) { return row * row_words + row / 16 * padding; }
  __device__ u32* at(u32 row, u32 col) const {
    return words + row * row_words + row / 16 * padding + col / per_word;
  }

  /// N values of a row.
  template <int N>
  __device__ static void store(u32* to, float const (&x)[N]) {
#pragma unroll
    for (int v = 0; v < N / per_word / 4; ++v) {
      u32 w[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        float const* const from = x + (4 * v + k) * per_word;
        if constexpr (is_same_v<Value, float>)
          w[k] = bits_of(from[0]);
        else if constexpr (is_bf16<Value>)  // exact: the upper halves
          w[k] = __byte_perm(bits_of(from[0]), bits_of(from[1]), 0x7632);
        else
          w[k] = u32(__half_as_ushort(__float2half_rn(from[0]))) |
                 u32(__half_as_ushort(__float2half_rn(from[1]))) << 16;
      }
      reinterpret_cast<uint4*>(to)[v] = make_uint4(w[0], w[1], w[2], w[3]);
    }
  }

  template <int N>
  static constexpr int words_of = N / per_word;
  template <int Words>
  __device__ static void load(u32 const* from, u32 (&w)[Words]) {
#pragma unroll
    for (int v = 0; v < Words / 4; ++v) {
      uint4 const four = reinterpret_cast<uint4 const*>(from)[v];
      w[4 * v] = four.x;
      w[4 * v + 1] = four.y;
      w[4 * v + 2] = four.z;
      w[4 * v + 3] = four.w;
    }
  }

  /// Value `half` of a word.
  __device__ static float value(u32 word, int half) {
    if constexpr (is_same_v<Value, float>)
      return as_float(word);
    else if constexpr (is_bf16<Value>)
      return as_float(half == 0 ? word << 16 : word & 0xffff0000u);
    else
      return __half2float(__ushort_as_half(u16(half == 0 ? word : word >> 16)));
  }

  /// The amax of each block of a row's chunk, as take() gets it.
  template <class Target, int Words>
  __device__ static auto row_amaxes(u32 const (&w)[Words]) {
    if constexpr (Target::takes_amax && per_word == 2)
      return amaxes_of_words<Value, Target::codec::block_cols>(w);
    else
      return no_amax{};
  }
  struct no_amaxes {
    __device__ static no_amax of(int) { return {}; }
  };
  template <int Blocks>
  struct pair_amaxes {
    u32 pair[Blocks];
    __device__ block_amaxes<Blocks> of(int half) const {
      block_amaxes<Blocks> result;
#pragma unroll
      for (int b = 0; b < Blocks; ++b) result.at[b] = value(pair[b], half);
      return result;
    }
  };
  /// The amax of each block of a word's columns, as take() gets it.
  template <class Target, int N>
  __device__ static auto column_amaxes(u32 const (&w)[N]) {
    if constexpr (Target::takes_amax && per_word == 2) {
      constexpr int rows = Target::codec::block_cols;
      pair_amaxes<N / rows> result;
#pragma unroll
      for (int b = 0; b < N / rows; ++b)
        result.pair[b] = largest_pair_of<is_bf16<Value>, rows>(w + b * rows) & 0x7fff7fffu;
      return result;
    } else {
      return no_amaxes{};
    }
  }
};

/// x, which is computed before a loop: the compiler would rather compute cheap things anew in each turn.
__device__ __forceinline__ u32 computed_once(u32 x) {
  asm volatile("" : "+r"(x));
  return x;
}

template <class Target>
inline constexpr int target_chunk = [] {
  if constexpr (Target::exists)
    return Target::codec::chunk;
  else
    return 16;
}();

/// How thread blocks are laid over the matrix, a tile each: some tiles of a column are neighbours, so that what
/// they write along columns meets in the L2 cache.
struct tile_order {
  u32 rows;          // of tiles
  bool is_reversed;  // last rows first: what the pass before read last may still be in the L2 cache
};

/// Whole: rows and columns are multiples of the tile's, everything is aligned.
template <bool Whole, class Rows, class Cols, class Source>
__global__ static void __launch_bounds__(tile_shape<Cols>::threads, tile_shape<Cols>::resident)
    tile_kernel(Source source, Rows rows, Cols cols, tile_order order) {
  using value = typename Source::value;
  using shape = tile_shape<Cols>;
  constexpr int tile_rows = shape::rows;
  constexpr int tile_threads = shape::threads;
  using tile_type = shared_tile<value, tile_rows>;
  extern __shared__ uint4 memory[];
  __shared__ shared_scales outer[2];
  tile_type const tile{reinterpret_cast<u32*>(memory)};

  u32 tile_row = (blockIdx.z * gridDim.y + blockIdx.y) * shape::order + blockIdx.x % shape::order;
  u32 const tile_col = blockIdx.x / shape::order;
  if (tile_row >= order.rows) return;
  wait_for_earlier_work();
  if (order.is_reversed) tile_row = order.rows - 1 - tile_row;
  bool const is_first = tile_row == 0 && tile_col == 0;
  u32 const first_row = tile_row * tile_rows;
  u32 const first_col = tile_col * tile_cols;
  u32 const thread = threadIdx.x;
  auto const is_inside = [&](u32 row, u32 col) {
    return Whole || (row < u32(source.rows) && col < u32(source.cols));
  };

  // Read the tile: where it lies in memory as here, in the background, 16 bytes a thread and neighbours by
  // neighbours; otherwise in chunks.
  constexpr int row_chunk = target_chunk<Rows>;
  constexpr int lanes = tile_cols / row_chunk;
  constexpr int row_step = tile_threads / lanes;
  int const local_col = int(thread % lanes) * row_chunk;
  u32 const col = computed_once(first_col + local_col);
  u32* const mine = tile.at(thread / lanes, local_col);  // of the first of rows row_step apart
  if constexpr (Whole && Source::is_matrix) {
    constexpr int piece = 16 / int(sizeof(value));
    constexpr int pieces = tile_cols / piece;
    constexpr int step = tile_threads / pieces;
    u32 const at = thread % pieces * piece;
    u32* const to = tile.at(thread / pieces, at);
    auto const* from = source.address(first_row + thread / pieces, first_col + at);
#pragma unroll
    for (int k = 0; k < tile_rows / step; ++k) {
      __pipeline_memcpy_async(to + tile_type::row_at(k * step), from, 16);
      from = row_of(from, step, source.stride);
    }
    __pipeline_commit();
  } else {
#pragma unroll
    for (int k = 0; k < tile_rows / row_step; ++k) {
      u32 const row = first_row + thread / lanes + k * row_step;
      float x[row_chunk] = {};
      if (is_inside(row, col))
        source.values(source.template fetch<row_chunk, Whole>(row, col), row, col, x);
      tile_type::store(mine + tile_type::row_at(k * row_step), x);
    }
  }
  // The first half of the threads prepares for the rows, the other half for the columns.
  u32 const other = (threadIdx.x + tile_threads / 2) % tile_threads;
  if constexpr (Rows::exists)
    rows.prepare(outer[0], threadIdx.x, first_row, tile_rows,
                 Rows::is_row_scaled ? tile_col == 0 : is_first);
  if constexpr (Cols::exists)
    cols.prepare(outer[1], other, first_col, tile_cols,
                 Cols::is_row_scaled ? tile_row == 0 : is_first);
  if constexpr (Whole && Source::is_matrix) __pipeline_wait_prior(0);
  __syncthreads();

  // Not unrolled: the instruction cache holds a loop's body, and then one copy of it.
  if constexpr (Rows::exists) {
    auto state = rows.begin(outer[0]);
#pragma unroll 1
    for (int k = 0; k < tile_rows / row_step; ++k) {
      int const local_row = int(thread / lanes) + k * row_step;
      u32 const row = first_row + local_row;
      u32 w[tile_type::template words_of<row_chunk>];
      tile_type::load(mine + k * tile_type::row_at(row_step), w);
      auto const amax = tile_type::template row_amaxes<Rows>(w);
      float x[row_chunk];
#pragma unroll
      for (int i = 0; i < row_chunk; ++i)
        x[i] = tile_type::value(w[i / tile_type::per_word], i % tile_type::per_word);
      rows.template take<Whole>(state, x, amax, row, local_row, col / row_chunk,
                                is_inside(row, col));
    }
    rows.finish(state);
  }
  if constexpr (Cols::exists) {
    auto state = cols.begin(outer[1]);
    constexpr int chunk = Cols::codec::chunk;
    constexpr int groups = tile_rows / chunk;
    constexpr int step = tile_threads / groups;
    int const group_row = int(thread % groups) * chunk;
    u32 const row = computed_once(first_row + group_row);
    u32 const first_word = computed_once(thread / groups);
    u32 const* const from =
        tile.words + computed_once(tile_type::row_at(group_row) + thread / groups);
#pragma unroll 1
    for (int k = 0; k < tile_type::row_words / step; ++k) {
      int const word = int(first_word) + k * step;
      u32 w[chunk];
#pragma unroll
      for (int i = 0; i < chunk; ++i) w[i] = from[tile_type::row_at(i) + k * step];
      auto const amax = tile_type::template column_amaxes<Cols>(w);
#pragma unroll
      for (int half = 0; half < tile_type::per_word; ++half) {
        int const local = word * tile_type::per_word + half;
        u32 const at = first_col + local;
        float x[chunk];
#pragma unroll
        for (int i = 0; i < chunk; ++i) x[i] = tile_type::value(w[i], half);
        cols.template take<Whole>(state, x, amax.of(half), at, local, row / chunk,
                                  is_inside(row, at));
      }
    }
    cols.finish(state);
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <class Source, class Rows, class Cols>
void launch_tiles(stream_policy where, Source const& source, Rows const& rows, Cols const& cols,
                  bool is_reversed) {
  using shape = tile_shape<Cols>;
  constexpr std::size_t bytes = shared_tile<typename Source::value, shape::rows>::bytes;
  bool const is_whole = source.is_whole(tile_cols) && source.rows % shape::rows == 0 &&
                        rows.is_whole() && cols.is_whole();
  auto const kernel =
      is_whole ? tile_kernel<true, Rows, Cols, Source> : tile_kernel<false, Rows, Cols, Source>;
  if (bytes > 40 * 1024)  // with what the kernel declares itself, more than 48 KiB
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
        "asking for shared memory");
  i64 const columns = max(i64(1), ceil_div(source.cols, i64(tile_cols)));
  i64 const tiles = max(i64(1), ceil_div(source.rows, i64(shape::rows)));
  launch_early(where, kernel, grid_of(columns * shape::order, ceil_div(tiles, i64(shape::order))),
               shape::threads, bytes, source, rows, cols, tile_order{u32(tiles), is_reversed});
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
