// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Errors of whole tensors against tables: 2^22 samples of a fixed seed, quantized and compared.

#include <quadrille/analysis.hpp>
#include <quadrille/recipes.hpp>

#include "quantize/image.hpp"

namespace {
using namespace test;
using namespace quadrille;
constexpr std::size_t rows = 4096;
constexpr std::size_t cols = 1024;

template <class E, class Scale, int Cols = 16>
struct recipe_of : nvfp4 {
  using element = E;
  using scale = Scale;
  using block = shape<1, Cols>;
};
template <class R>
struct rotated_by_16 : R {
  using rotation = random_hadamard<16>;
};
using e2m1_fp32 = recipe_of<e2m1, one_level<fp32>>;
using int4_fp32 = recipe_of<int4, one_level<fp32>>;
using int4_e4m3 = recipe_of<int4, two_level<e4m3>>;
template <int Bits>
struct gradient : nvfp4 {
  using rounding = stochastic<Bits>;
};
template <int Bits>
struct headroom_gradient : gradient<Bits> {
  using scale = two_level<e4m3, headroom_rule>;
};
struct eden_kernel : quartet2_backward {
  using scale = two_level<e4m3, eden<128>>;
};

matrix<> const& gaussian() {
  static matrix<> const x = normal_matrix(rows, cols, 20260101);
  return x;
}
matrix<> const& laplacian() {
  static matrix<> const x{rows, cols, inputs::laplace(rows * cols, 20260102)};
  return x;
}
matrix<> const& heavy_tailed() {
  static matrix<> const x{rows, cols, inputs::student_t3(rows * cols, 20260103)};
  return x;
}
matrix<> const& with_outliers() {
  static matrix<> const x{rows, cols, inputs::outlier_channels(rows, cols, 20260104, 128, 20)};
  return x;
}

/// Errors in the basis that the recipe quantizes in.
template <class R>
quantization_report report(matrix<> const& x, u64 rotation_seed = 1) {
  quantize_options options;
  options.seed = 17;
  matrix_ref<float const> const view(x.values.data(), i64(x.rows), i64(x.cols));
  return analyze(view, quantize<R>(host, view, options, rotation_seed));
}

void check_nmse(quantization_report const& r, double nmse) {
  CHECK(r.sums.nmse() == Approx(nmse).epsilon(0.01));
}
void check_projection(quantization_report const& r, double projection) {
  CHECK(std::fabs(r.sums.projection() - projection) < 2e-4);
}
/// `noise` is how far apart two samples of this distribution may lie.
void check_row(quantization_report const& r, double db, double projection, double magnitude,
               double utilisation, double noise = 2e-4) {
  CHECK(std::fabs(r.sums.sqnr_db() - db) < 0.045);  // 1 % of the error
  CHECK(std::fabs(r.sums.projection() - projection) < noise);
  CHECK(std::fabs(1 + r.sums.shrinkage_bias() - magnitude) < 1.5 * noise);
  CHECK(std::fabs(r.bucket_utilisation - utilisation) < 2e-3);
}
}  // namespace

TEST_CASE("Analysis/Gaussian.Nvfp4") {
  auto const r = report<nvfp4>(gaussian());
  check_nmse(r, 0.00905);
  check_projection(r, 0.99562);
}

TEST_CASE("Analysis/Gaussian.FourOverSix") {
  auto const r = report<nvfp4_four_over_six>(gaussian());
  check_nmse(r, 0.00757);
  check_projection(r, 0.99660);
}

TEST_CASE("Analysis/Gaussian.Int4UnderE4m3") {
  auto const r = report<int4_e4m3>(gaussian());
  check_nmse(r, 0.00745);
  check_projection(r, 1.00016);
}

TEST_CASE("Analysis/Gaussian.Fp32Scales") {
  check_nmse(report<e2m1_fp32>(gaussian()), 0.00887);
  check_nmse(report<int4_fp32>(gaussian()), 0.00726);
}

TEST_CASE("Analysis/Gaussian.Mxfp4") {
  auto const floor = report<mxfp4>(gaussian());
  check_nmse(floor, 0.01320);
  check_projection(floor, 0.98045);
  auto const even = report<mxfp4_even>(gaussian());
  check_nmse(even, 0.01251);
  check_projection(even, 0.98961);
  auto const up = report<mxfp4_round_up>(gaussian());
  check_nmse(up, 0.01332);
  check_projection(up, 0.98992);
}

