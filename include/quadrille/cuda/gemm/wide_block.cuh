// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = X W^T as fused_block.cuh makes it, for up to 64 tokens at a time and many rows of W: a pair of thread blocks
/// makes up to eight slabs of 64 rows of W by up to four warpgroups a block. A warpgroup has a slab; or, of one or
/// two and of the last of an odd number, two warpgroups take the stages along K in turn, and each finishes half
/// of the tokens. So the slabs of a pair can be as many as keep all multiprocessors busy: 7 for 28672 rows, where
/// with 8 of them 10 of 66 pairs would idle.
///
/// Few tokens make the rate of instructions the limit: of decoding, and 7 + tokens / 4 clocks for each wgmma, in
/// which the registers that it takes are read. So a stage is long, and little is done once a stage.
///
/// Four more warps have one thread each that copies by TMA: three W, one X, of which each block loads every second tile
/// for both. W, if it is constant, is asked for as soon as there are barriers, long before X may be.
///
/// Shared memory, see wide::memory:
///   ring   of stages, as many as there is room for: X, `slabs` of 64 k each, and behind all X, W
///   sums   finished D^T, turned around for the epilogue; before, the other part's sums of a slab

#include <quadrille/cuda/gemm/fused_block.cuh>

namespace quadrille::detail {

namespace wide {

using fused::mbarrier;

inline constexpr int most_slabs = 8;
inline constexpr int halved = 2;                   // up to so many slabs have two warpgroups each
inline constexpr int most_units = most_slabs / 2;  // warpgroups of a block
inline constexpr int consumers = most_units * 128;
inline constexpr int threads = consumers + 128;
inline constexpr int w_copiers = 3;  // warps; one more copies X
inline constexpr int group = 2;      // multiplications of 16 k at once

template <class R, int Tokens>
struct memory {
  static constexpr int slabs = Tokens == 64 ? 2 : 4;  // of a stage, along K
  static constexpr int x_bytes = slabs * Tokens * fused::slab * 2;
  static constexpr int w_bytes = slabs * prepacked_layout<R>::bytes;
  // What the rest leaves, and a block of decode_coded_kernel, which wants 1 KB.
  static constexpr int ring_bytes = (Tokens == 64 ? 191 : 208) * 1024;
  static constexpr int most_depth = 12;
  static constexpr int on_the_way = 48 * 1024;  // of W: see share::ahead
  // W leaves its place in a stage when it is in registers, long before X does. (Of a shorter stage, another word to
  // both blocks costs more than it gains.)
  static constexpr bool frees_w = Tokens < 64;
  static constexpr int staged =
      Tokens == 64 ? 32 : 16;  // tokens in `sums` at once, at least half of them
  alignas(1024) u8 ring[ring_bytes];
  alignas(16) float sums[most_units][staged][fused::pitch];
  mbarrier full[most_depth];
  mbarrier empty[most_depth];
  mbarrier w_empty[most_depth];  // if frees_w, for those who copy W
  // Of a warpgroup with half of K: the other one can take its sums, and the other one's are here.
  mbarrier ready[most_units];
  mbarrier landed[most_units];
};

template <class R, class Epilogue>
struct arguments {
  gemm_segments work;  // 64 columns for each pair's rows
  prepacked_ref<R, u8 const> weights;
  Epilogue epilogue;
  i64 cols;
  int slabs;        // of rows that a pair makes
  int x_rows;       // that a box of X brings
  bool is_w_early;  // W may be read, and which tiles there are is known, before earlier work ends
};

/// What a warpgroup makes of its pair's tile: a slab of rows, or every second stage of one.
struct unit {
  int slab;
  int part = 0;  // of `parts`: it multiplies the stages that are `part` modulo `parts`
  int parts = 1;
  int rank = 0;  // of the block, and in it the warpgroup, that has the other part
  int warpgroup = 0;
};

/// What a block does of the tiles that its pair makes.
template <int Tokens>
struct share {
  int rank;
  int slabs;
  int rows;   // slabs of rows that a block loads of each stage
  int units;  // warpgroups that multiply
  int depth;  // of the ring
  int ahead;  // stages that W may be asked for before they are full: behind more, X would wait, and what makes it
  i32 stages;  // of each tile
  template <class R, class Epilogue>
  __device__ explicit share(arguments<R, Epilogue> const& args)
      : rank(int(blockIdx.x % 2)),
        slabs(args.slabs),
        rows((args.slabs + 1) / 2),
        units(args.slabs <= halved ? args.slabs : rows),
        depth(min(memory<R, Tokens>::most_depth,
                  memory<R, Tokens>::ring_bytes /
                      (memory<R, Tokens>::x_bytes + rows * memory<R, Tokens>::w_bytes))),
        ahead(
            min(depth, ceil_div(memory<R, Tokens>::on_the_way, rows * memory<R, Tokens>::w_bytes))),
        stages(i32(ceil_div(args.weights.slabs(), i64(memory<R, Tokens>::slabs)))) {}
  __device__ unit unit_of(int warpgroup) const {
    if (slabs <= halved) {  // each slab is two warpgroups'
      int const half = rank * slabs + warpgroup;
      int const other = half ^ 1;
      int const other_rank = other >= slabs;
      return {half / 2, half % 2, 2, other_rank, other - other_rank * slabs};
    }
    if (slabs % 2 != 0 && warpgroup == units - 1)  // and here the last one
      return {slabs - 1, rank, 2, rank ^ 1, warpgroup};
    return {rank * (slabs / 2) + warpgroup};
  }
  /// Where a stage's X is, and a warpgroup's W.
  template <class R>
  __device__ u8* x_of(memory<R, Tokens>& shared, int stage) const {
    return shared.ring + stage * memory<R, Tokens>::x_bytes;
  }
  template <class R>
  __device__ u8* w_of(memory<R, Tokens>& shared, int stage, int warpgroup) const {
    int const row = slabs <= halved ? 0 : warpgroup;
    return x_of(shared, depth) + (stage * rows + row) * memory<R, Tokens>::w_bytes;
  }
  __device__ i32 first_slab(gemm_tile const& tile) const { return i32(tile.col / 64) * slabs; }
};

template <int Tokens>
using walk_of = tile_walk<Tokens, 64>;

/// The stages of a block's tiles, as one that copies goes through them: f(tile, stage, k, number) when a stage is empty,
/// and the stage `ahead` before it full. The stage's `full` then waits for one arrival.
template <int Tokens, class R, class Epilogue, class F>
__device__ __forceinline__ void fill_stages(arguments<R, Epilogue> const& args,
                                            memory<R, Tokens>& shared, mbarrier* empty, int ahead,
                                            share<Tokens> const& mine, F const& f) {
  walk_of<Tokens> walk(args.work, int(blockIdx.x / 2), int(gridDim.x / 2));
  int stage = 0;
  u32 phase = 0;
  u32 number = 0;  // of the stage, from the first tile on
  for (gemm_tile tile; walk.next(tile);)
    for (i32 i = 0; i < mine.stages; ++i) {
      fused::wait(empty[stage], phase ^ 1);
      if (stage < ahead)
        fused::wait(shared.full[stage - ahead + mine.depth], phase ^ 1);
      else
        fused::wait(shared.full[stage - ahead], phase);
      f(tile, stage, i * memory<R, Tokens>::slabs, number++);
      if (++stage == mine.depth) {
        stage = 0;
        phase ^= 1;
      }
    }
}

/// A block with one part of its only slab does not read the other part's stages, but its X arrives there. For it, a
/// thread says of each stage that it has been read when it is full; so neither block gets ahead of what arrives in
/// the other.
template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void pass_stages(arguments<R, Epilogue> const& args,
                                            memory<R, Tokens>& shared, share<Tokens> const& mine) {
  walk_of<Tokens> walk(args.work, int(blockIdx.x / 2), int(gridDim.x / 2));
  int stage = 0;
  u32 phase = 0;
  for (gemm_tile tile; walk.next(tile);)
    for (i32 i = 0; i < mine.stages; ++i) {
      fused::wait(shared.full[stage], phase);
      for (u32 rank = 0; rank < 2; ++rank) {
        hopper::arrive_in_cluster(&shared.empty[stage], rank);
        hopper::arrive_in_cluster(&shared.w_empty[stage], rank);
      }
      if (++stage == mine.depth) {
        stage = 0;
        phase ^= 1;
      }
    }
}

/// A thread of copying warp `warp` loads W for every third multiplying warpgroup.
template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void copy_w(arguments<R, Epilogue> const& args, CUtensorMap const& w_map,
                                       memory<R, Tokens>& shared, int warp) {
  namespace ptx = ::cuda::ptx;
  constexpr u32 bytes = memory<R, Tokens>::w_bytes;
  constexpr int most = (most_units + w_copiers - 1) / w_copiers;
  share<Tokens> const mine(args);
  if (mine.slabs == 1 && warp == 1) pass_stages(args, shared, mine);
  if (warp >= mine.units) return;
  i32 slab[most];
  u32 left_out[most];  // stages of this number modulo 2: the other part's
#pragma unroll
  for (int i = 0; i < most; ++i) {
    unit const own = mine.unit_of(warp + i * w_copiers);
    slab[i] = own.slab;
    left_out[i] = own.parts == 2 ? u32(own.part ^ 1) : 2;
  }
  i32 const groups = i32(args.weights.groups());
  auto const fill = [&](gemm_tile const& tile, int stage, i32 k, u32 number) {
    mbarrier* const full = &shared.full[stage];
#pragma unroll
    for (int i = 0; i < most; ++i) {
      int const warpgroup = warp + i * w_copiers;
      if (warpgroup >= mine.units || number % 2 == left_out[i]) continue;
      ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, full, bytes);
      ptx::cp_async_bulk_tensor(
          ptx::space_cluster, ptx::space_global, mine.w_of(shared, stage, warpgroup), &w_map,
          {0, k * fused::pieces, tile.segment * groups + mine.first_slab(tile) + slab[i]}, full);
    }
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full);
  };
  fill_stages(args, shared, memory<R, Tokens>::frees_w ? shared.w_empty : shared.empty, mine.ahead,
              mine, fill);
}

