// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the mma.sync kernels share: how operands come to shared memory and to registers, how sums leave.
///
/// Shared memory is a ring of stages. A stage holds `depth` columns of K of the tile's rows of A, then of
/// its rows of B. The 16-byte chunks of a row are permuted (swizzled) by the row's number, so that neither
/// copies nor ldmatrix meet bank conflicts. Rows of a tile that do not exist are left as they are in shared
/// memory: each takes part in sums of its own row or column of D only, and those are not stored.
///
/// All warps copy and all multiply: registers do not allow for a ninth warp that only copies. A copy is a few instructions without a branch, to be mixed with the multiplications.

#include <quadrille/arch/target.hpp>
#include <quadrille/cuda/gemm/ampere.cuh>
#include <quadrille/cuda/gemm/segments.cuh>

namespace quadrille::detail {

/// Tiles of Rows x Cols sums, of which a warp has WarpRows x WarpCols; Stages of Depth columns of K.
template <int Rows, int Cols, int WarpRows, int WarpCols, int Depth, int Stages>
struct mma_shape {
  static constexpr int rows = Rows;
  static constexpr int cols = Cols;
  static constexpr int warp_rows = WarpRows;
  static constexpr int warp_cols = WarpCols;
  static constexpr int depth = Depth;
  static constexpr int stages = Stages;
  static constexpr int threads = Rows / WarpRows * (Cols / WarpCols) * 32;
  static constexpr int row_bytes = Depth * 2;
  static constexpr int chunks = row_bytes / 16;
  static constexpr int stage_bytes = (Rows + Cols) * row_bytes;
  static_assert(Depth == 32 || Depth == 64);

  /// Byte offset of a chunk of a row. Rows 8 apart are swizzled alike.
  __device__ static constexpr u32 offset(int row, int chunk) {
    int const swizzle = Depth == 64 ? row & 7 : row >> 1 & 3;
    return u32(row * row_bytes + (chunk ^ swizzle) * 16);
  }
};

/// Two operands in device memory, K contiguous; strides in elements.
template <class T>
struct mma_operands {
  T const* a;
  i64 a_stride;
  T const* b;
  i64 b_stride;
};

/// Copies rows of 16-bit elements, K contiguous: a thread takes one chunk of every `step`-th row.
template <class Shape, int Rows>
class row_copier {
  static constexpr int step = Shape::threads / Shape::chunks;
  static_assert(step % 8 == 0 && Rows % step == 0);

 public:
  static constexpr int count = Rows / step;  // copies of a thread a stage

  /// From row `first` on, of `depth` elements; stride in bytes.
  __device__ void enter(void const* data, i64 first, i64 rows, i64 stride, int depth) {
    from_ = static_cast<char const*>(data) + (first + row()) * stride + chunk() * 16;
    rows_ = int(min(rows, i64(Rows))) - row();
    left_ = depth - chunk() * 8;
  }
  __device__ void advance() {
    from_ += Shape::row_bytes;
    left_ -= Shape::depth;
  }
  /// Copies number [first, last) of this thread's, known to the compiler, of a stage without a tail;
  /// nothing if not `enabled`.
  __device__ __forceinline__ void copy(u32 to, i64 stride, int first, int last,
                                       bool enabled) const {
    int const rows = enabled ? rows_ : 0;
    char const* from = from_ + first * step * stride;
    u32 const at = to + Shape::offset(row(), chunk());
#pragma unroll
    for (int i = 0; i < count; ++i)
      if (i >= first && i < last) {
        ampere::copy16_if(i * step, rows, at + u32(i * step * Shape::row_bytes), from);
        from += step * stride;
      }
  }
  /// All of a stage in which K ends.
  __device__ void copy_tail(u32 to, i64 stride) const {
    u32 const at = to + Shape::offset(row(), chunk());
    for (int i = 0; i * step < rows_ && i < count; ++i)
      ampere::copy_some_of_16(at + u32(i * step * Shape::row_bytes), from_ + i * step * stride,
                              2 * max(0, min(left_, 8)));
  }

 private:
  __device__ static int row() { return int(threadIdx.x) / Shape::chunks; }
  __device__ static int chunk() { return int(threadIdx.x) % Shape::chunks; }

