// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What entry points refuse before they read or write, and what they must not refuse.

#include "support/catch.hpp"
#include "support/inputs.hpp"

#include <quadrille/quadrille.hpp>

#include <string>

namespace {

using namespace quadrille;

template <class Call>
std::string sentence_of(Call const& call) {
  try {
    call();
  } catch (error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

bool says(std::string const& sentence, char const* part) {
  INFO(sentence);
  return sentence.find(part) != std::string::npos;
}

struct operands {
  std::vector<float> x = inputs::normal(32 * 64, 1);
  std::vector<float> d = std::vector<float>(32 * 32, 42.f);
  matrix_ref<float> a{x.data(), 32, 64};
  matrix_ref<float> out{d.data(), 32, 32};
};

}  // namespace

TEST_CASE("gemm refuses a missing D, operand or view") {
  operands o;
  auto const q = quantize<nvfp4>(host, o.a);
  matrix_ref<float> const nothing(nullptr, 32, 64);
  quantized_ref<nvfp4, u8 const> const no_view(nullptr, nullptr, nullptr, 32, 64);
  CHECK(
      says(sentence_of([&] { gemm(host, q, q, matrix_ref<float>(nullptr, 32, 32)); }), "no data"));
  CHECK(says(sentence_of([&] { gemm(host, nothing, o.a, o.out); }), "no data"));
  CHECK(says(sentence_of([&] { gemm(host, no_view, q, o.out); }), "no codes"));
  CHECK(o.d == std::vector<float>(32 * 32, 42.f));
}

TEST_CASE("gemm refuses negative extents") {
  operands o;
  matrix_ref<float> const negative(o.x.data(), -1, 64);
  matrix_ref<float> const out(o.d.data(), -1, 32);
  CHECK(says(sentence_of([&] { gemm(host, negative, o.a, out); }), "negative extent"));
}

TEST_CASE("rotations with published signs need no common seed") {
  operands o;
  auto const a = quantize<nvfp4_wgrad>(host, o.a, {}, 1);
  auto const b = quantize<nvfp4_wgrad>(host, o.a, {}, 2);
  CHECK_NOTHROW(gemm(host, a, b, o.out));
}

TEST_CASE("amax and compare refuse what they cannot read") {
  matrix_ref<float> const nothing(nullptr, 32, 64);
  std::vector<float> x(120);
  CHECK(says(sentence_of([&] { amax<nvfp4>(host, nothing); }), "no data"));
  CHECK(says(sentence_of([&] { amax<nvfp4_wgrad>(host, matrix_ref<float>(x.data(), 1, 120)); }),
             "whole rotation groups"));
  CHECK(says(sentence_of([&] { compare(nothing, nothing); }), "no data"));
}

TEST_CASE("a recipe without an outer scale writes none") {
  operands o;
  quantized<mxfp4> owner(32, 64);
  auto const own = owner.ref();
  float guard = 42;
  quantize(host, o.a, quantized_ref<mxfp4>(own.codes, own.scales, &guard, 32, 64));
  CHECK(guard == 42);
}

TEST_CASE("extents beyond 2^60 elements are refused") {
  CHECK(says(sentence_of([] { quantized<nvfp4> q(i64(1) << 40, i64(1) << 40); }), "too large"));
}

TEST_CASE("a given amax must be a magnitude") {
  operands o;
  quantized<nvfp4> q(32, 64);
  CHECK(says(sentence_of([&] { quantize(host, o.a, q, {.amax = -1.f}); }), "negative or NaN"));
  CHECK(says(sentence_of([&] { quantize(host, o.a, q, {.amax = detail::quiet_nan()}); }),
             "negative or NaN"));
  CHECK_NOTHROW(quantize(host, o.a, q, {.amax = -0.f}));
}
