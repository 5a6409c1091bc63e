// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// D = X W^T on Hopper where W is FP4 and stays FP4: its values are decoded in registers, from where the tensor
/// cores take them. So they compute D^T = W X^T, a tile of 128 rows of W by `Tokens` rows of X at a time.
///
/// A thread block has three warpgroups:
///   0, 1   each multiplies 64 rows of the W tile by all the tile's tokens. It decodes into some of its A registers
///          while the tensor cores read others, and never waits for the multiplication that it has just issued.
///   2      one thread copies X and the prepacked records of W, both by TMA.
/// A cluster is either two blocks with neighbouring rows of W, each of which loads half of the X tile for both; or,
/// where there are fewer tiles than multiprocessors, `split` blocks that take a part of K each. Each of these
/// finishes some of the tokens: the others send it their sums, and it adds them in a fixed order.
///
/// Shared memory, see fused::memory:
///   x, w   a ring of stages, one or more slabs of 64 k each; where K is split, then the sums that others send
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

inline constexpr int slab = 64;       // of K
inline constexpr int rows = 128;      // of W, 64 a warpgroup
inline constexpr int most_split = 4;  // blocks of a cluster
inline constexpr int threads = 384;
inline constexpr int consumers = 256;
inline constexpr int pieces = 4;  // in which a record is copied: the rows of a box
inline constexpr int pitch = 68;  // of a token's sums: 2 * pitch = 8 mod 32, no bank is hit twice

template <class R, int Tokens>
struct memory {
  // The fewer the tokens, the more the instructions of a slab count: several slabs share those of a stage.
  static constexpr int slabs = 256 / Tokens;
  static constexpr int stages = Tokens == 256 ? 5 : 4;
  static constexpr int staged = Tokens == 64 ? 32 : 64;  // tokens in `sums` at once
  static constexpr int group = Tokens == 256 ? 1 : 2;    // multiplications of 16 k at once
  alignas(1024) u8 x[stages][slabs][Tokens * slab * 2];
  alignas(128) u8 w[stages][2][slabs][prepacked_layout<R>::bytes];
  alignas(16) float sums[2][staged][pitch];
  mbarrier full[stages];
  mbarrier empty[stages];
  mbarrier ready;   // where K is split: each block of the cluster is done with its ring
  mbarrier landed;  // and the others' sums are in this one's
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
/// Of a place in this block's shared memory: the same in block `rank` of the cluster.
__device__ __forceinline__ u32 address_in(void const* shared, int rank) {
  u32 address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(address)
      : "r"(u32(__cvta_generic_to_shared(shared))), "r"(rank));
  return address;
}
/// Sends four numbers to another block, whose barrier counts their bytes.
__device__ __forceinline__ void send(u32 to, float const* x, u32 barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(to),
      "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "r"(barrier)
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
  gemm_segments work;  // as many columns as one of the blocks that share X has
  prepacked_ref<R, u8 const> weights;
  Epilogue epilogue;
  i64 cols;
  int split;
  int x_rows;  // that a box of X brings
};

/// What a cluster, or one block of it, does: every `step`-th tile, of each `pair` blocks' rows, and of these as
/// many slabs as fill the stages [begin, end). Where K is split there is only one tile.
struct share {
  int rank;  // in the cluster
  int pair;  // blocks that share X
  int part;  // of K
  int first;
  int step;
  i32 begin;
  i32 end;
  __device__ share(i32 stages, int split) {
    u32 const blocks = split == 1 ? 2 : u32(split);
    rank = int(blockIdx.x % blocks);
    pair = split == 1 ? 2 : 1;
    part = split == 1 ? 0 : rank;
    first = int(blockIdx.x / blocks);
    step = int(gridDim.x / blocks);
    begin = i32(u32(stages * part) / u32(split));
    end = i32(u32(stages * (part + 1)) / u32(split));
  }
  /// This block's first row of W in a tile.
  __device__ i64 row_of(gemm_tile const& tile) const {
    return tile.col * pair + (pair == 2 ? rank * rows : 0);
  }
};

template <int Tokens, class R>
__device__ __forceinline__ i32 stages_of(prepacked_ref<R, u8 const> const& w) {
  return i32(ceil_div(w.slabs(), i64(memory<R, Tokens>::slabs)));
}

