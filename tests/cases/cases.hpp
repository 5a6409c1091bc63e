// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the fault cases share. Each case is a fault that users of other FP4, FP8 and MX software
/// reported, as a small input with the right answer; a test's name starts with the case's id.
///
/// Cases that no host test can show, and where they are covered:
///   GRA-01, MGP-01, GEM-06                graph capture, device context, launch errors: tests/cuda
///   BLD-02                                one kernel in two libraries: tests/structure and tests/cuda
///   BLD-04                                headers under NVRTC: tests/rtc
///   BLD-06                                headers alone and in either order: tests/structure; its cast
///                                         from a host source file is RND-01 here
///   BLD-08                                packages: tests/install
///   BLD-10                                device code without extra flags: tests/structure, tests/cuda
///   FLG-01                                fast-math: tests/flags
/// Cases written for a GPU whose fault can also be made on the host have their host half here.

#include "support/catch.hpp"

#include <quadrille/quadrille.hpp>

#include <cstring>
#include <vector>

namespace cases {

using namespace quadrille;

/// NVFP4 without the tensor scale ("S_enc = 1").
struct nvfp4_one_level : nvfp4 {
  using scale = one_level<e4m3>;
};
/// MXFP8.
struct mxfp8 : mxfp4 {
  using element = e4m3;
};
struct mxfp8_round_up : mxfp4_round_up {
  using element = e4m3;
};

/// Every block scale is 1, so that codes are bare casts.
struct unit_rule : amax_rule {
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto choose(block_values const&, outer_scale const&) {
    return chosen_scale{F::encode_finite(1.f), multiply_by{1.f}};
  }
};
struct unscaled : nvfp4 {
  using scale = one_level<e4m3, unit_rule>;
};
struct unscaled_stochastic : unscaled {
  using rounding = stochastic<8>;
};

/// A row-major matrix that owns its values.
template <class T = float>
struct matrix {
  i64 rows;
  i64 cols;
  std::vector<T> values;

  matrix(i64 m, i64 n, T value = T(0)) : rows(m), cols(n), values(std::size_t(m * n), value) {}
  matrix(i64 m, i64 n, std::vector<T> v) : matrix(m, n) {
    for (std::size_t i = 0; i < v.size(); ++i) values[i] = v[i];  // the rest stays 0
  }
  T& operator()(i64 r, i64 c) { return values[std::size_t(r * cols + c)]; }
  T operator()(i64 r, i64 c) const { return values[std::size_t(r * cols + c)]; }
  matrix_ref<T> ref() { return {values.data(), rows, cols}; }
  matrix_ref<T const> ref() const { return {values.data(), rows, cols}; }
};

/// One row, completed with zeros to `cols`.
inline matrix<> row(std::vector<float> const& values, i64 cols = 16) { return {1, cols, values}; }

template <class R>
std::vector<unsigned> codes(quantized<R> const& q, i64 r = 0) {
  std::vector<unsigned> result;
  u8 const* const bytes = q.codes().data() + r * row_bytes<typename R::element>(q.cols());
  for (i64 c = 0; c < q.cols(); ++c) result.push_back(load_code<typename R::element>(bytes, c));
  return result;
}

/// The codes given, then zeros up to `n`.
inline std::vector<unsigned> padded(std::vector<unsigned> given, std::size_t n = 16) {
  given.resize(n);
  return given;
}

template <class R>
std::vector<unsigned> scales(quantized<R> const& q) {
  return {q.scales().begin(), q.scales().end()};
}

template <class R>
matrix<> decoded(quantized<R> const& q, dequantize_options const& options = {}) {
  matrix<> x(q.rows(), q.cols());
  dequantize(host, q, x.ref(), options);
  return x;
}

/// Codes of bare casts.
template <class F, class T = float>
std::vector<unsigned> cast(std::vector<T> const& x) {
  std::vector<unsigned> result;
  for (T const v : x) result.push_back(F::encode(v));
  return result;
}

inline float from_bits(u32 bits) { return detail::as_float(bits); }
inline u32 bits(float x) { return detail::bits_of(x); }

using list = std::vector<unsigned>;

}  // namespace cases
