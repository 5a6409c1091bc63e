// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Everything that a quantization leaves in memory, from the library or from elsewhere.

#include <vector>

#include <quadrille/quantize.hpp>

#include "quantize/matrix.hpp"
#include "support/catch.hpp"

namespace test {

struct image {
  std::vector<u8> codes;
  std::vector<u32> scales;  ///< stored bytes, or the bits of FP32 scales
  floats outer;
  floats decoded;  ///< in the rotated basis
};

inline u32 stored_bits(u8 scale) { return scale; }
inline u32 stored_bits(float scale) { return bits_of(scale); }

template <class R>
floats decode(quadrille::quantized<R> const& q, bool rotated = false, int threads = 1) {
  matrix<> x(std::size_t(q.rows()), std::size_t(q.cols()));
  quadrille::dequantize(quadrille::host_policy{threads}, q, x.ref(), {rotated});
  return x.values;
}

template <class R>
image image_of(quadrille::quantized<R> const& q) {
  image result{q.codes(), {}, q.outer(), decode(q, true)};
  for (auto const scale : q.scales()) result.scales.push_back(stored_bits(scale));
  return result;
}

/// Quantizes with one thread.
template <class R, class T>
quadrille::quantized<R> quantized(matrix<T> x, quadrille::quantize_options const& options = {},
                                  u64 rotation_seed = 0, int threads = 1) {
  return quadrille::quantize<R>(quadrille::host_policy{threads}, x.ref(), options, rotation_seed);
}

/// Codes of the first row, one by one.
template <class R>
std::vector<unsigned> codes_of(quadrille::quantized<R> const& q) {
  std::vector<unsigned> codes;
  for (i64 c = 0; c < q.cols(); ++c)
    codes.push_back(quadrille::load_code<typename R::element>(q.codes().data(), c));
  return codes;
}

inline void check_same(image const& got, image const& want) {
  CHECK(difference(got.outer, want.outer) == "");
  CHECK(difference(got.scales, want.scales) == "");
  CHECK(difference(got.codes, want.codes) == "");
  CHECK(difference(got.decoded, want.decoded) == "");
}

}  // namespace test
