// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Reference quantization where the scale is more than a rounded amax: chosen by error
/// (four-over-six, FP8-exact), by spread (QuEST), shrunk (Quartet, Tseng) or corrected (MS-EDEN).

#include "oracle_blocks.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace oracle {

// ---- chosen by error ----------------------------------------------------------------------------

enum class error_metric { mean_absolute, mean_square };

/// A block quantized with one of several scales, and the FP32 sum of its errors in element order.
struct candidate {
  block result;
  float error = 0;
};

/// All candidates in the order of preference, and the one with the least error (first on ties).
struct selection {
  std::vector<candidate> candidates;
  std::size_t index = 0;
  block const& chosen() const { return candidates[index].result; }
};

/// Adds one error to a sequential FP32 sum.
inline float accumulate_error(float sum, float approximation, float x, error_metric metric) {
  float const e = sub(approximation, x);
  return add(sum, metric == error_metric::mean_square ? mul(e, e) : std::fabs(e));
}

inline void prefer_least_error(selection& s) {
  for (std::size_t i = 1; i < s.candidates.size(); ++i)
    if (s.candidates[i].error < s.candidates[s.index].error) s.index = i;
}

/// Four Over Six as in Transformer Engine: `cap` is 256 (1536 / amax) or 448.
struct four_over_six {
  error_metric metric = error_metric::mean_absolute;
  float cap = 256.0f;
  decode_order back = decode_order::scale_first;
  two_level base() const {
    return {&e2m1(), 6.0f, cap, encode_order::te, back, non_finite::poison};
  }
};

/// One candidate. Its error is taken on ((q * sb) * amax_tensor) / (6 * cap), not on what `back`
/// decodes to.
inline candidate four_over_six_candidate(std::vector<float> const& x, float tensor_amax,
                                         float scale, four_over_six const& rule) {
  unsigned const code = encode(e4m3(), scale < 448.0f ? scale : 448.0f);
  candidate c{quantize_with_scale(x, tensor_amax, code, rule.base()), 0.0f};
  for (std::size_t i = 0; i < x.size(); ++i) {
    float const q = static_cast<float>(decode(e2m1(), c.result.codes[i]));
    float const value = div(mul(mul(q, c.result.scale), tensor_amax), mul(6.0f, rule.cap));
    c.error = accumulate_error(c.error, value, x[i], rule.metric);
  }
  return c;
}

/// Candidates are {map to 6, map to 4}; 4 wins only if its error is strictly smaller. The base
/// scale is (amax / 6) * S, two roundings; the other is 1.5 times that. Values are finite.
inline selection quantize_four_over_six(std::vector<float> const& x, float tensor_amax,
                                        four_over_six const& rule = {}) {
  float const s = tensor_scale(rule.base(), tensor_amax);
  float const base = mul(div(amax_finite(x), 6.0f), s);
  selection result;
  result.candidates.push_back(four_over_six_candidate(x, tensor_amax, base, rule));
  result.candidates.push_back(four_over_six_candidate(x, tensor_amax, mul(1.5f, base), rule));
  prefer_least_error(result);
  return result;
}

/// The rule under which FP8-exact scales are searched: S = 2304 / amax, since 6 * 384 = 2304.
inline two_level fp8_exact_rule() {
  return {&e2m1(), 6.0f, 384.0f, encode_order::te, decode_order::scale_first, non_finite::poison};
}

/// E4M3 values with significand 1, 1.25 or 1.5, ascending, among 2^e * {.75, 1, 1.25, 1.5, 2, 2.5}.
inline std::vector<unsigned> fp8_exact_scales(float d) {
  std::vector<unsigned> codes;
  if (d == 0.0f) return codes;
  int const e = floor_log2(d);
  for (magnitude const& scale : e4m3().positive) {
    if (scale.value == 0) continue;
    long double const s = std::ldexp(scale.value, -floor_log2(scale.value));
    bool const exact = s == 1.0L || s == 1.25L || s == 1.5L;
    long double const relative = std::ldexp(scale.value, -e);
    bool const near = relative >= 0.75L && relative <= 2.5L;
    if (exact && near) codes.push_back(scale.code);
  }
  return codes;
}

/// What is left when no candidate is an E4M3 value: 0 below their range, 384 above it.
inline unsigned fp8_exact_fallback(float d) {
  return d < 1.0f ? encode(e4m3(), 0.0L) : encode(e4m3(), 384.0L);
}

/// NVFP4 whose block scales times E2M1 codes are exact in E4M3: the scale with the least squared
/// error of decoded values. Values are finite.
inline selection quantize_fp8_exact(std::vector<float> const& x, float tensor_amax,
                                    two_level const& rule = fp8_exact_rule()) {
  float const d = unrounded_scale(rule, amax_finite(x), tensor_scale(rule, tensor_amax));
  std::vector<unsigned> scales = fp8_exact_scales(d);
  if (scales.empty()) scales.push_back(fp8_exact_fallback(d));
  selection result;
  for (unsigned const code : scales) {
    candidate c{quantize_with_scale(x, tensor_amax, code, rule), 0.0f};
    for (std::size_t i = 0; i < x.size(); ++i)
      c.error = accumulate_error(c.error, c.result.decoded[i], x[i], error_metric::mean_square);
    result.candidates.push_back(c);
  }
  prefer_least_error(result);
  return result;
}

// ---- chosen by spread, or shrunk ----------------------------------------------------------------