TEST_CASE("Analysis/Gaussian.FloorWithThreeQuarters") {
  auto const r = report<recipe_of<e2m1, one_level<ue8m0, floor_three_quarters>, 32>>(gaussian());
  check_nmse(r, 0.01385);
  check_projection(r, 0.99097);
}

TEST_CASE("Analysis/Gaussian.StochasticRounding") {
  auto const unbiased = report<headroom_gradient<24>>(gaussian());
  check_nmse(unbiased, 0.0235);
  check_projection(unbiased, 1.0001);
  auto const clipped = report<gradient<24>>(gaussian());
  check_nmse(clipped, 0.0188);
  check_projection(clipped, 0.9966);
}

// Eight bits round down by half of 2^-8 of a step more, on average.
TEST_CASE("Analysis/Gaussian.StochasticRoundingWithEightBits") {
  auto const unbiased = report<headroom_gradient<8>>(gaussian());
  check_nmse(unbiased, 0.0235);
  CHECK(unbiased.sums.projection() < 1.0001);
  CHECK(unbiased.sums.projection() > 1.0001 - 1e-3);
  check_nmse(report<nvfp4_gradient>(gaussian()), 0.0188);
}

TEST_CASE("Analysis/Gaussian.MsEden") {
  auto const paper = report<quartet2_backward>(gaussian());
  check_nmse(paper, 0.00933);
  check_projection(paper, 1.00005);
  auto const kernel = report<eden_kernel>(gaussian());
  check_nmse(kernel, 0.00974);
  check_projection(kernel, 1 - 5.2e-4);
}

TEST_CASE("Analysis/Gaussian.Fp8Exact") {
  CHECK(report<nvfp4_fp8_exact>(gaussian()).sums.sqnr_db() == Approx(20.88).margin(0.045));
}

TEST_CASE("Analysis/Gaussian.PowersOfTwoCostInt4More") {
  CHECK(report<recipe_of<int4, one_level<ue8m0>, 32>>(gaussian()).sums.sqnr_db() ==
        Approx(17.55).margin(0.045));
  CHECK(report<recipe_of<int4, one_level<ue8m0, round_up>, 32>>(gaussian()).sums.sqnr_db() ==
        Approx(16.84).margin(0.045));
}

TEST_CASE("Analysis/Table.Gaussian") {
  check_row(report<e2m1_fp32>(gaussian()), 20.52, 0.99599, 0.99306, 0.994);
  check_row(report<int4_fp32>(gaussian()), 21.39, 1.00052, 0.99652, 0.892);
}

TEST_CASE("Analysis/Table.Laplace") {
  check_row(report<e2m1_fp32>(laplacian()), 20.80, 0.99694, 0.99173, 0.940);
  check_row(report<int4_fp32>(laplacian()), 19.90, 1.00029, 0.98977, 0.745);
}

TEST_CASE("Analysis/Table.LaplaceRotated") {
  check_row(report<rotated_by_16<e2m1_fp32>>(laplacian()), 20.43, 0.99595, 0.99307, 0.992);
  check_row(report<rotated_by_16<int4_fp32>>(laplacian()), 21.71, 1.00071, 0.99717, 0.913);
}

// Rare large samples carry much of the energy, so decibels vary from one sample to the next.
TEST_CASE("Analysis/Table.StudentT3") {
  auto const plain = report<e2m1_fp32>(heavy_tailed());
  CHECK(plain.sums.sqnr_db() == Approx(21.10).margin(0.3));
  CHECK(plain.bucket_utilisation == Approx(0.937).margin(0.003));
  auto const rotated = report<rotated_by_16<int4_fp32>>(heavy_tailed());
  CHECK(rotated.sums.sqnr_db() == Approx(22.37).margin(0.3));
  CHECK(rotated.bucket_utilisation == Approx(0.925).margin(0.003));
}

TEST_CASE("Analysis/Table.OutliersEvery128") {
  check_row(report<e2m1_fp32>(with_outliers()), 21.16, 0.99779, 0.98025, 0.979, 5e-4);
  check_row(report<int4_fp32>(with_outliers()), 18.90, 0.99436, 0.96377, 0.845, 5e-4);
}

TEST_CASE("Analysis/Table.OutliersEvery128Rotated") {
  check_row(report<rotated_by_16<e2m1_fp32>>(with_outliers()), 19.01, 1.00462, 0.99508, 0.990,
            5e-4);
  check_row(report<rotated_by_16<int4_fp32>>(with_outliers()), 24.45, 1.00092, 0.99831, 0.936,
            5e-4);
}
