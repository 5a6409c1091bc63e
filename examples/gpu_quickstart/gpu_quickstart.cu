// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A BF16 matrix to NVFP4 and back on a stream. The bytes are those of the host.

#include <cstdio>
#include <random>
#include <vector>

#include <thrust/device_vector.h>

#include <quadrille/quadrille.cuh>

int run(cudaStream_t stream) {
  constexpr int rows = 512, cols = 4096;
  std::vector<__nv_bfloat16> values(rows * cols);
  std::mt19937 random;
  for (auto& v : values) v = std::normal_distribution<float>()(random);
  thrust::device_vector<__nv_bfloat16> a = values, b(values.size());
  // [use]
  quadrille::matrix_ref const x(a.data().get(), rows, cols);  // device memory, any strides
  quadrille::matrix_ref const y(b.data().get(), rows, cols);

  auto const q = quadrille::quantize<quadrille::nvfp4>(quadrille::on(stream), x);
  dequantize(quadrille::on(stream), q, y);
  // [use end]

  // Both calls only enqueued their work; to_host() waits for it.
  auto const from_gpu = q.to_host(quadrille::on(stream));
  auto const from_host = quadrille::quantize<quadrille::nvfp4>(
      quadrille::host, quadrille::matrix_ref(values.data(), rows, cols));
  bool const same = from_gpu.codes() == from_host.codes() &&
                    from_gpu.scales() == from_host.scales() &&
                    from_gpu.outer() == from_host.outer();

  std::vector<__nv_bfloat16> decoded(values.size());
  thrust::copy(b.begin(), b.end(), decoded.begin());
  auto const loss = compare(quadrille::matrix_ref(values.data(), rows, cols),
                            quadrille::matrix_ref(decoded.data(), rows, cols));
  std::printf("NVFP4 of normal numbers: SQNR %.1f dB, bytes %s the host's\n", loss.sqnr_db(),
              same ? "equal" : "DIFFER from");
  return same && loss.sqnr_db() > 20 ? 0 : 1;
}

int main() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  int const result = run(stream);
  cudaStreamDestroy(stream);
  return result;
}
