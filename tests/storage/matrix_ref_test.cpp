// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Views: strides, transposition, constness.

#include <type_traits>
#include <vector>

#include <quadrille/recipes.hpp>
#include <quadrille/storage.hpp>

#include "support/catch.hpp"

namespace {

using namespace quadrille;

template <class From, class To>
constexpr bool converts = std::is_convertible_v<From, To>;

struct unscaled : nvfp4 {
  using scale = one_level<e4m3>;
};

}  // namespace

static_assert(std::is_trivially_copyable_v<matrix_ref<float>>);
static_assert(std::is_trivially_copyable_v<quantized_ref<nvfp4>>);
static_assert(std::is_trivially_copyable_v<quantized_ref<nvfp4, u8 const>>);
static_assert(converts<matrix_ref<float>, matrix_ref<float const>>);
static_assert(!converts<matrix_ref<float const>, matrix_ref<float>>);
static_assert(!converts<matrix_ref<float>, matrix_ref<double const>>);
static_assert(!converts<matrix_ref<u16>, matrix_ref<bf16 const>>);
static_assert(converts<quantized_ref<nvfp4>, quantized_ref<nvfp4, u8 const>>);
static_assert(!converts<quantized_ref<nvfp4, u8 const>, quantized_ref<nvfp4>>);
static_assert(!converts<quantized_ref<nvfp4>, quantized_ref<mxfp4, u8 const>>);
static_assert(std::is_same_v<quantized_ref<ufp4>::stored, float>);
static_assert(std::is_same_v<quantized_ref<ufp4, u8 const>::stored, float const>);

TEST_CASE("Storage/MatrixRef.IsEmptyByDefault") {
  matrix_ref<float> const x;
  CHECK(x.data == nullptr);
  CHECK(x.rows == 0);
  CHECK(x.cols == 0);
}

TEST_CASE("Storage/MatrixRef.DenseRowsByDefault") {
  std::vector<float> values{0, 1, 2, 3, 4, 5};
  matrix_ref<float> const x(values.data(), 2, 3);
  CHECK(x.row_stride == 3);
  CHECK(x.col_stride == 1);
  CHECK(x(1, 2) == 5);
  x(1, 0) = 30;
  CHECK(values[3] == 30);
}

TEST_CASE("Storage/MatrixRef.StridesMayLeaveGapsAndRunBackwards") {
  std::vector<float> values(100);
  for (std::size_t i = 0; i < 100; ++i) values[i] = static_cast<float>(i);
  matrix_ref<float const> const gaps(values.data() + 5, 3, 4, 20, 2);
  CHECK(gaps(0, 0) == 5);
  CHECK(gaps(2, 3) == 51);
  matrix_ref<float const> const backwards(values.data() + 99, 2, 10, -50, -1);
  CHECK(backwards(0, 9) == 90);
  CHECK(backwards(1, 0) == 49);
}

TEST_CASE("Storage/MatrixRef.TransposedSeesTheSameElements") {
  std::vector<float> values{0, 1, 2, 3, 4, 5};
  matrix_ref<float> const x(values.data(), 2, 3);
  matrix_ref<float> const t = x.transposed();
  CHECK(t.rows == 3);
  CHECK(t.cols == 2);
  for (i64 r = 0; r < 2; ++r)
    for (i64 c = 0; c < 3; ++c) CHECK(&t(c, r) == &x(r, c));
  CHECK(&t.transposed()(1, 2) == &x(1, 2));
  CHECK(t.transposed().row_stride == x.row_stride);
}

TEST_CASE("Storage/MatrixRef.ConversionKeepsEverything") {
  std::vector<float> values(64);
  matrix_ref<float const> const x = matrix_ref<float>(values.data(), 3, 4, 16, 2);
  CHECK(x.data == values.data());
  CHECK(x.rows == 3);
  CHECK(x.cols == 4);
  CHECK(x.row_stride == 16);
  CHECK(x.col_stride == 2);
}

TEST_CASE("Storage/MatrixRef.OffsetsAre64Bit") {
  // Address arithmetic only: nothing is read there.
  matrix_ref<char> const x(nullptr, i64(1) << 20, i64(1) << 20);
  CHECK(x.row_stride * (x.rows - 1) + x.cols - 1 == (i64(1) << 40) - 1);
}

TEST_CASE("Storage/QuantizedRef.ScaleColumnsRoundUp") {
  CHECK(quantized_ref<nvfp4>(nullptr, nullptr, nullptr, 1, 33).scale_cols() == 3);
  CHECK(quantized_ref<mxfp4>(nullptr, nullptr, nullptr, 1, 33).scale_cols() == 2);
  CHECK(quantized_ref<nvfp4>(nullptr, nullptr, nullptr, 1, 0).scale_cols() == 0);
}

TEST_CASE("Storage/QuantizedRef.OuterFactorByScope") {
  float factors[] = {2, 3, 5};
  u8 code = 0;
  CHECK(quantized_ref<nvfp4>(&code, &code, factors, 3, 16).outer_decode(2) == 2);
  CHECK(quantized_ref<nvfp4_per_row>(&code, &code, factors, 3, 16).outer_decode(2) == 5);
  CHECK(quantized_ref<unscaled>(&code, &code, nullptr, 3, 16).outer_decode(2) == 1);
  CHECK(quantized_ref<mxfp4>(&code, &code, nullptr, 3, 16).outer_decode(2) == 1);
  CHECK(quantized_ref<mxfp4_tseng>(&code, &code, nullptr, 3, 64).outer_decode(0) == 4.f / 3);
}

TEST_CASE("Storage/QuantizedRef.ConversionKeepsEverything") {
  float factor = 2;
  u8 codes[8] = {};
  u8 scale = 0;
  quantized_ref<nvfp4, u8 const> const q = quantized_ref<nvfp4>(codes, &scale, &factor, 1, 16, 9);
  CHECK(q.codes == codes);
  CHECK(q.scales == &scale);
  CHECK(q.outer == &factor);
  CHECK(q.rows == 1);
  CHECK(q.cols == 16);
  CHECK(q.rotation_seed == 9);
}
