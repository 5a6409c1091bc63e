// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views: strides, transposition, constness, element types.

#include "quantize/image.hpp"
#include "quantize/recipes.hpp"

namespace {
using namespace test;
using namespace quadrille;

template <class R, class T>
image image_of_view(matrix_ref<T> x) {
  quantize_options options;
  options.seed = 9;
  return image_of(quantize<R>(host_policy{1}, x, options));
}
}  // namespace

TEMPLATE_LIST_TEST_CASE("Quantize/View.RowStride", "", kinds) {
  using R = TestType;
  matrix<> const inner = normal_matrix(20, 128, 5);
  matrix<> outer{20, 200, floats(20 * 200, 1e30f)};  // nothing outside may matter
  for (std::size_t r = 0; r < 20; ++r)
    for (std::size_t c = 0; c < 128; ++c) outer.at(r, 40 + c) = inner.at(r, c);
  matrix<> dense = inner;
  check_same(image_of_view<R>(matrix_ref<float>(outer.values.data() + 40, 20, 128, 200)),
             image_of_view<R>(dense.ref()));
}

TEMPLATE_LIST_TEST_CASE("Quantize/View.ColumnStrideTwo", "", kinds) {
  using R = TestType;
  matrix<> dense = normal_matrix(20, 128, 6);
  matrix<> spread{20, 256, floats(20 * 256, -1e30f)};
  for (std::size_t r = 0; r < 20; ++r)
    for (std::size_t c = 0; c < 128; ++c) spread.at(r, 2 * c) = dense.at(r, c);
  check_same(image_of_view<R>(matrix_ref<float>(spread.values.data(), 20, 128, 256, 2)),
             image_of_view<R>(dense.ref()));
}

TEMPLATE_LIST_TEST_CASE("Quantize/View.TransposedViewIsTheTransposedCopy", "", kinds) {
  using R = TestType;
  matrix<> x = normal_matrix(128, 33, 7);
  matrix<> copy = transpose(x);
  check_same(image_of_view<R>(x.ref().transposed()), image_of_view<R>(copy.ref()));
}

TEMPLATE_LIST_TEST_CASE("Quantize/View.ConstMatrix", "", kinds) {
  using R = TestType;
  matrix<> x = normal_matrix(5, 128, 7);
  matrix_ref<float const> const view(x.values.data(), 5, 128);
  check_same(image_of_view<R>(view), image_of_view<R>(x.ref()));
  CHECK(amax<R>(host, view) == amax<R>(host, x.ref()));
}

// A column slice whose rows are longer than it: nothing outside it has influence.
TEST_CASE("Quantize/View.ColumnSliceOfAWiderBuffer") {
  matrix<> x{2, 48, floats(96, 1000.0f)};
  for (std::size_t c = 8; c < 24; ++c) x.at(0, c) = 1, x.at(1, c) = 4;
  quantize_options options;
  options.amax = 2688;
  auto const q = quantize<nvfp4>(host, matrix_ref<float>(x.values.data() + 8, 2, 16, 48), options);
  CHECK(q.scales() == std::vector<u8>{0x23, 0x33});
  CHECK(q.codes() == std::vector<u8>(16, 0x77));
}

TEMPLATE_LIST_TEST_CASE("Quantize/View.InputTypesGiveTheSameBytes", "", kinds) {
  using R = TestType;
  matrix<bf16> b(7, 256);
  matrix<fp16> h(7, 256);
  matrix<> from_b(7, 256);
  matrix<> from_h(7, 256);
  floats const x = inputs::laplace(7 * 256, 4);
  for (std::size_t i = 0; i < x.size(); ++i) {
    b.values[i] = bf16(x[i]);
    h.values[i] = fp16(x[i]);
    from_b.values[i] = oracle::to_bf16(x[i]);
    from_h.values[i] = oracle::to_fp16(x[i]);
  }
  check_same(image_of_view<R>(b.ref()), image_of_view<R>(from_b.ref()));
  check_same(image_of_view<R>(h.ref()), image_of_view<R>(from_h.ref()));
}

TEST_CASE("Quantize/View.DequantizeIntoNarrowTypes") {
  auto const q = test::quantized<nvfp4>(normal_matrix(9, 50, 3, 100.0f));
  floats const y = decode(q);
  matrix<bf16> b(9, 50);
  matrix<fp16> h(9, 50);
  dequantize(host, q, b.ref());
  dequantize(host, q, h.ref());
  for (std::size_t i = 0; i < y.size(); ++i) {
    CHECK(float(b.values[i]) == oracle::to_bf16(y[i]));
    CHECK(float(h.values[i]) == oracle::to_fp16(y[i]));
  }
}

TEST_CASE("Quantize/View.DequantizeIntoStridesTouchesNothingElse") {
  auto const q = test::quantized<nvfp4>(normal_matrix(5, 20, 3));
  floats const y = decode(q);
  floats wide(5 * 60, 77.0f);
  dequantize(host, q, matrix_ref<float>(wide.data() + 3, 5, 20, 60, 2));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    std::size_t const offset = i % 60;
    bool const is_inside = offset >= 3 && offset < 43 && offset % 2 == 1;
    CHECK(wide[i] == (is_inside ? y[i / 60 * 20 + (offset - 3) / 2] : 77.0f));
  }
}

TEST_CASE("Quantize/View.DequantizeIntoATransposedView") {
  auto const q = test::quantized<nvfp4>(normal_matrix(5, 20, 3));
  matrix<> y{5, 20, decode(q)};
  matrix<> t(20, 5);
  dequantize(host, q, t.ref().transposed());
  CHECK(t.values == transpose(y).values);
}
