// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Reference quantization of one block: which scale is stored, which codes, what they decode to.
///
/// Where a recipe fixes an order of FP32 operations, each line below is one operation. Fixed
/// constants (1/6, 1/2688) are FP32 roundings of the exact quotient.

#include "oracle_arithmetic.hpp"
#include "oracle_formats.hpp"

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace oracle {

/// A quantized block. `scale` leaves out the tensor scale.
struct block {
  unsigned scale_code = 0;  ///< stored byte; unused where the scale is FP32
  float scale = 0;          ///< value of the stored scale
  std::vector<float> t;     ///< scaled values, before they round to the element format
  std::vector<unsigned> codes;
  std::vector<float> decoded;
  std::vector<bool> inside;  ///< clip mask, for the recipes that have one
};

/// The rounding of the element at an index of the block: stochastic rounding needs a word for each.
using element_rounding = std::function<rounding(std::size_t)>;

inline element_rounding all_elements(rounding const& how) {
  return [how](std::size_t) { return how; };
}

/// What a NaN or an infinity does to its block.
enum class non_finite {
  poison,   ///< the scale becomes NaN, and so does every decoded value
  saturate  ///< NaN does not count for the amax and becomes the largest code; infinity saturates
};

inline float amax(std::vector<float> const& x, non_finite policy) {
  return policy == non_finite::poison ? amax_finite(x) : amax_without_nan(x);
}

/// Fills codes from `t`, and decoded values by `decode_value(element value)`.
template <class DecodeValue>
void encode_elements(block& b, format const& element, element_rounding const& how,
                     DecodeValue decode_value) {
  for (std::size_t i = 0; i < b.t.size(); ++i) {
    unsigned const code = encode(element, b.t[i], how(i));
    b.codes.push_back(code);
    b.decoded.push_back(decode_value(static_cast<float>(decode(element, code))));
  }
}

/// A block whose scale is NaN: codes are those of NaN.
inline block poisoned(std::size_t size, format const& element, unsigned scale_code) {
  block b;
  b.scale_code = scale_code;
  b.scale = float_nan;
  b.t.assign(size, float_nan);
  encode_elements(b, element, all_elements(nearest_even), [](float) { return float_nan; });
  return b;
}

// ---- two levels: E4M3 per block, FP32 per tensor ------------------------------------------------

/// FP32 orders of encoding, with M the largest element and S the tensor's encode scale.
enum class encode_order {
  te,         ///< sb = E4M3(amax * (S * (1/M)));  t = x * (1 / (sb * (1/S)))
  divide,     ///< sb = E4M3((amax / M) * S);      t = x / (sb / S)
  reciprocal  ///< sb = E4M3(amax * (S / M));      t = x * (S / sb)
};

/// FP32 orders of decoding a code of value q.
enum class decode_order {
  scale_first,    ///< q * (sb * (1/S))
  product_first,  ///< (q * sb) * (1/S)
  te_amax,        ///< q * ((sb * amax_tensor) * (1 / (M * bound)))
  divide          ///< q * (sb / S)
};

/// NVFP4 and its kin. NV-INT4 is {&int4(), 7}, NV-E1M2 is {&e1m2(), 1.75}.
struct two_level {
  format const* element = &e2m1();
  float element_max = 6.0f;
  float scale_bound = 448.0f;  ///< the largest block scale that the tensor scale aims at
  encode_order order = encode_order::te;
  decode_order back = decode_order::scale_first;
  non_finite special = non_finite::poison;
};

/// S = min(M * bound / amax, FLT_MAX), and 1 where the tensor's amax is 0 or infinite.
inline float tensor_scale(two_level const& rule, float tensor_amax) {
  float const s = div(mul(rule.element_max, rule.scale_bound), tensor_amax);
  if (tensor_amax == 0.0f || s == 0.0f) return 1.0f;
  return s < float_max ? s : float_max;
}

/// The block scale that is to be rounded to E4M3.
inline float unrounded_scale(two_level const& rule, float block_amax, float s) {
  float const m = rule.element_max;
  switch (rule.order) {
    case encode_order::te:
      return mul(block_amax, mul(s, div(1.0f, m)));
    case encode_order::divide:
      return mul(div(block_amax, m), s);
    case encode_order::reciprocal:
      break;
  }
  return mul(block_amax, div(s, m));
}

/// One scaled element. A scale of 0 sends every nonzero value to saturation and keeps zeros.
inline float scaled_element(two_level const& rule, float x, float sb, float s) {
  auto const bounded = [](float factor) { return factor < float_max ? factor : float_max; };
  switch (rule.order) {
    case encode_order::te:
      return mul(x, bounded(div(1.0f, mul(sb, div(1.0f, s)))));
    case encode_order::divide: {
      float const divisor = div(sb, s);
      return divisor == 0.0f ? mul(x, float_max) : div(x, divisor);
    }
    case encode_order::reciprocal:
      break;
  }
  return mul(x, bounded(div(s, sb)));
}

inline float decoded_element(two_level const& rule, float q, float sb, float s, float tensor_amax) {
  switch (rule.back) {
    case decode_order::scale_first:
      return mul(q, mul(sb, div(1.0f, s)));
    case decode_order::product_first:
      return mul(mul(q, sb), div(1.0f, s));
    case decode_order::divide:
      return mul(q, div(sb, s));
    case decode_order::te_amax:
      break;
  }
  float const c = div(1.0f, mul(rule.element_max, rule.scale_bound));
  return mul(q, mul(mul(sb, tensor_amax), c));
}

/// Quantizes with a block scale that is already chosen.
inline block quantize_with_scale(std::vector<float> const& x, float tensor_amax,
                                 unsigned scale_code, two_level const& rule,
                                 element_rounding const& how = all_elements(nearest_even)) {
  float const s = tensor_scale(rule, tensor_amax);
  block b;
  b.scale_code = scale_code;
  b.scale = static_cast<float>(decode(e4m3(), scale_code));
  for (float const v : x) b.t.push_back(scaled_element(rule, v, b.scale, s));
  encode_elements(b, *rule.element, how,
                  [&](float q) { return decoded_element(rule, q, b.scale, s, tensor_amax); });
  return b;
}

/// Quantizes one block with its amax for the scale, rounded to nearest even and saturated.
inline block quantize(std::vector<float> const& x, float tensor_amax, two_level const& rule = {},
                      element_rounding const& how = all_elements(nearest_even)) {
  if (rule.special == non_finite::poison && !all_finite(x))
    return poisoned(x.size(), *rule.element, e4m3().nan_code);
  float const s = tensor_scale(rule, tensor_amax);
  float const d = unrounded_scale(rule, amax(x, rule.special), s);
  return quantize_with_scale(x, tensor_amax, encode(e4m3(), d), rule, how);
}

// ---- one level, a power of two per block (MX) ---------------------------------------------------

/// The MX scale rules (floor is OCP MX v1.0; rceil is NVIDIA's).
enum class mx_rule { floor, ceil, even, rceil };

/// Exponent of the scale by exact comparison, not yet clamped to UE8M0. `amax` is above 0.
inline int mx_exponent(float amax, mx_rule rule, format const& element) {
  int const e = floor_log2(amax);
  int const element_exponent = floor_log2(element.max());
  long double const significand = std::ldexp(static_cast<long double>(amax), -e);  // [1, 2)
  long double const half_step = std::ldexp(1.0L, -element.mantissa_bits - 1);
  long double const largest = std::ldexp(element.max(), -element_exponent);  // [1, 2)
  bool up = false;
  if (rule == mx_rule::ceil) up = significand > 1.0L;
  if (rule == mx_rule::even) up = significand + half_step >= 2.0L;
  if (rule == mx_rule::rceil) up = significand > largest;
  return e - element_exponent + (up ? 1 : 0);
}

inline unsigned clamp_to_ue8m0(int exponent) {
  return static_cast<unsigned>(exponent < -127 ? 0 : exponent > 127 ? 254 : exponent + 127);
}

/// The UE8M0 byte for a block's amax: 0 for 0, FF for NaN, FE for infinity.
inline unsigned mx_scale_code(float amax, mx_rule rule, format const& element) {
  if (std::isnan(amax)) return 255;
  if (std::isinf(amax)) return 254;
  return amax == 0.0f ? 0 : clamp_to_ue8m0(mx_exponent(amax, rule, element));
}

/// Quantizes with a power of two that is already chosen; scaling is exact.
inline block quantize_with_exponent(std::vector<float> const& x, unsigned scale_code,
                                    format const& element,
                                    element_rounding const& how = all_elements(nearest_even)) {
  int const k = static_cast<int>(scale_code) - 127;
  block b;
  b.scale_code = scale_code;
  b.scale = rounded(decode(ue8m0(), scale_code));
  for (float const v : x) b.t.push_back(rounded(std::ldexp(static_cast<long double>(v), -k)));
  encode_elements(b, element, how,
                  [k](float q) { return rounded(std::ldexp(static_cast<long double>(q), k)); });
  return b;
}

/// MXFP4, MXFP8 and the like. A non-finite element makes the scale NaN, or saturates.
inline block quantize_mx(std::vector<float> const& x, mx_rule rule, format const& element = e2m1(),
                         element_rounding const& how = all_elements(nearest_even),
                         non_finite special = non_finite::poison) {
  if (special == non_finite::poison && !all_finite(x)) return poisoned(x.size(), element, 255);
  return quantize_with_exponent(x, mx_scale_code(amax(x, special), rule, element), element, how);
}

// ---- one level, FP32 per block (UFP4) -----------------------------------------------------------

enum class fp32_order {
  divide,     ///< s = amax / M; t = x / s
  reciprocal  ///< s = amax / M; t = x * (M / amax)
};

/// Uniform grids with an FP32 scale: {int4(), 7} or {e1m2(), 1.75}. Decodes to q * s.
inline block quantize_fp32(std::vector<float> const& x, format const& element, float element_max,
                           fp32_order order,
                           element_rounding const& how = all_elements(nearest_even)) {
  if (!all_finite(x)) return poisoned(x.size(), element, 0);
  float const largest = amax_finite(x);
  float const factor = div(element_max, largest);
  float const bounded = factor < float_max ? factor : float_max;
  block b;
  b.scale = div(largest, element_max);
  bool const divides = order == fp32_order::divide && b.scale != 0.0f;
  for (float const v : x) b.t.push_back(divides ? div(v, b.scale) : mul(v, bounded));
  encode_elements(b, element, how, [&](float q) { return mul(q, b.scale); });
  return b;
}

}  // namespace oracle
