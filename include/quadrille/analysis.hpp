// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What a recipe loses: error measures of a quantized tensor, or of a GEMM's output. Host only.

#include <array>
#include <climits>
#include <cmath>
#include <map>

#include <quadrille/quantize.hpp>

namespace quadrille {

/// Sums over pairs (x, y), y standing for x; pairs where either is not finite are only counted.
struct error_sums {
  u64 count = 0;      ///< finite pairs
  u64 nonfinite = 0;  ///< other pairs
  double xx = 0;      ///< sum of x^2
  double xy = 0;
  double error = 0;  ///< sum of (x - y)^2
  double abs_x = 0;
  double abs_y = 0;

  void add(float x, float y) {
    if (!detail::is_finite(x) || !detail::is_finite(y)) {
      ++nonfinite;
      return;
    }
    ++count;
    double const difference = double(x) - y;
    xx += double(x) * x;
    xy += double(x) * y;
    error += difference * difference;
    abs_x += detail::magnitude(x);
    abs_y += detail::magnitude(y);
  }

  /// Normalised mean square error, sum (x-y)^2 / sum x^2; 0 for a tensor of zeros without error.
  double nmse() const { return error == 0 ? 0 : error / xx; }
  /// Signal to quantization noise in dB; infinite without error.
  double sqnr_db() const { return -10 * std::log10(nmse()); }
  /// <x, y> / <x, x>: what the quantizer leaves of the signal. Below 1 it attenuates; a GEMM of
  /// independent operands attenuates by the product of both.
  double projection() const { return xx == 0 ? 1 : xy / xx; }
  /// sum|y| / sum|x| - 1: the bias of magnitudes.
  double shrinkage_bias() const { return abs_x == 0 ? 0 : abs_y / abs_x - 1; }
};

/// What analyze() finds in a quantized tensor, in the basis that was quantized.
struct quantization_report {
  error_sums sums;
  u64 clipped = 0;               ///< elements beyond the largest value of their block
  u64 underflowed = 0;           ///< nonzero elements that became zero
  std::array<u64, 256> codes{};  ///< how often each code was used
  /// Blocks by binary exponent of their decoded scale (outer scale included); INT_MIN for 0 or NaN.
  std::map<int, u64> scale_exponents;

  double clip_rate() const { return sums.count == 0 ? 0 : double(clipped) / double(sums.count); }
  double underflow_rate() const {
    return sums.count == 0 ? 0 : double(underflowed) / double(sums.count);
  }
  /// Entropy of the codes in bits, +0 and -0 counted as one.
  double entropy_bits = 0;
  /// 2^entropy over the number of distinct values: 1 if all were used equally often.
  double bucket_utilisation = 0;
};

/// Error measures between two matrices of the same shape: of x by y.
template <class X, class Y>
error_sums compare(matrix_ref<X> x, matrix_ref<Y> y) {
  detail::require_data(x);
  detail::require_data(y);
  detail::require_equal(y.rows, x.rows, "the number of rows of the second matrix");
  detail::require_equal(y.cols, x.cols, "the number of columns of the second matrix");
  error_sums sums;
  for (i64 r = 0; r < x.rows; ++r)
    for (i64 c = 0; c < x.cols; ++c)
      sums.add(static_cast<float>(x(r, c)), static_cast<float>(y(r, c)));
  return sums;
}

namespace detail {
template <class E>
void summarise_codes(quantization_report& report) {
  std::map<float, u64> values;
  u64 total = 0;
  for (u32 code = 0; code < (1u << E::bits); ++code) {
    float const value = E::decode(code);
    // A code that no cast gives (-8 of int4) is no bucket.
    if (is_finite(value) && E::encode(value) == code)
      values[value == 0 ? 0.f : value] += report.codes[code];
    total += report.codes[code];
  }
  report.entropy_bits = 0;
  for (auto const& [value, n] : values)
    if (n != 0)
      report.entropy_bits -= double(n) / double(total) * std::log2(double(n) / double(total));
  report.bucket_utilisation =
      total == 0 ? 0 : std::exp2(report.entropy_bits) / double(values.size());
}

inline int scale_exponent(float scale) {
  return scale == 0 || !is_finite(scale) ? INT_MIN : std::ilogb(scale);
}
}  // namespace detail

/// Compares x with q, its quantization. One thread.
template <class R, class T>
quantization_report analyze(matrix_ref<T> x, quantized<R> const& q) {
  using E = typename R::element;
  detail::check_same_shape<R>(x, q.ref());
  detail::default_fp_environment const environment;
  quantization_report report;
  sign_vector const signs = R::rotation::signs(q.rotation_seed());
  auto const ref = q.ref();
  std::vector<float> row_x(std::size_t(x.cols));
  std::vector<float> row_y(std::size_t(x.cols));
  for (i64 row = 0; row < x.rows; ++row) {
    detail::rotate_row<R>(x, row, signs, row_x.data());
    detail::decode_row<R>(ref, row, row_y.data());
    u8 const* const codes = ref.codes + row * row_bytes<E>(x.cols);
    for (i64 col = 0; col < x.cols; ++col) {
      float const from = row_x[std::size_t(col)];
      float const to = row_y[std::size_t(col)];
      u32 const code = load_code<E>(codes, col);
      report.sums.add(from, to);
      report.codes[code] += 1;
      report.underflowed += from != 0 && to == 0;
      report.clipped += detail::magnitude(E::decode(code)) == E::max &&
                        detail::magnitude(from) > detail::magnitude(to);
    }
    if (row % R::block::rows != 0) continue;  // copies
    for (i64 s = 0; s < ref.scale_cols(); ++s) {
      float const one =
          R::scale::decoder(ref.scales[row * ref.scale_cols() + s], ref.outer_decode(row))(1, 0);
      report.scale_exponents[detail::scale_exponent(one)] += 1;
    }
  }
  detail::summarise_codes<E>(report);
  return report;
}

}  // namespace quadrille
