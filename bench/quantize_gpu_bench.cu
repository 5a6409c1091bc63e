// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Quantization on the GPU as a share of a device-to-device copy's bytes a second in the same run.
//
// Each row works through 2^30 elements, cut into slices of the size in its name (the logarithm),
// slice after slice: by the time a slice comes round again nothing of it is left in the L2 cache. A
// row's time is the median over repetitions that alternate with the copy and, where there is one,
// with the row that it is compared with. sh bench/run_gpu.sh keeps the results;
// bench/quantize_gpu_notes.md explains them.

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include <quadrille/quadrille.cuh>

#include "gpu_timing.cuh"

namespace {

using namespace quadrille;
using gpu_timing::device_array;
using gpu_timing::operation;
using value = __nv_bfloat16;

constexpr i64 columns = 8192;
constexpr i64 all_elements = i64(1) << 30;

cudaStream_t the_stream() {
  static cudaStream_t const stream = [] {
    cudaStream_t s = nullptr;
    gpu_timing::check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }();
  return stream;
}
stream_policy where() { return on(the_stream()); }

// How the elements are cut.
struct slicing {
  i64 rows;  // of a slice
  int count;
  i64 elements() const { return rows * columns; }
};

// ---- Data. Buffers are made when a row first asks for them, and kept.

template <class T>
T* normal_values(u32 seed) {
  T* values = nullptr;
  gpu_timing::check(cudaMalloc(&values, std::size_t(all_elements) * sizeof(T)));
  gpu_timing::fill_normal(values, all_elements, seed, the_stream());
  return values;
}

template <class T>
matrix_ref<T> slice_of(T* data, slicing s, int i) {
  return {data + i * s.elements(), s.rows, columns};
}
matrix_ref<value const> first_input(slicing s, int i) {
  static value const* const data = normal_values<value>(1);
  return slice_of(data, s, i);
}
matrix_ref<value const> second_input(slicing s, int i) {
  static value const* const data = normal_values<value>(2);
  return slice_of(data, s, i);
}
matrix_ref<value> scratch(slicing s, int i) {
  static value* const data = normal_values<value>(3);
  return slice_of(data, s, i);
}

// ---- What is quantized: a source for each slice, and the bytes that one slice of it has.

struct bf16_input {
  static auto of(slicing s, int i) { return first_input(s, i); }
  static double bytes(slicing s) { return 2.0 * double(s.elements()); }
};

struct fp32_input {
  static auto of(slicing s, int i) {
    static float const* const data = normal_values<float>(4);
    return slice_of(data, s, i);
  }
  static double bytes(slicing s) { return 4.0 * double(s.elements()); }
};

struct swiglu {
  __device__ float operator()(float gate, float up) const {
    return gate / (1 + __expf(-gate)) * up;
  }
};
struct swiglu_input {
  static auto of(slicing s, int i) {
    return transformed(swiglu{}, first_input(s, i), second_input(s, i));
  }
  static double bytes(slicing s) { return 4.0 * double(s.elements()); }
};

struct rms_norm_input {
  static auto of(slicing s, int i) {
    static value const* const weight = second_input(s, 0).data;
    return rms_normalized(first_input(s, i), weight);
  }
  static double bytes(slicing s) { return 2.0 * double(s.elements() + columns); }
};

// ---- Results: a quantized matrix for each slice.

template <class R, class Layout>
double bytes_of(quantized_ref<R, u8, Layout> const& q) {
  double const codes = double(q.rows * row_bytes<typename R::element>(q.cols));
  double const outer = R::scale::scope == outer_scope::none     ? 0
                       : R::scale::scope == outer_scope::tensor ? 4
                                                                : 4.0 * double(q.rows);
  return codes + double(q.scale_count()) * sizeof(typename R::scale::stored) + outer;
}

template <class R, class Layout = row_major_scales>
class results {
 public:
  results(slicing s, i64 rows, i64 cols) : amax_(std::size_t(s.count)) {
    slices_.reserve(std::size_t(s.count));
    for (int i = 0; i < s.count; ++i) slices_.emplace_back(where(), rows, cols, 7);
  }
  auto& operator[](int i) { return slices_[std::size_t(i)]; }
  double bytes() { return bytes_of(slices_.front().ref()); }

