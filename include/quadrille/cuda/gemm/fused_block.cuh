// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = X W^T on Hopper where W is FP4 and stays FP4: its values are decoded in registers, from where the tensor
/// cores take them. So they compute D^T = W X^T, a tile of 128 rows of W by `Tokens` rows of X at a time.
///
/// A thread block has three warpgroups:
///   0, 1   each multiplies 64 rows of the W tile by all the tile's tokens. It decodes 32 k into one half of its
///          A registers while the tensor cores read the other half, and never waits for the multiplication that
///          it has just issued.
///   2      one thread copies X and the prepacked records of W, both by TMA.
/// Two thread blocks, a cluster, have neighbouring rows of W; each loads half of the X tile, for both. Where there
/// are fewer tiles than multiprocessors, `split` clusters take a part of K each. They leave their sums in the
/// workspace, and the last to come adds all of them, in the order of K.
///
/// Shared memory, see fused::memory:
///   x, w   a ring of stages, one or more slabs of 64 k each
///   sums   finished D^T, turned around for the epilogue

#include <cuda/ptx>

#include <quadrille/arch/target.hpp>
#include <quadrille/cuda/gemm/hopper.cuh>
#include <quadrille/cuda/gemm/prepacked_layout.cuh>
#include <quadrille/cuda/gemm/segments.cuh>
#include <quadrille/cuda/gemm/tensor_map.cuh>

namespace quadrille::detail {

namespace fused {

using mbarrier = std::uint64_t;  // cuda::ptx's type for one

inline constexpr int slab = 64;    // of K
inline constexpr int rows = 128;   // of W, 64 a warpgroup
inline constexpr int cluster = 2;  // thread blocks that share a tile of X
inline constexpr int threads = 384;
inline constexpr int consumers = 256;
inline constexpr int pieces = 4;  // in which a record is copied: the rows of a box
inline constexpr int pitch =
    64 + 4;  // of a token's sums: 2 * pitch = 8 mod 32, no bank is hit twice

template <class R, int Tokens>
struct memory {
  // The fewer the tokens, the more the instructions of a slab count: several slabs share those of a stage.
  static constexpr int slabs = 256 / Tokens;
  static constexpr int stages = Tokens == 256 ? 5 : 4;
  static constexpr int staged = Tokens == 64 ? 32 : 64;  // tokens in `sums` at once
  alignas(1024) u8 x[stages][slabs][Tokens * slab * 2];
  alignas(128) u8 w[stages][2][slabs][prepacked_layout<R>::bytes];
  alignas(16) float sums[2][staged][pitch];
  mbarrier full[stages];
  mbarrier empty[stages];
  u32 arrived;
};

/// A place in the ring of stages.
template <int Stages>
struct cursor {
  int stage = 0;
  u32 phase = 0;
  __device__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  }
};

__device__ __forceinline__ void wait(mbarrier& barrier, u32 phase) {
  while (!::cuda::ptx::mbarrier_try_wait_parity(&barrier, phase)) {
  }
}
/// Tells thread block `rank` of the cluster that this warp has read what the barrier guards. Nothing is published:
/// a release in the whole cluster would cost a fence.
__device__ __forceinline__ void free_in(mbarrier& barrier, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
      " mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(
          u32(__cvta_generic_to_shared(&barrier))),
      "r"(rank)
      : "memory");
}
/// True in one thread of a warp.
__device__ __forceinline__ bool elect() {
  u32 is_elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }"
               : "=r"(is_elected));
  return is_elected != 0;
}
template <int Threads>
__device__ __forceinline__ void join(int barrier) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "n"(Threads) : "memory");
}

template <class R, class Epilogue>
struct arguments {
  gemm_segments work;
  prepacked_ref<R, u8 const> weights;
  Epilogue epilogue;
  int split;
  float4* partial;  // sums of [tile][part][thread block][Tokens / 8][thread]
  u32* arrived;     // parts of [tile][thread block] that are there
};

