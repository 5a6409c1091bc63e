// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A block's factor from its scale's code, and scales that compete for a block in a thread's registers:
/// search_rule's choice, with the codes of the scale that won as a by-product.

#include <quadrille/cuda/packer.cuh>
#include <quadrille/scale.hpp>

namespace quadrille::detail {

/// Factors that may be folded with powers of two: the products are exact, and what they round away among
/// tiny elements cannot reach a code.
__device__ __forceinline__ bool is_usual(float factor) {
  return factor > 0x1p-100f && factor < 0x1p60f;
}
/// te_order's factor of a scale, infinite where it is not usual. This is how the compiler divides 1 by a
/// normal number, without its case for others: three instructions where a table costs a thread block more.
template <class F>
__device__ __forceinline__ float factor_of_code(u32 code, outer_scale const& o) {
  float const divisor = mul(F::decode(code), o.decode);
  float guess;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(guess) : "f"(divisor));
  float const factor = fma_even(guess, -fma_even(divisor, guess, -1.f), guess);
  return is_usual(factor) ? factor : as_float(infinity_bits);
}

/// True if the scale's rule is four_over_six, whatever parameters it redeclares.
template <class S, class E>
consteval bool is_contested_scale() {
  if constexpr (requires {
                  typename S::rule::error;
                  typename S::format;
                }) {
    using rule = typename S::rule;
    using format = typename S::format;
    if constexpr (chooses_as<four_over_six<typename rule::error>, rule, E, format>())
      return !rule::template has_fallback<rule, E, format>;
  }
  return false;
}

/// E2M1 to nearest even, where packer::uses_fp8. x and amax are in true units.
template <class S, int Cols>
struct packing_contest {
  using pack = packer<e2m1, nearest_even>;
  using format = typename S::format;
  float const* x;
  float amax;
  outer_scale outer;
  u32 codes[Cols / 8];
  u32 best = 0;
  u32 least = ~0u;  // no sum is that large
  bool is_plain =
      true;  // otherwise some element was clipped, or its factor is not usual, or it is poisoned

  __device__ void enter_all() {
    using rule = typename S::rule;
    float const target = rule::template target<rule, e2m1>(amax, outer);
#pragma unroll
    for (int k = 0; k < rule::candidates; ++k)
      enter(rule::template candidate<rule, e2m1, format>(k, target));
  }

 private:
  __device__ void enter(scale_candidate<u32> const& tried) {
    u32 const stored = tried.code;
    float const factor = factor_of_code<format>(stored, outer);
    float const decode = mul(format::decode(stored), outer.decode);
    is_plain = is_plain && mul(amax, factor) < pack::limit;
    float v[Cols];
    float error = 0;
#pragma unroll
    for (int i = 0; i < Cols; ++i) {
      constexpr float units[2] = {pack::even_unit, pack::odd_unit};
      constexpr float inverse[2] = {1 / pack::even_unit, 1 / pack::odd_unit};
      float const unit = units[i % 2];
      float const a = magnitude(x[i]);
      v[i] = pack::round(mul(a, mul(factor, unit)), unit);
      error = add(error, S::rule::error::of(sub(mul(v[i], mul(decode, inverse[i % 2])), a)));
    }
    u32 const sum = bits_of(error) | tried.handicap;
    bool const is_better = sum < least;
    least = min(sum, least);
    best = is_better ? stored : best;
#pragma unroll
    for (int k = 0; k < Cols / 8; ++k) {
      u32 const word = pack::magnitude_codes(v + 8 * k);
      codes[k] = is_better ? word : codes[k];
    }
  }
};

}  // namespace quadrille::detail
