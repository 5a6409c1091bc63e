// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantizes awkward matrices of awkward shapes on the host and on the device, along rows and along
/// columns, with amax found and given: every byte must agree.

#include <string>
#include <vector>

#include <quadrille/cuda/device_quantized.cuh>
#include <quadrille/quadrille.hpp>

#include "cuda/guarded.cuh"
#include "support/inputs.hpp"

namespace parity {

using namespace quadrille;

inline constexpr random_key key{42, 7};
inline constexpr u64 rotation_seed = 11;

/// A dense rows x cols matrix in host and in device memory.
template <class T>
class matrix {
 public:
  matrix(i64 rows, i64 cols, std::vector<T> const& values)
      : rows_(rows), cols_(cols), values_(values), device_(values) {}
  matrix_ref<T const> host() const { return {values_.data(), rows_, cols_}; }
  matrix_ref<T const> device() const { return {device_.data(), rows_, cols_}; }

 private:
  i64 rows_;
  i64 cols_;
  std::vector<T> values_;
  device_buffer<T> device_;
};

template <class T>
std::vector<T> rounded_to(std::vector<float> const& x) {
  std::vector<T> result;
  result.reserve(x.size());
  for (float const v : x) result.push_back(static_cast<T>(v));
  return result;
}

/// The upper half of each float's bits, as a T: all of a BF16, and any FP16.
template <class T>
std::vector<T> patterns_of(std::vector<float> const& x) {
  if constexpr (sizeof(T) == 4) {
    return x;
  } else {
    std::vector<T> result;
    for (float const v : x) result.push_back(__builtin_bit_cast(T, u16(detail::bits_of(v) >> 16)));
    return result;
  }
}

inline constexpr std::size_t pool_size = 256 * 1152;  // the largest matrix, for any rotation

/// The kinds of values.
enum class kind { normal, heavy, outliers, ties, subnormal, zeros, non_finite, patterns, binades };
inline constexpr kind kinds[] = {kind::normal,     kind::heavy,     kind::outliers,
                                 kind::ties,       kind::subnormal, kind::zeros,
                                 kind::non_finite, kind::patterns,  kind::binades};
inline char const* name_of(kind k) {
  constexpr char const* names[] = {"normal",     "heavy tails",  "outlier channels",
                                   "ties",       "subnormal",    "zero blocks",
                                   "not finite", "bit patterns", "any binade"};
  return names[int(k)];
}

/// Blocks of 16 whose magnitudes differ by up to 2^250.
inline std::vector<float> any_binade(std::vector<float> x, u64 seed) {
  inputs::splitmix64 random(seed);
  for (std::size_t i = 0; i < x.size(); i += 16) {
    int const exponent = int(random.below(250)) - 140;
    for (std::size_t k = i; k < x.size() && k < i + 16; ++k)
      x[k] *= exponent < -126 ? detail::exp2i(-126) * detail::exp2i(exponent + 126)
                              : detail::exp2i(exponent);
  }
  return x;
}

/// pool_size values of each kind that does not depend on shape or recipe, drawn once.
inline std::vector<float> const& pool(kind k) {
  static std::vector<float> const normal = inputs::normal(pool_size, 1, 1.f);
  static std::vector<float> const heavy = inputs::student_t3(pool_size, 2, 1.f);
  static std::vector<float> const subnormal = inputs::subnormal(pool_size, 3);
  static std::vector<float> const zeros = inputs::zero_blocks(normal, 32, 4);
  static std::vector<float> const non_finite = inputs::sprinkle_non_finite(normal, 5, 200);
  static std::vector<float> const patterns = inputs::bit_patterns(pool_size, 6);
  static std::vector<float> const binades = any_binade(normal, 7);
  switch (k) {
    case kind::heavy:
      return heavy;
    case kind::subnormal:
      return subnormal;
    case kind::zeros:
      return zeros;
    case kind::non_finite:
      return non_finite;
    case kind::patterns:
      return patterns;
    case kind::binades:
      return binades;
    default:
      return normal;
  }
}

/// Magnitudes of a format, ascending.
template <class E>
std::vector<float> grid_of() {
  std::vector<float> grid;
  for (u32 code = 0; code < (1u << (E::bits - 1)); ++code)
    if (detail::is_finite(E::decode(code))) grid.push_back(E::decode(code));
  return grid;
}

/// Values that lie in the middle between two codes once they are rotated and, with a scale that lands
/// the block's amax on the largest element, scaled.
template <class R>
std::vector<float> ties(i64 rows, i64 cols) {
  auto x = inputs::tie_aligned(std::size_t(rows * cols), 8, grid_of<typename R::element>(), 0.5f);
  constexpr i64 group = R::rotation::size;
  sign_vector const signs = R::rotation::signs(rotation_seed);
  for (i64 i = 0; i + group <= rows * cols; i += group) R::rotation::invert(x.data() + i, signs);
  return x;
}

template <class R, class T>
std::vector<T> values(kind k, i64 rows, i64 cols) {
  std::vector<float> x(pool(k).begin(), pool(k).begin() + rows * cols);
  if (k == kind::ties) x = ties<R>(rows, cols);
  if (k == kind::outliers)
    for (i64 i = 0; i < rows * cols; ++i)
      if (i % cols % 64 == 5) x[std::size_t(i)] *= 100;
  return k == kind::patterns ? patterns_of<T>(x) : rounded_to<T>(x);
}

/// Device quantization of x, a matrix_ref or a source, must give `expected`.
template <class R, class Layout = row_major_scales, class X>
void check(X const& x, quantized<R> const& expected, float const* amax = nullptr,
           i64 first_row = 0) {
  target<R, Layout> const to(expected.rows(), expected.cols(), expected.rotation_seed());
  guarded const work(quantize_workspace<R>(expected.rows(), expected.cols()), 0xA5);
  device_quantize_options options{.seed = key.seed, .stream = key.stream, .first_row = first_row};
  options.amax = amax;
  if (amax == nullptr) options.workspace = work.workspace();
  quantize(on(nullptr), x, to.ref(), options);
  to.check(expected);
  work.host();  // looks at the guard
}

/// The amaxes that quantize finds on the host: one, or one a row.
template <class R, class T>
std::vector<float> amaxes(matrix_ref<T const> x) {
  std::vector<float> result;
  for (i64 r = 0; r < (R::scale::scope == outer_scope::row ? x.rows : 1); ++r)
    result.push_back(R::scale::scope == outer_scope::row
                         ? amax<R>(host, matrix_ref<T const>(&x(r, 0), 1, x.cols, 0, x.col_stride),
                                   rotation_seed)
                         : amax<R>(host, x, rotation_seed));
  return result;
}

/// Host quantization with given amaxes.
template <class R, class T>
quantized<R> with_amax(matrix_ref<T const> x, std::vector<float> const& amaxes) {
  quantize_options options{.seed = key.seed, .stream = key.stream};
  if constexpr (R::scale::scope == outer_scope::row)
    options.row_amax = amaxes.data();
  else
    options.amax = amaxes[0];
  return quantize<R>(host, x, options, rotation_seed);
}

/// Along the rows: both layouts, amax found, amax far too small, and the function amax.
template <class R, class T>
void check_rows(matrix<T> const& x) {
  auto const expected =
      quantize<R>(host, x.host(), {.seed = key.seed, .stream = key.stream}, rotation_seed);
  check(x.device(), expected);
  check<R, tiled_128x4_scales>(x.device(), expected);

  auto given = amaxes<R>(x.host());
  guarded const found(given.size() * sizeof(float), 0xA5);
  amax<R>(on(nullptr), x.device(), found.as<float>(), rotation_seed);
  check_equal("amax", found.host(), bytes_of(given));
  if constexpr (R::scale::scope != outer_scope::none) {
    for (float& a : given) a /= 16;
    device_buffer<float> const device_given(given);
    check(x.device(), with_amax<R>(x.host(), given), device_given.data());
  }
}

/// Along the columns: tile by tile, element by element through strides, and with a given amax.
template <class R, class T>
void check_columns(matrix<T> const& x) {
  auto const along = x.host().transposed();
  auto const expected =
      quantize<R>(host, along, {.seed = key.seed, .stream = key.stream}, rotation_seed);
  check(transposed(x.device()), expected);
  check(x.device().transposed(), expected);
  if constexpr (R::scale::scope != outer_scope::none) {
    auto given = amaxes<R>(along);
    for (float& a : given) a /= 16;
    device_buffer<float> const device_given(given);
    check(transposed(x.device()), with_amax<R>(along, given), device_given.data());
  }
}

/// The nearest multiple above of what a matrix of recipe R must have along K.
template <class R>
i64 whole_groups(i64 n) {
  constexpr i64 group = detail::max(R::rotation::size, correction_group<typename R::scale>);
  return detail::ceil_div(n, detail::max(i64(1), group)) * detail::max(i64(1), group);
}

struct extents {
  i64 rows;
  i64 cols;
};
inline constexpr extents shapes[] = {{1, 1}, {1, 15}, {16, 17}, {127, 129}, {33, 512}, {130, 1040}};

/// Every kind of values in every shape.
template <class R, class T = bf16>
void check_parity() {
  for (extents const shape : shapes)
    for (kind const k : kinds) {
      INFO(shape.rows << " x " << shape.cols << ", " << name_of(k));
      i64 const cols = whole_groups<R>(shape.cols);
      i64 const rows = whole_groups<R>(shape.rows);
      {
        INFO("along rows");
        check_rows<R>(matrix<T>(shape.rows, cols, values<R, T>(k, shape.rows, cols)));
      }
      {
        INFO("along columns");
        check_columns<R>(matrix<T>(rows, shape.cols, values<R, T>(k, rows, shape.cols)));
      }
    }
}

}  // namespace parity

#define PARITY(recipe) \
  TEST_CASE("quantize: device bytes are host bytes: " #recipe) { parity::check_parity<recipe>(); }
