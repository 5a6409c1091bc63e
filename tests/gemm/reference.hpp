// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Operands, and the products that gemm's are held against.

#include "support/inputs.hpp"
#include "support/oracle.hpp"

#include <quadrille/quadrille.hpp>

#include <cmath>
#include <vector>

namespace gemm_test {

using namespace quadrille;

/// A row-major matrix that owns its values.
template <class T = float>
struct matrix {
  i64 rows;
  i64 cols;
  std::vector<T> values;

  matrix(i64 m, i64 n, T value = T(0)) : rows(m), cols(n), values(std::size_t(m * n), value) {}
  matrix_ref<T> ref() { return {values.data(), rows, cols}; }
  matrix_ref<T const> ref() const { return {values.data(), rows, cols}; }
  T& operator()(i64 r, i64 c) { return values[std::size_t(r * cols + c)]; }
  T operator()(i64 r, i64 c) const { return values[std::size_t(r * cols + c)]; }
};

template <class T = float>
matrix<T> normal(i64 rows, i64 cols, u64 seed) {
  matrix<T> x(rows, cols);
  std::vector<float> const drawn = inputs::normal(x.values.size(), seed);
  for (std::size_t i = 0; i < drawn.size(); ++i) x.values[i] = T(drawn[i]);
  return x;
}

/// Normal, with rows of very different size and some blocks of zeros.
inline matrix<> uneven(i64 rows, i64 cols, u64 seed) {
  matrix<> x = normal(rows, cols, seed);
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < cols; ++c) x(r, c) *= std::ldexp(1.f, int(r * 7 % 13) - 6);
  x.values = inputs::zero_blocks(x.values, 48, seed + 1);
  x(0, 0) = 1;  // never all zeros
  return x;
}

/// The numbers that a quantized matrix stands for, in its rotated basis and without rounding. Under a
/// scale that bends or splits the block, an element is what its decoder gives in FP32.
template <class R>
std::vector<long double> exact_values(quantized<R> const& q) {
  using E = typename R::element;
  std::vector<long double> values;
  auto const ref = q.ref();
  for (i64 r = 0; r < q.rows(); ++r)
    for (i64 c = 0; c < q.cols(); ++c) {
      float const element = E::decode(load_code<E>(ref.codes + r * row_bytes<E>(q.cols()), c));
      auto const stored = ref.scales[r * ref.scale_cols() + c / R::block::cols];
      long double value;
      if constexpr (is_linear<typename R::scale>) {
        value = static_cast<long double>(element) * R::scale::format::decode(stored);
      } else {
        int const at = int(r % R::block::rows * R::block::cols + c % R::block::cols);
        value = R::scale::decoder(stored, 1)(element, at);
      }
      values.push_back(value * ref.outer_decode(r));
    }
  return values;
}
template <class T>
std::vector<long double> exact_values(matrix<T> const& x) {
  std::vector<long double> values;
  for (T const& v : x.values) values.push_back(float(v));
  return values;
}

template <class R>
auto view(quantized<R> const& q) {
  return q.ref();
}
template <class T>
auto view(matrix<T> const& x) {
  return x.ref();
}

/// A B^T in long double, and the sums of magnitudes.
struct product {
  std::vector<long double> values;
  std::vector<long double> magnitudes;
};
inline product multiply(std::vector<long double> const& a, std::vector<long double> const& b,
                        i64 rows, i64 cols, i64 depth) {
  product d;
  for (i64 i = 0; i < rows; ++i)
    for (i64 j = 0; j < cols; ++j) {
      long double sum = 0;
      long double magnitude = 0;
      for (i64 k = 0; k < depth; ++k) {
        long double const term = a[std::size_t(i * depth + k)] * b[std::size_t(j * depth + k)];
        sum += term;
        magnitude += std::fabs(term);
      }
      d.values.push_back(sum);
      d.magnitudes.push_back(magnitude);
    }
  return d;
}

/// How far the stated order of FP32 operations may stray over `blocks` blocks: one rounding for each
/// scale product, term, addition and final factor.
inline long double error_bound(i64 blocks, long double magnitude) {
  return (static_cast<long double>(blocks) + 8) * 0x1p-24L * magnitude;
}

/// Half a unit in the last place of D's type, as a fraction; and its smallest step.
template <class T>
inline constexpr long double half_unit = 0;
template <>
inline constexpr long double half_unit<bf16> = 0x1p-8L;
template <>
inline constexpr long double half_unit<fp16> = 0x1p-11L;

template <class T>
bool is_close(T d, long double expected, long double bound) {
  long double const slack = half_unit<T> * std::fabs(expected) + (half_unit<T> > 0 ? 0x1p-24L : 0);
  return std::fabs(float(d) - expected) <= bound * (1 + half_unit<T>)+slack;
}

/// The largest index at which gemm's D is not within bounds of the exact product, or -1.
template <class T, class A, class B>
i64 first_wrong(A const& a, B const& b, i64 rows, i64 cols, i64 depth) {
  matrix<T> d(rows, cols);
  gemm(host, view(a), view(b), d.ref());
  product const exact = multiply(exact_values(a), exact_values(b), rows, cols, depth);
  i64 const blocks = (depth + 15) / 16;
  for (std::size_t i = 0; i < exact.values.size(); ++i)
    if (!is_close(d.values[i], exact.values[i], error_bound(blocks, exact.magnitudes[i])))
      return i64(i);
  return -1;
}

}  // namespace gemm_test
