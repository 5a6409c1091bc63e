// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Missing pointers inside a quantized_ref are refused before anything is read or written.

#include <quadrille/recipes.hpp>

#include "quantize/image.hpp"

namespace {
using namespace test;
using namespace quadrille;

struct parts {
  std::vector<u8> codes = std::vector<u8>(32);
  std::vector<u8> scales = std::vector<u8>(4);
  floats outer = floats(1);
};

constexpr char const* no_storage =
    "quadrille: the quantized matrix has no codes or no scales; pass both pointers, or use "
    "quantized<R>";
constexpr char const* no_outer =
    "quadrille: the quantized matrix has no outer scales; the recipe keeps one for the tensor or "
    "each row, pass a pointer to them";
}  // namespace

TEST_CASE("Quantize/Null.QuantizeIntoMissingMemory") {
  parts p;
  matrix<> x = normal_matrix(2, 32, 1);
  using ref = quantized_ref<nvfp4>;
  CHECK_THROWS_WITH(quantize(host, x.ref(), ref(nullptr, p.scales.data(), p.outer.data(), 2, 32)),
                    no_storage);
  CHECK_THROWS_WITH(quantize(host, x.ref(), ref(p.codes.data(), nullptr, p.outer.data(), 2, 32)),
                    no_storage);
  CHECK_THROWS_WITH(quantize(host, x.ref(), ref(p.codes.data(), p.scales.data(), nullptr, 2, 32)),
                    no_outer);
}

TEST_CASE("Quantize/Null.DequantizeFromMissingMemory") {
  parts p;
  matrix<> x(2, 32);
  using ref = quantized_ref<nvfp4, u8 const>;
  CHECK_THROWS_WITH(dequantize(host, ref(nullptr, p.scales.data(), p.outer.data(), 2, 32), x.ref()),
                    no_storage);
  CHECK_THROWS_WITH(dequantize(host, ref(p.codes.data(), nullptr, p.outer.data(), 2, 32), x.ref()),
                    no_storage);
  CHECK_THROWS_WITH(dequantize(host, ref(p.codes.data(), p.scales.data(), nullptr, 2, 32), x.ref()),
                    no_outer);
}

TEST_CASE("Quantize/Null.OneLevelNeedsNoOuterScale") {
  std::vector<u8> codes(32);
  std::vector<u8> scales(2);
  matrix<> x = normal_matrix(2, 32, 1);
  CHECK_NOTHROW(
      quantize(host, x.ref(), quantized_ref<mxfp4>(codes.data(), scales.data(), nullptr, 2, 32)));
}