/// What a cluster does: every `step`-th tile, and of each as many slabs as fill the stages [begin, end).
struct share {
  int index;  // which part of K
  i64 first;
  i64 step;
  i32 begin;
  i32 end;
  __device__ share(i64 stages, int split)
      : index(int(blockIdx.x / cluster) % split),
        first(blockIdx.x / cluster / split),
        step(gridDim.x / cluster / split),
        begin(i32(stages * index / split)),
        end(i32(stages * (index + 1) / split)) {}
};

template <int Tokens, class R>
__device__ __forceinline__ i64 stages_of(prepacked_ref<R, u8 const> const& w) {
  return ceil_div(w.slabs(), i64(memory<R, Tokens>::slabs));
}

/// The copying thread. What is beyond the ends of X or W arrives as zeros.
template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void produce(arguments<R, Epilogue> const& args,
                                        CUtensorMap const& x_map, CUtensorMap const& w_map,
                                        memory<R, Tokens>& shared) {
  namespace ptx = ::cuda::ptx;
  constexpr int half = Tokens / cluster;
  constexpr int slabs = memory<R, Tokens>::slabs;
  int const rank = int(blockIdx.x) % cluster;
  i32 const groups = i32(args.weights.groups());
  share const mine(stages_of<Tokens>(args.weights), args.split);
  tile_walk<Tokens, rows * cluster> walk(args.work, mine.first, mine.step);
  cursor<memory<R, Tokens>::stages> at;
  for (gemm_tile tile; walk.next(tile);) {
    i32 const row = i32(tile.row) + rank * half;
    i32 const group = tile.segment * groups + i32(tile.col) / 64 + rank * 2;
    for (i32 k = mine.begin * slabs; k < mine.end * slabs; k += slabs) {
      wait(shared.empty[at.stage], at.phase ^ 1);
      mbarrier* const full = &shared.full[at.stage];
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                     sizeof(shared.x[0]) + sizeof(shared.w[0]));
#pragma unroll
      for (int i = 0; i < slabs; ++i)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                                  shared.x[at.stage][i] + rank * half * slab * 2, &x_map,
                                  {(k + i) * slab * 2, row}, full, u16((1 << cluster) - 1));
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, shared.w[at.stage], &w_map,
                                {0, k * pieces, group}, full);
      at.advance();
    }
  }
}

/// One of the two multiplying warpgroups.
template <int Tokens, class R>
class consumer {
  using memory_type = memory<R, Tokens>;
  using layout = prepacked_layout<R>;

 public:
  __device__ __forceinline__ explicit consumer(memory_type& shared)
      : shared_(shared),
        warpgroup_(__shfl_sync(~0u, int(threadIdx.x) / 128, 0)),
        thread_(int(threadIdx.x) % 128) {}

  /// The sums of the slabs of some stages.
  __device__ __forceinline__ void multiply(float (&d)[Tokens / 2], i32 stages) {
#pragma unroll
    for (float& sum : d) sum = 0;
    if (stages == 0) return;
    constexpr int halves = 2 * memory_type::slabs;
    u32 a[2][2][4];
    int previous = 0;
    load();
    decode(0, a[0]);
#pragma unroll 1
    for (i32 k = 0; k < stages; ++k) {
      int const stage = at_.stage;
      u64 const x = hopper::swizzled_tile(shared_.x[stage][0]);
#pragma unroll
      for (int h = 0; h < halves; ++h) {
        if (h == halves - 1) {
          at_.advance();
          if (k + 1 < stages) load();
        }
        multiply_half(d, a[h % 2], x + h / 2 * (Tokens * slab * 2 / 16) + h % 2 * 4);
        hopper::wgmma_wait<1>();  // the half before this one
        if (h == 0 && k != 0) release(previous);
        decode((h + 1) % halves, a[(h + 1) % 2]);
      }
      previous = stage;
    }
    hopper::wgmma_wait<0>();
    hopper::wgmma_hold(d);
    release(previous);
  }

