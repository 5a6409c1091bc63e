// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A mixture of experts: tokens sorted by expert, each expert with MXFP4 weights of its own, one call for all.
/// How many tokens each has is known on the device only, and some have none.

#include <cstdio>
#include <random>
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/scan.h>

#include <quadrille/quadrille.cuh>

using namespace quadrille;
using value = __nv_bfloat16;

std::vector<value> normal(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw;
  std::vector<value> x(count);
  for (value& v : x) v = draw(random);
  return x;
}

int run(cudaStream_t stream) {
  constexpr int experts = 8, features = 512, outputs = 384;
  std::vector<int> const counts{3, 0, 40, 1, 0, 17, 128, 11};
  // What a router would leave: where each expert's tokens begin.
  thrust::device_vector<int> const device_counts = counts;
  thrust::device_vector<int> offsets(experts + 1);
  thrust::inclusive_scan(device_counts.begin(), device_counts.end(), offsets.begin() + 1);
  int const tokens = 200;

  auto const x = normal(tokens * features, 1);
  auto const w = normal(experts * outputs * features, 2);
  thrust::device_vector<value> const device_x = x, device_w = w;
  thrust::device_vector<value> device_y(tokens * outputs);
  // [use]
  // The experts' weights, one below another.
  matrix_ref const weights(device_w.data().get(), experts * outputs, features);
  auto const packed = prepack(on(stream), quantize<mxfp4>(on(stream), weights), experts);

  device_gemm_options<value> options;
  options.groups = experts;
  options.offsets = offsets.data().get();
  gemm(on(stream), matrix_ref(device_x.data().get(), tokens, features), packed,
       matrix_ref(device_y.data().get(), tokens, outputs), options);
  // [use end]
  cudaStreamSynchronize(stream);
  std::vector<value> y(tokens * outputs), expected(tokens * outputs);
  thrust::copy(device_y.begin(), device_y.end(), y.begin());

  auto const q = quantize<mxfp4>(host, matrix_ref(w.data(), experts * outputs, features));
  for (int e = 0, first = 0; e < experts; first += counts[e++]) {
    auto const all = q.ref();
    quantized_ref<mxfp4, u8 const> const own(all.codes + e * outputs * features / 2,
                                             all.scales + e * outputs * features / 32, nullptr,
                                             outputs, features);
    gemm(host, matrix_ref(x.data() + first * features, counts[e], features), own,
         matrix_ref(expected.data() + first * outputs, counts[e], outputs));
  }
  double const sqnr =
      compare(matrix_ref(expected.data(), tokens, outputs), matrix_ref(y.data(), tokens, outputs))
          .sqnr_db();
  std::printf("%d tokens for %d experts: %.0f dB beside the host's products\n", tokens, experts,
              sqnr);
  return sqnr > 45 ? 0 : 1;
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
