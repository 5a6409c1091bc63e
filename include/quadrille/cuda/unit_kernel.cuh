// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Unit by unit: for any recipe. A unit, block::rows x unit_cols<R> elements, is what must be together; a
/// thread block brings some into shared memory and works through them in steps.

#include <quadrille/cuda/source.cuh>
#include <quadrille/cuda/target.cuh>

namespace quadrille::detail {

inline constexpr int unit_threads = 128;

enum class unit_work { encode, amax, mask };

template <recipe R>
struct unit_shape {
  static constexpr int rows = R::block::rows;
  static constexpr int cols = unit_cols<R>;
  static constexpr int size = rows * cols;
  static constexpr int block_cols = R::block::cols;
  static constexpr int block_size = rows * block_cols;
  static constexpr int units = max(1, 2048 / size);  // of a thread block, along the columns
  static constexpr int blocks = units * cols / block_cols;
  static constexpr int elements = units * size;
  static constexpr bool is_corrected = correction_group<typename R::scale> > 0;
  static constexpr std::size_t bytes = std::size_t(elements) * (is_corrected ? 12 : 4);
};

/// Arguments of the kernel; what `Work` does not need is null.
template <recipe R, class Layout>
struct unit_arguments {
  quadrille::quantized_ref<R, u8, Layout> q;
  outer_scales_of<R> outer;
  random_source random;
  sign_vector signs;
  float* amax;
  u8* mask;
};

/// Rounds the block at (first_row, col), two elements a lane at a time: two share a byte where codes are 4
/// bits. A correction needs the grid coordinates and codes kept.
template <recipe R, class Layout, class Map>
__device__ void round_block(unit_arguments<R, Layout> const& to, float const* block,
                            Map const& to_grid, bool is_poisoned, random_key key, u32 first_row,
                            u32 col, float* grid, u32* kept) {
  using shape = unit_shape<R>;
  using element = typename R::element;
  constexpr bool is_narrow = element::bits <= 4;
  for (int i = 2 * int(threadIdx.x % 32); i < shape::block_size; i += 64) {
    u32 codes[2] = {0, 0};
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      int const e = i + k;
      if (e >= shape::block_size) break;
      u32 const row = first_row + e / shape::block_cols;
      u32 const at = col + e % shape::block_cols;
      u32 word = 0;
      if constexpr (block_codec<R>::is_random)
        word = random_bits<R::rounding::random_bits>(key, to.random.first_row + row, at);
      float const y = to_grid(block[e], e);
      if (!is_poisoned) codes[k] = element::template encode_finite<typename R::rounding>(y, word);
      if constexpr (shape::is_corrected) {
        grid[e] = is_poisoned ? 0 : y;
        kept[e] = codes[k];
      }
      if (!is_narrow && row < u32(to.q.rows) && at < u32(to.q.cols))
        to.q.codes[u64(row) * u64(to.q.cols) + at] = u8(codes[k]);
    }
    u32 const row = first_row + i / shape::block_cols;
    u32 const at = col + i % shape::block_cols;
    if (is_narrow && row < u32(to.q.rows) && at < u32(to.q.cols))
      to.q.codes[u64(row) * u64(row_bytes<element>(to.q.cols)) + at / 2] =
          u8(codes[0] | codes[1] << 4);
  }
}

