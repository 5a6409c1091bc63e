// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The instructions of Hopper's tensor cores (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate")
/// apart from what they are used for. Barriers and bulk copies are cuda::ptx's.

#include <cuda.h>

#include <quadrille/arch/target.hpp>
#include <quadrille/cuda/stream.cuh>
#include <quadrille/format.hpp>

namespace quadrille::detail {

/// Has shared memory only where it has code for Hopper's tensor cores.
static __global__ void hopper_probe_kernel(int* to) {
  if constexpr (target::has_wgmma) {
    __shared__ int own;
    own = int(threadIdx.x);
    __syncthreads();
    if (to != nullptr) *to = own;
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// True if the current device runs wgmma and this program holds the code: that of sm_90a, which no other device
/// runs and which code for plain sm_90 cannot stand in for.
inline bool has_hopper_code() {
  if (device_attribute(cudaDevAttrComputeCapabilityMajor) != 9) return false;
  cudaFuncAttributes code{};
  check_cuda(cudaFuncGetAttributes(&code, hopper_probe_kernel), "asking for a kernel");
  return code.sharedSizeBytes != 0;
}
#pragma GCC visibility pop
}  // namespace quadrille::detail

namespace quadrille::detail::hopper {

/// Orders this warpgroup's register and shared-memory writes before the wgmma that follow.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `Pending` groups of this warpgroup are in flight.
template <int Pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
/// Keeps the compiler from moving uses of an accumulator across a wait.
template <int N>
__device__ __forceinline__ void wgmma_hold(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

/// Asks the L2 for a box of a matrix. Earlier work may still write it: it writes to the L2.
__device__ __forceinline__ void prefetch(CUtensorMap const& map, i32 byte, i32 row) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
               "r"(byte), "r"(row)
               : "memory");
}

/// Arrives at the barrier that is at `barrier` in block `rank` of the cluster. (cuda::ptx's form releases at
/// cluster scope, which costs a memory barrier of about 1000 cycles; wgmma_wait orders what is needed.)
__device__ __forceinline__ void arrive_in_cluster(void const* barrier, u32 rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(
          u32(__cvta_generic_to_shared(barrier))),
      "r"(rank)
      : "memory");
}

template <int Registers>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Describes a K-major tile in shared memory whose rows are 128 bytes, swizzled by 128 bytes: eight rows are
/// 1024 bytes, to which the tile is aligned. The next K step starts 32 bytes on: add 2 to the descriptor.
__device__ __forceinline__ u64 swizzled_tile(void const* shared) {
  u64 const address = u64(__cvta_generic_to_shared(shared));
  return (address & 0x3ffff) >> 4 | u64(1) << 16 | u64(64) << 32 | u64(1) << 62;
}

// The accumulators d[0 .. N / 2) as registers of an instruction and as operands of a statement.
#define QUADRILLE_R8 "%0,%1,%2,%3,%4,%5,%6,%7"
#define QUADRILLE_R16 QUADRILLE_R8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define QUADRILLE_R32 \
  QUADRILLE_R16 "," \
  "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define QUADRILLE_R64 \
  QUADRILLE_R32 "," \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47," \
  "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define QUADRILLE_R96 \
  QUADRILLE_R64 "," \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79," \
  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define QUADRILLE_R128 \
  QUADRILLE_R96 "," \
  "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
  "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define QUADRILLE_D8(i)                                                                     \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define QUADRILLE_D32(i) QUADRILLE_D8(i), QUADRILLE_D8(i + 8), QUADRILLE_D8(i + 16), QUADRILLE_D8(i + 24)
#define QUADRILLE_D64(i) QUADRILLE_D32(i), QUADRILLE_D32(i + 32)

// d (64 x N) = a b^T + (keep ? d : 0), both operands in shared memory.
#define QUADRILLE_WGMMA_SS(OP, REGISTERS, A, B, KEEP, TAIL, ...)                             \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " KEEP ", 0; wgmma.mma_async.sync.aligned." OP \
               " {" REGISTERS "}, " A ", " B ", p, 1, 1" TAIL "; }"                           \
               : __VA_ARGS__                                                                 \
               : "l"(a), "l"(b), "r"(keep))
// The same with a in registers.
#define QUADRILLE_WGMMA_RS(OP, REGISTERS, A, B, KEEP, TAIL, ...)                             \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, " KEEP ", 0; wgmma.mma_async.sync.aligned." OP \
               " {" REGISTERS "}, {" A "}, " B ", p, 1, 1" TAIL "; }"                         \
               : __VA_ARGS__                                                                 \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(keep))

/// wgmma<A, B>::multiply<N>: d (64 x N, FP32) = a b^T + (keep ? d : 0) over `k` elements of K.
///   a      descriptor of a tile, or four registers of each thread
///   b      descriptor of a tile of N rows
/// Types: bf16, fp16, or any two of e4m3 and e5m2.
template <class A, class B>
struct wgmma;