/// A thread of the last copying warp loads this block's tiles of X for both.
template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void copy_x(arguments<R, Epilogue> const& args, CUtensorMap const& x_map,
                                       memory<R, Tokens>& shared) {
  namespace ptx = ::cuda::ptx;
  constexpr int slabs = memory<R, Tokens>::slabs;
  share<Tokens> const mine(args);
  auto const fill = [&](gemm_tile const& tile, int stage, i32 k, u32 number) {
    mbarrier* const full = &shared.full[stage];
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                   u32(slabs * args.x_rows * fused::slab * 2));
    if (number == 0) cudaGridDependencySynchronize();  // when nothing else is left to do
#pragma unroll
    for (int i = 0; i < slabs; i += 2)
      ptx::cp_async_bulk_tensor(
          ptx::space_cluster, ptx::space_global,
          mine.x_of(shared, stage) + (i + mine.rank) * Tokens * fused::slab * 2, &x_map,
          {(k + i + mine.rank) * fused::slab * 2, i32(tile.row)}, full, u16(3));
  };
  fill_stages(args, shared, shared.empty, mine.depth, mine, fill);
}

/// A multiplying warpgroup.
template <int Tokens, class R>
class consumer {
  using memory_type = memory<R, Tokens>;

 public:
  __device__ __forceinline__ consumer(memory_type& shared, share<Tokens> const& mine)
      : shared_(shared),
        mine_(mine),
        warpgroup_(__shfl_sync(~0u, int(threadIdx.x) / 128, 0)),
        thread_(int(threadIdx.x) % 128),
        lane_(thread_ % 32),
        stride_(mine.rows * memory_type::w_bytes),
        codes_at_(u32(mine.w_of(shared, 0, warpgroup_) - shared.ring) + fused::codes_of(thread_)),
        scales_at_(u32(mine.w_of(shared, 0, warpgroup_) - shared.ring) +
                   fused::scales_of<R>(thread_)),
        parts_(mine.unit_of(warpgroup_).parts),
        stage_(mine.unit_of(warpgroup_).part),
        empty_(fused::address_in(tells_of_x() ? shared.empty : shared.w_empty, thread_ & 1)) {
    // Not to be computed anew each stage.
    asm volatile("" : "+r"(lane_), "+r"(codes_at_), "+r"(scales_at_));
  }

