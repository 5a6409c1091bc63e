// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which compiler pass this is. All preprocessor decisions of the core live here and in detail/std.hpp.
///
/// QUADRILLE_HD             every function carries it: callable from host and device
/// QUADRILLE_LEAF           the same for the smallest functions, which are always inlined: they take the
///                          floating-point rules of their caller, where g++ inlines nothing else
/// QUADRILLE_EXACT_BEGIN    from here on each floating-point operation rounds once, as written: no
/// QUADRILLE_EXACT_END      contraction of a*b+c, no reassociation, whatever flags the user compiles
///                          with. Needed for one promise: the same bytes from every compiler and pass.
/// QUADRILLE_TARGET_BEGIN(f)  from here on functions may use the x86 features f, whatever the translation
/// QUADRILLE_TARGET_END     unit is compiled for; calling them is right only where detail/cpu.hpp says so

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define QUADRILLE_HD __host__ __device__
#define QUADRILLE_LEAF __host__ __device__ __forceinline__
#else
#define QUADRILLE_HD
#define QUADRILLE_LEAF [[gnu::always_inline]] inline
#endif

// g++: trapping math is off as it only keeps comparisons from vectorising.
// nvcc in front of g++ passes the pragma through, but its own parser warns of it.
// clang-format off
#define QUADRILLE_GCC_EXACT \
  _Pragma("GCC push_options") \
  _Pragma("GCC optimize(\"no-fast-math\", \"fp-contract=off\", \"no-trapping-math\", \"no-math-errno\")")

#if defined(__CUDACC_RTC__)
#define QUADRILLE_EXACT_BEGIN
#define QUADRILLE_EXACT_END
#elif defined(__clang__)
#define QUADRILLE_EXACT_BEGIN \
  _Pragma("float_control(push)") \
  _Pragma("float_control(precise, on)") \
  _Pragma("clang fp contract(off)")
#define QUADRILLE_EXACT_END _Pragma("float_control(pop)")
#elif defined(__CUDACC__)
#define QUADRILLE_EXACT_BEGIN \
  _Pragma("nv_diagnostic push") \
  _Pragma("nv_diag_suppress 1675") \
  QUADRILLE_GCC_EXACT \
  _Pragma("nv_diagnostic pop")
#define QUADRILLE_EXACT_END _Pragma("GCC pop_options")
#elif defined(__GNUC__)
#define QUADRILLE_EXACT_BEGIN QUADRILLE_GCC_EXACT
#define QUADRILLE_EXACT_END _Pragma("GCC pop_options")
#else
#error "quadrille: unknown compiler; its rule for exact floating point is missing, add it to detail/config.hpp"
#endif
// clang-format on

#define QUADRILLE_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define QUADRILLE_TARGET_BEGIN(features) \
  QUADRILLE_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define QUADRILLE_TARGET_END QUADRILLE_PRAGMA(clang attribute pop)
#else
// g++'s own headers leave lanes undefined on purpose; inlined, they seem the caller's fault.
#define QUADRILLE_TARGET_BEGIN(features)                           \
  QUADRILLE_PRAGMA(GCC diagnostic push)                            \
  QUADRILLE_PRAGMA(GCC diagnostic ignored "-Wuninitialized")       \
  QUADRILLE_PRAGMA(GCC diagnostic ignored "-Wmaybe-uninitialized") \
  QUADRILLE_PRAGMA(GCC push_options) QUADRILLE_PRAGMA(GCC target(features))
#define QUADRILLE_TARGET_END QUADRILLE_PRAGMA(GCC pop_options) QUADRILLE_PRAGMA(GCC diagnostic pop)
#endif

// Bytes of the widest vectors that the translation unit is compiled for.
#if defined(__AVX512F__)
#define QUADRILLE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define QUADRILLE_VECTOR_BYTES 32
#else
#define QUADRILLE_VECTOR_BYTES 16
#endif
