// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The tensor-core instructions that every GPU from sm_80 on has (PTX ISA, "Warp Level Matrix
/// Multiply-Accumulate" and "cp.async"), apart from what they are used for.

#include <quadrille/cuda/source.cuh>

namespace quadrille::detail::ampere {

__device__ __forceinline__ u32 shared_address(void const* p) {
  return u32(__cvta_generic_to_shared(p));
}

/// Asks the L2 for 128 bytes. Earlier work may still write them: it writes to the L2.
__device__ __forceinline__ void prefetch(void const* from) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

/// Copies 16 bytes from global to shared memory, both at multiples of 16, if index < count.
/// (The condition is part of the statement: a branch would keep the compiler from mixing it with others.)
__device__ __forceinline__ void copy16_if(int index, int count, u32 to, void const* from) {
  asm volatile(
      "{ .reg .pred p; setp.lt.s32 p, %0, %1;\n"
      "@p cp.async.cg.shared.global.L2::128B [%2], [%3], 16; }" ::"r"(index),
      "r"(count), "r"(to), "l"(from)
      : "memory");
}
/// Copies 4 bytes, or writes zeros; then the source is not read.
__device__ __forceinline__ void copy4_or_zeros(u32 to, void const* from, bool exists) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
               "r"(exists ? 4 : 0)
               : "memory");
}
/// Copies the first `bytes` of 16 and fills the rest with zeros. Of no bytes, the source is not read.
__device__ __forceinline__ void copy_some_of_16(u32 to, void const* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Waits until at most `Pending` groups of this thread's copies are in flight.
template <int Pending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
}

/// Four 8 x 8 matrices of 16-bit elements; lane 8 i + j passes the address of row j of matrix i and
/// gets elements 2 (lane % 4) and the next of row lane / 4 of each.
__device__ __forceinline__ void load_matrices(u32 (&r)[4], u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// d (16 x 8, FP32) += a b^T over 16 elements of K. Of a lane's d, the first two are columns
/// 2 (lane % 4) and the next of row lane / 4, the others the same eight rows further.
template <class T>
__device__ __forceinline__ void multiply(float (&d)[4], u32 const (&a)[4], u32 b0, u32 b1) {
  static_assert(is_bf16<T> || is_fp16<T>);
  if constexpr (is_bf16<T>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// The same over 8 elements of K: BF16 only.
__device__ __forceinline__ void multiply_half(float (&d)[4], u32 a0, u32 a1, u32 b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b));
}

}  // namespace quadrille::detail::ampere
