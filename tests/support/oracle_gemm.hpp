// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Reference matrix products D = A B^T; A is M x K, B is N x K, rows contiguous.

#include "oracle_arithmetic.hpp"
#include "oracle_formats.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace oracle {

/// Codes of 4-bit elements with one E4M3 scale per `block` of them along a row.
struct blocked {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t block = 16;
  format const* element = &e2m1();
  std::vector<unsigned> codes;   ///< rows x cols
  std::vector<unsigned> scales;  ///< rows x blocks()
  std::size_t blocks() const { return (cols + block - 1) / block; }
};

/// units * 2^exponent.
struct exact_sum {
  std::int64_t units = 0;
  int exponent = 0;
  long double value() const { return std::ldexp(static_cast<long double>(units), exponent); }
};

/// The exponent of an element format's grid: every value is a multiple of 2^that.
inline int grid_exponent(format const& element) { return floor_log2(element.positive.at(1).value); }

/// `value` as a whole number of 2^exponent.
inline std::int64_t in_units(long double value, int exponent) {
  long double const units = std::ldexp(value, -exponent);
  if (!(units == std::trunc(units))) throw std::domain_error("oracle: not a multiple of the unit");
  return static_cast<std::int64_t>(units);
}

/// Dot product of the codes of one block, in units of both grids.
inline std::int64_t block_dot(blocked const& a, std::size_t i, blocked const& b, std::size_t j,
                              std::size_t k) {
  std::int64_t dot = 0;
  for (std::size_t c = k * a.block; c < std::min(a.cols, (k + 1) * a.block); ++c)
    dot += in_units(decode(*a.element, a.codes[i * a.cols + c]), grid_exponent(*a.element)) *
           in_units(decode(*b.element, b.codes[j * b.cols + c]), grid_exponent(*b.element));
  return dot;
}

/// One block's term scale * scale * dot, whose unit is 2^-18 (E4M3 twice) times both grids.
inline std::int64_t block_term(blocked const& a, std::size_t i, blocked const& b, std::size_t j,
                               std::size_t k) {
  return in_units(decode(e4m3(), a.scales[i * a.blocks() + k]), -9) *
         in_units(decode(e4m3(), b.scales[j * b.blocks() + k]), -9) * block_dot(a, i, b, j, k);
}

inline void require_same_blocks(blocked const& a, blocked const& b) {
  if (a.cols != b.cols || a.block != b.block)
    throw std::invalid_argument("oracle: operands disagree along K");
}

/// D[i][j] without any rounding; 64 bits suffice for K up to 2^18. Tensor scales are left out.
inline exact_sum exact_dot(blocked const& a, std::size_t i, blocked const& b, std::size_t j) {
  require_same_blocks(a, b);
  exact_sum sum{0, -18 + grid_exponent(*a.element) + grid_exponent(*b.element)};
  for (std::size_t k = 0; k < a.blocks(); ++k) sum.units += block_term(a, i, b, j, k);
  return sum;
}

/// A product, and the sum of magnitudes that error bounds are relative to.
struct product {
  std::vector<long double> values;      ///< M x N
  std::vector<long double> magnitudes;  ///< sum of |term| for each value
};

/// The whole exact product, by blocks; terms are block terms.
inline product exact_gemm(blocked const& a, blocked const& b) {
  require_same_blocks(a, b);
  product d;
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.rows; ++j) {
      exact_sum magnitude = exact_dot(a, i, b, j);
      d.values.push_back(magnitude.value());
      magnitude.units = 0;
      for (std::size_t k = 0; k < a.blocks(); ++k) {
        std::int64_t const term = block_term(a, i, b, j, k);
        magnitude.units += term < 0 ? -term : term;
      }
      d.magnitudes.push_back(magnitude.value());
    }
  return d;
}

/// Block terms added one after the other in FP32, the order of Transformer Engine's reference.
inline float sequential_dot(blocked const& a, std::size_t i, blocked const& b, std::size_t j) {
  int const exponent = exact_dot(a, i, b, j).exponent;
  float sum = 0.0f;
  for (std::size_t k = 0; k < a.blocks(); ++k)
    sum = add(sum, rounded(exact_sum{block_term(a, i, b, j, k), exponent}.value()));
  return sum;
}

/// A plain matrix, row-major.
struct dense {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<float> values;
};

/// D = alpha * A B^T + beta * C in long double; C (M x N) is not read when beta is 0.
inline product gemm(dense const& a, dense const& b, long double alpha = 1, long double beta = 0,
                    std::vector<float> const& c = {}) {
  if (a.cols != b.cols) throw std::invalid_argument("oracle: operands disagree along K");
  product d;
  for (std::size_t i = 0; i < a.rows; ++i)
    for (std::size_t j = 0; j < b.rows; ++j) {
      long double const added = beta == 0 ? 0.0L : beta * c.at(i * b.rows + j);
      long double sum = 0;
      long double magnitude = 0;
      for (std::size_t k = 0; k < a.cols; ++k) {
        long double const left = a.values[i * a.cols + k];
        sum += left * b.values[j * b.cols + k];
        magnitude += std::fabs(left * b.values[j * b.cols + k]);
      }
      d.values.push_back(alpha * sum + added);
      d.magnitudes.push_back(std::fabs(alpha) * magnitude + std::fabs(added));
    }
  return d;
}

/// The most that `terms` exact FP32 numbers may stray when added in any order, each addition
/// rounded to nearest: (n-1) u / (1 - (n-1) u) * magnitude with u = 2^-24. Tensor cores may
/// truncate, which doubles u.
inline long double sum_error_bound(std::size_t terms, long double magnitude,
                                   long double unit = 0x1p-24L) {
  long double const n = terms > 1 ? static_cast<long double>(terms - 1) * unit : 0.0L;
  return n / (1 - n) * magnitude;
}

}  // namespace oracle