  char const* from_ = nullptr;  // this thread's first chunk
  int rows_ = 0;                // that exist from this thread's first on
  int left_ = 0;                // elements of K from this thread's chunk on
};

/// The tiles that copies have begun for: a ring in shared memory, longer than any ring of stages, so that no
/// tile is overwritten before its sums are stored.
struct tile_ring {
  static constexpr u32 count = 16;
  gemm_tile tiles[count];
  __device__ gemm_tile& operator[](u32 number) { return tiles[number % count]; }
};

/// The stages of all tiles of a thread block, one after another, and their copies.
template <class Shape, class T>
class stage_sequence {
  using copier_a = row_copier<Shape, Shape::rows>;
  using copier_b = row_copier<Shape, Shape::cols>;

 public:
  __device__ stage_sequence(gemm_segments const& work, mma_operands<T> const& operands,
                            int tile_stages, tile_ring& tiles)
      : work_(work),
        operands_(operands),
        tile_stages_(tile_stages),
        tiles_(tiles),
        walk_(work, blockIdx.x, gridDim.x) {}

  /// Goes to the next stage, if there is one, and does what a few stages need: those with which a tile begins
  /// (started(tile) is called), and those in which K ends, which are copied `to` shared memory as a whole.
  /// Tiles without selects(tile) are left out.
  template <class Selects, class Started>
  __device__ __forceinline__ void next(u32 to, Selects const& selects, Started const& started) {
    --left_;
    depth_ -= Shape::depth;
    a_.advance();
    b_.advance();
    if (depth_ < Shape::depth) {
      if (left_ <= 0) enter(selects, started);
      if (left_ > 0 && depth_ < Shape::depth) {
        a_.copy_tail(to, 2 * operands_.a_stride);
        b_.copy_tail(to + Shape::rows * Shape::row_bytes, 2 * operands_.b_stride);
      }
    }
  }
  /// Tiles so far.
  __device__ u32 entered() const { return entered_; }
  __device__ bool exists() const { return left_ > 0; }

  /// Part number `part` of `parts` of this thread's other copies, known to the compiler.
  __device__ __forceinline__ void copy(u32 to, int part, int parts) const {
    constexpr int count = copier_a::count + copier_b::count;
    int const first = part * count / parts;
    int const last = (part + 1) * count / parts;
    bool const enabled = depth_ >= Shape::depth;
    a_.copy(to, 2 * operands_.a_stride, first, last, enabled);
    b_.copy(to + Shape::rows * Shape::row_bytes, 2 * operands_.b_stride,
            max(0, first - copier_a::count), last - copier_a::count, enabled);
  }

 private:
  template <class Selects, class Started>
  __device__ __forceinline__ void enter(Selects const& selects, Started const& started) {
    gemm_tile tile;
    left_ = 0;
    depth_ = 0;
    do
      if (!walk_.next(tile)) return;
    while (!selects(tile));
    if (threadIdx.x == 0) tiles_[entered_] = tile;
    ++entered_;
    left_ = tile_stages_;
    depth_ = int(work_.depth);
    a_.enter(operands_.a, tile.row, tile.row_end - tile.row, 2 * operands_.a_stride, depth_);
    b_.enter(operands_.b, tile.segment * work_.cols + tile.col, work_.cols - tile.col,
             2 * operands_.b_stride, depth_);
    started(tile);
  }

  gemm_segments const& work_;
  mma_operands<T> const& operands_;
  int tile_stages_;
  tile_ring& tiles_;
  tile_walk<Shape::rows, Shape::cols> walk_;
  copier_a a_;
  copier_b b_;
  u32 entered_ = 0;
  int left_ = 0;   // stages of the tile, this one included
  int depth_ = 0;  // columns of K, this stage's included; none if there is no tile
};

/// Which part of a tile a warp multiplies, and where its lanes read operands for ldmatrix: offsets within a
/// stage of the first 16 columns of K. Those numbered `step` are at offset ^ step << 5, as a chunk's number
/// is its place up to a xor.
template <class Shape>
struct warp_part {
  int const lane = int(threadIdx.x) % 32;
  int const warp = int(threadIdx.x) / 32;
  int const row = warp % (Shape::rows / Shape::warp_rows) * Shape::warp_rows;
  int const col = warp / (Shape::rows / Shape::warp_rows) * Shape::warp_cols;
  u32 const a = Shape::offset(row + lane % 16, lane / 16);
  u32 const b =
      Shape::rows * Shape::row_bytes + Shape::offset(col + lane % 8 + lane / 16 * 8, lane / 8 % 2);
};

/// The operands of a warp for 16 columns of K.
template <class Shape>
struct mma_fragments {
  static constexpr int m_tiles = Shape::warp_rows / 16;
  static constexpr int n_tiles = Shape::warp_cols / 8;
  u32 a[m_tiles][4];
  u32 b[n_tiles / 2][4];

