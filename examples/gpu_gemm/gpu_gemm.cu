// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// D = A B^T of two NVFP4 matrices on the GPU, beside the host's product.

#include <cstdio>
#include <random>
#include <vector>

#include <thrust/device_vector.h>

#include <quadrille/quadrille.cuh>

int run(cudaStream_t stream) {
  using namespace quadrille;
  constexpr int m = 256, n = 512, k = 1024;
  std::vector<float> values((m + n) * k);
  std::mt19937 random;
  for (auto& v : values) v = std::normal_distribution<float>()(random);
  thrust::device_vector<float> x = values, product(m * n);
  // [use]
  auto const a = quantize<nvfp4>(on(stream), matrix_ref(x.data().get(), m, k));
  auto const b = quantize<nvfp4>(on(stream), matrix_ref(x.data().get() + m * k, n, k));
  matrix_ref const d(product.data().get(), m, n);

  gemm_plan const plan = explain(a, b, d);  // the path, what it reads, and why
  thrust::device_vector<char> memory(plan.workspace_bytes);
  device_gemm_options<float> options;
  options.workspace = {memory.data().get(), memory.size()};
  gemm(on(stream), a, b, d, options);  // D = A B^T
  // [use end]

  auto const host_a = a.to_host(on(stream)), host_b = b.to_host(on(stream));
  std::vector<float> expected(m * n), got(m * n);
  gemm(host, host_a, host_b, matrix_ref(expected.data(), m, n));
  cudaStreamSynchronize(stream);
  thrust::copy(product.begin(), product.end(), got.begin());
  double const sqnr =
      compare(matrix_ref(expected.data(), m, n), matrix_ref(got.data(), m, n)).sqnr_db();
  std::printf("path %s, operands %s x %s, workspace %zu bytes: %s\n", name_of(plan.path),
              plan.type_a, plan.type_b, plan.workspace_bytes, plan.why.c_str());
  std::printf("beside the host's product: %.0f dB\n", sqnr);
  return sqnr > 100 ? 0 : 1;
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
