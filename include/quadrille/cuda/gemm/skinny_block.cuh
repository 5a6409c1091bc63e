// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the thread blocks of the skinny kernel do: see skinny_kernel.cuh.

#include <cstdint>

#include <cuda/ptx>

#include <quadrille/cuda/gemm/ampere.cuh>
#include <quadrille/cuda/gemm/hopper.cuh>
#include <quadrille/cuda/gemm/skinny_shape.cuh>

namespace quadrille::detail {

using skinny_barrier = std::uint64_t;  // cuda::ptx's type for one

/// A place in the ring of stages.
struct skinny_place {
  i32 stage = 0;
  u32 phase = 0;
  __device__ __forceinline__ void next(i32 depth) {
    if (++stage == depth) {
      stage = 0;
      phase ^= 1;
    }
  }
};

__device__ __forceinline__ void skinny_wait(skinny_barrier* barrier, u32 phase) {
  if constexpr (target::compute_capability >= 90)
    while (!::cuda::ptx::mbarrier_try_wait_parity(barrier, phase)) {
    }
  else
    while (!::cuda::ptx::mbarrier_test_wait_parity(barrier, phase)) {
    }
}
/// This thread arrives when its copies so far have landed.
__device__ __forceinline__ void arrive_with_copies(skinny_barrier* barrier) {
  asm volatile(
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ampere::shared_address(barrier))
      : "memory");
}

__device__ __forceinline__ void store_shared(u32 to, u32 const (&r)[4]) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(r[0]), "r"(r[1]),
               "r"(r[2]), "r"(r[3])
               : "memory");
}
template <int Words>
__device__ __forceinline__ void load_shared(u32 at, u32 (&r)[Words]) {
  if constexpr (Words == 4)
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  else if constexpr (Words == 2)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(at));
  else
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r[0]) : "r"(at));
}

/// What all threads of a block know, and what they do.
template <class R, class X, class Shape, class Epilogue>
struct skinny_block {
  using shape = Shape;
  using layout = prepacked_layout<R>;
  static constexpr int units = shape::units;
  static constexpr int Tiles = shape::tiles;

  skinny_arguments<R, X, Epilogue> const& args;
  skinny_barrier* full;
  skinny_barrier* empty;
  u32 stages;  // shared-memory addresses
  u32 weights;
  float* sums;
  u32* first;
  i32 rounds;  // stretches of each warp in a tile: a multiple of ahead / steps
  i32 slabs;
  int lane;

  __device__ __forceinline__ u32 stage_bytes() const {
    return u32(args.grid.k_warps * shape::steps * shape::tile_bytes);
  }
  __device__ __forceinline__ i32 block_units() const { return args.grid.row_warps * units; }

  __device__ __forceinline__ skinny_tile locate(u32 index) const {
    gemm_segments const& all = args.all;
    i32 segment = 0;
    u32 token_tiles = args.token_tiles;
    u32 before = 0;  // tiles of other segments
    if (all.offsets == nullptr) {
      if (index >= args.tiles * u32(all.count)) return {};
      if (all.count > 1) segment = i32(index / args.tiles);
      before = u32(segment) * args.tiles;
    } else {
      if (index >= first[all.count]) return {};
      for (i32 high = all.count; high - segment > 1;) {
        i32 const middle = (segment + high) / 2;
        (index >= first[middle] ? segment : high) = middle;
      }
      before = first[segment];
    }
    i64 const begin = all.first_row(segment);
    i64 const size = all.first_row(segment + 1) - begin;
    if (all.offsets != nullptr) token_tiles = u32(ceil_div(size, i64(shape::tokens)));
    u32 const col = token_tiles == 1 ? index - before : (index - before) / token_tiles;
    i64 const row = i64(index - before - col * token_tiles) * shape::tokens;
    return {segment, i32(min(size - row, i64(shape::tokens))), begin + row,
            i64(col) * block_units()};
  }

  /// All threads meet once: then the barriers are ready, and tiles are counted.
  __device__ __forceinline__ static void meet() { __syncthreads(); }
  __device__ __forceinline__ static void wait_for_earlier() {
    if constexpr (target::compute_capability >= 90) cudaGridDependencySynchronize();
  }

  // ---- X

