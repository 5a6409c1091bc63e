// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rotated recipes: amax in the rotated basis, the way back, seeds.

#include "quantize/image.hpp"
#include "quantize/stock_plans.hpp"

#include <quadrille/recipes.hpp>

namespace {
using namespace test;
using namespace quadrille;
using rotating = std::tuple<nvfp4_wgrad, nvfp4_wgrad_gradient, ufp4, ufp4_two_level,
                            quartet_backward, quartet2_backward, mxfp4_tseng>;

double relative_error(floats const& x, floats const& y) {
  double error = 0;
  double energy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error += std::pow(double(y[i]) - x[i], 2);
    energy += double(x[i]) * x[i];
  }
  return error / energy;
}

std::vector<double> widened(floats const& x) { return {x.begin(), x.end()}; }
}  // namespace

TEMPLATE_LIST_TEST_CASE("Quantize/Rotation.DequantizeRotatesBack", "", rotating) {
  using R = TestType;
  matrix<> const x{12, 256, inputs::laplace(12 * 256, 3)};
  auto const q = test::quantized<R>(x, {}, 77);
  CHECK(relative_error(x.values, decode(q)) < 0.04);
  CHECK(relative_error(x.values, decode(q, true)) > 0.5);  // another basis
}

// Back-rotation in double of what stays in the rotated basis.
TEST_CASE("Quantize/Rotation.BothBasesDecodeToTheSameValues") {
  auto const q = test::quantized<nvfp4_wgrad>(normal_matrix(8, 64, 3));
  auto const want = oracle::rotate_back(widened(decode(q, true)), oracle::published_signs());
  floats const y = decode(q);
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::fabs(y[i] - want[i]) < 2e-6);
}

TEST_CASE("Quantize/Rotation.AmaxIsOfTheRotatedValues") {
  matrix<> x{3, 64, inputs::outlier_channels(3, 64, 3, 16, 50)};
  plan p;
  p.rotation = 16;
  p.signs = sign_source::published;
  CHECK(amax<nvfp4_wgrad>(host, x.ref()) == oracle::amax_finite(rotate(p, x, 0).values));
  p.rotation = 128;
  p.signs = sign_source::seeded;
  matrix<> wide = normal_matrix(4, 256, 1);
  CHECK(amax<quartet2_backward>(host, wide.ref(), 99) ==
        oracle::amax_finite(rotate(p, wide, 99).values));
  CHECK(amax<nvfp4>(host, x.ref()) == oracle::amax_finite(x.values));
}

TEST_CASE("Quantize/Rotation.SeedIsStoredAndMatters") {
  matrix<> const x = normal_matrix(4, 256, 1);
  auto const a = test::quantized<quartet_backward>(x, {}, 1);
  auto const b = test::quantized<quartet_backward>(x, {}, 2);
  CHECK(a.rotation_seed() == 1);
  CHECK(a.codes() != b.codes());
  CHECK(relative_error(x.values, decode(a)) < 0.03);
  CHECK(relative_error(x.values, decode(b)) < 0.03);
}

namespace {
struct bf16_wgrad : nvfp4_wgrad {
  using rotation = bf16_rounded<random_hadamard<16>>;
};
template <int N>
struct rotated_by : nvfp4 {
  using rotation = random_hadamard<N, seeded_signs>;
};
}  // namespace

TEST_CASE("Quantize/Rotation.RoundedToBf16") {
  plan p = rotated(nvfp4_plan(), 16, sign_source::published);
  p.rotates_to_bf16 = true;
  sweep<bf16_wgrad>(p, 16);
}

TEST_CASE("Quantize/Rotation.SmallerAndLargerThanTheBlock") {
  auto const check = [](auto recipe, std::size_t n) {
    plan const p = rotated(nvfp4_plan(), n, sign_source::seeded);
    check_against<decltype(recipe)>(p, normal_matrix(5, 384, n), {0, 0, 0, n});
    check_against<decltype(recipe)>(p, normal_matrix(3, n, n), {0, 0, 0, n});  // partial last block
  };
  check(rotated_by<2>{}, 2);
  check(rotated_by<4>{}, 4);
  check(rotated_by<8>{}, 8);
  check(rotated_by<32>{}, 32);
  check(rotated_by<64>{}, 64);
  check(rotated_by<128>{}, 128);
}
