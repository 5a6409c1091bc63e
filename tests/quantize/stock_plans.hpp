// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Plans of the published recipes, typed from their papers' arithmetic.

#include <cmath>
#include <limits>

#include "quantize/plan.hpp"

namespace test {

/// E4M3 block scales under an FP32 scale of the tensor.
inline plan two_level_plan(oracle::two_level const& rule) {
  plan p;
  p.outer = shared_by::tensor;
  p.outer_decode = [rule](float amax) {
    return oracle::div(1.0f, oracle::tensor_scale(rule, amax));
  };
  p.encode = [rule](floats const& x, block_site const& site) {
    return oracle::quantize(x, site.amax, rule, site.how);
  };
  return p;
}
inline plan nvfp4_plan() { return two_level_plan({}); }

inline plan rotated(plan p, std::size_t size, sign_source signs) {
  p.rotation = size;
  p.signs = signs;
  return p;
}
inline plan randomly_rounded(plan p, int bits = 8) {
  p.random_bits = bits;
  return p;
}

/// The candidate with the least FP32 sum of squared (or absolute) errors of what is decoded; the
/// first of equals, and the first of all if every sum is infinite.
inline oracle::block best_of(std::vector<oracle::block> const& candidates, floats const& x,
                             oracle::error_metric metric) {
  std::size_t best = 0;
  float least = std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    float error = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      error = oracle::accumulate_error(error, candidates[k].decoded[i], x[i], metric);
    if (error < least) best = k;
    least = error < least ? error : least;
  }
  return candidates[best];
}

inline oracle::block four_over_six_block(floats const& x, float tensor_amax,
                                         oracle::error_metric metric) {
  oracle::four_over_six const rule{metric, 256.0f, oracle::decode_order::scale_first};
  std::vector<oracle::block> candidates;
  for (auto const& c : oracle::quantize_four_over_six(x, tensor_amax, rule).candidates)
    candidates.push_back(c.result);
  return best_of(candidates, x, metric);
}

inline plan four_over_six_plan(oracle::error_metric metric = oracle::error_metric::mean_square) {
  plan p = two_level_plan(oracle::four_over_six{}.base());
  p.encode = [metric](floats const& x, block_site const& site) {
    return four_over_six_block(x, site.amax, metric);
  };
  return p;
}

inline plan fp8_exact_plan() {
  plan p = two_level_plan(oracle::fp8_exact_rule());
  p.encode = [](floats const& x, block_site const& site) {
    return oracle::quantize_fp8_exact(x, site.amax).chosen();
  };
  return p;
}

inline plan mx_plan(oracle::mx_rule rule, oracle::format const& element = oracle::e2m1()) {
  plan p;
  p.block_cols = 32;
  p.poison = 0xFF;
  p.element_bits = element.bits;
  p.encode = [rule, &element](floats const& x, block_site const& site) {
    return oracle::quantize_mx(x, rule, element, site.how);
  };
  return p;
}

/// Decoded by q * fl(scale * fl(4/3)).
inline plan three_quarters_plan() {
  plan p = mx_plan(oracle::mx_rule::floor);
  p.encode = [](floats const& x, block_site const& site) {
    oracle::block b = oracle::quantize_three_quarters(x, site.how);
    float const back = oracle::mul(b.scale, oracle::div(1.0f, 0.75f));
    for (std::size_t i = 0; i < x.size(); ++i)
      b.decoded[i] = oracle::mul(float(oracle::decode(oracle::e2m1(), b.codes[i])), back);
    return b;
  };
  return p;
}

/// QuEST with its moments in FP32, one rounding an operation, element after element.
inline oracle::block quest_block(floats const& x) {
  float sum = 0;
  float squares = 0;
  for (float const v : x) {
    sum = oracle::add(sum, v);
    squares = oracle::add(squares, oracle::mul(v, v));
  }
  float const n = float(x.size());
  float const mean = oracle::div(sum, n);
  float const variance = oracle::sub(oracle::div(squares, n), oracle::mul(mean, mean));
  float const deviation = std::sqrt(variance > 0 ? variance : 0.0f);
  float const clip = oracle::div(2.92247856f, 6.0f);
  float const scale = oracle::add(oracle::mul(deviation, clip), 1e-8f);
  return oracle::quantize_with_exponent(x, oracle::clamp_to_ue8m0(oracle::floor_log2(scale)),
                                        oracle::e2m1());
}

inline plan quest_plan() {
  plan p = mx_plan(oracle::mx_rule::floor);
  p.encode = [](floats const& x, block_site const&) { return quest_block(x); };
  return p;
}

/// x times max / amax, decoded by amax / max.
inline plan uniform_fp32_plan(oracle::format const& element = oracle::e1m2()) {
  plan p;
  p.has_float_scale = true;
  p.poison = 0;
  p.encode = [&element](floats const& x, block_site const& site) {
    return oracle::quantize_fp32(x, element, float(element.max()), oracle::fp32_order::reciprocal,
                                 site.how);
  };
  return p;
}

inline oracle::two_level two_level_of(oracle::format const& element, float headroom = 1.0f) {
  oracle::two_level rule;
  rule.element = &element;
  rule.element_max = oracle::mul(float(element.max()), headroom);
  return rule;
}

/// MS-EDEN with a correction of each block by itself, in FP32, one rounding an operation.
inline oracle::block eden_block(floats const& x, block_site const& site) {
  float const sd = oracle::eden_tensor_factor(site.amax);
  oracle::eden_block const start = oracle::start_eden_block(x, sd, oracle::nearest_even);
  float energy = 0;
  float overlap = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    float const q = float(oracle::decode(oracle::e2m1(), start.codes[i]));
    energy = oracle::add(energy, oracle::mul(start.t[i], start.t[i]));
    overlap = oracle::add(overlap, oracle::mul(start.t[i], q));
  }
  float const factor = overlap == 0 ? 1.0f : oracle::div(energy, overlap);
  oracle::block b;
  b.scale_code = oracle::encode(oracle::e4m3(), oracle::mul(start.scale, factor),
                                oracle::stochastic(24, site.scale_word));
  b.scale = float(oracle::decode(oracle::e4m3(), b.scale_code));
  b.codes = start.codes;
  for (unsigned const code : b.codes)
    b.decoded.push_back(
        oracle::mul(float(oracle::decode(oracle::e2m1(), code)), oracle::mul(b.scale, sd)));
  return b;
}

inline plan eden_plan() {
  plan p;
  p.outer = shared_by::tensor;
  p.outer_decode = [](float amax) { return oracle::eden_tensor_factor(amax); };
  p.encode = eden_block;
  return p;
}

}  // namespace test
