// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What one thread of this machine can do at most, measured beside the kernels: operations a second of
/// its widest multiply-add instructions in registers, and bytes a second of a long read. x86-64 only.

#include <cstddef>
#include <cstdint>
#include <span>

#include <immintrin.h>

namespace limits {

/// Calls the instruction on 12 independent sums, `rounds` times.
#define QUADRILLE_BENCH_SUMS(instruction, reg)                                                   \
  asm volatile(instruction                                                                       \
               " %%" reg "12, %%" reg "13, %%" reg "0\n" instruction " %%" reg "12, %%" reg      \
               "13, %%" reg "1\n" instruction " %%" reg "12, %%" reg "13, %%" reg                \
               "2\n" instruction " %%" reg "12, %%" reg "13, %%" reg "3\n" instruction " %%" reg \
               "12, %%" reg "13, %%" reg "4\n" instruction " %%" reg "12, %%" reg "13, %%" reg   \
               "5\n" instruction " %%" reg "12, %%" reg "13, %%" reg "6\n" instruction " %%" reg \
               "12, %%" reg "13, %%" reg "7\n" instruction " %%" reg "12, %%" reg "13, %%" reg   \
               "8\n" instruction " %%" reg "12, %%" reg "13, %%" reg "9\n" instruction " %%" reg \
               "12, %%" reg "13, %%" reg "10\n" instruction " %%" reg "12, %%" reg "13, %%" reg  \
               "11" ::                                                                           \
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",     \
                     "xmm9", "xmm10", "xmm11", "xmm12", "xmm13")

inline constexpr int rounds = 1000000;
inline constexpr double sums = 12.0 * rounds;

#if defined(__AVX512F__)
inline constexpr int lanes = 16;
inline void fma() {
  for (int i = 0; i < rounds; ++i) QUADRILLE_BENCH_SUMS("vfmadd231ps", "zmm");
}
#elif defined(__FMA__)
inline constexpr int lanes = 8;
inline void fma() {
  for (int i = 0; i < rounds; ++i) QUADRILLE_BENCH_SUMS("vfmadd231ps", "ymm");
}
#endif
#if defined(__AVX512BF16__)
inline void bf16() {
  for (int i = 0; i < rounds; ++i) QUADRILLE_BENCH_SUMS("vdpbf16ps", "zmm");
}
#endif
#if defined(__AVX512VNNI__)
inline void vnni() {
  for (int i = 0; i < rounds; ++i) QUADRILLE_BENCH_SUMS("vpdpbusd", "zmm");
}
#endif
#undef QUADRILLE_BENCH_SUMS

/// Reads n bytes, a multiple of 4096, and returns something that depends on them. A line of a later page is asked
/// for in each, as the processor reads ahead within a page only.
inline std::uint64_t read(std::span<std::uint64_t const> words) {
  constexpr std::size_t page = 512;
  std::uint64_t sum[32] = {};
  for (std::size_t i = 0; i < words.size(); i += page) {
    __builtin_prefetch(words.data() + i + 16 * page);
    for (std::size_t j = i; j < i + page; j += 32)
      for (std::size_t k = 0; k < 32; ++k) sum[k] ^= words[j + k];
  }
  std::uint64_t all = 0;
  for (std::uint64_t const s : sum) all ^= s;
  return all;
}

}  // namespace limits
