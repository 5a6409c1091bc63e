// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which vector kernels a host call may use. What the translation unit is compiled for decides; with
/// QUADRILLE_DISPATCH defined before the first include, the processor that it runs on.

#include <quadrille/detail/std.hpp>

// nvcc's own parser knows neither the vector types nor the intrinsics' pragmas.
#if !defined(__CUDACC__)
#include <quadrille/detail/rotate_vectors.hpp>
#endif
#if defined(__x86_64__) && !defined(__CUDACC__)
#include <quadrille/detail/avx2.hpp>
#include <quadrille/detail/avx512.hpp>
#include <quadrille/detail/avx512_codes.hpp>
#endif

namespace quadrille::detail {

/// A kernel, and whether it may be called here.
template <class Kernel, bool Compiled, bool (*Supported)()>
struct candidate {
  using kernel = Kernel;
  static constexpr bool is_possible = Compiled || Supported != nullptr;
  static bool is_usable() {
    if constexpr (Compiled) return true;
    return Supported != nullptr && Supported();
  }
};

/// Kernels for one kind of product, the fastest first.
template <class... Candidate>
struct kernel_list {
  static constexpr bool is_empty = !(Candidate::is_possible || ...);
  /// f.operator()<Kernel>() with the first usable kernel; false if there is none.
  template <class F>
  static bool with_best(F const& f) {
    bool found = false;
    (try_one<Candidate>(f, found), ...);
    return found;
  }

 private:
  template <class C, class F>
  static void try_one(F const& f, bool& found) {
    if constexpr (C::is_possible)
      if (!found && C::is_usable()) {
        found = true;
        f.template operator()<typename C::kernel>();
      }
  }
};

#if defined(__x86_64__) && !defined(__CUDACC__)

#if defined(__AVX2__) && defined(__FMA__)
inline constexpr bool has_avx2 = true;
#else
inline constexpr bool has_avx2 = false;
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__) && defined(__AVX512CD__)
inline constexpr bool has_avx512 = true;
#else
inline constexpr bool has_avx512 = false;
#endif
#if defined(__AVX512VNNI__)
inline constexpr bool has_vnni = has_avx512;
#else
inline constexpr bool has_vnni = false;
#endif
#if defined(__AVX512BF16__)
inline constexpr bool has_bf16 = has_avx512;
#else
inline constexpr bool has_bf16 = false;
#endif

#if defined(QUADRILLE_DISPATCH)
inline bool supports_avx2() {
  static bool const answer = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return answer;
}
inline bool supports_avx512() {
  static bool const answer =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512cd") && supports_avx2();
  return answer;
}
inline bool supports_vnni() {
  static bool const answer = __builtin_cpu_supports("avx512vnni") && supports_avx512();
  return answer;
}
inline bool supports_bf16() {
  static bool const answer = __builtin_cpu_supports("avx512bf16") && supports_avx512();
  return answer;
}
#else
inline constexpr bool (*supports_avx2)() = nullptr;
inline constexpr bool (*supports_avx512)() = nullptr;
inline constexpr bool (*supports_vnni)() = nullptr;
inline constexpr bool (*supports_bf16)() = nullptr;
#endif

using code_kernels = kernel_list<candidate<avx512_codes, has_avx512, supports_avx512>>;
using float_kernels = kernel_list<candidate<avx512_float, has_avx512, supports_avx512>,
                                  candidate<avx2_float, has_avx2, supports_avx2>>;
using bf16_kernels = kernel_list<candidate<avx512_bf16, has_bf16, supports_bf16>>;
using int8_kernels = kernel_list<candidate<avx512_int8, has_vnni, supports_vnni>,
                                 candidate<avx2_int8, has_avx2, supports_avx2>>;

#else

using code_kernels = kernel_list<>;
using float_kernels = kernel_list<>;
using bf16_kernels = kernel_list<>;
using int8_kernels = kernel_list<>;

#endif

}  // namespace quadrille::detail