  __device__ __forceinline__ void load(u32 stage, warp_part<Shape> const& part, int step) {
    u32 const from_a = stage + (part.a ^ step << 5);
    u32 const from_b = stage + (part.b ^ step << 5);
#pragma unroll
    for (int m = 0; m < m_tiles; ++m)
      ampere::load_matrices(a[m], from_a + m * 16 * Shape::row_bytes);
#pragma unroll
    for (int n = 0; n < n_tiles / 2; ++n)
      ampere::load_matrices(b[n], from_b + n * 16 * Shape::row_bytes);
  }
};

/// Exchanges elements between the four lanes of a quad: lane i's x[j] becomes lane j's x[i].
template <int N>
__device__ __forceinline__ void transpose_quad(float (&x)[4][N]) {
#pragma unroll
  for (int distance = 1; distance <= 2; distance *= 2) {
    bool const is_upper = (threadIdx.x & distance) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & distance) != 0) continue;
#pragma unroll
      for (int n = 0; n < N; ++n) {
        float const low = x[i][n];
        float const high = x[i + distance][n];
        float const got = __shfl_xor_sync(~0u, is_upper ? low : high, distance);
        x[i][n] = is_upper ? got : low;
        x[i + distance][n] = is_upper ? high : got;
      }
    }
  }
}

/// Calls store(row, col, x) for each `Width` consecutive columns of a warp's sums; row and col count within
/// the tile. A lane holds two columns in eight: the lanes of a quad exchange theirs.
template <int Width, class Shape, int MTiles, int NTiles, class Store>
__device__ __forceinline__ void hand_over_sums(float const (&sums)[MTiles][NTiles][4],
                                               warp_part<Shape> const& part, Store const& store) {
  constexpr int unit = Width / 8;  // eights of columns, counted along rows, then from row to row
  constexpr int row_eights = NTiles;
  constexpr int groups = MTiles * 2 * row_eights / (4 * unit);
  static_assert(row_eights % unit == 0 && MTiles * 2 * row_eights % (4 * unit) == 0);
#pragma unroll
  for (int group = 0; group < groups; ++group) {
    float mine[4][2 * unit];
#pragma unroll
    for (int i = 0; i < 4 * unit; ++i) {
      int const eight = group * 4 * unit + i;
      float const(&sum)[4] = sums[eight / (2 * row_eights)][eight % row_eights];
      int const half = eight / row_eights % 2;
      mine[i / unit][i % unit * 2] = sum[half * 2];
      mine[i / unit][i % unit * 2 + 1] = sum[half * 2 + 1];
    }
    transpose_quad(mine);
    float whole[Width];
#pragma unroll
    for (int i = 0; i < Width; ++i) whole[i] = mine[i % 8 / 2][i / 8 * 2 + i % 2];
    int const eight = (group * 4 + part.lane % 4) * unit;
    store(part.row + eight / row_eights * 8 + part.lane / 4, part.col + eight % row_eights * 8,
          whole);
  }
}

/// Kernels count columns of K in 32 bits, and some beyond the last.
inline void require_depth(gemm_segments const& work) {
  require(work.depth <= (i64(1) << 31) - 65536,
          "K is too long for the GPU; it is at most 2^31 - 65536, split the product along K");
}

/// Throws if `stages` do not fit into a thread block's shared memory.
inline void require_stages(int stages, i64 stage_bytes, i64 limit) {
  if (stages * stage_bytes <= limit) return;
  throw error("quadrille: the GEMM kernel needs " + std::to_string(stages * stage_bytes) +
              " bytes of shared memory a thread block but this GPU has " + std::to_string(limit) +
              "; its tensor-core paths do not fit, choose gemm_path::reference");
}

/// Bytes of shared memory that a thread block may use on the current device.
inline int shared_limit() { return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin); }

#pragma GCC visibility push(hidden)  // see stream.cuh
/// Lets a kernel use its stages. Throws if they do not fit, or if the program has no code for this GPU.
template <class... Parameters>
void prepare_stages(void (*kernel)(Parameters...), int stages, i64 stage_bytes) {
  cudaFuncAttributes code{};
  check_cuda(cudaFuncGetAttributes(&code, kernel), "asking for a kernel");
  require(
      code.sharedSizeBytes != 0,  // it has no body
      "the program's code for this GPU has no BF16 tensor-core instructions; they need sm_80 or "
      "newer, compile with -arch=native");
  require_stages(stages, stage_bytes, shared_limit() - i64(code.sharedSizeBytes));
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  int(stages * stage_bytes)),
             "asking for shared memory");
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