  __device__ __forceinline__ bool has_unit() const { return warpgroup_ < mine_.units; }

  /// The sums of a tile.
  __device__ __forceinline__ void multiply(float (&d)[Tokens / 2]) {
#pragma unroll
    for (float& sum : d) sum = 0;
    i32 count = mine_.stages;
    if (parts_ == 2) {
      bool const is_first = int(before_ % 2) == mine_.unit_of(warpgroup_).part;  // of the stages
      before_ += u32(count);
      count = (count + is_first) / 2;
    }
    if (count == 0) return;
    constexpr int steps = 4 * slabs;  // of 16 k
    constexpr int held = 4 * group;   // two groups are read and one is decoded; four divide a stage
    static_assert(steps % held == 0);
    u32 a[held][4];
    int previous = -1;
    load();
#pragma unroll
    for (int i = 0; i < group; ++i) decode<false>(i, a[i]);
    auto const multiply_stage = [&]<bool IsSmall> {
      int const stage = stage_;
      u64 const x = hopper::swizzled_tile(mine_.x_of(shared_, stage));
#pragma unroll
      for (int j = 0; j < steps; j += group) {
        hopper::wgmma_fence();
#pragma unroll
        for (int i = j; i < j + group; ++i)
          hopper::wgmma<bf16, bf16>::template multiply<Tokens>(
              d, a[i % held], x + i / 4 * (Tokens * fused::slab * 2 / 16) + i % 4 * 2, 1);
        hopper::wgmma_commit();
#pragma unroll
        for (int i = j + group; i < j + 2 * group; ++i)
          if (i < steps)
            decode<IsSmall>(i, a[i % held]);
          else
            decode<false>(i % steps, a[i % held]);  // the next stage's
        // All of this stage is decoded.
        if (j + 2 * group == steps) {
          advance();
          if (count > 1) load();
        }
        hopper::wgmma_wait<1>();  // the group before this one
        if (j == 0) release(tells_of_x() ? previous : stage);
      }
      previous = stage;
    };
#pragma unroll 1
    for (; count > 0; --count)
      if (has_small_scales<R> && is_small_)
        multiply_stage.template operator()<has_small_scales<R>>();
      else
        multiply_stage.template operator()<false>();
    hopper::wgmma_wait<0>();
    hopper::wgmma_hold(d);
    release(tells_of_x() ? previous : -1);
  }

