// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the threads of dense_kernel.cuh share: its shape, its work, and the ring of stages.

#include <cstdint>

#include <cuda/ptx>

#include <quadrille/cuda/gemm/tile_filter.cuh>

namespace quadrille::detail {

/// Tiles of Cols columns, made by clusters of Cluster thread blocks.
template <int Cols, int Cluster>
struct dense_shape {
  static_assert(Cols % (128 * Cluster) == 0, "each block of a cluster fetches whole boxes of B");
  static constexpr int rows = 128;
  static constexpr int cols = Cols;
  static constexpr int cluster = Cluster;
  static constexpr int threads = 384;
  static constexpr int a_bytes = rows * 128;
  static constexpr int stage_bytes = a_bytes + cols * 128;
  static constexpr int stages = 196608 / stage_bytes;
  static constexpr int shared_bytes = stages * stage_bytes + 1024;  // for alignment
  using walk = tile_walk<rows * cluster, cols>;
};

using mbarrier = std::uint64_t;  // cuda::ptx's type for one

/// A tile, and whether all of it is to be computed.
struct announced_tile : gemm_tile {
  bool is_whole = false;
};

template <class Shape>
struct dense_barriers {
  mbarrier full[Shape::stages];
  mbarrier empty[Shape::stages];
  mbarrier taken[2];
  announced_tile tile[2];
};

/// Where a thread is in the ring of stages, and in that of tiles.
template <class Shape>
struct dense_ring {
  u8* data;
  u32 tile;  // the lower half of the first stage's descriptor for wgmma
  dense_barriers<Shape>& shared;
  int stage = 0;
  u32 phase = 0;
  u32 tiles = 0;

  __device__ u32 descriptor() const { return tile + stage * (Shape::stage_bytes / 16); }
  __device__ u8* a() const { return data + stage * Shape::stage_bytes; }
  __device__ u8* b() const { return a() + Shape::a_bytes; }
  __device__ int last_stage() const { return (stage == 0 ? Shape::stages : stage) - 1; }
  __device__ mbarrier* full() const { return shared.full + stage; }
  __device__ mbarrier* empty() const { return shared.empty + stage; }
  __device__ void advance() {
    if (++stage == Shape::stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

__device__ __forceinline__ void wait_for(mbarrier* barrier, u32 parity) {
  while (!cuda::ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

/// The whole of a descriptor. (Its upper half is a constant; arithmetic on 64 bits would delay the next batch
/// of wgmma.)
__device__ __forceinline__ u64 dense_tile(u32 lower) { return u64(0x40000040) << 32 | lower; }

/// What one launch does.
struct dense_work {
  gemm_segments segments;
  tile_filter filter;
  i32 steps;       // of 128 bytes along K
  int log2_block;  // of B's rows in a unit of its map's last dimension: 4 width, or 1 (not permuted)

  __device__ i64 b_row(gemm_tile const& tile) const {
    return tile.segment * segments.cols + tile.col;
  }
  /// Which elements of a tile of rows x cols are to be computed.
  __device__ tile_filter::share taken_of(gemm_tile const& tile, int rows, int cols) const {
    i64 const row = b_row(tile);
    return filter.taken_of(tile.row, min(tile.row + rows, tile.row_end), row,
                           min(row + cols, (tile.segment + 1) * segments.cols));
  }
};

}  // namespace quadrille::detail
