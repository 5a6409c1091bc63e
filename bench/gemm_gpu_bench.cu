// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// GEMM on the GPU beside cuBLAS BF16 and cuBLASLt FP8, in turns in one run, on random normal data.
//
// A row is one product, or a graph of 16 or 32 layers with weights of their own, so that none are in the L2
// cache and the launch of the graph counts little. Operands are quantized beforehand; decoding them is in
// the time, except that of folded ones. sh bench/run_gpu.sh keeps the results; bench/gemm_gpu_notes.md explains them.

#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <quadrille/quadrille.cuh>

#include "cublas_peer.cuh"
#include "gpu_timing.cuh"

namespace {

using namespace quadrille;
using gpu_timing::device_array;
using gpu_timing::operation;
using value = __nv_bfloat16;

cudaStream_t the_stream() {
  static cudaStream_t const stream = [] {
    cudaStream_t s = nullptr;
    gpu_timing::check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }();
  return stream;
}
stream_policy where() { return on(the_stream()); }

struct shape {
  i64 m, n, k;
  int layers;  // with operands of their own, one after another
  int groups;  // products at once, of m rows each
};

// ---- Operands: of each layer, the same values for us and for the peers.

template <class T>
struct values {
  device_array<T> data;
  i64 rows, cols;
  values(i64 r, i64 c, u32 seed) : data(std::size_t(r * c)), rows(r), cols(c) {
    gpu_timing::fill_normal(data.data(), r * c, seed, the_stream());
  }
  matrix_ref<T const> ref() const { return {data.data(), rows, cols}; }
};

/// A layer's operand, as a GEMM takes it.
template <class R>
struct canonical {
  device_quantized<R> q;
  canonical(i64 rows, i64 cols, i32, u32 seed) : q(where(), rows, cols) {
    values<value> const x(rows, cols, seed);
    quantize(where(), x.ref(), q);
    gpu_timing::check(cudaStreamSynchronize(the_stream()));
  }
  auto ref() const { return q.ref(); }
};
template <class R>
struct packed {
  device_array<float> outer{1};
  device_array<u8> data;
  prepacked_ref<R> p;
  packed(i64 rows, i64 cols, i32 count, u32 seed)
      : data(std::size_t(prepacked_bytes<R>(rows / count, cols, count))),
        p(data.data(), outer.data(), rows / count, cols, count) {
    canonical<R> const q(rows, cols, count, seed);
    prepack(where(), q.ref(), p);
    if (q.ref().outer != nullptr)
      gpu_timing::check(cudaMemcpyAsync(outer.data(), q.ref().outer, sizeof(float),
                                        cudaMemcpyDeviceToDevice, the_stream()));
    gpu_timing::check(cudaStreamSynchronize(the_stream()));
  }
  auto ref() const { return p; }
};
/// FP8 that was made before.
template <class R>
struct folded {
  device_folded<R> f;
  folded(i64 rows, i64 cols, i32, u32 seed)
      : f(fold(where(), std::move(canonical<R>(rows, cols, 1, seed).q))) {
    gpu_timing::check(cudaStreamSynchronize(the_stream()));
  }
  auto ref() const { return f.ref(); }
};
template <class T>
struct plain {
  values<T> x;
  plain(i64 rows, i64 cols, i32, u32 seed) : x(rows, cols, seed) {}
  auto ref() const { return x.ref(); }
};

// ---- Operations.

/// Enqueues all layers; as a graph if there are several.
template <class Layer>
operation all_layers(shape s, Layer const& layer) {
  if (s.layers == 1) return {[=](int) { layer(0); }, 0};
  cudaGraph_t graph = nullptr;
  gpu_timing::check(cudaStreamBeginCapture(the_stream(), cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < s.layers; ++i) layer(i);
  gpu_timing::check(cudaStreamEndCapture(the_stream(), &graph));
  cudaGraphExec_t runnable = nullptr;
  gpu_timing::check(cudaGraphInstantiate(&runnable, graph, 0));
  return {[=](int) {
            auto const kept = layer;  // the graph's memory lives as long
            gpu_timing::check(cudaGraphLaunch(runnable, the_stream()));
          },
          0};
}

template <class A, class B, gemm_path Path>
struct product {
  shape s;
  device_gemm_options<value> options;
  std::vector<std::shared_ptr<A>> a;
  std::vector<std::shared_ptr<B>> b;
  std::vector<std::shared_ptr<device_array<value>>> d;
  std::shared_ptr<device_array<u8>> memory;
  gemm_plan plan;

  product(shape of, device_gemm_options<value> o) : s(of), options(o) {
    options.groups = s.groups;
    options.constant_b = true;  // it was made long before
    for (int i = 0; i < s.layers; ++i) {
      a.push_back(std::make_shared<A>(s.m * s.groups, s.k, 1, 2 * i + 1));
      b.push_back(std::make_shared<B>(s.n * s.groups, s.k, s.groups, 2 * i + 2));
      d.push_back(std::make_shared<device_array<value>>(std::size_t(s.m * s.groups * s.n)));
    }
    plan = explain<Path>(a[0]->ref(), b[0]->ref(), output(0), options);
    memory = std::make_shared<device_array<u8>>(plan.workspace_bytes + 1);
    options.workspace = {memory->data(), plan.workspace_bytes};
  }
  matrix_ref<value> output(int i) const { return {d[std::size_t(i)]->data(), s.m * s.groups, s.n}; }
  void operator()(int i) const {
    gemm<Path>(where(), a[std::size_t(i)]->ref(), b[std::size_t(i)]->ref(), output(i), options);
  }
};

/// Sums of x^2 and (x - y)^2, in no particular order.
__global__ void add_squares(value const* x, value const* y, i64 count, double* sums) {
  double all = 0, wrong = 0;
  for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += i64(gridDim.x) * blockDim.x) {
    double const a = double(float(x[i])), b = double(float(y[i]));
    all += a * a;
    wrong += (a - b) * (a - b);
  }
  atomicAdd(sums, all);
  atomicAdd(sums + 1, wrong);
}

/// What a row says besides its times.
struct notes {
  std::string path;
  double sqnr_db = 0;  // beside the exact product, where that is not this one
};

enum class sums { exact, fast, inexact };

template <class A, class B, gemm_path Path, sums Sums>
operation multiplying_by(shape s, notes& say) {
  product<A, B, Path> const all(s, {.inexact_operands = Sums == sums::inexact});
  say.path = name_of(all.plan.path);
  if constexpr (Sums != sums::exact) {
    product<A, B, gemm_path::automatic> const exact(s, {});
    device_array<double> both(2);
    gpu_timing::check(cudaMemsetAsync(both.data(), 0, 16, the_stream()));
    exact(0);
    all(0);
    add_squares<<<512, 256, 0, the_stream()>>>(exact.output(0).data, all.output(0).data, s.m * s.n,
                                               both.data());
    double host[2];
    gpu_timing::check(cudaMemcpyAsync(host, both.data(), 16, cudaMemcpyDeviceToHost, the_stream()));
    gpu_timing::check(cudaStreamSynchronize(the_stream()));
    say.sqnr_db = 10 * std::log10(host[0] / host[1]);
  }
  return all_layers(s, all);
}
template <class A, class B, gemm_path Path = gemm_path::automatic, sums Sums = sums::exact>
constexpr auto multiplying = multiplying_by<A, B, Path, Sums>;

// ---- Rows.

using make_operation = operation (*)(shape, notes&);

struct row {
  std::string name;
  make_operation work;
  shape of;
};

using nvfp4_uniform = ufp4_two_level;

std::vector<row> rows() {
  shape const large{8192, 8192, 8192, 1, 1};
  shape const small{4096, 4096, 4096, 1, 1};
  std::vector<row> all = {
      {"nvfp4 x nvfp4", multiplying<canonical<nvfp4>, canonical<nvfp4>>, large},
      {"nvfp4 x nvfp4", multiplying<canonical<nvfp4>, canonical<nvfp4>>, small},
      {"nvfp4 x prepacked nvfp4", multiplying<canonical<nvfp4>, packed<nvfp4>>, large},
      {"nvfp4 x prepacked nvfp4", multiplying<canonical<nvfp4>, packed<nvfp4>>, small},
      {"ufp4 x ufp4, two levels", multiplying<canonical<nvfp4_uniform>, canonical<nvfp4_uniform>>,
       large},
      {"ufp4 x ufp4, two levels", multiplying<canonical<nvfp4_uniform>, canonical<nvfp4_uniform>>,
       small},
      {"ufp4 x ufp4, fp32 scales", multiplying<canonical<ufp4>, canonical<ufp4>>, small},
      {"bf16 x nvfp4", multiplying<plain<value>, canonical<nvfp4>>, large},
      {"bf16 x prepacked nvfp4", multiplying<plain<value>, packed<nvfp4>>, large},
      {"mxfp4 x mxfp4", multiplying<canonical<mxfp4>, canonical<mxfp4>>, large},
      {"fp8-exact nvfp4 x same",
       multiplying<canonical<nvfp4_fp8_exact>, canonical<nvfp4_fp8_exact>>, large},
      {"bf16 x bf16", multiplying<plain<value>, plain<value>, gemm_path::dense>, large},
      {"e4m3 x e4m3", multiplying<plain<__nv_fp8_e4m3>, plain<__nv_fp8_e4m3>, gemm_path::fp8>,
       large},
      {"e4m3 x e4m3, fast accumulate",
       multiplying<plain<__nv_fp8_e4m3>, plain<__nv_fp8_e4m3>, gemm_path::fp8_fast, sums::fast>,
       large},
      {"nvfp4 x nvfp4, rounded to e4m3",
       multiplying<canonical<nvfp4>, canonical<nvfp4>, gemm_path::fp8, sums::inexact>, large},
      {"nvfp4 x nvfp4, mma.sync", multiplying<canonical<nvfp4>, canonical<nvfp4>, gemm_path::mma>,
       small},
      {"bf16 x prepacked nvfp4, experts",
       multiplying<plain<value>, packed<nvfp4>>,
       {16, 4096, 4096, 1, 64}},
      {"bf16 x prepacked nvfp4, experts",
       multiplying<plain<value>, packed<nvfp4>>,
       {64, 4096, 4096, 1, 64}},
  };
  for (i64 m : {128, 512, 2048})
    all.push_back({"bf16 x prepacked nvfp4",
                   multiplying<plain<value>, packed<nvfp4>>,
                   {m, 8192, 8192, 16, 1}});
  for (i64 m : {512, 2048}) {
    all.push_back(
        {"mxfp4 x mxfp4", multiplying<canonical<mxfp4>, canonical<mxfp4>>, {m, 8192, 8192, 16, 1}});
    all.push_back({"mxfp4 x folded mxfp4",
                   multiplying<canonical<mxfp4>, folded<mxfp4>>,
                   {m, 8192, 8192, 16, 1}});
    all.push_back({"fp8-exact nvfp4 x same",
                   multiplying<canonical<nvfp4_fp8_exact>, canonical<nvfp4_fp8_exact>>,
                   {m, 8192, 8192, 16, 1}});
    all.push_back({"fp8-exact nvfp4 x folded same",
                   multiplying<canonical<nvfp4_fp8_exact>, folded<nvfp4_fp8_exact>>,
                   {m, 8192, 8192, 16, 1}});
  }
  for (i64 m : {1, 4, 8, 16, 32, 64}) {
    all.push_back({"bf16 x prepacked nvfp4, decode",
                   multiplying<plain<value>, packed<nvfp4>>,
                   {m, 28672, 8192, 32, 1}});
    all.push_back({"nvfp4 x prepacked nvfp4, decode",
                   multiplying<canonical<nvfp4>, packed<nvfp4>>,
                   {m, 28672, 8192, 32, 1}});
    all.push_back({"mxfp4 x prepacked mxfp4, decode",
                   multiplying<canonical<mxfp4>, packed<mxfp4>>,
                   {m, 28672, 8192, 32, 1}});
  }
  return all;
}

std::string title_of(row const& r) {
  std::string const size =
      std::to_string(r.of.m) + " x " + std::to_string(r.of.n) + " x " + std::to_string(r.of.k);
  return r.name + "/" + size + (r.of.groups > 1 ? " x " + std::to_string(r.of.groups) : "");
}

// The peers' operations, of the same shape.
operation peer(shape s, cublas_peer::type type) {
  auto const all = std::make_shared<cublas_peer::product>(
      type, cublas_peer::extents{s.m, s.n, s.k, s.layers, s.groups}, the_stream());
  return all_layers(s, [all](int i) { all->enqueue(i); });
}

// cuBLASLt has no FP8 product for every shape, and none for groups.
operation fp8_peer_of(shape s) try {
  return s.groups == 1 ? peer(s, cublas_peer::type::fp8) : operation{};
} catch (std::runtime_error const&) {
  return {};
}

// What of weights must be read, over the time: only where that is what takes the time.
double weight_bytes(row const& r) {
  double const elements = double(r.of.n) * double(r.of.k) * r.of.groups;
  return elements * (r.name.find("mxfp4") != std::string::npos ? 17.0 / 32 : 9.0 / 16);
}

void run_row(benchmark::State& state, row const& r) {
  try {
    notes say;
    operation const work = r.work(r.of, say);
    operation const bf16_peer = peer(r.of, cublas_peer::type::bf16);
    operation const fp8_peer = fp8_peer_of(r.of);
    gpu_timing::check(cudaStreamSynchronize(the_stream()));
    std::vector<operation> in_turns{work, bf16_peer};
    if (fp8_peer.enqueue) in_turns.push_back(fp8_peer);
    if (r.of.m <= 64) in_turns.push_back(gpu_timing::device_read(the_stream()));
    std::vector<double> const t = gpu_timing::in_turns(the_stream(), in_turns);
    double const seconds = t[0] / r.of.layers;
    for (auto _ : state) state.SetIterationTime(seconds);
    state.SetLabel(say.path);
    if (say.sqnr_db != 0) state.counters["sqnr_db"] = say.sqnr_db;
    state.counters["seconds"] = seconds;
    state.counters["flops"] =
        2.0 * double(r.of.m) * double(r.of.n) * double(r.of.k) * r.of.groups / seconds;
    state.counters["cublas_bf16_seconds"] = t[1] / r.of.layers;
    state.counters["speed_over_bf16"] = t[1] / t[0];
    if (fp8_peer.enqueue) {
      state.counters["cublaslt_fp8_seconds"] = t[2] / r.of.layers;
      state.counters["speed_over_fp8"] = t[2] / t[0];
    }
    if (r.of.m <= 64) {
      double const read_rate = in_turns.back().bytes / t.back();
      state.counters["read_bytes_per_second"] = read_rate;
      state.counters["share_of_read"] = weight_bytes(r) / seconds / read_rate;
    }
  } catch (std::exception const& e) {
    state.SkipWithError(e.what());
  }
}

void add_context(int device) {
  cudaDeviceProp properties{};
  gpu_timing::check(cudaGetDeviceProperties(&properties, device));
  benchmark::AddCustomContext("gpu", properties.name);
  benchmark::AddCustomContext("gpu_multiprocessors",
                              std::to_string(properties.multiProcessorCount));
}

}  // namespace

int main(int argc, char** argv) {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  add_context(device);
  for (row const& r : rows())
    benchmark::RegisterBenchmark(title_of(r).c_str(),
                                 [r](benchmark::State& state) { run_row(state, r); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
