// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Tile by tile: 128 x 128 elements are read once into shared memory and handed to a target along their
/// rows, to another along their columns, or to both.
///
/// Shared memory: the tile in the source's value type, row after row, 16 bytes of padding after every 16
/// rows. A warp reads one 4-byte word of 4 neighbouring columns in 8 groups of 16 rows (or 8 and 4 of
/// 32): the padding gives each group banks of its own. Lanes of one column are neighbours, so that they
/// share rotations, and write 64 contiguous bytes of codes.

#include <cuda_pipeline_primitives.h>

#include <quadrille/cuda/source.cuh>
#include <quadrille/cuda/target.cuh>

namespace quadrille::detail {

inline constexpr int tile_side = 128;
inline constexpr int tile_threads = 256;

template <class Value>
struct shared_tile {
  static constexpr int per_word = 4 / int(sizeof(Value));
  static constexpr int row_words = tile_side / per_word;
  static constexpr int bytes = (tile_side * row_words + tile_side / 16 * 4) * 4;
  u32* words;

  __device__ static int row_at(int row) { return row * row_words + row / 16 * 4; }

  /// N values of a row, from column `col` on.
  template <int N>
  __device__ void store(int row, int col, float const (&x)[N]) const {
    u32* const to = words + row_at(row) + col / per_word;
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

  /// The same from global memory, 16 bytes at a time, in the background.
  template <int N, class T>
  __device__ void copy(int row, int col, T const* from) const {
    u32* const to = words + row_at(row) + col / per_word;
#pragma unroll
    for (int v = 0; v < N / per_word / 4; ++v)
      __pipeline_memcpy_async(to + 4 * v, reinterpret_cast<uint4 const*>(from) + v, 16);
  }
  template <int N>
  static constexpr int words_of = N / per_word;
  template <int Words>
  __device__ void load(int row, int col, u32 (&w)[Words]) const {
    u32 const* const from = words + row_at(row) + col / per_word;
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
    if constexpr (Target::takes_amax && per_word == 2) {
      constexpr int each = Target::codec::block_cols / 2;
      block_amaxes<Words / each> result;
#pragma unroll
      for (int b = 0; b < Words / each; ++b)
        result.at[b] = larger_half<Value>(largest_pair_of<is_bf16<Value>, each>(w + b * each));
      return result;
    } else {
      return no_amax{};
    }
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

template <class Target>
inline constexpr int target_chunk = [] {
  if constexpr (Target::exists)
    return Target::codec::chunk;
  else
    return 16;
}();

/// Whole: rows and columns are multiples of 128, everything is aligned.
template <bool Whole, class Rows, class Cols, class Source>
__global__ static void __launch_bounds__(tile_threads, 4)
    tile_kernel(Source source, Rows rows, Cols cols, u32 tiles, bool is_reversed) {
  using value = typename Source::value;
  using tile_type = shared_tile<value>;
  extern __shared__ uint4 memory[];
  __shared__ shared_scales outer[2];
  tile_type const tile{reinterpret_cast<u32*>(memory)};

  u32 tile_row = blockIdx.z * gridDim.y + blockIdx.y;
  u32 tile_col = blockIdx.x;
  if (tile_row >= tiles) return;
  bool const is_first = tile_row == 0 && tile_col == 0;
  if (is_reversed) {
    tile_row = tiles - 1 - tile_row;
    tile_col = gridDim.x - 1 - tile_col;
  }
  u32 const first_row = tile_row * tile_side;
  u32 const first_col = tile_col * tile_side;
  int const thread = int(threadIdx.x);
  auto const is_inside = [&](u32 row, u32 col) {
    return Whole || (row < u32(source.rows) && col < u32(source.cols));
  };

  // Read the tile: where it lies in memory as here, in the background.
  constexpr int row_chunk = target_chunk<Rows>;
  constexpr int lanes = tile_side / row_chunk;
  constexpr int row_step = tile_threads / lanes;
  constexpr bool is_copied = Whole && Source::is_matrix;
  int const local_col = thread % lanes * row_chunk;
  u32 const col = first_col + local_col;
#pragma unroll
  for (int k = 0; k < tile_side / row_step; ++k) {
    int const local_row = thread / lanes + k * row_step;
    u32 const row = first_row + local_row;
    if constexpr (is_copied) {
      tile.template copy<row_chunk>(local_row, local_col, source.address(row, col));
    } else {
      float x[row_chunk] = {};
      if (is_inside(row, col))
        source.values(source.template fetch<row_chunk, Whole>(row, col), row, col, x);
      tile.store(local_row, local_col, x);
    }
  }
  if constexpr (is_copied) __pipeline_commit();
  // The first half of the threads prepares for the rows, the other half for the columns.
  u32 const other = (threadIdx.x + tile_side) % tile_threads;
  if constexpr (Rows::exists)
    rows.prepare(outer[0], threadIdx.x, first_row, tile_side,
                 Rows::is_row_scaled ? tile_col == 0 : is_first);
  if constexpr (Cols::exists)
    cols.prepare(outer[1], other, first_col, tile_side,
                 Cols::is_row_scaled ? tile_row == 0 : is_first);
  if constexpr (Rows::is_tabulated || Cols::is_tabulated) __syncthreads();
  if constexpr (Rows::is_tabulated) Rows::tabulate(outer[0], threadIdx.x);
  if constexpr (Cols::is_tabulated) Cols::tabulate(outer[1], other);
  if constexpr (is_copied) __pipeline_wait_prior(0);
  __syncthreads();

  if constexpr (Rows::exists) {
    auto state = rows.begin(outer[0]);
#pragma unroll
    for (int k = 0; k < tile_side / row_step; ++k) {
      int const local_row = thread / lanes + k * row_step;
      u32 const row = first_row + local_row;
      u32 w[tile_type::template words_of<row_chunk>];
      tile.load(local_row, local_col, w);
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
    constexpr int groups = tile_side / chunk;
    constexpr int step = tile_threads / groups;
    int const group_row = thread % groups * chunk;
    u32 const row = first_row + group_row;
    u32 const* const from = tile.words + tile_type::row_at(group_row);
#pragma unroll
    for (int k = 0; k < tile_type::row_words / step; ++k) {
      int const word = thread / groups + k * step;
      u32 w[chunk];
#pragma unroll
      for (int i = 0; i < chunk; ++i) w[i] = from[tile_type::row_at(i) + word];
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
  constexpr std::size_t bytes = shared_tile<typename Source::value>::bytes;
  bool const is_whole = source.is_whole(tile_side) && source.rows % tile_side == 0 &&
                        rows.is_whole() && cols.is_whole();
  auto const kernel =
      is_whole ? tile_kernel<true, Rows, Cols, Source> : tile_kernel<false, Rows, Cols, Source>;
  if (bytes > 40 * 1024)  // with what the kernel declares itself, more than 48 KiB
    check_cuda(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)),
        "asking for shared memory");
  i64 const tiles = max(i64(1), ceil_div(source.rows, i64(tile_side)));
  launch(where, kernel, grid_of(ceil_div(source.cols, i64(tile_side)), tiles), tile_threads, bytes,
         source, rows, cols, u32(tiles), is_reversed);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
