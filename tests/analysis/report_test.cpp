// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// analyze() on tensors small enough to count by hand.

#include <climits>

#include <quadrille/analysis.hpp>
#include <quadrille/recipes.hpp>

#include "quantize/image.hpp"

namespace {
using namespace test;
using namespace quadrille;

template <class R>
quantization_report report_of(matrix<> x, u64 rotation_seed = 0) {
  auto const q = test::quantized<R>(x, {}, rotation_seed);
  return analyze(x.ref(), q);
}

matrix<> row(floats x, std::size_t cols) {
  x.resize(cols);
  return {1, cols, x};
}
using histogram = std::map<int, u64>;

struct int4_recipe : mxfp4 {
  using element = int4;
};
}  // namespace

TEST_CASE("Analysis/Report.ClippedAndUnderflowed") {
  // Scale 1: 7 and -7.5 clip to 6, 6 does not; 0.25 is a tie to 0, 0.1 becomes 0, 0.3 is 0.5.
  auto const r = report_of<mxfp4>(row({7, -7.5f, 6, 0.25f, 0.1f, 0.3f}, 32));
  CHECK(r.clipped == 2);
  CHECK(r.underflowed == 2);
  CHECK(r.sums.count == 32);
  CHECK(r.clip_rate() == 2.0 / 32);
  CHECK(r.underflow_rate() == 2.0 / 32);
}

TEST_CASE("Analysis/Report.CodeCounts") {
  auto const r = report_of<mxfp4>(row({4, 4, -4, 1, -0.0f}, 32));
  CHECK(r.codes[6] == 2);
  CHECK(r.codes[14] == 1);
  CHECK(r.codes[2] == 1);
  CHECK(r.codes[8] == 1);
  CHECK(r.codes[0] == 27);
}

// 16 of 32 are zero (of either sign), 8 are 4 and 8 are -4: 1.5 bits.
TEST_CASE("Analysis/Report.EntropyCountsBothZerosAsOne") {
  floats x(32, 0.0f);
  for (std::size_t i = 0; i < 8; ++i) x[i] = 4, x[8 + i] = -4, x[16 + i] = -0.0f;
  auto const r = report_of<mxfp4>(row(x, 32));
  CHECK(r.entropy_bits == Approx(1.5));
  CHECK(r.bucket_utilisation == Approx(std::exp2(1.5) / 15));
}

TEST_CASE("Analysis/Report.EveryValueEquallyOftenIsFullUse") {
  floats x;
  for (float const magnitude : {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f})
    for (int sign = 0; sign < 2; ++sign)
      if (magnitude != 0 || sign == 0) x.push_back(sign == 0 ? magnitude : -magnitude);
  matrix<> all(30, 32);  // the 15 values over and over, two rows of 32 hold no whole number of them
  for (std::size_t i = 0; i < all.values.size(); ++i) all.values[i] = x[i % 15];
  auto const r = report_of<mxfp4>(all);
  CHECK(r.sums.error == 0);
  CHECK(r.bucket_utilisation == Approx(1));
}

// INT4 of -7..7 has 15 values; the spare code -8 is never used.
TEST_CASE("Analysis/Report.UnusedCodesAreNoBuckets") {
  matrix<> all(30, 32);
  for (std::size_t i = 0; i < all.values.size(); ++i) all.values[i] = float(i % 15) - 7;
  auto const r = report_of<int4_recipe>(all);
  CHECK(r.sums.error == 0);
  CHECK(r.codes[8] == 0);
  CHECK(r.entropy_bits == Approx(std::log2(15.0)));
  CHECK(r.bucket_utilisation == Approx(1));
}

TEST_CASE("Analysis/Report.ScaleHistogram") {
  matrix<> x(2, 64);
  x.at(0, 0) = 6;      // scale 1
  x.at(0, 32) = 6;     // 1
  x.at(1, 0) = 0.75f;  // 1/8
  auto const r = report_of<mxfp4>(x);
  CHECK(r.scale_exponents == histogram{{-127, 1}, {-3, 1}, {0, 2}});
}

