// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The few standard things that the core needs, in a form that every pass has: g++, clang, nvcc's two
/// passes and NVRTC (which ships no <cstdint>, <concepts> or <bit>).

#include <quadrille/detail/config.hpp>

namespace quadrille {

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using i32 = int;
using i64 = long long;

namespace detail {

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;

template <class A, class B>
concept same_as = is_same_v<A, B>;

template <bool Condition, class Then, class Else>
struct select_type {
  using type = Then;
};
template <class Then, class Else>
struct select_type<false, Then, Else> {
  using type = Else;
};
template <bool Condition, class Then, class Else>
using select_t = typename select_type<Condition, Then, Else>::type;

QUADRILLE_EXACT_BEGIN
template <class T>
QUADRILLE_LEAF constexpr T min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
QUADRILLE_LEAF constexpr T max(T a, T b) {
  return a > b ? a : b;
}
template <class T>
QUADRILLE_LEAF constexpr T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

/// The 64-bit product of two 32-bit numbers. (Written as a product of two 64-bit numbers, nvcc adds what
/// their upper halves would give.)
QUADRILLE_LEAF constexpr u64 wide_product(u32 a, u32 b) {
#if defined(__CUDA_ARCH__)
  if (!__builtin_is_constant_evaluated()) {
    u64 r;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
    return r;
  }
#endif
  return u64(a) * b;
}

QUADRILLE_LEAF constexpr u32 bits_of(float x) { return __builtin_bit_cast(u32, x); }
QUADRILLE_LEAF constexpr u64 bits_of(double x) { return __builtin_bit_cast(u64, x); }
QUADRILLE_LEAF constexpr float as_float(u32 bits) { return __builtin_bit_cast(float, bits); }
QUADRILLE_LEAF constexpr double as_double(u64 bits) { return __builtin_bit_cast(double, bits); }

inline constexpr u32 infinity_bits = 0x7f800000u;
inline constexpr float float_max = 0x1.fffffep127f;

QUADRILLE_LEAF constexpr u32 magnitude_bits(float x) { return bits_of(x) & 0x7fffffffu; }
QUADRILLE_LEAF constexpr float magnitude(float x) {
#if defined( \
    __CUDA_ARCH__)  // an operand modifier of the next instruction, where masking bits is an instruction
  if (!__builtin_is_constant_evaluated()) {
    float r;
    asm("abs.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
  }
#endif
  return as_float(magnitude_bits(x));
}
// From the bits: flushing hardware takes a subnormal for zero, and -ffast-math may delete a
// comparison with NaN.
QUADRILLE_LEAF constexpr bool is_finite(float x) { return magnitude_bits(x) < infinity_bits; }
QUADRILLE_LEAF constexpr bool is_zero(float x) { return magnitude_bits(x) == 0; }
QUADRILLE_LEAF constexpr bool is_nan(float x) { return magnitude_bits(x) > infinity_bits; }
QUADRILLE_LEAF constexpr float quiet_nan() { return as_float(0x7fc00000u); }

// Selected as integers: clang folds a choice between floats by its fast-math rules whatever the pragma
// says, and then infinity is no number.
QUADRILLE_LEAF constexpr float min(float a, float b) {
  return as_float(a < b ? bits_of(a) : bits_of(b));
}
QUADRILLE_LEAF constexpr float max(float a, float b) {
  return as_float(a > b ? bits_of(a) : bits_of(b));
}

/// 2^exponent, exact, for exponents in [-126, 127].
QUADRILLE_LEAF constexpr float exp2i(int exponent) { return as_float(u32(exponent + 127) << 23); }

// One operation, one rounding to nearest even, subnormals kept; on the host only between
// QUADRILLE_EXACT_BEGIN and _END. On the device the PTX is written out, as --use_fast_math turns
// plain operators and intrinsics into flushing or approximate forms.
#if defined(__CUDA_ARCH__)
#define QUADRILLE_PTX(op, ...)              \
  if (!__builtin_is_constant_evaluated()) { \
    float r;                                \
    asm(op : "=f"(r) : __VA_ARGS__);        \
    return r;                               \
  }
#else
#define QUADRILLE_PTX(op, ...)
#endif
// clang's back end fuses a product into a later sum under -ffp-contract=fast whatever the pragma says,
// unless an integer operation that it cannot see through stands between.
#if defined(__clang__) && !defined(__CUDA_ARCH__)
QUADRILLE_LEAF constexpr float unfused(float product) {
  if (__builtin_is_constant_evaluated()) return product;
  u32 zero = 0;
  asm("" : "+r"(zero));
  return as_float(bits_of(product) | zero);
}
#define QUADRILLE_UNFUSED(product) unfused(product)
#else
#define QUADRILLE_UNFUSED(product) (product)
#endif
QUADRILLE_LEAF constexpr float mul(float a, float b) {
  QUADRILLE_PTX("mul.rn.f32 %0, %1, %2;", "f"(a), "f"(b))
  return QUADRILLE_UNFUSED(a * b);
}
QUADRILLE_LEAF constexpr float add(float a, float b) {
  QUADRILLE_PTX("add.rn.f32 %0, %1, %2;", "f"(a), "f"(b))
  return a + b;
}
QUADRILLE_LEAF constexpr float sub(float a, float b) {
  QUADRILLE_PTX("sub.rn.f32 %0, %1, %2;", "f"(a), "f"(b))
  return a - b;
}
QUADRILLE_LEAF constexpr float div(float a, float b) {
  QUADRILLE_PTX("div.rn.f32 %0, %1, %2;", "f"(a), "f"(b))
  return a / b;
}
/// 1 / a.
QUADRILLE_LEAF constexpr float reciprocal(float a) {
  QUADRILLE_PTX("rcp.rn.f32 %0, %1;", "f"(a))
  return 1 / a;
}
#undef QUADRILLE_PTX
#undef QUADRILLE_UNFUSED
QUADRILLE_LEAF constexpr double mul(double a, double b) { return a * b; }
QUADRILLE_LEAF constexpr double sub(double a, double b) { return a - b; }

QUADRILLE_LEAF float sqrt(float a) {  // not constexpr: clang has no constant square root
#if defined(__CUDA_ARCH__)
  float r;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(a));
  return r;
#else
  return __builtin_sqrtf(a);
#endif
}

// E4M3 in hardware (PTX ISA 8.1, sm_89 and newer): to nearest even, saturating, x not NaN; and back.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
inline constexpr bool has_e4m3_conversion = true;
QUADRILLE_LEAF u32 to_e4m3(float x) {
  u16 r;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(0.f), "f"(x));
  return r;
}
QUADRILLE_LEAF float from_e4m3(u32 code) {
  float r;
  asm("{ .reg .b32 pair; .reg .b16 low, high;\n"
      "cvt.rn.f16x2.e4m3x2 pair, %1;\n"
      "mov.b32 {low, high}, pair;\n"
      "cvt.f32.f16 %0, low; }"
      : "=f"(r)
      : "h"(u16(code)));  // the high byte is zero
  return r;
}
#else
inline constexpr bool has_e4m3_conversion = false;
QUADRILLE_LEAF u32 to_e4m3(float) { return 0; }
QUADRILLE_LEAF float from_e4m3(u32) { return 0; }
#endif

// AVX-512's permutation of bytes. What the translation unit is compiled for decides, even where kernels are
// chosen at run time.
#if defined(__AVX512VBMI__)
inline constexpr bool has_vbmi = true;
#else
inline constexpr bool has_vbmi = false;
#endif

QUADRILLE_EXACT_END

}  // namespace detail
}  // namespace quadrille
