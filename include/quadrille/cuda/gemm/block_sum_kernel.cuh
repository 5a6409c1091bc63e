// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The exact GEMM for block scales that no tensor-core type holds: FP32 scales, or exponents too far apart.
///
/// mma.sync sums products of element values, without scales, over one block of K; then
///   sum = sum + (scale_a scale_b) dot                                          one rounding each
/// block after block from the first to the last: the host's arithmetic (gemm.hpp), and its bits, if every
/// partial sum of a block is exact in FP32 (exact_float_dot).
///
/// Thread blocks of eight warps stay resident and walk over tiles of 128 x 128; a warp has 64 x 32 sums. The
/// order of copies and multiplications is mma_kernel.cuh's.
/// Shared memory
///   tiles      whose copies have begun
///   stage[i]   rows of A, then of B, 32 columns of K (mma_tile.cuh); then, for each block of K that ends in
///              the stage, the scales of these rows

#include <quadrille/cuda/gemm/mma_tile.cuh>

namespace quadrille::detail {

/// An operand in device memory: values of elements, and scales of its blocks of K. Rows of values start at
/// multiples of 16 bytes. Strides are in elements. Scales are copied fastest if those of consecutive rows
/// follow one another (a scale_stride of 1).
struct scaled_values {
  bf16 const* values;
  i64 stride;
  float const* scales;  // ceil_div(depth, Block) a row
  i64 scale_stride;     // from row to row
  i64 block_stride = 1;
};

/// Blocks that block_sum_kernel takes. Others can be had by completing each block with zeros.
template <int Block>
inline constexpr bool is_block_sum = Block > 0 && Block % 8 == 0;

template <int Block>
struct block_sum_shape : mma_shape<128, 128, 64, 32, 32, 4> {
  static constexpr int blocks = ceil_div(depth, Block);  // that end in a stage, at most
  static constexpr int scale_rows = rows + cols;
  static constexpr int tile_bytes = (rows + cols) * row_bytes;
  static constexpr int stage_bytes = tile_bytes + blocks * scale_rows * 4;
  static constexpr bool is_aligned = depth % Block == 0;  // no block crosses a stage's end
  static constexpr int width = Block % 16 == 0 ? 16 : 8;  // columns of K that are in one block
};

/// Copies the scales of the blocks that end in each stage; zeros for those that do not exist. A thread has
/// one row of A or of B.
template <int Block>
class scale_copier {
  using shape = block_sum_shape<Block>;
  static_assert(shape::scale_rows == shape::threads);

 public:
  __device__ scale_copier(scaled_values const& a, scaled_values const& b, int blocks)
      : a_(a), b_(b), blocks_(blocks) {}

  __device__ void enter(gemm_segments const& work, gemm_tile const& tile) {
    int const row = int(threadIdx.x);
    bool const is_a = row < shape::rows;
    i64 const b_row = tile.col + row - shape::rows;
    from_ = is_a ? a_.scales + (tile.row + row) * a_.scale_stride
                 : b_.scales + (tile.segment * work.cols + b_row) * b_.scale_stride;
    block_stride_ = is_a ? a_.block_stride : b_.block_stride;
    exists_ = is_a ? tile.row + row < tile.row_end : b_row < work.cols;
    k_ = -shape::depth;  // the first stage comes next
  }
  /// Of the next stage.
  __device__ __forceinline__ void copy(u32 stage) {
    k_ += shape::depth;
#pragma unroll
    for (int i = 0; i < shape::blocks; ++i) {
      int const block = k_ / Block + i;
      ampere::copy4_or_zeros(stage + shape::tile_bytes + (i * shape::scale_rows + threadIdx.x) * 4,
                             from_ + block * block_stride_, exists_ && block < blocks_);
    }
  }

 private:
  scaled_values const& a_;
  scaled_values const& b_;
  int blocks_;
  float const* from_ = nullptr;
  i64 block_stride_ = 0;
  bool exists_ = false;
  int k_ = 0;
};

/// The scales of one block of K for a lane's sums.
template <class Shape>
struct lane_scales {
  static constexpr int m_tiles = Shape::warp_rows / 16;
  static constexpr int n_tiles = Shape::warp_cols / 8;
  float a[m_tiles][2];
  float b[n_tiles][2];