  /// Leaves sums in the workspace; true if all parts are there, and then d has the sum of all.
  __device__ __forceinline__ bool gather(float (&d)[Tokens / 2], float4* partial, u32* arrived,
                                         int index, int split) {
    constexpr i64 each = i64(cluster) * Tokens / 8 * consumers;
    partial += threadIdx.x;
    float4* const own = partial + index * each;
#pragma unroll
    for (int i = 0; i < Tokens / 8; ++i)
      own[i * consumers] = {d[4 * i], d[4 * i + 1], d[4 * i + 2], d[4 * i + 3]};
    join<consumers>(3);
    if (threadIdx.x == 0) {  // for all of them: what they wrote comes before, what they read after
      asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;"
                   : "=r"(shared_.arrived)
                   : "l"(arrived)
                   : "memory");
    }
    join<consumers>(3);
    if (shared_.arrived != u32(split - 1)) return false;
    if (threadIdx.x == 0) *arrived = 0;  // as the next launch needs it
    bool const is_pair = split == 2;     // then the order does not matter, and d has one of the two
    if (!is_pair)
#pragma unroll
      for (float& sum : d) sum = 0;
#pragma unroll 1
    for (int p = is_pair ? 1 - index : 0; p < (is_pair ? 2 - index : split); ++p)
#pragma unroll
      for (int i = 0; i < Tokens / 8; ++i) {
        float4 const x = __ldcg(partial + p * each + i * consumers);
        d[4 * i] += x.x;
        d[4 * i + 1] += x.y;
        d[4 * i + 2] += x.z;
        d[4 * i + 3] += x.w;
      }
    return true;
  }

  /// Hands the sums of a tile to the epilogue.
  template <class Epilogue>
  __device__ __forceinline__ void finish(float const (&d)[Tokens / 2], gemm_tile const& tile,
                                         i64 cols, Epilogue const& epilogue) {
    i64 const col = tile.col + int(blockIdx.x) % cluster * rows + warpgroup_ * 64;
#pragma unroll
    for (int t = 0; t < Tokens; t += memory_type::staged) {
      join<128>(warpgroup_ + 1);  // the sums before these have been read
      put(d, t);
      join<128>(warpgroup_ + 1);
      store(tile, t, col, cols, epilogue);
    }
  }

 private:
  __device__ __forceinline__ void multiply_half(float (&d)[Tokens / 2], u32 const (&a)[2][4],
                                                u64 x) {
    hopper::wgmma_fence();
#pragma unroll
    for (int j = 0; j < 2; ++j)
      hopper::wgmma<bf16, bf16>::template multiply<Tokens>(d, a[j], x + 2 * j, 1);
    hopper::wgmma_commit();
  }

  /// Reads the codes and scales of a stage.
  __device__ __forceinline__ void load() {
    wait(shared_.full[at_.stage], at_.phase);
#pragma unroll
    for (int i = 0; i < memory_type::slabs; ++i) {
      u8 const* const record = shared_.w[at_.stage][warpgroup_][i];
      uint4 const codes = *reinterpret_cast<uint4 const*>(record + thread_ * 16);
      codes_[i][0] = codes.x;
      codes_[i][1] = codes.y;
      codes_[i][2] = codes.z;
      codes_[i][3] = codes.w;
      u8 const* const scales = record + layout::code_bytes + thread_ / 4 * 4 * layout::scale_words;
      if constexpr (layout::scale_words == 2) {
        uint2 const both = *reinterpret_cast<uint2 const*>(scales);
        scales_[i][0] = both.x;
        scales_[i][1] = both.y;
      } else {
        scales_[i][0] = *reinterpret_cast<u32 const*>(scales);
      }
    }
  }

  /// The 32 k of a half slab.
  __device__ __forceinline__ void decode(int half, u32 (&a)[2][4]) {
    u32 pairs[4];
    expand_scales<R>(scales_[half / 2], pairs);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      int const j = half % 2 * 2 + i;
      decode_fragment<R>(codes_[half / 2][j], fragment_scales<R>(pairs[j]), a[i]);
      // Here, and not after the next fence, where the compiler would have to add another.
#pragma unroll
      for (u32& word : a[i]) asm volatile("" : "+r"(word));
    }
  }

  /// A warp is done with a stage; whoever copies into it hears of that.
  __device__ __forceinline__ void release(int stage) {
    int const lane = thread_ % 32;
    if (lane < cluster) free_in(shared_.empty[stage], lane);
  }

  /// The sums of tokens t .. into shared memory. A thread's accumulators 4 j .. are two tokens 8 j + 2 (lane % 4)
  /// of n = lane / 4, then of n + 8.
  __device__ __forceinline__ void put(float const (&d)[Tokens / 2], int t) {
    int const lane = thread_ % 32;
    float* const to = &shared_.sums[warpgroup_][2 * (lane % 4)][thread_ / 32 * 16 + lane / 4];
#pragma unroll
    for (int j = 0; j < memory_type::staged / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) to[(8 * j + i % 2) * pitch + i / 2 * 8] = d[(t / 8 + j) * 4 + i];
  }

  template <class Epilogue>
  __device__ __forceinline__ void store(gemm_tile const& tile, int t, i64 col, i64 cols,
                                        Epilogue const& epilogue) {
    constexpr int width = Epilogue::width;
    constexpr int each = 64 / width;
#pragma unroll 1
    for (int i = thread_; i < memory_type::staged * each; i += 128) {
      i64 const row = tile.row + t + i / each;
      int const n = i % each * width;
      if (row >= tile.row_end || col + n >= cols) continue;
      float4 const* const from =
          reinterpret_cast<float4 const*>(&shared_.sums[warpgroup_][i / each][n]);
      float sums[width];
#pragma unroll
      for (int v = 0; v < width / 4; ++v) {
        float4 const s = from[v];
        sums[4 * v] = s.x * layout::factor;
        sums[4 * v + 1] = s.y * layout::factor;
        sums[4 * v + 2] = s.z * layout::factor;
        sums[4 * v + 3] = s.w * layout::factor;
      }
      epilogue.store(tile.segment, row, col + n, sums);
    }
  }

  memory_type& shared_;
  int warpgroup_;
  int thread_;
  cursor<memory_type::stages> at_;
  u32 codes_[memory_type::slabs][4];
  u32 scales_[memory_type::slabs][layout::scale_words];
};

