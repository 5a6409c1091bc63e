// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <quadrille/quadrille.hpp>

#include <cstdio>
#include <random>

// [compose]
struct mine {
  using element = quadrille::int4;                      // integers -7 .. 7
  using block = quadrille::shape<1, 32>;                // 32 of them share a scale
  using scale = quadrille::two_level<quadrille::e4m3>;  // in E4M3, under one FP32 for the tensor
  using rounding = quadrille::nearest_even;
  using rotation = quadrille::hadamard<32>;  // and the matrix is taken in this basis
};
// [compose end]

int main() {
  std::vector<float> a(64 * 512), b(96 * 512), exact(64 * 96), d(64 * 96);
  std::mt19937 random;
  for (float& x : a) x = std::normal_distribution<float>()(random);
  for (float& x : b) x = std::normal_distribution<float>()(random);
  // [use]
  quadrille::matrix_ref const x(a.data(), 64, 512), w(b.data(), 96, 512);
  quadrille::matrix_ref const y(exact.data(), 64, 96), z(d.data(), 64, 96);

  gemm(quadrille::host, x, w, y);  // Y = X W^T, plain
  gemm(quadrille::host, quadrille::quantize<mine>(quadrille::host, x),
       quadrille::quantize<mine>(quadrille::host, w), z);
  std::printf("output SQNR %.1f dB\n", compare(y, z).sqnr_db());
  // [use end]
}
