// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Recipes that the library has never seen, multiplied on the GPU: explain() says what becomes of each.

#include <cstdio>
#include <random>
#include <vector>

#include <thrust/device_vector.h>

#include <quadrille/quadrille.cuh>

using namespace quadrille;

// [recipes]
/// INT4 in blocks of 64 with power-of-two scales: every product fits E5M2.
struct int4_powers : mxfp4 {
  using element = quadrille::int4;
  using block = shape<1, 64>;
};
/// E1M2 with E4M3 scales, an FP32 scale a row: BF16 holds element x scale.
struct uniform_rows : ufp4_two_level {
  using block = shape<1, 32>;
  using scale = two_level<e4m3, amax_rule, outer_scope::row>;
  using rotation = hadamard<32>;
};
/// FP32 scales: only sums of blocks can be scaled.
struct fp32_scales : nvfp4 {
  using scale = one_level<fp32>;
};
// [recipes end]

template <class R>
bool show(cudaStream_t stream, char const* name) {
  constexpr int m = 128, n = 192, k = 512;
  std::vector<float> values((m + n) * k);
  std::mt19937 random;
  for (auto& v : values) v = std::normal_distribution<float>()(random);
  thrust::device_vector<float> x = values, product(m * n);
  auto const a = quantize<R>(on(stream), matrix_ref(x.data().get(), m, k));
  auto const b = quantize<R>(on(stream), matrix_ref(x.data().get() + m * k, n, k));
  matrix_ref const d(product.data().get(), m, n);
  gemm_plan const plan = explain(a, b, d);
  thrust::device_vector<char> memory(plan.workspace_bytes);
  device_gemm_options<float> options;
  options.workspace = {memory.data().get(), memory.size()};
  gemm(on(stream), a, b, d, options);

  std::vector<float> expected(m * n), got(m * n);
  gemm(host, a.to_host(on(stream)), b.to_host(on(stream)), matrix_ref(expected.data(), m, n));
  cudaStreamSynchronize(stream);
  thrust::copy(product.begin(), product.end(), got.begin());
  double const sqnr =
      compare(matrix_ref(expected.data(), m, n), matrix_ref(got.data(), m, n)).sqnr_db();
  std::printf("%-13s %-10s %s x %s, %3.0f dB beside the host: %s\n", name, name_of(plan.path),
              plan.type_a, plan.type_b, sqnr, plan.why.c_str());
  return sqnr > 60;
}

int main() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  bool const good = show<int4_powers>(stream, "int4_powers") &
                    show<uniform_rows>(stream, "uniform_rows") &
                    show<fp32_scales>(stream, "fp32_scales");
  cudaStreamDestroy(stream);
  return good ? 0 : 1;
}
