// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Two published recipes that the library does not bring, written with its public policies: HiF4, a
/// scale hierarchy of three levels, and IF4, blocks that choose between two grids. Prints what they
/// lose beside NVFP4 and UFP4, and checks HiF4 against its paper.

#include "hif4.hpp"
#include "if4.hpp"

#include <quadrille/quadrille.hpp>

#include <cstdio>
#include <random>
#include <vector>

using quadrille::host;
using quadrille::matrix_ref;

namespace {

constexpr int rows = 256;
constexpr int cols = 1024;

struct matrix {
  std::vector<float> values;
  matrix(int m, int n) : values(std::size_t(m) * std::size_t(n)), m_(m), n_(n) {}
  matrix_ref<float> ref() { return {values.data(), m_, n_}; }
  matrix_ref<float const> ref() const { return {values.data(), m_, n_}; }

 private:
  int m_, n_;
};

template <class Distribution>
matrix drawn_from(Distribution distribution, unsigned seed) {
  std::mt19937 random(seed);
  matrix x(rows, cols);
  for (float& value : x.values) value = distribution(random);
  return x;
}

/// What recipe R makes of x.
template <class R>
quadrille::error_sums loss(matrix const& x) {
  matrix y(rows, cols);
  dequantize(host, quadrille::quantize<R>(host, x.ref()), y.ref());
  return compare(x.ref(), y.ref());
}

/// What it makes of a b^T.
template <class R>
quadrille::error_sums product_loss(matrix const& a, matrix const& b) {
  matrix exact(rows, rows);
  matrix d(rows, rows);
  gemm(host, a.ref(), b.ref(), exact.ref());
  gemm(host, quadrille::quantize<R>(host, a.ref()), quadrille::quantize<R>(host, b.ref()), d.ref());
  return compare(exact.ref(), d.ref());
}

matrix const normal = drawn_from(std::normal_distribution<float>(), 1);
matrix const weight = drawn_from(std::normal_distribution<float>(), 2);
matrix const heavy_tailed = drawn_from(std::student_t_distribution<float>(3), 3);

template <class R>
void print_row(char const* name) {
  std::printf("%-16s %4.2f %10.2f %12.2f %10.2f %14.2f\n", name, quadrille::bits_per_element<R>,
              loss<R>(normal).sqnr_db(), loss<R>(heavy_tailed).sqnr_db(),
              product_loss<R>(normal, weight).sqnr_db(),
              product_loss<R>(heavy_tailed, weight).sqnr_db());
}

}  // namespace

int main() {
  std::printf("signal to noise in dB    tensor                    a b^T\n");
  std::printf("%-16s %4s %10s %12s %10s %14s\n", "recipe", "bits", "normal", "Student-t3", "normal",
              "t3 x normal");
  print_row<quadrille::nvfp4>("nvfp4");
  print_row<quadrille::ufp4_two_level>("ufp4_two_level");
  print_row<example::hif4>("hif4");
  print_row<example::if4>("if4");

  double const ratio = loss<example::hif4>(normal).nmse() / loss<quadrille::nvfp4>(normal).nmse();
  std::printf("\nHiF4's error on normal data is %.1f %% below NVFP4's; published: 24 %%\n",
              100 * (1 - ratio));
  bool const agrees = ratio > 0.72 && ratio < 0.80;
  if (!agrees) std::printf("which does not agree\n");
  return agrees ? 0 : 1;
}
