// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Kinds of operands and of D: plain matrices on either side, other block lengths, a user's scale.

#include "../../examples/own_recipe/hif4.hpp"
#include "../../examples/own_recipe/if4.hpp"
#include "reference.hpp"
#include "support/catch.hpp"

using namespace gemm_test;

namespace {

struct mxfp8 : mxfp4 {
  using element = e4m3;
};
struct block_of_8 : nvfp4 {
  using block = shape<1, 8>;
};
struct block_of_128 : mxfp4 {
  using block = shape<1, 128>;
};

constexpr i64 rows = 5;
constexpr i64 cols = 37;
constexpr i64 depth = 267;

template <class R>
quantized<R> left() {
  return quantize<R>(host, uneven(rows, depth, 41).ref());
}
template <class R>
quantized<R> right() {
  return quantize<R>(host, normal(cols, depth, 42).ref());
}

template <class D, class A, class B>
void require_product(A const& a, B const& b) {
  CHECK(first_wrong<D>(a, b, rows, cols, depth) == -1);
}

template <class R, class T>
void require_plain_beside() {
  require_product<float>(left<R>(), normal<T>(cols, depth, 43));
  require_product<float>(normal<T>(rows, depth, 44), right<R>());
}

}  // namespace

TEMPLATE_TEST_CASE("a quantized matrix times a plain one, in either order", "", nvfp4, nvfp4_weight,
                   nvfp4_per_row, mxfp4, mxfp8, example::hif4, example::if4) {
  require_plain_beside<TestType, float>();
  require_plain_beside<TestType, fp16>();
  require_plain_beside<TestType, bf16>();
}

TEST_CASE("a plain matrix times a plain one") {
  require_product<float>(normal<float>(rows, depth, 1), normal<bf16>(cols, depth, 2));
  require_product<float>(normal<bf16>(rows, depth, 1), normal<fp16>(cols, depth, 2));
  require_product<float>(normal<fp16>(rows, depth, 1), normal<float>(cols, depth, 2));
}

TEST_CASE("D in half precision is the FP32 result rounded once") {
  auto const a = left<nvfp4>();
  auto const b = right<nvfp4>();
  require_product<fp16>(a, b);
  require_product<bf16>(a, b);
  matrix<> wide(rows, cols);
  matrix<fp16> half(rows, cols);
  matrix<bf16> brain(rows, cols);
  gemm(host, a, b, wide.ref());
  gemm(host, a, b, half.ref());
  gemm(host, a, b, brain.ref());
  for (std::size_t i = 0; i < wide.values.size(); ++i) {
    REQUIRE(float(half.values[i]) == oracle::to_fp16(wide.values[i]));
    REQUIRE(float(brain.values[i]) == oracle::to_bf16(wide.values[i]));
  }
}

TEST_CASE("operands of different block lengths") {
  require_product<float>(left<block_of_8>(), right<mxfp4>());
  require_product<float>(left<mxfp4>(), right<nvfp4>());
  require_product<float>(left<nvfp4_weight>(), right<block_of_128>());
  require_product<float>(left<block_of_128>(), right<block_of_8>());
}

TEST_CASE("a weight in 16x16 blocks on either side") {
  require_product<float>(left<nvfp4_weight>(), right<nvfp4>());
  require_product<float>(left<nvfp4_per_row>(), right<nvfp4_weight>());
}

TEST_CASE("8-bit elements beside 4-bit ones") {
  require_product<float>(left<mxfp8>(), right<mxfp8>());
  require_product<float>(left<mxfp8>(), right<nvfp4>());
  require_product<float>(left<mxfp4>(), right<mxfp8>());
}

TEST_CASE("scales of a user that bend the grid or depend on the position in the block") {
  STATIC_REQUIRE(!is_linear<example::if4_scale>);
  STATIC_REQUIRE(!is_linear<example::hif4_scale>);
  require_product<float>(left<example::if4>(), right<example::if4>());
  require_product<float>(left<example::hif4>(), right<example::hif4>());
  require_product<float>(left<example::if4>(), right<example::hif4>());
  require_product<float>(left<nvfp4_per_row>(), right<example::if4>());
}
