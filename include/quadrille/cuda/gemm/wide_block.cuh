// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = X W^T as fused_block.cuh makes it, for up to 64 tokens at a time and many rows of W: a pair of thread blocks
/// makes up to eight slabs of 64 rows of W, each of them by a warpgroup. Of an odd number the last is shared: a
/// warpgroup of one block multiplies every second stage along K, one of the other block the stages between, and
/// each finishes half of the tokens. So the slabs of a pair can be as many as keep all multiprocessors busy:
/// 7 for 28672 rows, where with 8 of them 10 of 66 pairs would idle.
///
/// Few tokens make the rate of instructions the limit: of decoding, and 7 + tokens / 4 clocks for each wgmma, in
/// which the registers that it takes are read. So a stage is long, and little is done once a stage.
///
/// Another warp has one thread copy X and W by TMA. Each block loads every second tile of X for both.
///
/// Shared memory, see wide::memory:
///   x, w   a ring of stages, `slabs` of 64 k each
///   sums   finished D^T, turned around for the epilogue; the last one first takes the other block's sums

#include <quadrille/cuda/gemm/fused_block.cuh>

namespace quadrille::detail {

namespace wide {

using fused::mbarrier;

inline constexpr int least_slabs =
    3;  // fewer than two warpgroups would not hide what each waits for
inline constexpr int most_slabs = 8;
inline constexpr int most_warpgroups = most_slabs / 2;
inline constexpr int consumers = most_warpgroups * 128;
inline constexpr int threads = consumers + 128;
inline constexpr int group = 2;  // multiplications of 16 k at once

template <class R, int Tokens>
struct memory {
  static constexpr int slabs = Tokens == 64 ? 2 : 4;
  static constexpr int stages = Tokens == 64 ? 6 : 4;
  static constexpr int staged = 16;  // tokens in `sums` at once
  static constexpr int buffers =
      most_warpgroups + (Tokens == 64);  // room for half the tokens' sums
  alignas(1024) u8 x[stages][slabs][Tokens * fused::slab * 2];
  alignas(128) u8 w[stages][most_warpgroups][slabs][prepacked_layout<R>::bytes];
  alignas(16) float sums[buffers][staged][fused::pitch];
  mbarrier full[stages];
  mbarrier empty[stages];
  mbarrier ready;   // where a slab is shared: the other block's last sums have been stored
  mbarrier landed;  // and its new ones are here
};

template <class R, class Epilogue>
struct arguments {
  gemm_segments work;  // 64 columns for each pair's rows
  prepacked_ref<R, u8 const> weights;
  Epilogue epilogue;
  i64 cols;
  int slabs;  // of rows that a pair makes
};

/// What a block does of the tiles that its pair makes.
template <int Tokens>
struct share {
  int rank;
  int slabs;
  int warpgroups;  // that multiply
  bool is_odd;     // whether the last slab is shared, by each block's last warpgroup
  i32 stages;      // of each tile
  template <class R, class Epilogue>
  __device__ explicit share(arguments<R, Epilogue> const& args)
      : rank(int(blockIdx.x % 2)),
        slabs(args.slabs),
        warpgroups((args.slabs + 1) / 2),
        is_odd(args.slabs % 2 != 0),
        stages(i32(ceil_div(args.weights.slabs(), i64(memory<R, Tokens>::slabs)))) {}
  __device__ bool shares(int warpgroup) const { return is_odd && warpgroup == warpgroups - 1; }
  /// The slab of rows of a warpgroup.
  __device__ i32 slab_of(gemm_tile const& tile, int warpgroup) const {
    return i32(tile.col / 64) * slabs +
           (shares(warpgroup) ? slabs - 1 : rank * (slabs / 2) + warpgroup);
  }
};

template <int Tokens>
using walk_of = tile_walk<Tokens, 64>;

template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void produce(arguments<R, Epilogue> const& args,
                                        CUtensorMap const& x_map, CUtensorMap const& w_map,
                                        memory<R, Tokens>& shared) {
  namespace ptx = ::cuda::ptx;
  constexpr int slabs = memory<R, Tokens>::slabs;
  constexpr u32 bytes = sizeof(shared.w[0][0]);
  i32 const groups = i32(args.weights.groups());
  share<Tokens> const mine(args);
  walk_of<Tokens> walk(args.work, int(blockIdx.x / 2), int(gridDim.x / 2));
  fused::cursor<memory<R, Tokens>::stages> at;
  u32 count = 0;
  for (gemm_tile tile; walk.next(tile);)
    for (i32 k = 0; k < mine.stages * slabs; k += slabs, ++count) {
      int const loaded = mine.warpgroups - (mine.is_odd && int(count % 2) != mine.rank);
      fused::wait(shared.empty[at.stage], at.phase ^ 1);
      mbarrier* const full = &shared.full[at.stage];
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                     u32(sizeof(shared.x[0])) + u32(loaded) * bytes);
#pragma unroll
      for (int i = 0; i < slabs; i += 2)
        ptx::cp_async_bulk_tensor(
            ptx::space_cluster, ptx::space_global, shared.x[at.stage][i + mine.rank], &x_map,
            {(k + i + mine.rank) * fused::slab * 2, i32(tile.row)}, full, u16(3));
#pragma unroll
      for (int w = 0; w < most_warpgroups; ++w)
        if (w < loaded)
          ptx::cp_async_bulk_tensor(
              ptx::space_cluster, ptx::space_global, shared.w[at.stage][w], &w_map,
              {0, k * fused::pieces, tile.segment * groups + mine.slab_of(tile, w)}, full);
      at.advance();
    }
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
        is_shared_(mine.shares(warpgroup_)),
        stage_(is_shared_ ? mine.rank : 0),
        empty_(fused::address_in(shared.empty, thread_ & 1)) {}