  /// One thread has the copy engine bring X.
  __device__ __forceinline__ void fetch_activations() const {
    skinny_place place;
    i32 const records = args.grid.k_warps * shape::steps;
    for (u32 index = blockIdx.x;; index += gridDim.x) {
      skinny_tile const tile = locate(index);
      if (tile.tokens == 0) break;
      for (i32 slab = 0; slab < rounds * records; slab += records) {
        skinny_wait(empty + place.stage, place.phase ^ 1);
        skinny_barrier* const barrier = full + place.stage;
        u32 const to = stages + u32(place.stage) * stage_bytes();
        ::cuda::ptx::mbarrier_arrive_expect_tx(::cuda::ptx::sem_release, ::cuda::ptx::scope_cta,
                                               ::cuda::ptx::space_shared, barrier,
                                               u32(records * args.x.box_rows * 128));
        if (index == blockIdx.x && slab == 0)
          wait_for_earlier();  // when nothing else is left to do
        for (i32 i = 0; i < records; ++i)
          fetch_tile(to + u32(i * shape::tile_bytes), (slab + i) * 128, i32(tile.row), barrier);
        place.next(args.grid.depth);
      }
    }
    cudaTriggerProgrammaticLaunchCompletion();
  }
  __device__ __forceinline__ void fetch_tile(u32 to, i32 byte, i32 row,
                                             skinny_barrier* barrier) const {
    void* const shared = __cvta_shared_to_generic(to);
    i32 const at[2] = {byte, row};
    ::cuda::ptx::cp_async_bulk_tensor(::cuda::ptx::space_cluster, ::cuda::ptx::space_global, shared,
                                      &args.map, at, barrier);
  }

  /// Two warps copy X, where it is not aligned or there is no copy engine.
  __device__ __forceinline__ void copy_activations(int warp) const {
    skinny_place place;
    bool const is_aligned =
        (reinterpret_cast<std::uintptr_t>(args.x.data) | std::uintptr_t(args.x.stride * 2)) % 16 ==
        0;
    i32 const records = args.grid.k_warps * shape::steps;
    for (u32 index = blockIdx.x;; index += gridDim.x) {
      skinny_tile const tile = locate(index);
      if (tile.tokens == 0) break;
      for (i32 slab = 0; slab < rounds * records; slab += records) {
        skinny_wait(empty + place.stage, place.phase ^ 1);
        if (index == blockIdx.x && slab == 0) wait_for_earlier();
        u32 const to = stages + u32(place.stage) * stage_bytes();
        // Eight lanes copy the 128 bytes of a token.
        for (i32 i = warp * 4 + lane / 8; i < records * shape::tokens; i += 8) {
          i32 const token = i % shape::tokens;
          if (token >= tile.tokens) continue;
          copy_piece(to + u32(i * 128 + ((lane % 8) ^ (token % 8)) * 16),
                     (slab + i / shape::tokens) * 64 + lane % 8 * 8, tile.row + token);
        }
        if (is_aligned && !shape::warpgroups) {
          arrive_with_copies(full + place.stage);
        } else {  // stores are among them, or wgmma reads them
          ampere::commit_copies();
          ampere::wait_for_copies<0>();
          if constexpr (shape::warpgroups && target::has_wgmma)
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
          ::cuda::ptx::mbarrier_arrive(full + place.stage);
        }
        place.next(args.grid.depth);
      }
    }
    ampere::commit_copies();
    ampere::wait_for_copies<0>();
  }
  __device__ __forceinline__ void copy_piece(u32 to, i32 col, i64 row) const {
    __nv_bfloat16 const* const from = args.x.data + row * args.x.stride + col;
    i32 const left = max(0, min(i32(args.w.cols) - col, 8));
    if (left == 0 || reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
      ampere::copy_some_of_16(to, left == 0 ? args.x.data : from, left * 2);
      return;
    }
    u32 word[4] = {};
#pragma unroll
    for (int i = 0; i < 8; ++i)
      if (i < left) word[i / 2] |= u32(__builtin_bit_cast(u16, from[i])) << i % 2 * 16;
    store_shared(to, word);
  }

  // ---- W: each warp copies its own, a stretch at a time

  static constexpr int scale_pieces = units * layout::unit_scale_bytes / 16;  // of a record
  static constexpr int codes_bytes = shape::steps * units * layout::unit_bytes;
  static constexpr int stretch_bytes = codes_bytes + shape::steps * scale_pieces * 16;