/// The copying thread. What is beyond the ends of X or W arrives as zeros.
template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void produce(arguments<R, Epilogue> const& args,
                                        CUtensorMap const& x_map, CUtensorMap const& w_map,
                                        memory<R, Tokens>& shared) {
  namespace ptx = ::cuda::ptx;
  constexpr int slabs = memory<R, Tokens>::slabs;
  i32 const groups = i32(args.weights.groups());
  share const mine(stages_of<Tokens>(args.weights), args.split);
  int const from = mine.pair == 2 ? mine.rank * args.x_rows : 0;  // tokens of X that it loads
  u16 const to = u16(mine.pair == 2 ? 3 : 1 << mine.rank);
  tile_walk<Tokens, rows> walk(args.work, mine.first, mine.step);
  cursor<memory<R, Tokens>::stages> at;
  bool has_waited = false;
  for (gemm_tile tile; walk.next(tile);) {
    i32 const row = i32(tile.row) + from;
    i32 const group = tile.segment * groups + i32(mine.row_of(tile)) / 64;
    for (i32 k = mine.begin * slabs; k < mine.end * slabs; k += slabs) {
      wait(shared.empty[at.stage], at.phase ^ 1);
      mbarrier* const full = &shared.full[at.stage];
      ptx::mbarrier_arrive_expect_tx(
          ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
          u32(slabs * mine.pair * args.x_rows * slab * 2) + u32(sizeof(shared.w[0])));
      if (!has_waited) cudaGridDependencySynchronize();  // when nothing else is left to do
      has_waited = true;
#pragma unroll
      for (int i = 0; i < slabs; ++i)
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global,
                                  shared.x[at.stage][i] + from * slab * 2, &x_map,
                                  {(k + i) * slab * 2, row}, full, to);
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, shared.w[at.stage], &w_map,
                                {0, k * pieces, group}, full);
      at.advance();
    }
  }
}

/// Where the codes and the scales of a thread are in a record.
__device__ __forceinline__ u32 codes_of(int thread) { return u32(thread * 16); }
template <class R>
__device__ __forceinline__ u32 scales_of(int thread) {
  using layout = prepacked_layout<R>;
  return u32(layout::code_bytes + thread / 4 * 4 * layout::scale_words);
}
/// Reads a thread's codes and scales of a record.
template <class R>
__device__ __forceinline__ void read_record(u8 const* its_codes, u8 const* its_scales,
                                            u32 (&codes)[4],
                                            u32 (&scales)[prepacked_layout<R>::scale_words]) {
  uint4 const four = *reinterpret_cast<uint4 const*>(its_codes);
  codes[0] = four.x;
  codes[1] = four.y;
  codes[2] = four.z;
  codes[3] = four.w;
  if constexpr (prepacked_layout<R>::scale_words == 2) {
    uint2 const both = *reinterpret_cast<uint2 const*>(its_scales);
    scales[0] = both.x;
    scales[1] = both.y;
  } else {
    scales[0] = *reinterpret_cast<u32 const*>(its_scales);
  }
}

/// The A registers of the 16 k of a step, one of a slab's four, from the slab's codes and scales.
template <class R, bool IsSmall = false>
__device__ __forceinline__ void decode_step(u32 const (&codes)[4],
                                            u32 const (&scales)[prepacked_layout<R>::scale_words],
                                            int step, u32 (&a)[4]) {
  u32 pairs[4];
  expand_scales<R, IsSmall>(scales, pairs);
  decode_fragment<R, IsSmall>(codes, step, fragment_scales<R>(pairs[step]), a);
  // Here, and not after the next fence, where the compiler would have to add another.
#pragma unroll
  for (u32& word : a) asm volatile("" : "+r"(word));
}

/// A warpgroup hands the sums of 64 columns of D and of a tile's rows from `begin` on to the epilogue, `Staged` rows
/// at a time, which it turns around in shared memory. A thread's accumulators 4 j .. are two rows 8 j + 2 (lane % 4)
/// of column lane / 4, then of lane / 4 + 8.
template <class R, int Sums, int Staged, class Epilogue>
__device__ __forceinline__ void hand_out(float const (&d)[Sums], float (&sums)[Staged][pitch],
                                         int barrier, gemm_tile const& tile, i64 begin, i64 col,
                                         i64 cols, Epilogue const& epilogue) {
  constexpr int width = Epilogue::width;
  constexpr int each = 64 / width;
  int const thread = int(threadIdx.x) % 128;
  int const lane = thread % 32;
  float* const to = &sums[2 * (lane % 4)][thread / 32 * 16 + lane / 4];
#pragma unroll
  for (int t = 0; t < 2 * Sums; t += Staged) {
    if (tile.row + t + Staged <= begin || tile.row + t >= tile.row_end) continue;
    join<128>(barrier);  // the sums before these have been read
#pragma unroll
    for (int j = 0; j < Staged / 8; ++j)
#pragma unroll
      for (int i = 0; i < 4; ++i) to[(8 * j + i % 2) * pitch + i / 2 * 8] = d[(t / 8 + j) * 4 + i];
    join<128>(barrier);
#pragma unroll 1
    for (int i = thread; i < Staged * each; i += 128) {
      i64 const row = tile.row + t + i / each;
      int const n = i % each * width;
      if (row < begin || row >= tile.row_end || col + n >= cols) continue;
      float4 const* const from = reinterpret_cast<float4 const*>(&sums[i / each][n]);
      float out[width];
#pragma unroll
      for (int v = 0; v < width / 4; ++v) {
        float4 const s = from[v];
        out[4 * v] = s.x * prepacked_layout<R>::factor;
        out[4 * v + 1] = s.y * prepacked_layout<R>::factor;
        out[4 * v + 2] = s.z * prepacked_layout<R>::factor;
        out[4 * v + 3] = s.w * prepacked_layout<R>::factor;
      }
      epilogue.store(tile.segment, row, col + n, out);
    }
  }
}