  /// Options with slice i's amax, which is known.
  template <class X>
  void find_amax(X const& x, int i) {
    if constexpr (R::scale::scope != outer_scope::none) amax<R>(where(), x, amax_.data() + i, 7);
  }
  device_quantize_options options(int i) const {
    device_quantize_options o;
    o.seed = 1;
    o.amax = amax_.data() + i;
    return o;
  }

 private:
  std::vector<device_quantized<R, Layout>> slices_;
  device_array<float> amax_;
};

template <class R, class Layout = row_major_scales>
auto make_results(slicing s, i64 rows, i64 cols) {
  return std::make_shared<results<R, Layout>>(s, rows, cols);
}

// ---- Operations.

using make_operation = operation (*)(slicing);

enum class tensor_scale { known, measured };

template <tensor_scale Scale, class R, class Input, class Layout>
operation quantizing_with(slicing s) {
  auto const q = make_results<R, Layout>(s, s.rows, columns);
  for (int i = 0; i < s.count; ++i) q->find_amax(Input::of(s, i), i);
  return {[=](int i) {
            auto options = q->options(i);
            if constexpr (Scale == tensor_scale::measured) options.amax = nullptr;
            quantize(where(), Input::of(s, i), (*q)[i], options);
          },
          Input::bytes(s) + q->bytes()};
}
template <class R, class Input = bf16_input, class Layout = row_major_scales>
constexpr make_operation quantizing = quantizing_with<tensor_scale::known, R, Input, Layout>;
template <class R>
constexpr make_operation measuring_amax =
    quantizing_with<tensor_scale::measured, R, bf16_input, row_major_scales>;

// Along rows by R and along columns by S, from one read.
template <class R, class S>
operation quantizing_both(slicing s) {
  auto const q = make_results<R>(s, s.rows, columns);
  auto const transposed_q = make_results<S>(s, columns, s.rows);
  for (int i = 0; i < s.count; ++i) {
    q->find_amax(first_input(s, i), i);
    transposed_q->find_amax(transposed(first_input(s, i)), i);
  }
  return {[=](int i) {
            auto options = transposed_q->options(i);
            options.stream = 1;
            quantize_both(where(), first_input(s, i), (*q)[i], q->options(i), (*transposed_q)[i],
                          options);
          },
          bf16_input::bytes(s) + q->bytes() + transposed_q->bytes()};
}

// The rotation in a kernel of its own, BF16 to BF16: 16 elements a thread.
template <class Rotation>
__global__ void rotate(value const* from, value* to, i64 groups) {
  constexpr int size = Rotation::size;
  i64 const group = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (group >= groups) return;
  struct alignas(16) elements {
    value at[size];
  };
  elements part = reinterpret_cast<elements const*>(from)[group];
  float x[size];
#pragma unroll
  for (int i = 0; i < size; ++i) x[i] = __bfloat162float(part.at[i]);
  Rotation::apply(x, Rotation::signs(7));
#pragma unroll
  for (int i = 0; i < size; ++i) part.at[i] = __float2bfloat16_rn(x[i]);
  reinterpret_cast<elements*>(to)[group] = part;
}

// Rotates into memory, then quantizes with Plain. Counted are the bytes that the fused kernel
// moves.
template <class Plain, class Rotation>
operation unfused(slicing s) {
  auto const q = make_results<Plain>(s, s.rows, columns);
  for (int i = 0; i < s.count; ++i) q->find_amax(first_input(s, i), i);
  return {[=](int i) {
            i64 const groups = s.elements() / Rotation::size;
            matrix_ref<value> const rotated = scratch(s, i);
            rotate<Rotation><<<unsigned(groups / 256), 256, 0, the_stream()>>>(
                first_input(s, i).data, rotated.data, groups);
            gpu_timing::check(cudaGetLastError());
            quantize(where(), rotated, (*q)[i], q->options(i));
          },
          bf16_input::bytes(s) + q->bytes()};
}

template <class R>
operation dequantizing(slicing s) {
  auto const q = make_results<R>(s, s.rows, columns);
  for (int i = 0; i < s.count; ++i) {
    q->find_amax(first_input(s, i), i);
    quantize(where(), first_input(s, i), (*q)[i], q->options(i));
  }
  return {[=](int i) { dequantize(where(), (*q)[i], scratch(s, i)); },
          bf16_input::bytes(s) + q->bytes()};
}

// From R to S along the rows, or along the columns.
enum class axis { rows, columns };

template <class R, class S, axis Axis>
operation requantizing(slicing s) {
  constexpr bool turns = Axis == axis::columns;
  auto const q = make_results<R>(s, s.rows, columns);
  auto const other =
      turns ? make_results<S>(s, columns, s.rows) : make_results<S>(s, s.rows, columns);
  auto const source = [=](int i) {
    if constexpr (turns)
      return transposed(dequantized((*q)[i].ref()));
    else
      return dequantized((*q)[i].ref());
  };
  for (int i = 0; i < s.count; ++i) {
    q->find_amax(first_input(s, i), i);
    quantize(where(), first_input(s, i), (*q)[i], q->options(i));
    other->find_amax(source(i), i);
  }
  return {[=](int i) { quantize(where(), source(i), (*other)[i], other->options(i)); },
          q->bytes() + other->bytes()};
}

// ---- Recipes that the library does not name.

struct ufp4_plain : ufp4_two_level {
  using rotation = identity;
};
struct ufp4_plain_gradient : ufp4_two_level_gradient {
  using rotation = identity;
};
struct nvfp4_hadamard128 : nvfp4 {
  using rotation = random_hadamard<128>;
};
using hadamard16 = random_hadamard<16>;

// ---- Rows.

struct row {
  char const* name;
  make_operation work;
  char const* compared = nullptr;  // the counter that holds the time over the base's
  make_operation base = nullptr;
  std::vector<i64> sizes = {26, 28, 30};
};

void report(benchmark::State& state, slicing s, operation const& work, gpu_timing::times t) {
  double const seconds = t.work / s.count;
  double const copy_rate = gpu_timing::device_copy(the_stream()).bytes / t.copy;
  state.SetIterationTime(seconds);
  state.counters["seconds"] = seconds;
  state.counters["bytes"] = work.bytes;
  state.counters["bytes_per_second"] = work.bytes / seconds;
  state.counters["copy_bytes_per_second"] = copy_rate;
  state.counters["share_of_copy"] = work.bytes / seconds / copy_rate;
  state.counters["elements_per_second"] = double(s.elements()) / seconds;
}

void run_row(benchmark::State& state, row const& r) {
  i64 const elements = i64(1) << state.range(0);
  slicing const s{elements / columns, int(all_elements / elements)};
  try {
    operation const work = r.work(s);
    operation const base = r.base != nullptr ? r.base(s) : operation{};
    gpu_timing::check(cudaStreamSynchronize(the_stream()));
    gpu_timing::times const t = gpu_timing::measure(the_stream(), work, base, s.count);
    for (auto _ : state) report(state, s, work, t);
    if (r.base != nullptr) state.counters[r.compared] = t.work / t.base;
  } catch (std::exception const& e) {
    state.SkipWithError(e.what());
  }
}

constexpr char const* over_plain = "time_over_plain";
constexpr char const* over_known = "time_over_known";

std::vector<row> rows() {
  return {
      {"nvfp4", quantizing<nvfp4>},
      {"mxfp4", quantizing<mxfp4>},
      {"ufp4", quantizing<ufp4_plain>},
      {"nvfp4, hadamard 16", quantizing<nvfp4_wgrad>, over_plain, quantizing<nvfp4>},
      {"ufp4, hadamard 16", quantizing<ufp4_two_level>, over_plain, quantizing<ufp4_plain>},
      {"nvfp4, hadamard 16 unfused", unfused<nvfp4, hadamard16>, over_plain, quantizing<nvfp4>},
      {"ufp4, hadamard 16 unfused", unfused<ufp4_plain, hadamard16>, over_plain,
       quantizing<ufp4_plain>},
      {"nvfp4, hadamard 128", quantizing<nvfp4_hadamard128>, over_plain, quantizing<nvfp4>},
      {"nvfp4, stochastic", quantizing<nvfp4_gradient>},
      {"ufp4, stochastic", quantizing<ufp4_plain_gradient>},
      {"nvfp4, stochastic, hadamard 16", quantizing<nvfp4_wgrad_gradient>, over_plain,
       quantizing<nvfp4_gradient>},
      {"ufp4, stochastic, hadamard 16", quantizing<ufp4_two_level_gradient>, over_plain,
       quantizing<ufp4_plain_gradient>},
      {"nvfp4, row and column", quantizing_both<nvfp4, nvfp4>},
      {"nvfp4, row plain, column hadamard 16", quantizing_both<nvfp4, nvfp4_wgrad>, over_plain,
       quantizing_both<nvfp4, nvfp4>},
      {"nvfp4, both stochastic, column hadamard 16",
       quantizing_both<nvfp4_gradient, nvfp4_wgrad_gradient>, over_plain,
       quantizing_both<nvfp4_gradient, nvfp4_gradient>},
      {"nvfp4, amax measured", measuring_amax<nvfp4>, over_known, quantizing<nvfp4>, {24, 28}},
      {"nvfp4, hadamard 16, amax measured",
       measuring_amax<nvfp4_wgrad>,
       over_known,
       quantizing<nvfp4_wgrad>,
       {24, 28}},
      {"nvfp4, four over six", quantizing<nvfp4_four_over_six>},
      {"nvfp4, dequantize to bf16", dequantizing<nvfp4>},
      {"nvfp4, blocks of 16x16", quantizing<nvfp4_weight>},
      {"quartet_forward", quantizing<quartet_forward>},
      {"quartet2_backward", quantizing<quartet2_backward>},
      {"nvfp4, fp32 input", quantizing<nvfp4, fp32_input>},
      {"nvfp4, swiglu fused", quantizing<nvfp4, swiglu_input>},
      {"nvfp4, rmsnorm fused", quantizing<nvfp4, rms_norm_input>},
      {"nvfp4, tiled scales", quantizing<nvfp4, bf16_input, tiled_128x4_scales>},
      {"nvfp4, requantize, hadamard 16", requantizing<nvfp4, nvfp4_wgrad, axis::rows>},
      {"nvfp4, requantize columns, hadamard 16", requantizing<nvfp4, nvfp4_wgrad, axis::columns>},
  };
}

void add_rows() {
  for (row const& r : rows()) {
    auto* const bench =
        benchmark::RegisterBenchmark(r.name, [r](benchmark::State& state) { run_row(state, r); });
    bench->UseManualTime()->Iterations(1)->Unit(benchmark::kMicrosecond)->ArgName("log2");
    for (i64 size : r.sizes) bench->Arg(size);
  }
}

// Freed results stay in the pool for the next row.
void keep_memory(int device) {
  cudaMemPool_t pool = nullptr;
  u64 all = ~u64(0);
  gpu_timing::check(cudaDeviceGetDefaultMemPool(&pool, device));
  gpu_timing::check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
}

void add_context(int device) {
  cudaDeviceProp properties{};
  gpu_timing::check(cudaGetDeviceProperties(&properties, device));
  benchmark::AddCustomContext("gpu", properties.name);
  benchmark::AddCustomContext("gpu_l2_bytes", std::to_string(properties.l2CacheSize));
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
  keep_memory(device);
  add_context(device);
  add_rows();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