  struct weight_stream {
    u8 const* codes;   // this lane's 16 bytes of the next stretch's first record
    u8 const* scales;  // this lane's 16 bytes of the scales of record lane / scale_pieces
    i64 next;          // bytes to the next stretch
    i32 left;          // records to the end of K; none beyond the last unit
    i32 round;
    u32 tile;
    u32 to;  // this lane's, in the first place of the warp's ring
    i32 place = 0;
  };

  __device__ __forceinline__ void seek(weight_stream& w, u32 index, skinny_role role) const {
    skinny_tile const tile = locate(index);
    i64 const unit = tile.unit + role.row_warp * units;
    i64 const groups = args.w.groups();
    i32 const slab = role.record;
    i64 const record = (tile.segment * groups + unit / 4) * args.w.slabs() + slab;
    u8 const* const at = args.w.data + record * layout::bytes;
    w.codes = at + unit % 4 * layout::unit_bytes + lane * 16;
    w.scales = at + layout::code_bytes + unit % 4 * layout::unit_scale_bytes +
               lane / scale_pieces * layout::bytes + lane % scale_pieces * 16;
    w.left = tile.tokens > 0 && unit < groups * 4 ? slabs - slab : 0;
    w.round = 0;
    w.tile = index;
  }
  /// Begins to copy the next stretch, zeros where there is none: there X is zero, or nobody asks for the sums.
  template <int Steps>
  __device__ __forceinline__ void copy_stretch(weight_stream& w, skinny_role role) const {
    u32 const to = w.to + u32(w.place * stretch_bytes);
    if (w.left >= Steps) {
#pragma unroll
      for (int i = 0; i < Steps * units; ++i)
        ampere::copy_some_of_16(
            to + i * layout::unit_bytes,
            w.codes + i / units * layout::bytes + i % units * layout::unit_bytes, 16);
      if (lane < Steps * scale_pieces) ampere::copy_some_of_16(to + codes_bytes, w.scales, 16);
    } else {
#pragma unroll 1
      for (int i = 0; i < Steps * units; ++i) {
        bool const exists = i / units < w.left;
        ampere::copy_some_of_16(
            to + i * layout::unit_bytes,
            exists ? w.codes + i / units * layout::bytes + i % units * layout::unit_bytes
                   : args.w.data,
            exists ? 16 : 0);
      }
      bool const exists = lane / scale_pieces < w.left;
      if (lane < Steps * scale_pieces)
        ampere::copy_some_of_16(to + codes_bytes, exists ? w.scales : args.w.data, exists ? 16 : 0);
    }
    ampere::commit_copies();
    w.place = w.place + 1 == shape::ahead ? 0 : w.place + 1;
    w.codes += w.next;
    w.scales += w.next;
    w.left -= args.grid.k_warps * shape::steps;
    if (++w.round == rounds) seek(w, w.tile + gridDim.x, role);
  }

  // ---- the warps that multiply

  using accumulators = float[units][Tiles][4];

