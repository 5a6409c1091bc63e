// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The work of the skinny kernel, and how its thread blocks share it: see skinny_kernel.cuh.

#include <cuda_bf16.h>

#include <quadrille/cuda/gemm/prepacked_layout.cuh>
#include <quadrille/cuda/gemm/segments.cuh>
#include <quadrille/cuda/gemm/tensor_map.cuh>

namespace quadrille::detail {

/// X, the BF16 activations: all segments' rows one after another, `stride` elements apart.
struct skinny_activations {
  static constexpr bool is_decoded = false;
  static constexpr int copiers = 2;
  __nv_bfloat16 const* data = nullptr;
  i64 stride = 0;
  i32 copied_by = 0;  // warps; none if the copy engine can: see launch_skinny_tiles
  i32 box_rows = 0;   // that the copy engine brings at once
};

/// How a block works; `buffers` divides k_warps.
struct skinny_grid {
  i32 row_warps = 0;
  i32 k_warps = 0;           // a power of two
  bool splits_last = false;  // two warps share each stretch of the last row warp's
  i32 depth = 0;             // stages
  i32 buffers = 0;           // of sums
  QUADRILLE_HD constexpr i32 warps() const { return (row_warps + i32(splits_last)) * k_warps; }
};

/// What a multiplying warp does.
struct skinny_role {
  int row_warp;
  int k_warp;
  int part;    // of its stretches, where two warps share them
  int record;  // of a stage, its first
};

template <class R, class X, class Epilogue>
struct skinny_arguments {
  gemm_segments all;
  prepacked_ref<R, u8 const> w;
  X x;
  Epilogue epilogue;
  skinny_grid grid;
  u32 token_tiles;  // tiles of a segment along the tokens, if all segments have as many rows,
  u32 tiles;        // and all of its tiles
  i32 rounds;       // stretches of each warp in a tile
  CUtensorMap map;  // of X, if the copy engine brings it
  bool is_w_early;  // W may be read, and which tiles there are is known, before earlier work ends
  shift_factors shifts;
};

/// What is fixed at compile time: tiles of 8 * Tiles tokens, multiplied by warps (mma.sync) or by warpgroups
/// (wgmma, whose B needs no registers; only sm_90a has it).
template <int Tiles, bool Warpgroups>
struct skinny_shape {
  static constexpr int tiles = Tiles;
  static constexpr bool warpgroups = Warpgroups;
  static constexpr int tokens = 8 * Tiles;
  // Of a warp: they share what it reads of X, and the products of one need not wait for the other's.
  static constexpr int units = Warpgroups ? 1 : 2;
  // Records of a stretch, and stretches of W that a warp's ring holds: few long ones cost fewer instructions.
  static constexpr int steps = Tiles <= 2 || Warpgroups ? 4 : 2;
  static constexpr int ahead = Tiles <= 2 || Warpgroups ? 2 : 4;
  static constexpr int max_warps = Tiles <= 2 || Warpgroups ? 16 : 14;  // that multiply
  static constexpr int max_k_warps = 8;
  static constexpr bool can_split = Tiles <= 2;
  static constexpr int max_depth = 8;
  static constexpr int tile_bytes = tokens * 128;  // of X: 64 columns
};

/// A tile: up to 8 * Tiles tokens of a segment, and the units of W from `unit`. Without tokens: none is left.
struct skinny_tile {
  i32 segment = 0;
  i32 tokens = 0;
  i64 row = 0;
  i64 unit = 0;
};

}  // namespace quadrille::detail