/// One of the two multiplying warpgroups.
template <int Tokens, class R>
class consumer {
  using memory_type = memory<R, Tokens>;
  using layout = prepacked_layout<R>;

 public:
  __device__ __forceinline__ consumer(memory_type& shared, share const& mine)
      : shared_(shared),
        mine_(mine),
        warpgroup_(__shfl_sync(~0u, int(threadIdx.x) / 128, 0)),
        thread_(int(threadIdx.x) % 128) {}

  /// The sums of the slabs of some stages.
  __device__ __forceinline__ void multiply(float (&d)[Tokens / 2], i32 stages) {
#pragma unroll
    for (float& sum : d) sum = 0;
    if (stages == 0) return;
    constexpr int steps = 4 * slabs;  // of 16 k
    constexpr int group = memory_type::group;
    constexpr int held = 4 * group;  // two groups are read and one is decoded; four divide a stage
    static_assert(steps % held == 0);
    u32 a[held][4];
    int previous = 0;
    load();
#pragma unroll
    for (int i = 0; i < group; ++i) decode(i, a[i]);
#pragma unroll 1
    for (i32 k = 0; k < stages; ++k) {
      int const stage = at_.stage;
      u64 const x = hopper::swizzled_tile(shared_.x[stage][0]);
#pragma unroll
      for (int j = 0; j < steps; j += group) {
        hopper::wgmma_fence();
#pragma unroll
        for (int i = j; i < j + group; ++i)
          hopper::wgmma<bf16, bf16>::template multiply<Tokens>(
              d, a[i % held], x + i / 4 * (Tokens * slab * 2 / 16) + i % 4 * 2, 1);
        hopper::wgmma_commit();
#pragma unroll
        for (int i = j + group; i < j + 2 * group; ++i) decode(i % steps, a[i % held]);
        if (j + 2 * group == steps) {  // all of this stage is decoded
          at_.advance();
          if (k + 1 < stages) load();
        }
        hopper::wgmma_wait<1>();  // the group before this one
        if (j == 0 && k != 0) release(previous);
      }
      previous = stage;
    }
    hopper::wgmma_wait<0>();
    hopper::wgmma_hold(d);
    release(previous);
  }