  /// From those of the tile's rows of A, then of B.
  __device__ __forceinline__ void load(float const* scales, warp_part<Shape> const& part) {
    float const* const of_a = scales + part.row + part.lane / 4;
    float const* const of_b = scales + Shape::rows + part.col + part.lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
      a[m][0] = of_a[m * 16];
      a[m][1] = of_a[m * 16 + 8];
    }
#pragma unroll
    for (int n = 0; n < n_tiles; ++n) {
      float2 const pair = *reinterpret_cast<float2 const*>(of_b + n * 8);
      b[n][0] = pair.x;
      b[n][1] = pair.y;
    }
  }
};

/// A warp's sums: of the block that is being multiplied, and of all before it.
template <class Shape>
struct block_sums {
  static constexpr int m_tiles = Shape::warp_rows / 16;
  static constexpr int n_tiles = Shape::warp_cols / 8;
  float total[m_tiles][n_tiles][4] = {};
  float dots[m_tiles][n_tiles][4] = {};

  /// 16 rows' dots += the products of 16 columns of K, or of the first or the last 8 of them.
  __device__ __forceinline__ void multiply(mma_fragments<Shape> const& of, int m, int half) {
#pragma unroll
    for (int n = 0; n < n_tiles; ++n) {
      u32 const* const b = of.b[n / 2] + n % 2 * 2;
      if constexpr (Shape::width == 16)
        ampere::multiply<bf16>(dots[m][n], of.a[m], b[0], b[1]);
      else
        ampere::multiply_half(dots[m][n], of.a[m][half * 2], of.a[m][half * 2 + 1], b[half]);
    }
  }
  /// The block is complete for these rows.
  __device__ __forceinline__ void finish(lane_scales<Shape> const& scales, int m) {
#pragma unroll
    for (int n = 0; n < n_tiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float const scale = mul(scales.a[m][i / 2], scales.b[n][i % 2]);
        total[m][n][i] = add(total[m][n][i], mul(scale, dots[m][n][i]));
        dots[m][n][i] = 0;
      }
  }
  /// All rows. Known: at compile time whether the block ends here, so that rows mix with one another.
  template <bool Known>
  __device__ __forceinline__ void multiply(mma_fragments<Shape> const& of, int half, bool ends,
                                           lane_scales<Shape> const& scales) {
#pragma unroll
    for (int m = 0; m < m_tiles; ++m) {
      multiply(of, m, half);
      if (Known && ends) finish(scales, m);
    }
    if (!Known && ends)
#pragma unroll
      for (int m = 0; m < m_tiles; ++m) finish(scales, m);
  }
};

