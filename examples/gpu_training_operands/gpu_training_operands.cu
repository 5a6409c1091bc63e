// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// The operands of a linear layer's three GEMMs in NVFP4 (arXiv 2509.25149).
///
///   forward   Y  = X W^T     X along its rows, nearest
///   dgrad     dX = G W       G along its rows, stochastic
///   wgrad     dW = G^T X     X and G along their columns, rotated by a random Hadamard-16;
///                            G stochastic
///
/// So X and G need a copy along the rows and one along the columns: quantize_both makes the two from
/// one read. (W has one copy for both its GEMMs, in 16x16 blocks: quantize<nvfp4_weight>.) The
/// tensor scales are delayed: those of step t come from the amax of step t - 1.

#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include <thrust/device_vector.h>

#include <quadrille/quadrille.cuh>

namespace {

using quadrille::device_quantized;
using quadrille::host;
using quadrille::matrix_ref;
using quadrille::on;
using matrix = std::vector<__nv_bfloat16>;

constexpr int tokens = 1024;
constexpr int features = 2048;

matrix normal_matrix(unsigned seed, float sigma) {
  matrix x(std::size_t(tokens) * features);
  std::mt19937 random(seed);
  for (auto& v : x) v = std::normal_distribution<float>(0, sigma)(random);
  return x;
}

/// A tensor that is quantized once a step, in two copies.
template <class Row, class Column>
class operands {
 public:
  /// The random bits of the two copies come from `stream` and `stream` + 1 of each step's seed.
  operands(cudaStream_t where, quadrille::u32 stream)
      : where_(on(where)),
        stream_(stream),
        row_(where_, tokens, features),
        column_(where_, features, tokens),
        amax_(2),
        next_amax_(2) {}

  /// Before the first step there is no amax yet: take it from the data.
  void calibrate(matrix_ref<__nv_bfloat16> x) {
    find_amax(x);
    std::swap(amax_, next_amax_);
  }

  void quantize(matrix_ref<__nv_bfloat16> x, int step) {
    // [both]
    quadrille::device_quantize_options row, column;
    row.amax = amax_.data().get();  // of the step before: nothing waits for a pass over x
    row.seed = quadrille::u64(step);
    row.stream = stream_;  // the two copies must not share random bits
    column.amax = amax_.data().get() + 1;
    column.seed = row.seed;
    column.stream = stream_ + 1;
    quantize_both(where_, x, row_, row, column_, column);
    // [both end]
    find_amax(x);  // for the next step: off the critical path, or left to the kernel that makes x
    std::swap(amax_, next_amax_);
  }

  /// Compares with the host, which is told the amax that this step was given.
  bool equals_host(matrix& x, int step, std::vector<float> const& amax) const {
    auto const seed = quadrille::u64(step);
    matrix_ref<__nv_bfloat16> const m(x.data(), tokens, features);
    return same(row_, quadrille::quantize<Row>(
                          host, m, {.seed = seed, .stream = stream_, .amax = amax[0]})) &&
           same(column_,
                quadrille::quantize<Column>(
                    host, m.transposed(), {.seed = seed, .stream = stream_ + 1, .amax = amax[1]}));
  }

  std::vector<float> amax() const { return {amax_[0], amax_[1]}; }

 private:
  // A rotation changes the amax, so each copy has its own.
  void find_amax(matrix_ref<__nv_bfloat16> x) {
    float* const next = next_amax_.data().get();
    quadrille::amax<Row>(where_, x, next);
    quadrille::amax<Column>(where_, transposed(x), next + 1);
  }

  template <class R>
  bool same(device_quantized<R> const& q, quadrille::quantized<R> const& expected) const {
    auto const found = q.to_host(where_);
    return found.codes() == expected.codes() && found.scales() == expected.scales();
  }

  quadrille::stream_policy where_;
  quadrille::u32 stream_;
  device_quantized<Row> row_;        // tokens x features
  device_quantized<Column> column_;  // features x tokens
  thrust::device_vector<float> amax_, next_amax_;
};

template <class Operands>
bool step_equals_host(Operands& tensor, matrix values, int step) {
  thrust::device_vector<__nv_bfloat16> x = values;
  matrix_ref const m(x.data().get(), tokens, features);
  if (step == 0) tensor.calibrate(m);
  std::vector<float> const amax = tensor.amax();
  tensor.quantize(m, step);
  return tensor.equals_host(values, step, amax);
}

}  // namespace

int main() {
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) {
    std::puts("skipped: no GPU");
    return 77;
  }
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  bool all_equal = true;
  {
    operands<quadrille::nvfp4, quadrille::nvfp4_wgrad> activation(stream, 0);
    operands<quadrille::nvfp4_gradient, quadrille::nvfp4_wgrad_gradient> gradient(stream, 2);
    for (int step = 0; step < 3; ++step) {
      unsigned const seed = unsigned(2 * step);
      bool const x_equal = step_equals_host(activation, normal_matrix(seed, 1), step);
      bool const g_equal = step_equals_host(gradient, normal_matrix(seed + 1, 1e-4f), step);
      std::printf("step %d: activation %s, gradient %s\n", step,
                  x_equal ? "as on the host" : "DIFFERS", g_equal ? "as on the host" : "DIFFERS");
      all_equal = all_equal && x_equal && g_equal;
    }
  }
  cudaStreamDestroy(stream);
  return all_equal ? 0 : 1;
}