  /// Adds the other parts of K to the sums of some of the tokens, and takes the others out of the tile.
  __device__ __forceinline__ void gather(float (&d)[Tokens / 2], gemm_tile& tile, i64& begin,
                                         int split) {
    namespace ptx = ::cuda::ptx;
    constexpr int most = Tokens / 8;  // chunks of eight tokens, of which a thread has four sums
    static_assert(sizeof(float4) * consumers * (most + most_split - 1) <= sizeof(shared_.x));
    auto* const parts =
        reinterpret_cast<float4*>(shared_.x) + threadIdx.x;  // [part][chunk][thread]
    int const chunks = int(min(i64(most), ceil_div(tile.row_end - tile.row, i64(8))));
    int const each = int(ceil_div(u32(chunks), u32(split)));
    int const first = mine_.rank * each;
    int const count = max(0, min(each, chunks - first));
    if (threadIdx.x == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                     &shared_.landed,
                                     u32((split - 1) * count * consumers * int(sizeof(float4))));
    int const lane = thread_ % 32;
    if (lane < split) hopper::arrive_in_cluster(&shared_.ready, u32(lane));
    wait(shared_.ready, 0);
    int owner = 0;
    int at = 0;  // among its chunks
#pragma unroll
    for (int c = 0; c < most; ++c) {
      if (c >= chunks) break;
      if (owner != mine_.rank)
        send(address_in(parts + (mine_.rank * each + at) * consumers, owner), d + 4 * c,
             address_in(&shared_.landed, owner));
      if (++at == each) {
        at = 0;
        ++owner;
      }
    }
    while (
        !ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &shared_.landed, 0)) {
    }
#pragma unroll 1
    for (int p = 0; p < split; ++p) {
      if (p == mine_.rank) continue;
      float4 x[most];
#pragma unroll
      for (int c = 0; c < most; ++c)
        if (c >= first && c < first + count) x[c] = parts[(p * each + c - first) * consumers];
#pragma unroll
      for (int c = 0; c < most; ++c) {
        if (c < first || c >= first + count) continue;
        d[4 * c] += x[c].x;
        d[4 * c + 1] += x[c].y;
        d[4 * c + 2] += x[c].z;
        d[4 * c + 3] += x[c].w;
      }
    }
    begin = tile.row + first * 8;
    tile.row_end = min(tile.row_end, begin + count * 8);
  }

  /// Hands the sums of a tile's rows from `begin` on to the epilogue.
  template <class Epilogue>
  __device__ __forceinline__ void finish(float const (&d)[Tokens / 2], gemm_tile const& tile,
                                         i64 begin, i64 cols, Epilogue const& epilogue) {
    hand_out<R>(d, shared_.sums[warpgroup_], warpgroup_ + 1, tile, begin,
                mine_.row_of(tile) + warpgroup_ * 64, cols, epilogue);
  }

 private:
  /// Reads the codes and scales of a stage.
  __device__ __forceinline__ void load() {
    wait(shared_.full[at_.stage], at_.phase);
#pragma unroll
    for (int i = 0; i < slabs; ++i) {
      u8 const* const record = shared_.w[at_.stage][warpgroup_][i];
      read_record<R>(record + codes_of(thread_), record + scales_of<R>(thread_), codes_[i],
                     scales_[i]);
    }
  }

  /// The 16 k of a step.
  __device__ __forceinline__ void decode(int step, u32 (&a)[4]) {
    decode_step<R>(codes_[step / 4], scales_[step / 4], step % 4, a);
  }

  /// A warp is done with a stage; whoever copies into it hears of that.
  __device__ __forceinline__ void release(int stage) {
    int const lane = thread_ % 32;
    if (lane < mine_.pair) hopper::arrive_in_cluster(&shared_.empty[stage], u32(mine_.part + lane));
  }

  static constexpr int slabs = memory_type::slabs;

  memory_type& shared_;
  share mine_;
  int warpgroup_;
  int thread_;
  cursor<memory_type::stages> at_;
  u32 codes_[slabs][4];
  u32 scales_[slabs][layout::scale_words];
};

template <int Tokens, class R, class Epilogue>
__device__ __forceinline__ void consume(arguments<R, Epilogue> const& args,
                                        memory<R, Tokens>& shared) {
  share const mine(stages_of<Tokens>(args.weights), args.split);
  tile_walk<Tokens, rows> walk(args.work, mine.first, mine.step);
  consumer<Tokens, R> me(shared, mine);
  float d[Tokens / 2];
  for (gemm_tile tile; walk.next(tile);) {
    me.multiply(d, mine.end - mine.begin);
    i64 begin = tile.row;
    if constexpr (Tokens <= 128)
      if (args.split > 1) me.gather(d, tile, begin, args.split);
    me.finish(d, tile, begin, args.cols, args.epilogue);
  }
}

/// Zeros in the rows of tiles of X that no box reaches. They are multiplied too, and anything else would take more power.
__device__ __forceinline__ void clear_rest(u8* x, int tiles, int tokens, int rows) {
  constexpr int each = slab * 2 / int(sizeof(uint4));
  int const rest = (tokens - rows) * each;
  for (int i = int(threadIdx.x); i < tiles * rest; i += int(blockDim.x))
    reinterpret_cast<uint4*>(x)[(i / rest * tokens + rows) * each + i % rest] = uint4{};
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // for wgmma
}

template <int Tokens, class R>
__device__ __forceinline__ void prepare(memory<R, Tokens>& shared, int split, int x_rows) {
  namespace ptx = ::cuda::ptx;
  constexpr int warps = consumers / 32;
  clear_rest(shared.x[0][0], memory<R, Tokens>::stages * memory<R, Tokens>::slabs, Tokens,
             split == 1 ? 2 * x_rows : x_rows);
  if (threadIdx.x == 0) {
    for (mbarrier& barrier : shared.full) ptx::mbarrier_init(&barrier, 1);
    for (mbarrier& barrier : shared.empty)
      ptx::mbarrier_init(&barrier, u32(split == 1 ? 2 * warps : warps));
    ptx::mbarrier_init(&shared.ready, u32(split * warps));
    ptx::mbarrier_init(&shared.landed, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
}

}  // namespace fused
}  // namespace quadrille::detail