  /// Before a part of a slab is multiplied: the other part's warpgroup may send its sums.
  __device__ __forceinline__ void expect() {
    namespace ptx = ::cuda::ptx;
    if (parts_ == 1) return;
    unit const own = mine_.unit_of(warpgroup_);
    fused::join<128>(warpgroup_ + 1);  // the sums before these have been read
    if (thread_ == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &shared_.landed[warpgroup_], sizeof(float) * 64 * half);
    if (thread_ % 32 == 0) hopper::arrive_in_cluster(&shared_.ready[own.warpgroup], u32(own.rank));
  }
  /// And after: adds the other sums of half of the tokens, and takes the other tokens out of the tile.
  __device__ __forceinline__ void gather(float (&d)[Tokens / 2], gemm_tile& tile, i64& begin) {
    namespace ptx = ::cuda::ptx;
    if (parts_ == 1) return;
    unit const own = mine_.unit_of(warpgroup_);
    bool const is_first = own.part == 0;
    auto* const here = reinterpret_cast<float4*>(shared_.sums[warpgroup_]) + thread_;
    auto* const there = reinterpret_cast<float4*>(shared_.sums[own.warpgroup]) + thread_;
    mbarrier* const landed = &shared_.landed[warpgroup_];
    fused::wait(shared_.ready[warpgroup_], phase_);
#pragma unroll
    for (int c = 0; c < half / 8; ++c) {
      float x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = is_first ? d[half / 2 + 4 * c + i] : d[4 * c + i];
      fused::send(fused::address_in(there + c * 128, own.rank), x,
                  fused::address_in(&shared_.landed[own.warpgroup], own.rank));
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, landed, phase_)) {
    }
    phase_ ^= 1;
#pragma unroll
    for (int c = 0; c < half / 8; ++c) {
      float4 const four = here[c * 128];
      float const x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (is_first)
          d[4 * c + i] += x[i];
        else
          d[half / 2 + 4 * c + i] += x[i];
    }
    if (is_first)
      tile.row_end = min(tile.row_end, tile.row + half);
    else
      begin = tile.row + half;
  }

  template <class Epilogue>
  __device__ __forceinline__ void finish(float const (&d)[Tokens / 2], gemm_tile const& tile,
                                         i64 begin, i64 cols, Epilogue const& epilogue) {
    fused::hand_out<R>(d, shared_.sums[warpgroup_], warpgroup_ + 1, tile, begin,
                       i64(mine_.first_slab(tile) + mine_.unit_of(warpgroup_).slab) * 64, cols,
                       epilogue);
  }

 private:
  static constexpr int slabs = memory_type::slabs;
  static constexpr int half = Tokens / 2;

  __device__ __forceinline__ void advance() {
    stage_ += parts_;
    if (stage_ >= mine_.depth) {
      stage_ -= mine_.depth;
      full_phase_ ^= 1;
    }
  }
  /// Reads the codes and scales of a stage.
  __device__ __forceinline__ void load() {
    fused::wait(shared_.full[stage_], full_phase_);
    u8 const* const w = shared_.ring + stage_ * stride_;
#pragma unroll
    for (int i = 0; i < slabs; ++i)
      fused::read_record<R>(w + codes_at_ + i * prepacked_layout<R>::bytes,
                            w + scales_at_ + i * prepacked_layout<R>::bytes, codes_[i], scales_[i]);
    if constexpr (has_small_scales<R>) is_small_ = scales_are_small();
  }
  /// Whether no scale of the next stage is larger than 1. Each warp looks at all of the warpgroup's, so that they agree.
  __device__ __forceinline__ bool scales_are_small() const {
    using layout = prepacked_layout<R>;
    constexpr int bytes = layout::bytes - layout::code_bytes;  // of a record's scales
    u8 const* const records = mine_.w_of(shared_, stage_, warpgroup_) + layout::code_bytes;
    u32 all = 0;
#pragma unroll
    for (int first = 0; first < slabs * bytes; first += 32 * 16) {
      int const at = (first + thread_ % 32 * 16) % (slabs * bytes);
      uint4 const four =
          *reinterpret_cast<uint4 const*>(records + at / bytes * layout::bytes + at % bytes);
      all |= four.x | four.y | four.z | four.w;
    }
    return !__any_sync(~0u, (all & 0x80808080u) != 0);
  }
  /// The 16 k of a step.
  template <bool IsSmall>
  __device__ __forceinline__ void decode(int step, u32 (&a)[4]) {
    fused::decode_step<R, IsSmall>(codes_[step / 4], scales_[step / 4], step % 4, a);
  }
  /// A warp is done with a stage, or, if frees_w, with X of one and W of the next: both blocks hear of each from a
  /// thread.
  __device__ __forceinline__ bool tells_of_x() const { return !memory_type::frees_w || lane_ < 2; }
  __device__ __forceinline__ void release(int stage) {
    __syncwarp();  // the other threads have read theirs
    if (lane_ < (memory_type::frees_w ? 4 : 2) && stage >= 0)
      asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(
                       empty_ + u32(stage) * u32(sizeof(mbarrier)))
                   : "memory");
  }

  memory_type& shared_;
  share<Tokens> mine_;
  int warpgroup_;
  int thread_;
  int lane_;
  int stride_;    // bytes of a stage's W
  u32 codes_at_;  // this thread's, of the first stage, in the ring
  u32 scales_at_;
  int parts_;  // of K
  int stage_;  // the next one
  u32 empty_;  // barriers of the block that this thread tells
  u32 full_phase_ = 0;
  u32 phase_ = 0;   // of this warpgroup's ready and landed
  u32 before_ = 0;  // stages of the tiles before
  bool is_small_ = false;
  u32 codes_[slabs][4];
  u32 scales_[slabs][prepacked_layout<R>::scale_words];
};

