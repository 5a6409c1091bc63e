// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// RMSNorm inside the kernel that quantizes: a thread block reads a row for its root mean square,
/// and again, from the cache, to normalize and quantize it.
///
/// The recipe keeps a scale for each row, so each row is normalized and quantized on its own.

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <thrust/device_vector.h>

#include <quadrille/quadrille.cuh>

namespace {

using quadrille::host;
using quadrille::matrix_ref;
using recipe = quadrille::nvfp4_per_row;

constexpr int rows = 512;
constexpr int cols = 4096;
constexpr float epsilon = 1e-6f;

std::vector<__nv_bfloat16> normal_vector(int count, unsigned seed, float mean) {
  std::vector<__nv_bfloat16> x(std::size_t(count), 0.f);
  std::mt19937 random(seed);
  for (auto& v : x) v = std::normal_distribution<float>(mean, 0.5f)(random);
  return x;
}

/// In double precision on the host.
std::vector<float> rms_norm(std::vector<__nv_bfloat16> const& x,
                            std::vector<__nv_bfloat16> const& weight) {
  std::vector<float> y(x.size());
  for (std::size_t first = 0; first < x.size(); first += cols) {
    double squares = 0;
    for (std::size_t i = 0; i < cols; ++i) squares += std::pow(double(float(x[first + i])), 2);
    double const inverse = 1 / std::sqrt(squares / cols + epsilon);
    for (std::size_t i = 0; i < cols; ++i)
      y[first + i] = float(double(float(x[first + i])) * inverse * double(float(weight[i])));
  }
  return y;
}

double sqnr_db(std::vector<float>& exact, quadrille::quantized<recipe> const& q) {
  std::vector<float> decoded(exact.size());
  matrix_ref<float> const y(decoded.data(), rows, cols);
  dequantize(host, q, y);
  return compare(matrix_ref<float>(exact.data(), rows, cols), y).sqnr_db();
}

}  // namespace

int main() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  auto const x = normal_vector(rows * cols, 1, 0.f), weight = normal_vector(cols, 2, 1.f);
  thrust::device_vector<__nv_bfloat16> a = x, w = weight;
  cudaStream_t const stream = nullptr;  // the default stream
  // [use]
  matrix_ref const m(a.data().get(), rows, cols);
  auto const q = quadrille::quantize<recipe>(quadrille::on(stream),
                                             quadrille::rms_normalized(m, w.data().get(), epsilon));
  // [use end]

  // The host sums in another order and precision, so a value beside a tie may go the other way.
  std::vector<float> exact = rms_norm(x, weight);
  matrix_ref<float> const y(exact.data(), rows, cols);
  double const fused = sqnr_db(exact, q.to_host(quadrille::on(stream)));
  double const reference = sqnr_db(exact, quadrille::quantize<recipe>(host, y));
  std::printf("RMSNorm fused into NVFP4: SQNR %.3f dB, on the host %.3f dB\n", fused, reference);
  return std::abs(fused - reference) < 0.01 ? 0 : 1;
}
