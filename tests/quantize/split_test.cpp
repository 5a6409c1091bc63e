// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bytes depend neither on the number of threads nor on how the rows are cut into pieces.

#include "quantize/image.hpp"
#include "quantize/recipes.hpp"

namespace {
using namespace test;
using namespace quadrille;

quantize_options seeded(u64 seed, float amax) {
  quantize_options options;
  options.seed = seed;
  options.stream = 7;
  options.amax = amax;
  return options;
}

/// Quantizes rows [first, last) and appends what it stores.
template <class R>
void append(image& whole, matrix<> const& x, std::size_t first, std::size_t last,
            quantize_options options) {
  auto const at = [&](std::size_t row) { return x.values.begin() + std::ptrdiff_t(row * x.cols); };
  options.first_row = i64(first);
  image const part =
      image_of(test::quantized<R>(matrix<>{last - first, x.cols, {at(first), at(last)}}, options));
  whole.codes.insert(whole.codes.end(), part.codes.begin(), part.codes.end());
  whole.scales.insert(whole.scales.end(), part.scales.begin(), part.scales.end());
  whole.decoded.insert(whole.decoded.end(), part.decoded.begin(), part.decoded.end());
  if (R::scale::scope == outer_scope::row || whole.outer.empty())
    whole.outer.insert(whole.outer.end(), part.outer.begin(), part.outer.end());
}
}  // namespace

TEMPLATE_LIST_TEST_CASE("Quantize/Split.ThreadsGiveTheSameBytes", "", kinds) {
  using R = TestType;
  matrix<> const x{259, 1152,
                   inputs::sprinkle_non_finite(inputs::outlier_channels(259, 1152, 3), 4, 5000)};
  quantize_options options;
  options.seed = 42;
  image const one = image_of(test::quantized<R>(x, options, 5, 1));
  for (int const threads : {2, 3, 7, 0}) {
    auto const q = test::quantized<R>(x, options, 5, threads);
    check_same(image_of(q), one);
    CHECK(difference(decode(q, true, threads), one.decoded) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("Quantize/Split.PiecesOfRowsGiveTheWhole", "", kinds) {
  using R = TestType;
  matrix<> const x = normal_matrix(64, 256, 8);
  quantize_options const options = seeded(42, 4);
  image const whole = image_of(test::quantized<R>(x, options));
  for (std::size_t const piece : {16u, 32u, 48u}) {
    image parts;
    for (std::size_t row = 0; row < x.rows; row += piece)
      append<R>(parts, x, row, std::min(row + piece, x.rows), options);
    check_same(parts, whole);
  }
}

// A constant that every element rounds at random: one call, or four with their first rows.
TEST_CASE("Quantize/Split.StochasticConstantInFourCalls") {
  matrix<> const x{64, 256, floats(64 * 256, 2.5f)};
  quantize_options const options = seeded(42, 2.5f);
  image const whole = image_of(test::quantized<mxfp4_tseng>(x, options));
  image parts;
  for (std::size_t row = 0; row < 64; row += 16)
    append<mxfp4_tseng>(parts, x, row, row + 16, options);
  check_same(parts, whole);
  image const gradient = image_of(test::quantized<nvfp4_gradient>(x, seeded(42, 2.6f)));
  image pieces;
  for (std::size_t row = 0; row < 64; row += 16)
    append<nvfp4_gradient>(pieces, x, row, row + 16, seeded(42, 2.6f));
  check_same(pieces, gradient);
}

TEST_CASE("Quantize/Split.SeedAndStreamBothMatter") {
  matrix<> const x = normal_matrix(16, 256, 8);
  quantize_options options = seeded(1, 5);
  auto const first = test::quantized<nvfp4_gradient>(x, options);
  CHECK(test::quantized<nvfp4_gradient>(x, options).codes() == first.codes());
  options.stream += 1;
  CHECK(test::quantized<nvfp4_gradient>(x, options).codes() != first.codes());
  options = seeded(2, 5);
  CHECK(test::quantized<nvfp4_gradient>(x, options).codes() != first.codes());
  options.first_row = 1;
  CHECK(test::quantized<nvfp4_gradient>(x, options).codes() != first.codes());
}