template <unit_work Work, recipe R, class Layout, class Source>
__global__ static void __launch_bounds__(unit_threads)
    unit_kernel(Source source, unit_arguments<R, Layout> to) {
  using shape = unit_shape<R>;
  using element = typename R::element;
  using scale = typename R::scale;
  using stored = typename scale::stored;
  extern __shared__ uint4 memory[];
  __shared__ shared_scales outer;
  float* const x = reinterpret_cast<float*>(memory);  // [block][element]
  float* const grid = x + shape::elements;            // of corrections only
  u32* const kept = reinterpret_cast<u32*>(grid) + shape::elements;
  int const thread = int(threadIdx.x);

  i64 const tiles = ceil_div(source.rows, i64(shape::rows));
  i64 const tile = i64(blockIdx.z) * gridDim.y + blockIdx.y;
  if (tile >= tiles && tile != 0) return;
  i64 const first_row = tile * shape::rows;
  i64 const first_col = i64(blockIdx.x) * shape::units * shape::cols;
  constexpr int width = shape::units * shape::cols;

  // Element i of the tile's elements, row by row, to its place in its block.
  auto const place = [](int row, int col) {
    return col / shape::block_cols * shape::block_size + row * shape::block_cols +
           col % shape::block_cols;
  };

  if constexpr (Work != unit_work::amax)
    to.outer.prepare(outer, threadIdx.x, u32(first_row), 1, source.rows,
                     Work == unit_work::encode && blockIdx.x == 0);
  // A rotation group is rotated by the thread that loads it, in its own row.
  constexpr int group = R::rotation::size;
  for (int i = thread; i < shape::elements / group; i += unit_threads) {
    int const row = i * group / width;
    int const col = i * group % width;
    float values[group];
    if (first_row + row < source.rows && first_col + col < source.cols) {
      source.load(u32(first_row + row), u32(first_col + col), values);
    } else {
      for (int k = 0; k < group; ++k) values[k] = 0;
    }
    R::rotation::apply(values, to.signs);
    for (int k = 0; k < group; ++k) x[place(row, col + k)] = values[k];
  }
  __syncthreads();

  if constexpr (Work == unit_work::amax) {
    u32 largest = 0;
    for (int i = thread; i < shape::elements; i += unit_threads)
      if (is_finite(x[i])) largest = max(largest, magnitude_bits(x[i]));
    largest = __reduce_max_sync(0xffffffffu, largest);
    if (thread % 32 == 0 && largest != 0)
      atomicMax(
          reinterpret_cast<u32*>(to.amax + (scale::scope == outer_scope::row ? first_row : 0)),
          largest);
    return;
  }

  // A warp finds its block's scale and the whole warp rounds the block's elements.
  random_key const key = to.random.read();
  int const lane = thread % 32;
  for (int b = thread / 32; b < shape::blocks; b += unit_threads / 32) {
    i64 const col = first_col + b * shape::block_cols;
    float* const block = x + b * shape::block_size;
    u32 largest = 0;
    for (int i = lane; i < shape::block_size; i += 32)
      largest = max(largest, magnitude_bits(block[i]));
    largest = __reduce_max_sync(0xffffffffu, largest);
    auto const chosen =
        scale::template choose<element>({block, shape::block_size, as_float(largest)},
                                        typename outer_scales_of<R>::view(outer).of(0));
    bool const is_poisoned = largest >= infinity_bits;
    stored const kept_scale = is_poisoned ? stored(scale::poison) : stored(chosen.stored);
    __syncwarp();

    if constexpr (Work == unit_work::mask)
      for (int i = lane; i < shape::block_size; i += 32)
        block[i] = magnitude(chosen.to_grid(block[i], i)) < element::max ? 1.f : 0.f;
    else
      round_block(to, block, chosen.to_grid, is_poisoned, key, u32(first_row), u32(col),
                  grid + b * shape::block_size, kept + b * shape::block_size);
    if (Work == unit_work::encode && col < source.cols)
      for (int r = lane; r < shape::rows; r += 32)
        if (first_row + r < source.rows)
          to.q.scale(first_row + r, col / shape::block_cols) = kept_scale;
  }

  if constexpr (Work == unit_work::encode && shape::is_corrected) {
    __syncthreads();
    constexpr int corrected = correction_group<scale>;
    constexpr int each = corrected / shape::block_cols;
    for (int g = thread; g < shape::elements / corrected; g += unit_threads) {
      i64 const col = first_col + g * corrected;
      if (col >= source.cols) break;
      stored scales[each];
      for (int b = 0; b < each; ++b) scales[b] = to.q.scale(first_row, col / shape::block_cols + b);
      scale::template correct<element>(
          {grid + g * corrected, kept + g * corrected, corrected, each}, scales,
          {key, to.random.first_row + first_row, col, shape::block_cols});
      for (int b = 0; b < each; ++b) to.q.scale(first_row, col / shape::block_cols + b) = scales[b];
    }
  }
  if constexpr (Work == unit_work::mask) {
    __syncthreads();
    i64 const mask_bytes = ceil_div(source.cols, i64(8));
    static_assert(width % 8 == 0,
                  "quadrille: the mask of this recipe ends inside a byte; write a block of 8 "
                  "columns or more");
    for (int i = thread; i < width / 8; i += unit_threads) {
      i64 const col = first_col + 8 * i;
      u32 bits = 0;
      for (int k = 0; k < 8; ++k)
        if (col + k < source.cols) bits |= u32(x[8 * i + k] != 0) << k;
      if (col < source.cols && first_row < source.rows)
        to.mask[first_row * mask_bytes + col / 8] = u8(bits);
    }
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <unit_work Work, recipe R, class Layout, class Source>
void launch_units(stream_policy where, Source const& source, unit_arguments<R, Layout> const& to) {
  using shape = unit_shape<R>;
  static_assert(
      shape::size <= 16384,
      "quadrille: a unit of this recipe does not fit shared memory on the GPU; block::rows x "
      "the larger of block::cols, rotation and correction is at most 16384, write a smaller "
      "block");
  auto const kernel = unit_kernel<Work, R, Layout, Source>;
  if (shape::bytes > 48 * 1024)
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    int(shape::bytes)),
               "asking for shared memory");
  launch(where, kernel,
         grid_of(ceil_div(source.cols, i64(shape::units * shape::cols)),
                 ceil_div(source.rows, i64(shape::rows))),
         unit_threads, shape::bytes, source, to);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