TEST_CASE("Analysis/Report.ScaleHistogramIncludesTheOuterScale") {
  matrix<> x(1, 32);
  x.at(0, 0) = 2688.0f * 8;  // outer 8, block 448
  auto const r = report_of<nvfp4>(x);
  CHECK(r.scale_exponents == histogram{{INT_MIN, 1}, {11, 1}});
}

// A 16 x 16 block has one scale, whatever the number of its stored copies.
TEST_CASE("Analysis/Report.SquareBlocksCountOnce") {
  matrix<> const x{16, 32, floats(512, 3.0f)};
  auto const r = report_of<nvfp4_weight>(x);
  CHECK(r.scale_exponents.size() == 1);
  CHECK(r.scale_exponents.begin()->second == 2);
}

TEST_CASE("Analysis/Report.NonfiniteIsCountedAndLeftOut") {
  matrix<> x = normal_matrix(2, 64, 3);
  x.at(0, 40) = HUGE_VALF;
  x.at(1, 3) = oracle::float_nan;
  matrix<> rest = x;
  auto const r = report_of<mxfp4>(x);
  CHECK(r.sums.nonfinite == 64);  // two whole blocks
  CHECK(r.sums.count == 64);
  CHECK(std::isfinite(r.sums.nmse()));
  CHECK(r.sums.nmse() > 0);
  CHECK(r.clip_rate() <= 1);
}

TEST_CASE("Analysis/Report.SumsAgreeWithANaiveComputation") {
  matrix<> x{33, 130, inputs::student_t3(33 * 130, 3)};
  auto const q = test::quantized<nvfp4>(x);
  floats const y = decode(q);
  auto const r = analyze(x.ref(), q);
  long double xx = 0, xy = 0, error = 0, ax = 0, ay = 0;
  u64 underflowed = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    long double const a = x.values[i];
    long double const b = y[i];
    xx += a * a, xy += a * b, error += (a - b) * (a - b);
    ax += std::fabs(a), ay += std::fabs(b);
    underflowed += a != 0 && b == 0 ? 1 : 0;
  }
  CHECK(r.sums.nmse() == Approx(double(error / xx)).epsilon(1e-12));
  CHECK(r.sums.sqnr_db() == Approx(double(-10 * std::log10(error / xx))).epsilon(1e-12));
  CHECK(r.sums.projection() == Approx(double(xy / xx)).epsilon(1e-12));
  CHECK(r.sums.shrinkage_bias() == Approx(double(ay / ax - 1)).epsilon(1e-9));
  CHECK(r.underflowed == underflowed);
}

TEST_CASE("Analysis/Report.RotatedRecipesAreJudgedInTheirBasis") {
  matrix<> x = normal_matrix(16, 256, 3);
  auto const q = test::quantized<quartet2_backward>(x, {}, 9);
  auto const rotated = analyze(x.ref(), q);
  matrix<> y{16, 256, decode(q)};
  auto const direct = compare(x.ref(), y.ref());  // orthogonal: the same error up to rounding
  CHECK(rotated.sums.nmse() == Approx(direct.nmse()).epsilon(1e-4));
  CHECK(rotated.sums.projection() == Approx(direct.projection()).epsilon(1e-5));
}

TEST_CASE("Analysis/Report.EmptyTensor") {
  auto const r = report_of<nvfp4>(matrix<>(0, 32));
  CHECK(r.sums.count == 0);
  CHECK(r.clip_rate() == 0);
  CHECK(r.underflow_rate() == 0);
  CHECK(r.bucket_utilisation == 0);
  CHECK(r.scale_exponents.empty());
}

TEST_CASE("Analysis/Report.RefusesOtherShapes") {
  matrix<> x(4, 64);
  quadrille::quantized<mxfp4> const q(4, 32);
  CHECK_THROWS_WITH(analyze(x.ref(), q),
                    "quadrille: the number of columns of the matrix is 64 but must be 32");
}
