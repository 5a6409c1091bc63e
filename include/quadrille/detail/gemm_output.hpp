// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What becomes of the sums of a GEMM: scales, C, bias, and D's type. Host only.

#include <quadrille/detail/operand.hpp>
#include <quadrille/storage.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// C and bias may be absent; C is not read when beta is 0. bias has an entry for each column of D.
template <class T>
struct gemm_options {
  float alpha = 1;
  float beta = 0;
  matrix_ref<T const> c = {};
  T const* bias = nullptr;
};

namespace detail {

/// Writes runs of sums into D: ((alpha outer_a) outer_b) sum + beta C + bias, left to right.
template <class A, class B, class T>
class gemm_output {
 public:
  static constexpr int max_run = 256;

  gemm_output(A const& a, B const& b, matrix_ref<T> d, gemm_options<T> const& options)
      : a_(a), b_(b), d_(d), options_(options) {}

  /// sums[0 .. n) are those of columns col .. of a row, n <= max_run.
  void write(i64 row, i64 col, int n, float const* sums) const {
    float const row_scale = mul(options_.alpha, a_.row_factor(row));
    float result[max_run];
    if constexpr (B::has_row_factors) {
      for (int i = 0; i < n; ++i) result[i] = mul(mul(row_scale, b_.row_factor(col + i)), sums[i]);
    } else {
      float const scale = mul(row_scale, b_.row_factor(0));
      for (int i = 0; i < n; ++i) result[i] = mul(scale, sums[i]);
    }
    if (options_.beta != 0)
      for (int i = 0; i < n; ++i)
        result[i] =
            add(result[i], mul(options_.beta, static_cast<float>(options_.c(row, col + i))));
    if (options_.bias != nullptr)
      for (int i = 0; i < n; ++i)
        result[i] = add(result[i], static_cast<float>(options_.bias[col + i]));
    T* const out = d_.data + row * d_.row_stride + col * d_.col_stride;
    if (d_.col_stride == 1) {
      // Stores to lines that are not there wait for one another: fetched a few rows before.
      for (int i = 0; i < n; i += int(64 / sizeof(T)))
        __builtin_prefetch(out + 4 * d_.row_stride + i, 1);
      for (int i = 0; i < n; ++i) out[i] = static_cast<T>(result[i]);
    } else
      for (int i = 0; i < n; ++i) out[i * d_.col_stride] = static_cast<T>(result[i]);
  }

 private:
  A a_;
  B b_;
  matrix_ref<T> d_;
  gemm_options<T> options_;
};

}  // namespace detail
}  // namespace quadrille
QUADRILLE_EXACT_END
