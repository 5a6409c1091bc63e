// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Empty tensors, refused arguments, poisoned blocks, per-row scales.

#include <quadrille/recipes.hpp>

#include "quantize/image.hpp"
#include "quantize/recipes.hpp"

namespace {
using namespace test;
using namespace quadrille;

template <class Call>
std::string message_of(Call const& call) {
  try {
    call();
  } catch (quadrille::error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

/// Memory for a 4 x 32 NVFP4 matrix, filled with a pattern.
struct prefilled {
  std::vector<u8> codes = std::vector<u8>(64, 0xA5);
  std::vector<u8> scales = std::vector<u8>(8, 0x5A);
  floats outer = floats(1, 123.0f);
  quantized_ref<nvfp4> ref() { return {codes.data(), scales.data(), outer.data(), 4, 32}; }
  bool is_untouched() const {
    return codes == prefilled{}.codes && scales == prefilled{}.scales && outer[0] == 123;
  }
};
}  // namespace

TEMPLATE_LIST_TEST_CASE("Quantize/Empty.NoRows", "", kinds) {
  using R = TestType;
  auto const q = quantize<R>(host, matrix_ref<float>(nullptr, 0, 128));
  CHECK(q.codes().empty());
  CHECK(q.scales().empty());
  CHECK_NOTHROW(dequantize(host, q, matrix_ref<float>(nullptr, 0, 128)));
  CHECK(amax<R>(host, matrix_ref<float>(nullptr, 0, 128)) == 0);
}

TEMPLATE_LIST_TEST_CASE("Quantize/Empty.NoColumns", "", kinds) {
  using R = TestType;
  auto const q = quantize<R>(host, matrix_ref<float>(nullptr, 5, 0));
  CHECK(q.codes().empty());
  CHECK(q.scales().empty());
  CHECK_NOTHROW(dequantize(host, q, matrix_ref<float>(nullptr, 5, 0)));
}

TEST_CASE("Quantize/Error.RowsDiffer") {
  prefilled q;
  matrix<> x(3, 32);
  CHECK(message_of([&] { quantize(host, x.ref(), q.ref()); }) ==
        "quadrille: the number of rows of the matrix is 3 but must be 4");
  CHECK(q.is_untouched());
}

TEST_CASE("Quantize/Error.ColumnsDiffer") {
  prefilled q;
  matrix<> x(4, 16);
  CHECK(message_of([&] { quantize(host, x.ref(), q.ref()); }) ==
        "quadrille: the number of columns of the matrix is 16 but must be 32");
  CHECK(q.is_untouched());
}

TEST_CASE("Quantize/Error.NoData") {
  prefilled q;
  CHECK(message_of([&] { quantize(host, matrix_ref<float>(nullptr, 4, 32), q.ref()); }) ==
        "quadrille: the matrix has no data; pass a pointer to rows x cols elements");
  CHECK(q.is_untouched());
}

TEST_CASE("Quantize/Error.DequantizeChecksFirst") {
  quadrille::quantized<nvfp4> const q(4, 32);
  matrix<> y{4, 16, floats(64, 9.0f)};
  CHECK(message_of([&] { dequantize(host, q, y.ref()); }) ==
        "quadrille: the number of columns of the matrix is 16 but must be 32");
  CHECK(y.values == floats(64, 9.0f));
  CHECK(message_of([&] { dequantize(host, q, matrix_ref<float>(nullptr, 4, 32)); }) ==
        "quadrille: the matrix has no data; pass a pointer to rows x cols elements");
}

TEST_CASE("Quantize/Error.ClipMaskChecksFirst") {
  quadrille::quantized<mxfp4> const q(4, 32);
  matrix<> x(4, 64);
  std::vector<u8> mask(3, 0xAA);
  CHECK(message_of([&] { clip_mask(host, x.ref(), q, mask); }) ==
        "quadrille: the number of columns of the matrix is 64 but must be 32");
  CHECK(mask == std::vector<u8>(3, 0xAA));
}

TEST_CASE("Quantize/Error.GivenAmaxIsNoMagnitude") {
  matrix<> x = normal_matrix(4, 32, 1);
  for (float const amax : {-1.0f, oracle::float_nan}) {
    prefilled q;
    quantize_options options;
    options.amax = amax;
    CHECK(
        message_of([&] { quantize(host, x.ref(), q.ref(), options); }) ==
        "quadrille: the given amax is negative or NaN; it is the largest magnitude, pass max |x|");
    CHECK(q.is_untouched());
  }
}

TEST_CASE("Quantize/Error.RaggedRotation") {
  std::string const want =
      "quadrille: the columns do not fill whole rotation groups; a rotation acts on whole groups, "
      "make cols a multiple of rotation::size or pad both operands with zeros";
  CHECK(message_of([] { quadrille::quantized<nvfp4_wgrad>(4, 40); }) == want);
  prefilled q;  // larger than needed
  matrix<> x(4, 24);
  quantized_ref<nvfp4_wgrad> const ref(q.codes.data(), q.scales.data(), q.outer.data(), 4, 24);
  CHECK(message_of([&] { quantize(host, x.ref(), ref); }) == want);
  CHECK(q.is_untouched());
}

TEST_CASE("Quantize/Error.NegativeExtents") {
  std::string const want =
      "quadrille: a matrix has a negative extent; rows and columns are at least 0";
  CHECK(message_of([] { quadrille::quantized<nvfp4>(-1, 32); }) == want);
  CHECK(message_of([] { quadrille::quantized<nvfp4>(4, -16); }) == want);
}

// Each poisoned block keeps to itself.
TEMPLATE_TEST_CASE("Quantize/Poison.NeighboursAndTensorDoNotNotice", "", nvfp4, mxfp4,
                   nvfp4_per_row, nvfp4_four_over_six, nvfp4_gradient) {
  using R = TestType;
  matrix<> const clean = normal_matrix(6, 96, 4);
  for (float const special : {oracle::float_nan, HUGE_VALF, -HUGE_VALF}) {
    matrix<> x = clean;
    x.at(2, 40) = special;
    matrix<> zeroed = clean;
    zeroed.at(2, 40) = 0;
    image const got = image_of(test::quantized<R>(x));
    image const want = image_of(test::quantized<R>(zeroed));
    CHECK(got.outer == want.outer);
    std::size_t const n = R::block::cols;
    std::size_t const block = 2 * (96 / n) + 40 / n;
    for (std::size_t b = 0; b < got.scales.size(); ++b)
      CHECK(got.scales[b] == (b == block ? R::scale::poison : want.scales[b]));
    for (std::size_t i = 0; i < got.codes.size(); ++i)
      CHECK(got.codes[i] == (2 * i / n == block ? 0 : want.codes[i]));
    for (std::size_t i = 0; i < got.decoded.size(); ++i)
      CHECK((i / n == block ? std::isnan(got.decoded[i]) : got.decoded[i] == want.decoded[i]));
  }
}

TEST_CASE("Quantize/Poison.SquareBlockInEachOfItsRows") {
  matrix<> x = normal_matrix(32, 32, 4);
  x.at(20, 3) = oracle::float_nan;
  auto const q = test::quantized<nvfp4_weight>(x);
  for (std::size_t r = 0; r < 32; ++r) {
    CHECK((q.scales()[2 * r] == 0x7F) == (r >= 16));
    CHECK(q.scales()[2 * r + 1] != 0x7F);
  }
}

TEST_CASE("Quantize/Poison.RotationSpreadsOverItsGroup") {
  matrix<> x = normal_matrix(2, 256, 4);
  x.at(0, 5) = HUGE_VALF;
  auto const q = test::quantized<quartet2_backward>(x);
  for (std::size_t b = 0; b < 32; ++b) CHECK((q.scales()[b] == 0x7F) == (b < 8));
}

TEST_CASE("Quantize/Poison.WholeTensor") {
  matrix<> const x{2, 32, floats(64, oracle::float_nan)};
  auto const q = test::quantized<nvfp4>(x);
  CHECK(q.outer()[0] == 1);
  CHECK(q.scales() == std::vector<u8>(4, 0x7F));
  for (float const v : decode(q)) CHECK(std::isnan(v));
}

TEST_CASE("Quantize/Outer.InfiniteAmaxOptionMeansOne") {
  quantize_options options;
  options.amax = HUGE_VALF;
  auto const q = test::quantized<nvfp4>(normal_matrix(2, 32, 4), options);
  CHECK(q.outer()[0] == 1);
}

TEST_CASE("Quantize/Rows.EachRowAsIfAlone") {
  matrix<> const x{9, 80, inputs::outlier_channels(9, 80, 5)};
  auto const whole = test::quantized<nvfp4_per_row>(x);
  for (std::size_t r = 0; r < 9; ++r) {
    auto const first = x.values.begin() + std::ptrdiff_t(r * 80);
    auto const row = test::quantized<nvfp4>(matrix<>{1, 80, floats(first, first + 80)});
    CHECK(whole.outer()[r] == row.outer()[0]);
    CHECK(
        std::equal(row.scales().begin(), row.scales().end(), whole.scales().begin() + long(5 * r)));
    CHECK(std::equal(row.codes().begin(), row.codes().end(), whole.codes().begin() + long(40 * r)));
  }
}

TEST_CASE("Quantize/Rows.GivenAmaxima") {
  matrix<> const x = normal_matrix(3, 32, 5);
  floats const amaxima{5, 50, 2688};
  quantize_options options;
  options.row_amax = amaxima.data();
  auto const q = test::quantized<nvfp4_per_row>(x, options);
  for (std::size_t r = 0; r < 3; ++r) {
    CHECK(q.outer()[r] == oracle::div(1, oracle::div(2688, amaxima[r])));
    auto const first = x.values.begin() + std::ptrdiff_t(32 * r);
    CHECK(q.scales()[2 * r] == oracle::quantize(floats(first, first + 16), amaxima[r]).scale_code);
  }
}
