// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Four over six: the block's amax lands on 6, or on 4 if that errs strictly less.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;
using by_square = two_level<e4m3, four_over_six<squared_error>>;
using by_magnitude = two_level<e4m3, four_over_six<absolute_error>>;
using code_list = std::vector<unsigned>;

// Where the oracle's two error sums, taken in another order of operations, lie apart.
template <class S>
void agrees_where_clear(oracle::error_metric metric) {
  int compared = 0;
  for (u64 seed = 0; seed < 3000; ++seed) {
    floats const x = seed % 2 == 0 ? inputs::normal(16, seed) : inputs::laplace(16, seed);
    float const amax = oracle::amax_finite(x) * float(1 + seed % 50);
    auto const want =
        oracle::quantize_four_over_six(x, amax, {metric, 256, oracle::decode_order::scale_first});
    float const six = want.candidates[0].error;
    float const four = want.candidates[1].error;
    if (std::fabs(six - four) < 1e-5f * six) continue;
    ++compared;
    outer_scale const o = S::template outer<e2m1>(amax);
    CHECK(unsigned(choose<S>(x, o).stored) == want.chosen().scale_code);
    CHECK(codes<S>(x, o) == want.chosen().codes);
    CHECK(difference(decoded<S>(x, o), want.chosen().decoded) == "");
  }
  CHECK(compared > 2900);
}
}  // namespace

TEST_CASE("Scale/FourOverSix.FourIsExact") {
  floats const x{10, 20, 30, 40};
  outer_scale const o = by_magnitude::outer<e2m1>(1536);
  CHECK(o.encode == 1);
  CHECK(stored<by_magnitude>(40, o) != 0);
  CHECK(choose<by_magnitude>(x, o).stored == e4m3::encode(10.0f));
  CHECK(decoded<by_magnitude>(x, o) == x);
  CHECK(decoded<by_square>(x, o) == x);
}

TEST_CASE("Scale/FourOverSix.SixIsExact") {
  floats const x{6, 3, 1.5f, 1};
  CHECK(choose<by_magnitude>(x).stored == e4m3::encode(1.0f));
  CHECK(decoded<by_magnitude>(x) == x);
  CHECK(decoded<by_square>(x) == x);
}

TEST_CASE("Scale/FourOverSix.TheMetricDecides") {
  floats const x{1536, 1024, 1300, 700};
  CHECK(choose<by_magnitude>(x).stored == e4m3::encode(256.0f));
  CHECK(choose<by_square>(x).stored == e4m3::encode(384.0f));
}

TEST_CASE("Scale/FourOverSix.TheRoundingOfTheScaleDecides") {
  floats const x{5, 4, 4.6f, 4.4f};
  CHECK(choose<by_magnitude>(x).stored == e4m3::encode(1.25f));
  CHECK(choose<by_square>(x).stored == e4m3::encode(1.25f));
  CHECK(decoded<by_magnitude>(x) == floats{5, 3.75f, 5, 5});
}

TEST_CASE("Scale/FourOverSix.EqualErrorsMapToSix") {
  CHECK(stored<by_square>(0) == 0);
  CHECK(choose<by_square>({6, -6, 0, 6}).stored == e4m3::encode(1.0f));
}

TEST_CASE("Scale/FourOverSix.OracleBySquares") {
  agrees_where_clear<by_square>(oracle::error_metric::mean_square);
}

TEST_CASE("Scale/FourOverSix.OracleByMagnitudes") {
  agrees_where_clear<by_magnitude>(oracle::error_metric::mean_absolute);
}
