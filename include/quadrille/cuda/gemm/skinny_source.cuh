// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantized activations as the X of the skinny kernel: its blocks decode them, all of X each, in place of a kernel
/// before it, which would have to wait for earlier work and this one for it.

#include <quadrille/cuda/gemm/coded.cuh>
#include <quadrille/cuda/gemm/skinny_block.cuh>

namespace quadrille::detail {

/// X as codes and scales.
template <class R, class Layout>
struct skinny_source {
  static constexpr bool is_decoded = true;
  static constexpr int copiers = 4;
  static constexpr i32 copied_by = copiers;
  coded_matrix<R, Layout> matrix;
};

/// What copying warp `warp` of a block does.
template <class R, class Layout, class Block>
__device__ __forceinline__ void decode_activations(skinny_source<R, Layout> const& x,
                                                   Block const& block, int warp) {
  using matrix = coded_matrix<R, Layout>;
  constexpr int each = 64 / matrix::chunk;  // threads for a token's columns of a record
  constexpr int pieces = matrix::chunk / 8;
  constexpr int threads = skinny_source<R, Layout>::copiers * 32;
  constexpr int ahead = 2;                   // chunks that a thread asks for at once
  static_assert(Block::shape::tokens == 8);  // swizzled by the token's last three bits
  static_assert(Block::shape::max_k_warps * Block::shape::steps * each <= threads);
  i32 const records = block.args.grid.k_warps * Block::shape::steps;
  int const log2_records = 31 - __clz(records);
  i32 const cols = i32(block.args.w.cols);
  // A thread decodes the same columns of every so many tokens.
  int const thread = warp * 32 + block.lane;
  i32 const record = thread / each & (records - 1);
  i32 const first = thread / each >> log2_records;
  i32 const step = threads / each >> log2_records;
  i32 const piece = thread % each * pieces;
  skinny_place place;
  for (u32 index = blockIdx.x;; index += gridDim.x) {
    skinny_tile const tile = block.locate(index);
    if (tile.tokens == 0) break;
    for (i32 slab = 0; slab < block.rounds * records; slab += records) {
      u32 const to = block.stages + u32(place.stage) * block.stage_bytes() +
                     u32(record * Block::shape::tile_bytes);
      i32 const col = (slab + record) * 64 + thread % each * matrix::chunk;
      if (index == blockIdx.x && slab == 0) block.wait_for_earlier();
      for (i32 pass = first; pass - first < tile.tokens; pass += ahead * step) {
        typename matrix::raw parts[ahead];
#pragma unroll
        for (int a = 0; a < ahead; ++a) {
          i32 const token = pass + a * step;
          parts[a] = {};
          if (token < tile.tokens && col < cols)
            parts[a] = x.matrix.fetch(u32(tile.row + token), u32(col));
        }
        if (pass == first) skinny_wait(block.empty + place.stage, place.phase ^ 1);
#pragma unroll
        for (int a = 0; a < ahead; ++a) {
          i32 const token = pass + a * step;
          if (token >= tile.tokens) break;
          u32 words[pieces][4];
          matrix::decode(parts[a], words);
          u32 const at = to + u32(token * 128 + (piece ^ token) * 16);
#pragma unroll
          for (int i = 0; i < pieces; ++i) store_shared(at ^ u32(i * 16), words[i]);
        }
      }
      ::cuda::ptx::mbarrier_arrive(block.full + place.stage);
      place.next(block.args.grid.depth);
    }
  }
  if constexpr (target::compute_capability >= 90) cudaTriggerProgrammaticLaunchCompletion();
}

}  // namespace quadrille::detail