  /// Steps: records of a stretch.
  template <int Steps>
  __device__ __forceinline__ void multiply_tiles(int warp, skinny_role role) const {
    u32 const own = weights + u32(warp * shape::ahead * stretch_bytes);
    weight_stream w;
    w.to = own + lane * 16;
    w.next = i64(args.grid.k_warps * shape::steps) * layout::bytes;
    if (!args.is_w_early) {
      meet();
      wait_for_earlier();
    }
    seek(w, blockIdx.x, role);
#pragma unroll 1
    for (int i = 0; i < shape::ahead - 1; ++i) copy_stretch<Steps>(w, role);
    if (args.is_w_early) {
      meet();
      wait_for_earlier();
    }

    // A lane's share of ldmatrix: row lane % 8, and columns lane / 8 * 8 or, half a record on, 32 more.
    u32 const x = stages + u32(role.record * shape::tile_bytes + lane % 8 * 128);
    u32 const x_half[2] = {x + u32((lane / 8 ^ lane % 8) * 16),
                           x + u32(((lane / 8 + 4) ^ lane % 8) * 16)};
    u32 const scales = u32(codes_bytes + lane / 4 * layout::scale_words * 4 - lane * 16);
    skinny_place place;
    i32 own_place = 0;
    for (u32 index = blockIdx.x;; index += gridDim.x) {
      skinny_tile const tile = locate(index);
      if (tile.tokens == 0) break;
      accumulators acc = {};
#pragma unroll 1
      for (i32 round = 0; round < rounds; ++round) {
        ampere::wait_for_copies<shape::ahead - 2>();
        __syncwarp();  // the other lanes' have landed, and they have read the stretch before
        copy_stretch<Steps>(w, role);
        skinny_wait(full + place.stage, place.phase);
        u32 const at = u32(place.stage) * stage_bytes();
        u32 const b_at[2] = {x_half[0] + at, x_half[1] + at};
        u32 const a_at = own + u32(own_place * stretch_bytes + lane * 16);
        u32 const x_at = stages + at + u32(role.record * shape::tile_bytes);
        own_place = own_place + 1 == shape::ahead ? 0 : own_place + 1;
        bool const is_small = scales_are_small<Steps>(a_at + scales);
        if constexpr (has_small_scales<R>)
          if (is_small) multiply<Steps, true>(acc, a_at, a_at + scales, b_at, x_at, tile.tokens);
        if (!is_small) multiply<Steps, false>(acc, a_at, a_at + scales, b_at, x_at, tile.tokens);
        __syncwarp();
        release(place.stage);
        place.next(args.grid.depth);
      }
      finish(tile, acc, role);
    }
    ampere::wait_for_copies<0>();
  }
  /// This warp has read a stage.
  __device__ __forceinline__ void release(i32 stage) const {
    if (lane == 0) ::cuda::ptx::mbarrier_arrive(empty + stage);
  }

  /// Whether no scale of this warp's stretch is larger than 1. Warps of a warpgroup would have to agree.
  template <int Steps>
  __device__ __forceinline__ static bool scales_are_small(u32 scales_at) {
    if constexpr (!has_small_scales<R> || shape::warpgroups) return false;
    u32 all = 0;
#pragma unroll
    for (int i = 0; i < Steps * units; ++i) {
      u32 scales[layout::scale_words];
      load_shared(scales_at + i * layout::unit_scale_bytes, scales);
#pragma unroll
      for (u32 const word : scales) all |= word;
    }
    return !__any_sync(0xffffffffu, (all & 0x80808080u) != 0);
  }

  /// The products of a stretch.
  template <int Steps, bool IsSmall>
  __device__ __forceinline__ void multiply(accumulators& acc, u32 codes_at, u32 scales_at,
                                           u32 const (&halves)[2], u32 x, i32 tokens) const {
    if constexpr (shape::warpgroups && target::has_wgmma) {
      multiply_stretch<IsSmall>(acc, codes_at, scales_at, x);
    } else if constexpr (!shape::warpgroups) {
#pragma unroll
      for (int step = 0; step < Steps; ++step)
        multiply_record<IsSmall>(acc, codes_at + step * units * layout::unit_bytes,
                                 scales_at + step * units * layout::unit_scale_bytes, halves, step,
                                 tokens);
    }
  }

  /// By wgmma: A from registers, a record's while the next is decoded.
  template <bool IsSmall>
  __device__ __forceinline__ void multiply_stretch(accumulators& acc, u32 codes_at, u32 scales_at,
                                                   u32 x) const {
    float(&d)[Tiles * 4] = reinterpret_cast<float(&)[Tiles * 4]>(acc);
    u64 const b = hopper::swizzled_tile(__cvta_shared_to_generic(x));
    u32 a[2][4][4];
#pragma unroll
    for (int step = 0; step < shape::steps; ++step) {
      u32 words[4];
      u32 scales[layout::scale_words];
      u32 pairs[4];
      load_shared(codes_at + step * layout::unit_bytes, words);
      load_shared(scales_at + step * layout::unit_scale_bytes, scales);
      expand_scales<R, IsSmall>(scales, pairs);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        decode_fragment<R, IsSmall>(words, j, fragment_scales<R>(pairs[j]), a[step % 2][j],
                                    args.shifts);
      hopper::wgmma_fence();
#pragma unroll
      for (int j = 0; j < 4; ++j)
        hopper::wgmma<bf16, bf16>::multiply<shape::tokens>(
            d, a[step % 2][j], b + u64(step * shape::tile_bytes / 16 + 2 * j), 1);
      hopper::wgmma_commit();
      if (step + 1 < shape::steps) hopper::wgmma_wait<1>();
    }
    hopper::wgmma_wait<0>();
    hopper::wgmma_hold(d);
  }

