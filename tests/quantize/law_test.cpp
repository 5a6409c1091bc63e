// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Laws of quantization: transposition, symmetry, scaling, error bounds, round trips.

#include "quantize/image.hpp"
#include "quantize/recipes.hpp"

namespace {
using namespace test;
using namespace quadrille;

using unrotated = std::tuple<nvfp4, nvfp4_weight, nvfp4_four_over_six, nvfp4_fp8_exact,
                             nvfp4_per_row, mxfp4, mxfp4_even, mxfp4_ceil, mxfp4_round_up>;
using unclipped = std::tuple<mxfp4_ceil, mxfp4_round_up>;

matrix<> scaled(matrix<> x, float factor) {
  for (float& v : x.values) v *= factor;
  return x;
}
}  // namespace

// 16 x 16 blocks: W and its transpose hold the same values and the same scales.
TEST_CASE("Quantize/Law.SquareBlocksCommuteWithTransposition") {
  for (auto const& [rows, cols] : {extents{64, 96}, extents{33, 50}, extents{16, 17}}) {
    matrix<> const w = normal_matrix(rows, cols, rows);
    auto const q = test::quantized<nvfp4_weight>(w);
    auto const t = test::quantized<nvfp4_weight>(transpose(w));
    CHECK(q.outer() == t.outer());
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) {
        u8 const* const row = q.codes().data() + r * ((cols + 1) / 2);
        u8 const* const col = t.codes().data() + c * ((rows + 1) / 2);
        CHECK(load_code<e2m1>(row, i64(c)) == load_code<e2m1>(col, i64(r)));
        CHECK(q.scales()[r * ((cols + 15) / 16) + c / 16] ==
              t.scales()[c * ((rows + 15) / 16) + r / 16]);
      }
  }
}

TEMPLATE_LIST_TEST_CASE("Quantize/Law.PowersOfTwoScaleThrough", "", unrotated) {
  using R = TestType;
  matrix<> const x = normal_matrix(20, 64, 1);
  auto const q = test::quantized<R>(x);
  for (int const k : {-30, -1, 1, 17}) {
    auto const p = test::quantized<R>(scaled(x, std::ldexp(1.0f, k)));
    CHECK(p.codes() == q.codes());
    CHECK(difference(decode(p), scaled({20, 64, decode(q)}, std::ldexp(1.0f, k)).values) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("Quantize/Law.OddSymmetry", "", kinds) {
  using R = TestType;
  matrix<> const x = normal_matrix(20, 256, 1);
  auto const q = test::quantized<R>(x);
  auto const p = test::quantized<R>(scaled(x, -1));
  CHECK(p.scales() == q.scales());
  CHECK(p.outer() == q.outer());
  CHECK(decode(p) == scaled({20, 256, decode(q)}, -1).values);
}

// Inside the range the error is at most half the distance of the two neighbouring values.
TEMPLATE_LIST_TEST_CASE("Quantize/Law.ErrorIsAtMostHalfAStep", "", unrotated) {
  using R = TestType;
  matrix<> const x = normal_matrix(40, 96, 1);
  auto const q = test::quantized<R>(x);
  floats const y = decode(q);
  std::size_t const scale_cols = q.scales().size() / 40;
  for (std::size_t i = 0; i < y.size(); ++i) {
    float const stored =
        R::scale::decoder(q.scales()[i / 96 * scale_cols + i % 96 / R::block::cols],
                          q.ref().outer_decode(i64(i / 96)))
            .factor;
    double const t = std::fabs(double(x.values[i]) / stored);
    double const step = t < 2 ? 0.5 : t < 4 ? 1 : 2;
    if (t <= 6) CHECK(std::fabs(double(y[i]) - x.values[i]) <= step / 2 * stored * (1 + 1e-6));
    if (t > 6) CHECK(std::fabs(y[i]) == 6 * stored);
  }
}

TEMPLATE_LIST_TEST_CASE("Quantize/Law.RoundedUpScalesNeverClip", "", unclipped) {
  using R = TestType;
  matrix<> const x{64, 128, inputs::student_t3(64 * 128, 3)};
  auto const q = test::quantized<R>(x);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    CHECK(std::fabs(x.values[i]) <= 6 * ue8m0::decode(q.scales()[i / 32]));
}

// The largest code of a block with a floor or even scale is 4 or 6, so its scale is found again.
TEMPLATE_TEST_CASE("Quantize/Law.DecodedValuesKeepTheirCodes", "", mxfp4, mxfp4_even) {
  using R = TestType;
  for (u64 seed = 0; seed < 20; ++seed) {
    matrix<> const x{20, 96, inputs::zero_blocks(inputs::student_t3(20 * 96, seed), 32, seed)};
    auto const q = test::quantized<R>(x);
    auto const again = test::quantized<R>(matrix<>{20, 96, decode(q)});
    CHECK(again.codes() == q.codes());
    CHECK(again.scales() == q.scales());
  }
}

TEMPLATE_LIST_TEST_CASE("Quantize/Law.DecodedValuesAreTheirOwnNearest", "", unclipped) {
  using R = TestType;
  floats const y = decode(test::quantized<R>(normal_matrix(20, 96, 5)));
  CHECK(decode(test::quantized<R>(matrix<>{20, 96, y})) == y);
}

TEST_CASE("Quantize/Law.SameAmaxKeepsCodesOfTwoLevels") {
  matrix<> const x = normal_matrix(20, 96, 5);
  quantize_options options;
  options.amax = 2688.0f * 0.25f;  // a power of two, so that block scales are E4M3 values
  auto const q = test::quantized<nvfp4>(x, options);
  floats const y = decode(q);
  CHECK(decode(test::quantized<nvfp4>(matrix<>{20, 96, y}, options)) == y);
}

TEST_CASE("Quantize/Law.ExplicitAmaxEqualsTheMeasuredOne") {
  matrix<> x = normal_matrix(20, 96, 5);
  quantize_options options;
  options.amax = amax<nvfp4>(host, x.ref());
  check_same(image_of(test::quantized<nvfp4>(x, options)), image_of(test::quantized<nvfp4>(x)));
}

TEST_CASE("Quantize/Law.ElementsBeyondACalibratedAmaxSaturate") {
  quantize_options options;
  options.amax = 6;
  matrix<> const x{1, 16, [] {
                     floats v(16, 1.0f);
                     v[0] = 1e6f;
                     return v;
                   }()};
  auto const q = test::quantized<nvfp4>(x, options);
  CHECK(q.scales()[0] == 0x7E);
  CHECK(decode(q)[0] == Approx(6));
  CHECK(decode(test::quantized<nvfp4_fp8_exact>(x, options))[0] == Approx(6));
  CHECK(decode(test::quantized<nvfp4_four_over_six>(x, options))[0] == Approx(6 * 448.0 / 256));
}
