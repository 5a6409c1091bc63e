// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Host GEMM, one thread, M = N = K = 512, decoding included, beside a plain FP32 triple loop over the
// same shapes. The loop is the textbook one with K innermost; the second one has the loops exchanged,
// which compilers vectorise.

#include <cstdint>

#include <benchmark/benchmark.h>

#include <quadrille/gemm.hpp>
#include <quadrille/recipes.hpp>

#include "aligned_vector.hpp"

namespace {

using namespace quadrille;

constexpr i64 size = 512;

aligned_vector<float> random_matrix(std::uint64_t state) {
  aligned_vector<float> x(std::size_t(size * size));
  for (float& v : x) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = float(std::int64_t(state) >> 40) * 0x1p-23f;
  }
  return x;
}

void count_operations(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * 2 * size * size * size);
}

void triple_loop(benchmark::State& state) {
  auto const a = random_matrix(1);
  auto const b = random_matrix(2);
  aligned_vector<float> d(a.size());
  for (auto _ : state) {
    for (i64 m = 0; m < size; ++m)
      for (i64 n = 0; n < size; ++n) {
        float sum = 0;
        for (i64 k = 0; k < size; ++k)
          sum += a[std::size_t(m * size + k)] * b[std::size_t(n * size + k)];
        d[std::size_t(m * size + n)] = sum;
      }
    benchmark::DoNotOptimize(d.data());
  }
  count_operations(state);
}

void exchanged_loops(benchmark::State& state) {
  auto const a = random_matrix(1);
  auto const b = random_matrix(2);  // K x N here
  aligned_vector<float> d(a.size());
  for (auto _ : state) {
    for (float& v : d) v = 0;
    for (i64 m = 0; m < size; ++m)
      for (i64 k = 0; k < size; ++k)
        for (i64 n = 0; n < size; ++n)
          d[std::size_t(m * size + n)] +=
              a[std::size_t(m * size + k)] * b[std::size_t(k * size + n)];
    benchmark::DoNotOptimize(d.data());
  }
  count_operations(state);
}

template <class A, class B>
void multiply(benchmark::State& state, A const& a, B const& b) {
  aligned_vector<float> d(std::size_t(size * size));
  for (auto _ : state) {
    gemm(host_policy{1}, a, b, matrix_ref<float>(d.data(), size, size));
    benchmark::DoNotOptimize(d.data());
  }
  count_operations(state);
}

template <class R>
void w4a4(benchmark::State& state) {
  auto const a = random_matrix(1);
  auto const b = random_matrix(2);
  multiply(state, quantize<R>(host, matrix_ref<float const>(a.data(), size, size)),
           quantize<R>(host, matrix_ref<float const>(b.data(), size, size)));
}

void w4a32(benchmark::State& state) {
  auto const a = random_matrix(1);
  auto const b = random_matrix(2);
  multiply(state, matrix_ref<float const>(a.data(), size, size),
           quantize<nvfp4>(host, matrix_ref<float const>(b.data(), size, size)));
}

void w4a16(benchmark::State& state) {
  aligned_vector<bf16> a;
  for (float const x : random_matrix(1)) a.push_back(bf16(x));
  auto const b = random_matrix(2);
  multiply(state, matrix_ref<bf16 const>(a.data(), size, size),
           quantize<nvfp4>(host, matrix_ref<float const>(b.data(), size, size)));
}

BENCHMARK(triple_loop);
BENCHMARK(exchanged_loops);
BENCHMARK(w4a4<nvfp4>)->Name("nvfp4 x nvfp4");
BENCHMARK(w4a4<mxfp4>)->Name("mxfp4 x mxfp4");
BENCHMARK(w4a4<ufp4_two_level>)->Name("ufp4_two_level x ufp4_two_level");
BENCHMARK(w4a32)->Name("float x nvfp4");
BENCHMARK(w4a16)->Name("bf16 x nvfp4");

}  // namespace
