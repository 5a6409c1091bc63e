// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// A CUDA graph that rounds stochastically and draws fresh bits at each replay.
///
/// A graph keeps the arguments of its kernels, a seed too, so a replay would repeat its random
/// bits. Here the seed is in device memory, and a kernel of the graph advances it. So the rounding
/// errors of many replays cancel.

#include <cstdio>
#include <random>
#include <vector>

#include <thrust/device_vector.h>

#include <quadrille/quadrille.cuh>

namespace {

using quadrille::host;
using quadrille::matrix_ref;
using quadrille::on;
using recipe = quadrille::nvfp4_gradient;

constexpr int rows = 128;
constexpr int cols = 1024;
constexpr int replays = 64;

// [advance]
__global__ void advance(quadrille::random_key* key) { ++key->seed; }
// [advance end]

/// Records what `enqueue` puts on the stream.
template <class Enqueue>
cudaGraphExec_t capture(cudaStream_t stream, Enqueue const& enqueue) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  enqueue();
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  return executable;
}

/// Mean over the replays, and whether each has the bytes that the host makes with its seed.
struct outcome {
  std::vector<float> mean = std::vector<float>(rows * cols);
  bool equals_host = true;
};

void add(outcome& all, quadrille::quantized<recipe> const& q, matrix_ref<float> x,
         quadrille::u64 seed) {
  auto const expected = quadrille::quantize<recipe>(host, x, {.seed = seed});
  all.equals_host = all.equals_host && q.codes() == expected.codes();
  std::vector<float> decoded(all.mean.size());
  dequantize(host, q, matrix_ref<float>(decoded.data(), rows, cols));
  for (std::size_t i = 0; i < decoded.size(); ++i) all.mean[i] += decoded[i] / replays;
}

}  // namespace

int main() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  std::vector<float> values(rows * cols);
  std::mt19937 random;
  for (float& v : values) v = std::normal_distribution<float>()(random);
  matrix_ref<float> const on_host(values.data(), rows, cols);

  thrust::device_vector<float> a = values;
  thrust::device_vector<quadrille::random_key> key(1, quadrille::random_key{100, 0});
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  outcome all;
  {
    // What the graph works on is allocated before, and kept: the graph remembers the pointers.
    quadrille::device_quantized<recipe> q(on(stream), rows, cols);
    // [use]
    cudaGraphExec_t const graph = capture(stream, [&] {
      quadrille::device_quantize_options options;
      options.device_key = key.data().get();
      advance<<<1, 1, 0, stream>>>(key.data().get());
      quantize(on(stream), matrix_ref(a.data().get(), rows, cols), q, options);
    });
    // [use end]
    for (int i = 0; i < replays; ++i) {
      cudaGraphLaunch(graph, stream);
      add(all, q.to_host(on(stream)), on_host, quadrille::u64(101 + i));
    }
    cudaGraphExecDestroy(graph);
  }
  cudaStreamDestroy(stream);

  auto const loss = compare(on_host, matrix_ref<float>(all.mean.data(), rows, cols));
  std::printf("mean of %d replays: SQNR %.1f dB, bytes %s the host's\n", replays, loss.sqnr_db(),
              all.equals_host ? "equal" : "DIFFER from");
  // One draw has 17 dB; a mean of 64 has twice as many. (A few block maxima saturate and stay off.)
  return all.equals_host && loss.sqnr_db() > 30 ? 0 : 1;
}
