// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Quantization and GEMM beside ggml and beside the machine's limits, in one run: same shapes, same number
// of threads. N = K = 4096. Activations start in FP32 (or BF16) and are rounded to their recipe inside
// the timed call, as ggml rounds its own. `error` is the relative error of the product against the exact
// one of the same activations with each side's own dequantized weights.
// Run with --benchmark_enable_random_interleaving=true and repetitions; bench/tables.py forms the ratios.

#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include <quadrille/quadrille.hpp>

#include "aligned_vector.hpp"
#include "ggml_peer.hpp"
#include "machine_limits.hpp"

namespace {

using namespace quadrille;

constexpr i64 n = 4096;
constexpr i64 k = 4096;
constexpr i64 most_rows = 512;
constexpr int cold_copies = 34;  // 320 MB of weights, far beyond the caches

/// Tokens of 8 bits, FP32 scale for 32.
struct int8_tokens : mxfp4 {
  using element = twos_complement<8, -127>;
  using scale = one_level<fp32>;
};

aligned_vector<float> normal(std::size_t size, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> draw(0, deviation);
  aligned_vector<float> x(size);
  for (float& v : x) v = draw(random);
  return x;
}
aligned_vector<float> const& tokens() {
  static auto const x = normal(std::size_t(most_rows * k), 1, 1);
  return x;
}
aligned_vector<float> const& weights() {
  static auto const w = normal(std::size_t(n * k), 0.02f, 2);
  return w;
}
matrix_ref<float const> weights_ref() { return {weights().data(), n, k}; }
matrix_ref<float const> tokens_ref(i64 rows) { return {tokens().data(), rows, k}; }

// Of a corner of d.
double relative_error(std::span<float const> d, std::span<float const> w, i64 rows) {
  double error = 0;
  double size = 0;
  for (i64 i = 0; i < std::min(rows, i64(4)); ++i)
    for (i64 j = 0; j < 256; ++j) {
      double exact = 0;
      for (i64 c = 0; c < k; ++c)
        exact += double(tokens()[std::size_t(i * k + c)]) * double(w[std::size_t(j * k + c)]);
      double const off = double(d[std::size_t(i * n + j)]) - exact;
      error += off * off;
      size += exact * exact;
    }
  return std::sqrt(error / size);
}

void count(benchmark::State& state, double operations, double error) {
  state.counters["rate"] =
      benchmark::Counter(operations * double(state.iterations()), benchmark::Counter::kIsRate);
  if (error >= 0) state.counters["error"] = error;
}

// ---- ours --------------------------------------------------------------------------------------

template <class R>
std::vector<float> dequantized_weights() {
  std::vector<float> w(std::size_t(n * k));
  dequantize(host, quantize<R>(host, weights_ref()), matrix_ref<float>(w.data(), n, k));
  return w;
}

// How activations go in: as they are, as BF16 or through a recipe.
struct plain_tokens {
  static auto make(i64 rows, int) { return tokens_ref(rows); }
};
struct bf16_tokens {
  static auto make(i64 rows, int) {
    static auto const narrow = [] {
      aligned_vector<bf16> x;
      for (float const v : tokens()) x.push_back(bf16(v));
      return x;
    }();
    return matrix_ref<bf16 const>(narrow.data(), rows, k);
  }
};
template <class R>
struct quantized_tokens {
  static auto make(i64 rows, int threads) {
    return quantize<R>(host_policy{threads}, tokens_ref(rows));
  }
};

template <class R>
quantized<R> const& stored() {
  static auto const q = quantize<R>(host, weights_ref());
  return q;
}
template <class R>
prepacked<R> const& packed() {
  static auto const q = prepack(stored<R>());
  return q;
}
template <class R>
std::vector<prepacked<R>> const& many_packed() {
  static auto const copies = [] {
    std::vector<prepacked<R>> c;
    for (int i = 0; i < cold_copies; ++i) c.push_back(prepack(stored<R>()));
    return c;
  }();
  return copies;
}
template <class R>
std::vector<quantized<R>> const& many_stored() {
  static std::vector<quantized<R>> const copies(cold_copies, stored<R>());
  return copies;
}

template <class R>
double error_of_ours(std::span<float const> d, i64 rows) {
  static auto const w = dequantized_weights<R>();
  return relative_error(d, w, rows);
}

template <class Tokens, class R, class Weights>
void multiply(benchmark::State& state, i64 rows, int threads, Weights const& w) {
  aligned_vector<float> d(std::size_t(rows * n));
  for (auto _ : state) {
    gemm(host_policy{threads}, Tokens::make(rows, threads), w,
         matrix_ref<float>(d.data(), rows, n));
    benchmark::ClobberMemory();
  }
  count(state, 2.0 * double(rows * n * k), error_of_ours<R>(d, rows));
}

template <class Tokens, class R, class Copies>
void multiply_cold(benchmark::State& state, int threads, Copies const& copies) {
  aligned_vector<float> d(n);
  for (auto _ : state)
    for (auto const& w : copies) {
      gemm(host_policy{threads}, Tokens::make(1, threads), w, matrix_ref<float>(d.data(), 1, n));
      benchmark::ClobberMemory();
    }
  count(state, 2.0 * double(n * k) * cold_copies, error_of_ours<R>(d, 1));
  state.counters["bytes"] = benchmark::Counter(
      double(n * k) * (0.5 + 1.0 / R::block::cols) * cold_copies * double(state.iterations()),
      benchmark::Counter::kIsRate);
}

template <class R, bool Measured>
void quantize_ours(benchmark::State& state, i64 rows) {
  quantized<R> q(rows, k);
  quantize_options options;
  if (!Measured) options.amax = 0.125f;
  matrix_ref<float const> const x(weights().data(), rows, k);
  for (auto _ : state) {
    quantize(host_policy{1}, x, q, options);
    benchmark::ClobberMemory();
  }
  count(state, double(rows * k), -1);
}

// ---- ggml --------------------------------------------------------------------------------------

void multiply_ggml(benchmark::State& state, peer::path way, ggml_type type, i64 rows, int threads,
                   int copies) {
  try {
    peer::product p(way, threads, type, weights(), n, k, tokens(), rows, copies);
    for (int i = 0; i < copies; ++i) p.run(i);
    for (auto _ : state)
      for (int i = 0; i < copies; ++i) p.run(i);
    count(state, 2.0 * double(rows * n * k) * copies,
          relative_error(p.result(), p.weights(), rows));
  } catch (std::runtime_error const& missing) {
    state.SkipWithError(missing.what());
  }
}

void quantize_ggml(benchmark::State& state, ggml_type type, i64 rows) {
  std::vector<char> codes(ggml_row_size(type, k) * std::size_t(rows));
  for (auto _ : state) {
    ggml_quantize_chunk(type, weights().data(), codes.data(), 0, rows, k, nullptr);
    benchmark::ClobberMemory();
  }
  count(state, double(rows * k), -1);
}

// ---- limits ------------------------------------------------------------------------------------

template <void (*Work)()>
void limit(benchmark::State& state, double operations) {
  for (auto _ : state) Work();
  count(state, operations, -1);
}
void limit_read(benchmark::State& state) {
  static aligned_vector<std::uint64_t> const words(std::size_t(40) << 20, 1);
  for (auto _ : state) benchmark::DoNotOptimize(limits::read(words));
  count(state, double(words.size() * 8), -1);
}

// One thread is timed by the time it ran, which others on the machine do not lengthen as much.
template <class F>
void add(std::string const& name, F const& f) {
  auto* const bench = benchmark::RegisterBenchmark(name.c_str(), [f](benchmark::State& state) {
                        f(state);
                      })->Unit(benchmark::kMillisecond);
  if (name.find("threads") != name.npos) bench->UseRealTime();
}

void add_limits() {
#if defined(__FMA__)
  add("limit/fma", [](auto& s) { limit<limits::fma>(s, limits::sums * 2 * limits::lanes); });
#endif
#if defined(__AVX512BF16__)
  add("limit/bf16", [](auto& s) { limit<limits::bf16>(s, limits::sums * 64); });
#endif
#if defined(__AVX512VNNI__)
  add("limit/vnni", [](auto& s) { limit<limits::vnni>(s, limits::sums * 128); });
#endif
  add("limit/read", [](auto& s) { limit_read(s); });
}

template <class R>
void add_rows(std::string const& prefix, std::string const& recipe, i64 rows, int threads) {
  auto const one = [&]<class Tokens>(std::string const& name, Tokens) {
    add(prefix + name + " " + recipe,
        [=](auto& s) { multiply<Tokens, R>(s, rows, threads, stored<R>()); });
    add(prefix + name + " " + recipe + " prepacked",
        [=](auto& s) { multiply<Tokens, R>(s, rows, threads, packed<R>()); });
  };
  one("W4A32", plain_tokens{});
  one("W4A16", bf16_tokens{});
  one("W4A8", quantized_tokens<int8_tokens>{});
  one("W4A4", quantized_tokens<R>{});
}

template <class R>
void add_cold(std::string const& prefix, std::string const& recipe, int threads) {
  auto const one = [&]<class Tokens>(std::string const& name, Tokens) {
    add(prefix + name + " " + recipe,
        [=](auto& s) { multiply_cold<Tokens, R>(s, threads, many_stored<R>()); });
    add(prefix + name + " " + recipe + " prepacked",
        [=](auto& s) { multiply_cold<Tokens, R>(s, threads, many_packed<R>()); });
  };
  one("W4A32", plain_tokens{});
  one("W4A8", quantized_tokens<int8_tokens>{});
}

void add_gemms(int threads) {
  std::string const end = threads == 1 ? "/" : "/threads " + std::to_string(threads) + "/";
  for (i64 const rows : {512, 16}) {
    std::string const prefix = "M=" + std::to_string(rows) + end;
    add_rows<nvfp4>(prefix, "nvfp4", rows, threads);
    add_rows<mxfp4>(prefix, "mxfp4", rows, threads);
    add(prefix + "ggml NVFP4",
        [=](auto& s) { multiply_ggml(s, peer::path::plain, GGML_TYPE_NVFP4, rows, threads, 1); });
    add(prefix + "ggml MXFP4 repacked", [=](auto& s) {
      multiply_ggml(s, peer::path::repacked, GGML_TYPE_MXFP4, rows, threads, 1);
    });
    if (rows >= 64)
      add(prefix + "ggml NVFP4 BLAS",
          [=](auto& s) { multiply_ggml(s, peer::path::blas, GGML_TYPE_NVFP4, rows, threads, 1); });
  }
  std::string const cold = "M=1 cold" + end;
  add_cold<nvfp4>(cold, "nvfp4", threads);
  add_cold<mxfp4>(cold, "mxfp4", threads);
  add(cold + "ggml NVFP4", [=](auto& s) {
    multiply_ggml(s, peer::path::plain, GGML_TYPE_NVFP4, 1, threads, cold_copies);
  });
  add(cold + "ggml MXFP4 repacked", [=](auto& s) {
    multiply_ggml(s, peer::path::repacked, GGML_TYPE_MXFP4, 1, threads, cold_copies);
  });
}

void add_quantize(std::string const& prefix, i64 rows) {
  add(prefix + "nvfp4", [=](auto& s) { quantize_ours<nvfp4, false>(s, rows); });
  add(prefix + "nvfp4, amax measured", [=](auto& s) { quantize_ours<nvfp4, true>(s, rows); });
  add(prefix + "nvfp4_gradient", [=](auto& s) { quantize_ours<nvfp4_gradient, false>(s, rows); });
  add(prefix + "mxfp4", [=](auto& s) { quantize_ours<mxfp4, false>(s, rows); });
  add(prefix + "ggml NVFP4", [=](auto& s) { quantize_ggml(s, GGML_TYPE_NVFP4, rows); });
  add(prefix + "ggml MXFP4", [=](auto& s) { quantize_ggml(s, GGML_TYPE_MXFP4, rows); });
}

}  // namespace

int main(int argc, char** argv) {
  ggml_log_set([](ggml_log_level, char const*, void*) {}, nullptr);
  ggml_time_init();
  add_limits();
  add_quantize("quantize/", n);
  add_quantize("quantize L2/", 32);
  add_gemms(1);
  int const all = int(std::thread::hardware_concurrency());
  if (all > 1) add_gemms(all);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