/// log2 of QuEST's scale before the floor, in long double: 2.92247856/6 * std + 1e-8. An FP32
/// implementation may floor to the other side where this lies within rounding of an integer.
inline long double quest_log2(std::vector<float> const& x) {
  long double const n = static_cast<long double>(x.size());
  long double sum = 0;
  long double squares = 0;
  for (float const v : x) {
    sum += v;
    squares += static_cast<long double>(v) * v;
  }
  long double const variance = squares / n - (sum / n) * (sum / n);
  long double const deviation = variance > 0 ? std::sqrt(variance) : 0.0L;
  return std::log2(2.92247856L / 6.0L * deviation + 1e-8L);
}

/// QuEST MXFP4; the mask tells where |t| < 6. Values are finite.
inline block quantize_quest(std::vector<float> const& x) {
  int const exponent = static_cast<int>(std::floor(quest_log2(x)));
  block b = quantize_with_exponent(x, clamp_to_ue8m0(exponent), e2m1());
  for (float const t : b.t) b.inside.push_back(std::fabs(t) < 6.0f);
  return b;
}

/// Quartet's backward block: OCP floor scale s, t = .75 * (x / s) so that nothing clips, decode
/// q * s * 4/3 rounded once. Tseng's 3x / 2^floor(log2 amax) is the same block. Values are finite.
inline block quantize_three_quarters(std::vector<float> const& x,
                                     element_rounding const& how = all_elements(nearest_even)) {
  unsigned const scale_code = mx_scale_code(amax_finite(x), mx_rule::floor, e2m1());
  block b = quantize_with_exponent(x, scale_code, e2m1());
  for (float& t : b.t) t = mul(t, 0.75f);
  b.codes.clear();
  b.decoded.clear();
  encode_elements(b, e2m1(), how, [&](float q) { return div(mul(q, b.scale), 0.75f); });
  return b;
}

inline block quantize_tseng(std::vector<float> const& x, element_rounding const& how) {
  return quantize_three_quarters(x, how);
}

// ---- corrected (MS-EDEN) ------------------------------------------------------------------------

/// One 16-block up to the random draw: the corrected scale lies between two E4M3 neighbours.
struct eden_block {
  float scale = 0;       ///< sb, before the correction
  std::vector<float> t;  ///< x / (sb * sd)
  std::vector<unsigned> codes;
  long double target = 0;  ///< sb * c
  unsigned lower_code = 0;
  unsigned upper_code = 0;
  long double p_up = 0;  ///< probability of the upper neighbour; 0 if the target is exact
  /// Expectation of a decoded value over the draw.
  long double mean(std::size_t i, float tensor_factor) const {
    return decode(e2m1(), codes[i]) * target * tensor_factor;
  }
};

struct eden_group {
  float tensor_factor = 1;     ///< sd
  long double correction = 1;  ///< c, of the whole group
  std::vector<eden_block> blocks;
};

/// sd = (amax / 255.99) / (6 / .988125) in FP32, and 1 for an amax of 0.
inline float eden_tensor_factor(float tensor_amax) {
  float const sd = div(div(tensor_amax, 255.99f), rounded(6.0L / 0.988125L));
  return sd == 0.0f ? 1.0f : sd;
}

/// E4M3 neighbours of a corrected scale, and the chance of the upper one.
inline void bracket_target(eden_block& b) {
  b.lower_code = encode(e4m3(), b.target, toward_zero);
  long double const lower = decode(e4m3(), b.lower_code);
  bool const between = b.target > lower && b.target < e4m3().max();
  b.upper_code = b.lower_code + (between ? 1 : 0);
  b.p_up = between ? (b.target - lower) / (decode(e4m3(), b.upper_code) - lower) : 0.0L;
}

/// One block's scale, scaled values and codes.
inline eden_block start_eden_block(std::vector<float> const& x, float sd, rounding const& how) {
  float const limit = rounded(6.0L / 0.988125L);
  eden_block b;
  unsigned const code = encode(e4m3(), div(div(amax_finite(x), limit), sd));
  b.scale = code == 0 ? 1.0f : static_cast<float>(decode(e4m3(), code));
  for (float const v : x) {
    b.t.push_back(div(v, mul(b.scale, sd)));
    b.codes.push_back(encode(e2m1(), b.t.back(), how));
  }
  return b;
}

/// A correction group (16 or 128 finite values, in blocks of 16) up to the draw of the block
/// scales. Sums are exact to long double. `weighted` weights both sums by sb^2, which removes the
/// bias of a group of several blocks; the published kernel does not.
inline eden_group ms_eden(std::vector<float> const& x, float tensor_amax, bool weighted = false,
                          rounding const& how = nearest_even) {
  eden_group g;
  g.tensor_factor = eden_tensor_factor(tensor_amax);
  long double energy = 0;
  long double overlap = 0;
  for (std::size_t start = 0; start < x.size(); start += 16) {
    auto const first = x.begin() + static_cast<std::ptrdiff_t>(start);
    eden_block const b = start_eden_block({first, first + 16}, g.tensor_factor, how);
    long double const weight = weighted ? static_cast<long double>(b.scale) * b.scale : 1.0L;
    for (std::size_t i = 0; i < b.t.size(); ++i) {
      energy += weight * b.t[i] * b.t[i];
      overlap += weight * b.t[i] * decode(e2m1(), b.codes[i]);
    }
    g.blocks.push_back(b);
  }
  if (overlap != 0) g.correction = energy / overlap;
  for (eden_block& b : g.blocks) {
    b.target = g.correction * b.scale;
    bracket_target(b);
  }
  return g;
}

}  // namespace oracle