#define QUADRILLE_WGMMA_TYPE(A, B, K, TYPES, SS_TAIL, RS_TAIL)                                     \
  template <>                                                                                      \
  struct wgmma<A, B> {                                                                             \
    static constexpr int k = K;                                                                    \
    template <int N>                                                                               \
    __device__ static void multiply(float (&d)[N / 2], u64 a, u64 b, int keep) {                   \
      static_assert(N == 64 || N == 128 || N == 192 || N == 256);                                  \
      if constexpr (N == 64)                                                                       \
        QUADRILLE_WGMMA_SS("m64n64k" #K TYPES, QUADRILLE_R32, "%32", "%33", "%34", SS_TAIL,        \
                           QUADRILLE_D32(0));                                                      \
      else if constexpr (N == 128)                                                                 \
        QUADRILLE_WGMMA_SS("m64n128k" #K TYPES, QUADRILLE_R64, "%64", "%65", "%66", SS_TAIL,       \
                           QUADRILLE_D64(0));                                                      \
      else if constexpr (N == 192)                                                                 \
        QUADRILLE_WGMMA_SS("m64n192k" #K TYPES, QUADRILLE_R96, "%96", "%97", "%98", SS_TAIL,       \
                           QUADRILLE_D64(0), QUADRILLE_D32(64));                                   \
      else                                                                                         \
        QUADRILLE_WGMMA_SS("m64n256k" #K TYPES, QUADRILLE_R128, "%128", "%129", "%130", SS_TAIL,   \
                           QUADRILLE_D64(0), QUADRILLE_D64(64));                                   \
    }                                                                                              \
    template <int N>                                                                               \
    __device__ static void multiply(float (&d)[N / 2], u32 const (&a)[4], u64 b, int keep) {       \
      static_assert(N == 16 || N == 32 || N == 64 || N == 128 || N == 192 || N == 256);            \
      if constexpr (N == 16)                                                                       \
        QUADRILLE_WGMMA_RS("m64n16k" #K TYPES, QUADRILLE_R8, "%8,%9,%10,%11", "%12", "%13",        \
                           RS_TAIL, QUADRILLE_D8(0));                                              \
      else if constexpr (N == 32)                                                                  \
        QUADRILLE_WGMMA_RS("m64n32k" #K TYPES, QUADRILLE_R16, "%16,%17,%18,%19", "%20", "%21",     \
                           RS_TAIL, QUADRILLE_D8(0), QUADRILLE_D8(8));                             \
      else if constexpr (N == 64)                                                                  \
        QUADRILLE_WGMMA_RS("m64n64k" #K TYPES, QUADRILLE_R32, "%32,%33,%34,%35", "%36", "%37",     \
                           RS_TAIL, QUADRILLE_D32(0));                                             \
      else if constexpr (N == 128)                                                                 \
        QUADRILLE_WGMMA_RS("m64n128k" #K TYPES, QUADRILLE_R64, "%64,%65,%66,%67", "%68", "%69",    \
                           RS_TAIL, QUADRILLE_D64(0));                                             \
      else if constexpr (N == 192)                                                                 \
        QUADRILLE_WGMMA_RS("m64n192k" #K TYPES, QUADRILLE_R96, "%96,%97,%98,%99", "%100", "%101",  \
                           RS_TAIL, QUADRILLE_D64(0), QUADRILLE_D32(64));                          \
      else                                                                                         \
        QUADRILLE_WGMMA_RS("m64n256k" #K TYPES, QUADRILLE_R128, "%128,%129,%130,%131", "%132",     \
                           "%133", RS_TAIL, QUADRILLE_D64(0), QUADRILLE_D64(64));                  \
    }                                                                                              \
  }
QUADRILLE_WGMMA_TYPE(bf16, bf16, 16, ".f32.bf16.bf16", ", 0, 0", ", 0");
QUADRILLE_WGMMA_TYPE(fp16, fp16, 16, ".f32.f16.f16", ", 0, 0", ", 0");
QUADRILLE_WGMMA_TYPE(e4m3, e4m3, 32, ".f32.e4m3.e4m3", "", "");
QUADRILLE_WGMMA_TYPE(e4m3, e5m2, 32, ".f32.e4m3.e5m2", "", "");
QUADRILLE_WGMMA_TYPE(e5m2, e4m3, 32, ".f32.e5m2.e4m3", "", "");
QUADRILLE_WGMMA_TYPE(e5m2, e5m2, 32, ".f32.e5m2.e5m2", "", "");

#undef QUADRILLE_WGMMA_TYPE
#undef QUADRILLE_WGMMA_RS
#undef QUADRILLE_WGMMA_SS
#undef QUADRILLE_D64
#undef QUADRILLE_D32
#undef QUADRILLE_D8
#undef QUADRILLE_R128
#undef QUADRILLE_R96
#undef QUADRILLE_R64
#undef QUADRILLE_R32
#undef QUADRILLE_R16
#undef QUADRILLE_R8

}  // namespace quadrille::detail::hopper