template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void consume(arguments<R, Epilogue> const& args,
                                        memory<R, Tokens>& shared) {
  share const mine(stages_of<Tokens>(args.weights), args.split);
  tile_walk<Tokens, rows * cluster> walk(args.work, mine.first, mine.step);
  consumer<Tokens, R> me(shared);
  i64 block = mine.first * cluster + blockIdx.x % cluster;  // among those of all tiles
  float d[Tokens / 2];
  for (gemm_tile tile; walk.next(tile); block += mine.step * cluster) {
    me.multiply(d, mine.end - mine.begin);
    if constexpr (Tokens <= 128) {
      i64 const tile_index = block / cluster;
      float4* const partial =
          args.partial +
          ((tile_index * args.split) * cluster + block % cluster) * (Tokens / 8) * consumers;
      if (args.split > 1 && !me.gather(d, partial, args.arrived + block, mine.index, args.split))
        continue;
    }
    me.finish(d, tile, args.work.cols, args.epilogue);
  }
}

template <int Tokens, class R>
__device__ __forceinline__ void prepare(memory<R, Tokens>& shared) {
  namespace ptx = ::cuda::ptx;
  if (threadIdx.x == 0) {
    for (mbarrier& barrier : shared.full) ptx::mbarrier_init(&barrier, 1);
    for (mbarrier& barrier : shared.empty)
      ptx::mbarrier_init(&barrier, cluster * consumers / 32);  // warps
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

}  // namespace fused
}  // namespace quadrille::detail
