// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Search among neighbouring scale codes.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;
using searched = two_level<e4m3, error_search<>>;
using plain = two_level<e4m3>;

/// FP32 sum of squared errors, element after element.
float error_of(floats const& x, floats const& y) {
  float sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum = oracle::accumulate_error(sum, y[i], x[i], oracle::error_metric::mean_square);
  return sum;
}

floats block(u64 seed) {
  return seed % 2 == 0 ? inputs::normal(16, seed) : inputs::student_t3(16, seed);
}
}  // namespace

TEST_CASE("Scale/ErrorSearch.NeverWorseThanTheAmaxRule") {
  int better = 0;
  for (u64 seed = 0; seed < 2000; ++seed) {
    floats const x = block(seed);
    outer_scale const o = plain::outer<e2m1>(20);
    float const found = error_of(x, decoded<searched>(x, o));
    float const start = error_of(x, decoded<plain>(x, o));
    CHECK(found <= start);
    better += found < start ? 1 : 0;
  }
  CHECK(better > 1000);
}

TEST_CASE("Scale/ErrorSearch.LeastOfTheWholeWindow") {
  for (u64 seed = 0; seed < 300; ++seed) {
    floats const x = block(seed);
    float const amax = 20;
    outer_scale const o = plain::outer<e2m1>(amax);
    unsigned const start = oracle::quantize(x, amax).scale_code;
    unsigned best = start;
    float least = inf;
    for (unsigned code = start - 4; code <= start + 4 && code <= 0x7E; ++code) {
      float const error = error_of(x, oracle::quantize_with_scale(x, amax, code, {}).decoded);
      if (error < least) best = code;
      least = std::min(least, error);
    }
    CHECK(unsigned(choose<searched>(x, o).stored) == best);
  }
}

TEST_CASE("Scale/ErrorSearch.WindowEndsAtTheFormat") {
  CHECK(stored<searched>(0) == 0);
  CHECK(stored<searched>(1e9f) == 0x7E);
  CHECK(stored<one_level<ue8m0, error_search<1, 1>>>(6) == 127);
}