  __device__ __forceinline__ bool has_slab() const { return warpgroup_ < mine_.warpgroups; }

  /// The sums of a tile.
  __device__ __forceinline__ void multiply(float (&d)[Tokens / 2]) {
#pragma unroll
    for (float& sum : d) sum = 0;
    i32 count = mine_.stages;
    if (is_shared_) {
      bool const is_first = int(before_ % 2) == mine_.rank;  // of the tile's stages
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
    for (int i = 0; i < group; ++i) decode(i, a[i]);
#pragma unroll 1
    for (; count > 0; --count) {
      int const stage = stage_;
      u64 const x = hopper::swizzled_tile(shared_.x[stage][0]);
#pragma unroll
      for (int j = 0; j < steps; j += group) {
        hopper::wgmma_fence();
#pragma unroll
        for (int i = j; i < j + group; ++i)
          hopper::wgmma<bf16, bf16>::template multiply<Tokens>(
              d, a[i % held], x + i / 4 * (Tokens * fused::slab * 2 / 16) + i % 4 * 2, 1);
        hopper::wgmma_commit();
#pragma unroll
        for (int i = j + group; i < j + 2 * group; ++i) decode(i % steps, a[i % held]);
        if (j + 2 * group == steps) {  // all of this stage is decoded
          advance();
          if (count > 1) load();
        }
        hopper::wgmma_wait<1>();  // the group before this one
        if (j == 0 && previous >= 0) release(previous);
      }
      previous = stage;
    }
    hopper::wgmma_wait<0>();
    hopper::wgmma_hold(d);
    release(previous);
  }

  /// Where the slab is shared, before it is multiplied: the other block may send its sums.
  __device__ __forceinline__ void expect() {
    namespace ptx = ::cuda::ptx;
    if (!is_shared_) return;
    fused::join<128>(warpgroup_ + 1);  // the sums before these have been read
    if (thread_ == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &shared_.landed, sizeof(float) * 64 * half);
    if (thread_ % 32 == 0) hopper::arrive_in_cluster(&shared_.ready, u32(mine_.rank ^ 1));
  }
  /// And after: adds the other block's sums of half of the tokens, and takes the others out of the tile.
  __device__ __forceinline__ void gather(float (&d)[Tokens / 2], gemm_tile& tile, i64& begin) {
    namespace ptx = ::cuda::ptx;
    if (!is_shared_) return;
    auto* const parts = reinterpret_cast<float4*>(shared_.sums[warpgroup_]) + thread_;
    int const other = mine_.rank ^ 1;
    fused::wait(shared_.ready, phase_);
#pragma unroll
    for (int c = 0; c < half / 8; ++c) {
      float x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = mine_.rank == 0 ? d[half / 2 + 4 * c + i] : d[4 * c + i];
      fused::send(fused::address_in(parts + c * 128, other), x,
                  fused::address_in(&shared_.landed, other));
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &shared_.landed,
                                          phase_)) {
    }
    phase_ ^= 1;
#pragma unroll
    for (int c = 0; c < half / 8; ++c) {
      float4 const four = parts[c * 128];
      float const x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if (mine_.rank == 0)
          d[4 * c + i] += x[i];
        else
          d[half / 2 + 4 * c + i] += x[i];
    }
    if (mine_.rank == 0)
      tile.row_end = min(tile.row_end, tile.row + half);
    else
      begin = tile.row + half;
  }

