// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints which x86-64 level this CPU has, 1 to 4 (1 also on other processors).

#include <cstdio>

int main() {
  int level = 1;
#if defined(__x86_64__)
  auto const has_v2 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
  auto const has_v3 = has_v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
                      __builtin_cpu_supports("fma");
  auto const has_v4 = has_v3 && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
                      __builtin_cpu_supports("avx512vl");
  level = has_v4 ? 4 : has_v3 ? 3 : has_v2 ? 2 : 1;
#endif
  std::printf("%d\n", level);
}
