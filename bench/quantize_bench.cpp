// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host quantization, one thread, FP32 from memory (64 MiB): elements a second for each recipe, beside the
// loop over the CUDA headers' host conversions. Run with --benchmark_enable_random_interleaving=true
// and --benchmark_repetitions=9, so that both see the same clocks; bench/tables.py forms the ratios.

#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include <quadrille/quantize.hpp>
#include <quadrille/recipes.hpp>

#include "aligned_vector.hpp"

#ifdef QUADRILLE_BENCH_CUDA_HEADERS
#include "cuda_headers.hpp"
#endif

namespace {

using namespace quadrille;

constexpr i64 rows = 4096;
constexpr i64 cols = 4096;
constexpr float assumed_amax = 6;

// Roughly normal, sigma 1: the sum of four uniform numbers.
aligned_vector<float> const& data() {
  static aligned_vector<float> const values = [] {
    aligned_vector<float> x(std::size_t(rows * cols));
    std::uint64_t state = 1;
    for (float& v : x) {
      float sum = 0;
      state = state * 6364136223846793005u + 1442695040888963407u;
      for (int i = 0; i < 4; ++i) sum += float(state >> 16 * i & 0xffff);
      v = (sum / 65536 - 2) * 1.7320508f;
    }
    return x;
  }();
  return values;
}

void count_elements(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * rows * cols);
}

enum class tensor_scale { given, measured };

template <class R, tensor_scale Scale>
void quantize_bench(benchmark::State& state) {
  matrix_ref<float const> const x(data().data(), rows, cols);
  quantized<R> q(rows, cols);
  quantize_options options;
  if (Scale == tensor_scale::given) options.amax = assumed_amax;
  for (auto _ : state) {
    quantize(host_policy{1}, x, q, options);
    benchmark::DoNotOptimize(q.codes().data());
    benchmark::ClobberMemory();
  }
  count_elements(state);
}

template <class R>
void dequantize_bench(benchmark::State& state) {
  auto const q = quantize<R>(host_policy{1}, matrix_ref<float const>(data().data(), rows, cols));
  aligned_vector<float> x(data().size());
  for (auto _ : state) {
    dequantize(host_policy{1}, q, matrix_ref<float>(x.data(), rows, cols));
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
  count_elements(state);
}

#ifdef QUADRILLE_BENCH_CUDA_HEADERS
// A sixteenth of the data: the loop is bound by its arithmetic.
void cuda_headers_nvfp4(benchmark::State& state) {
  std::size_t const n = data().size() / 16;
  std::vector<unsigned char> codes(n / 2);
  std::vector<unsigned char> scales(n / 16);
  for (auto _ : state) {
    cuda_headers::quantize_nvfp4(data().data(), n, 2688 / assumed_amax, codes.data(),
                                 scales.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(n));
}
void cuda_headers_mxfp4(benchmark::State& state) {
  std::size_t const n = data().size() / 16;
  std::vector<unsigned char> codes(n / 2);
  std::vector<unsigned char> scales(n / 32);
  for (auto _ : state) {
    cuda_headers::quantize_mxfp4(data().data(), n, codes.data(), scales.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * std::int64_t(n));
}
BENCHMARK(cuda_headers_nvfp4);
BENCHMARK(cuda_headers_mxfp4);
#endif

struct ufp4_two_level_plain : ufp4_two_level {
  using rotation = identity;
};

BENCHMARK(quantize_bench<nvfp4, tensor_scale::given>)->Name("nvfp4");
BENCHMARK(quantize_bench<nvfp4, tensor_scale::measured>)->Name("nvfp4, amax measured");
BENCHMARK(quantize_bench<nvfp4_gradient, tensor_scale::given>)->Name("nvfp4_gradient (stochastic)");
BENCHMARK(quantize_bench<mxfp4, tensor_scale::given>)->Name("mxfp4");
BENCHMARK(quantize_bench<ufp4_two_level_plain, tensor_scale::given>)
    ->Name("ufp4_two_level, not rotated");
BENCHMARK(quantize_bench<ufp4_two_level, tensor_scale::given>)
    ->Name("ufp4_two_level (Hadamard-16)");
BENCHMARK(quantize_bench<nvfp4_weight, tensor_scale::given>)->Name("nvfp4_weight (16x16)");
BENCHMARK(quantize_bench<nvfp4_four_over_six, tensor_scale::given>)->Name("nvfp4_four_over_six");
BENCHMARK(quantize_bench<nvfp4_fp8_exact, tensor_scale::given>)->Name("nvfp4_fp8_exact");
BENCHMARK(quantize_bench<quartet_forward, tensor_scale::given>)->Name("quartet_forward (QuEST)");
BENCHMARK(quantize_bench<quartet2_backward, tensor_scale::given>)
    ->Name("quartet2_backward (MS-EDEN)");
BENCHMARK(dequantize_bench<nvfp4>)->Name("nvfp4, dequantize");

}  // namespace