  /// The products of a record of each unit with X: tile `step` of a stretch, halves of a row at x.
  template <bool IsSmall>
  __device__ __forceinline__ void multiply_record(accumulators& acc, u32 codes_at, u32 scales_at,
                                                  u32 const (&x)[2], int step, i32 tokens) const {
    u32 words[units][4];
    u32 pairs[units][4];
#pragma unroll
    for (int u = 0; u < units; ++u) {
      u32 scales[layout::scale_words];
      load_shared(codes_at + u * layout::unit_bytes, words[u]);
      load_shared(scales_at + u * layout::unit_scale_bytes, scales);
      expand_scales<R, IsSmall>(scales, pairs[u]);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      u32 a[units][2][4];
#pragma unroll
      for (int u = 0; u < units; ++u) {
#pragma unroll
        for (int j = 0; j < 2; ++j)
          decode_fragment<R, IsSmall>(words[u], 2 * half + j,
                                      fragment_scales<R>(pairs[u][2 * half + j]), a[u][j],
                                      args.shifts);
      }
#pragma unroll
      for (int n = 0; n < Tiles; ++n) {
        if (Tiles > 2 && n > 0 && 8 * n >= tokens) continue;
        u32 b[4];
        ampere::load_matrices(b, x[half] + u32(step * shape::tile_bytes + n * 1024));
#pragma unroll
        for (int u = 0; u < units; ++u) {
          ampere::multiply<__nv_bfloat16>(acc[u][n], a[u][0], b[0], b[1]);
          ampere::multiply<__nv_bfloat16>(acc[u][n], a[u][1], b[2], b[3]);
        }
      }
    }
  }

  /// Waits for the warps that multiply.
  __device__ __forceinline__ void sync_multipliers() const {
    asm volatile("bar.sync 1, %0;" ::"r"(args.grid.warps() * 32) : "memory");
  }

  /// Adds up what the warps along K have, `buffers` of them at a time, and hands it over.
  __device__ __forceinline__ void finish(skinny_tile const& tile, accumulators const& acc,
                                         skinny_role role) const {
    int const buffers = args.grid.buffers;
    int const pitch = block_units() * layout::unit_rows + 4;
    float* const to = sums + (role.k_warp % buffers * shape::tokens + lane % 4 * 2) * pitch +
                      role.row_warp * units * 16 + lane / 4;
    int const turns = args.grid.k_warps / buffers;
    for (int turn = 0; turn < turns * (1 + int(args.grid.splits_last)); ++turn) {
      sync_multipliers();
      if (turn != role.k_warp / buffers + role.part * turns) continue;
#pragma unroll
      for (int u = 0; u < units; ++u)
#pragma unroll
        for (int n = 0; n < Tiles; ++n)
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            float const sum = acc[u][n][i];
            float* const at = to + (8 * n + i % 2) * pitch + u * 16 + i / 2 * 8;
            *at = turn == 0 ? sum : *at + sum;
          }
    }
    sync_multipliers();
    hand_over(tile, pitch);
  }
  __device__ __forceinline__ void hand_over(skinny_tile const& tile, int pitch) const {
    constexpr int width = Epilogue::width;
    int const pieces = block_units() * layout::unit_rows / width;
    for (i32 i = threadIdx.x; i < tile.tokens * pieces; i += args.grid.warps() * 32) {
      int const token = i / pieces;
      int const col = i % pieces * width;
      i64 const first_col = tile.unit * layout::unit_rows + col;
      if (first_col >= args.all.cols) continue;
      float out[width] = {};
      for (int k = 0; k < args.grid.buffers; ++k) {
        float const* const from = sums + (k * shape::tokens + token) * pitch + col;
#pragma unroll
        for (int j = 0; j < width; j += 4) {
          float4 const four = *reinterpret_cast<float4 const*>(from + j);
          out[j] += four.x;
          out[j + 1] += four.y;
          out[j + 2] += four.z;
          out[j + 3] += four.w;
        }
      }
#pragma unroll
      for (int j = 0; j < width; ++j) out[j] *= layout::factor;
      args.epilogue.store(tile.segment, tile.row + token, first_col, out);
    }
  }
};

}  // namespace quadrille::detail