  template <class Epilogue>
  __device__ __forceinline__ void finish(float const (&d)[Tokens / 2], gemm_tile const& tile,
                                         i64 begin, i64 cols, Epilogue const& epilogue) {
    fused::hand_out<R>(d, shared_.sums[warpgroup_], warpgroup_ + 1, tile, begin,
                       i64(mine_.slab_of(tile, warpgroup_)) * 64, cols, epilogue);
  }

 private:
  static constexpr int slabs = memory_type::slabs;
  static constexpr int half = Tokens / 2;

  __device__ __forceinline__ void advance() {
    stage_ += is_shared_ ? 2 : 1;
    if (stage_ >= memory_type::stages) {
      stage_ -= memory_type::stages;
      full_phase_ ^= 1;
    }
  }
  /// Reads the codes and scales of a stage.
  __device__ __forceinline__ void load() {
    fused::wait(shared_.full[stage_], full_phase_);
#pragma unroll
    for (int i = 0; i < slabs; ++i)
      fused::read_record<R>(shared_.w[stage_][warpgroup_][i], codes_[i], scales_[i]);
  }
  /// The 16 k of a step.
  __device__ __forceinline__ void decode(int step, u32 (&a)[4]) {
    fused::decode_step<R>(codes_[step / 4][step % 4], scales_[step / 4], step % 4, a);
  }
  /// A warp is done with a stage; both blocks hear of that.
  __device__ __forceinline__ void release(int stage) {
    if (thread_ % 32 < 2)
      asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(
                       empty_ + u32(stage) * u32(sizeof(mbarrier)))
                   : "memory");
  }

  memory_type& shared_;
  share<Tokens> mine_;
  int warpgroup_;
  int thread_;
  bool is_shared_;
  int stage_;  // the next one
  u32 empty_;  // barriers of the block that this thread tells
  u32 full_phase_ = 0;
  u32 phase_ = 0;   // of ready and landed
  u32 before_ = 0;  // stages of the tiles before
  u32 codes_[slabs][4];
  u32 scales_[slabs][prepacked_layout<R>::scale_words];
};

template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void consume(arguments<R, Epilogue> const& args,
                                        memory<R, Tokens>& shared) {
  share<Tokens> const mine(args);
  walk_of<Tokens> walk(args.work, int(blockIdx.x / 2), int(gridDim.x / 2));
  consumer<Tokens, R> me(shared, mine);
  if (!me.has_slab()) return;
  float d[Tokens / 2];
  for (gemm_tile tile; walk.next(tile);) {
    i64 begin = tile.row;
    me.expect();
    me.multiply(d);
    me.gather(d, tile, begin);
    me.finish(d, tile, begin, args.cols, args.epilogue);
  }
}

template <int Tokens, class R>
__device__ __forceinline__ void prepare(memory<R, Tokens>& shared, int slabs) {
  namespace ptx = ::cuda::ptx;
  if (threadIdx.x == 0) {
    for (mbarrier& barrier : shared.full) ptx::mbarrier_init(&barrier, 1);
    for (mbarrier& barrier : shared.empty) ptx::mbarrier_init(&barrier, u32(4 * slabs));
    ptx::mbarrier_init(&shared.ready, 4);
    ptx::mbarrier_init(&shared.landed, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

}  // namespace wide
}  // namespace quadrille::detail