template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void consume(arguments<R, Epilogue> const& args,
                                        memory<R, Tokens>& shared) {
  share<Tokens> const mine(args);
  walk_of<Tokens> walk(args.work, int(blockIdx.x / 2), int(gridDim.x / 2));
  consumer<Tokens, R> me(shared, mine);
  if (!me.has_unit()) return;
  float d[Tokens / 2];
  for (gemm_tile tile; walk.next(tile);) {
    i64 begin = tile.row;
    me.expect();
    me.multiply(d);
    me.gather(d, tile, begin);
    me.finish(d, tile, begin, args.cols, args.epilogue);
  }
}

/// For this block; the other one's threads wait for the cluster's barrier.
template <int Tokens, class R>
__device__ __forceinline__ void prepare(memory<R, Tokens>& shared, share<Tokens> const& mine,
                                        int x_rows) {
  namespace ptx = ::cuda::ptx;
  fused::clear_rest(shared.ring, mine.depth * memory<R, Tokens>::slabs, Tokens, x_rows);
  // A warp's initialisations come one after another.
  int const warp = int(threadIdx.x) / 32;
  static_assert(memory<R, Tokens>::most_depth + most_units <= threads / 32);
  if (threadIdx.x % 32 == 0 && warp < memory<R, Tokens>::most_depth + most_units) {
    if (warp < memory<R, Tokens>::most_depth) {
      ptx::mbarrier_init(&shared.full[warp], u32(min(mine.units, w_copiers) + 1));
      u32 const readers = u32(mine.slabs == 1 ? 4 + 2 : 4 * mine.slabs);  // see pass_stages
      ptx::mbarrier_init(&shared.empty[warp], readers);
      ptx::mbarrier_init(&shared.w_empty[warp], readers);
    } else {
      ptx::mbarrier_init(&shared.ready[warp - memory<R, Tokens>::most_depth], 4);
      ptx::mbarrier_init(&shared.landed[warp - memory<R, Tokens>::most_depth], 1);
    }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
}

}  // namespace wide
}  // namespace quadrille::detail