/// Only tiles of which filter.taken_of(rows of A, rows of B) has any are computed, and of them the elements that
/// filter.takes(row of A, row of B).
template <int Block, class Filter, class Epilogue>
static __global__ void __launch_bounds__(block_sum_shape<Block>::threads, 1)
    block_sum_kernel(gemm_segments const __grid_constant__ work,
                     scaled_values const __grid_constant__ a,
                     scaled_values const __grid_constant__ b, Filter const __grid_constant__ filter,
                     Epilogue const __grid_constant__ epilogue) {
  if constexpr (target::compute_capability >= 80) {
    using shape = block_sum_shape<Block>;
    constexpr int steps = shape::depth / 16;
    constexpr int parts = 16 / shape::width;
    extern __shared__ __align__(128) u8 block_sum_memory[];
    __shared__ tile_ring tiles;
    u32 const ring = ampere::shared_address(block_sum_memory);
    auto const after = [](int stage) { return stage + 1 == shape::stages ? 0 : stage + 1; };
    auto const address = [ring](int stage) { return ring + u32(stage * shape::stage_bytes); };
    auto const is_taken = [&](gemm_tile const& tile) {
      i64 const b_row = tile.segment * work.cols + tile.col;
      return filter
          .taken_of(tile.row, min(tile.row + shape::rows, tile.row_end), b_row,
                    min(b_row + shape::cols, (tile.segment + 1) * work.cols))
          .any;
    };

    // Whole blocks, completed by zeros to whole stages; without K, one.
    int const blocks = int(ceil_div(work.depth, i64(Block)));
    int const tile_stages = int(ceil_div(max(1, blocks) * i64(Block), i64(shape::depth)));
    mma_operands<bf16> const operands{a.values, a.stride, b.values, b.stride};
    stage_sequence<shape, bf16> copies(work, operands, tile_stages, tiles);
    scale_copier<Block> scale_copies(a, b, blocks);
    auto const next = [&](int stage) {
      copies.next(address(stage), is_taken,
                  [&](gemm_tile const& tile) { scale_copies.enter(work, tile); });
      if (copies.exists()) scale_copies.copy(address(stage));
    };
    for (int i = 0; i < shape::stages - 1; ++i) {
      next(i);
      copies.copy(address(i), 0, 1);
      ampere::commit_copies();
    }
    ampere::wait_for_copies<shape::stages - 2>();
    __syncthreads();
    warp_part<shape> const part;
    mma_fragments<shape> fragments[2];
    fragments[0].load(address(0), part, 0);

    int read = 0;
    for (u32 number = 0; number < copies.entered(); ++number) {
      block_sums<shape> sums;
      int inside = 0;  // columns of the block that has begun
      for (int i = 0; i < tile_stages; ++i) {
        int const write = read == 0 ? shape::stages - 1 : read - 1;
        next(write);
        float const* ended = reinterpret_cast<float const*>(
            block_sum_memory + read * shape::stage_bytes + shape::tile_bytes);
        if (shape::is_aligned) inside = 0;
#pragma unroll
        for (int step = 0; step < steps; ++step) {
          lane_scales<shape> scales[parts];
          bool ends[parts];
#pragma unroll
          for (int half = 0; half < parts; ++half) {
            inside += shape::width;
            bool const is_last = step == steps - 1 && half == parts - 1;
            ends[half] = inside == Block && (is_last || Block % shape::depth != 0);
            if (!ends[half]) continue;
            scales[half].load(ended, part);
            ended += shape::scale_rows;
            inside = 0;
          }
          if (step == steps - 1) {
            ampere::commit_copies();
            ampere::wait_for_copies<shape::stages - 2>();
            __syncthreads();  // the next stage is complete, this one is free
            read = after(read);
          }
          fragments[(step + 1) % 2].load(address(read), part, (step + 1) % steps);
          if (step < steps - 1) copies.copy(address(write), step, steps - 1);
#pragma unroll
          for (int half = 0; half < parts; ++half)
            sums.template multiply<shape::is_aligned>(fragments[step % 2], half, ends[half],
                                                      scales[half]);
        }
      }
      gemm_tile const tile = tiles[number];
      hand_over_sums<Epilogue::width>(sums.total, part, [&](int row, int col, auto& x) {
        i64 const b_row = tile.segment * work.cols + tile.col + col;
        if (tile.row + row < tile.row_end && tile.col + col < work.cols &&
            filter.takes(tile.row + row, b_row))
          epilogue.store(tile.segment, tile.row + row, tile.col + col, x);
      });
    }
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// D = A B^T, block by block: A has work.rows rows, B work.count * work.cols, of work.depth values each; what
/// follows the last is not read. Throws before anything is launched if the GPU cannot run the kernel.
template <int Block, class Filter, class Epilogue>
void launch_block_sum(stream_policy where, gemm_segments const& work, scaled_values const& a,
                      scaled_values const& b, Filter const& filter, Epilogue const& epilogue) {
  static_assert(is_block_sum<Block>,
                "quadrille: block sums on tensor cores need blocks of a multiple of 8 columns; "
                "complete each block with zeros");
  using shape = block_sum_shape<Block>;
  require_depth(work);
  i64 const tiles = tile_count(work, shape::rows, shape::cols);
  if (tiles == 0) return;
  auto const kernel = block_sum_kernel<Block, Filter, Epilogue>;
  std::size_t const shared = std::size_t(shape::stages) * shape::stage_bytes;
  prepare_stages(kernel, shape::stages, shape::stage_bytes);
  i64 const count = min(tiles, resident_blocks(kernel, shape::threads, shared));
  launch(where, kernel, dim3(unsigned(count)), shape::threads, shared, work, a, b, filter,
         epilogue);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
