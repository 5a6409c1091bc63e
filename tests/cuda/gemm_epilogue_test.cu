// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What becomes of gemm's sums: alpha, beta, C, bias, functions, types and strides of D. Fault cases
/// GEM-02 and GEM-04.

#include "cuda/gemm.cuh"

#include <limits>

using namespace gemm_cuda;

namespace {

using four_bit = quantized_operand<nvfp4>;

/// All codes 1 and all scales 1: dot products are K.
struct ones {
  four_bit a{values::zero, 16, 16, 1};
  four_bit b{values::zero, 16, 16, 1};
  ones() {
    for (four_bit* q : {&a, &b}) {
      check_cuda(cudaMemset(q->device.ref().codes, 0x22, 16 * 8));
      check_cuda(cudaMemset(q->device.ref().scales, 0x38, 16));
      float const one = 1;
      check_cuda(cudaMemcpy(q->device.ref().outer, &one, sizeof one, cudaMemcpyHostToDevice));
    }
  }
};

/// f<path>() for each path whose kernels differ in how they hand sums over.
template <class F>
void on_each_path(F const& f) {
  for_each_path<reference, mma, dense, skinny, fused>(f);
}

template <gemm_path Path, class A, class B, class T, class F = no_activation>
void run(A const& a, B const& b, matrix_ref<T> d, device_gemm_options<T> options, F f = {}) {
  gemm_plan const plan = explain<Path>(a, b, d, options);
  device_buffer<u8> work(plan.workspace_bytes);
  options.workspace = {work.data(), plan.workspace_bytes};
  gemm<Path>(on(nullptr), a, b, d, options, f);
  check_cuda(cudaDeviceSynchronize());
}

struct halved_and_shifted {
  float const* residual;
  __device__ float operator()(float x, i64 row, i64 col) const {
    return x / 2 + residual[row * 70 + col];
  }
};

}  // namespace

TEST_CASE("gemm on the GPU: C is not read when beta is 0 (GEM-02)") {
  ones const one;
  std::vector<float> const nan(256, std::numeric_limits<float>::quiet_NaN());
  on_each_path([&]<gemm_path Path>() {
    device_buffer<float> const c(nan);
    device_buffer<float> const d(nan);
    run<Path>(one.a.device, one.b.device, matrix_ref<float>(d.data(), 16, 16),
              {.beta = 0, .c = {c.data(), 16, 16}});
    CHECK(d.host() == std::vector<float>(256, 16.f));
  });
}

TEST_CASE("gemm on the GPU: alpha multiplies the product only (GEM-04)") {
  ones const one;
  on_each_path([&]<gemm_path Path>() {
    device_buffer<float> const bias(std::vector<float>(16, 3.f));
    device_buffer<float> const alpha(std::vector<float>{0.25f});
    device_buffer<float> const d(256);
    run<Path>(one.a.device, one.b.device, matrix_ref<float>(d.data(), 16, 16),
              {.alpha = 2, .bias = bias.data(), .device_alpha = alpha.data()});
    CHECK(d.host() == std::vector<float>(256, 11.f));
  });
}

TEST_CASE("gemm on the GPU: every term of the epilogue is the host's") {
  i64 const rows = 50, cols = 70, depth = 96;
  four_bit const a(values::normal, rows, depth, 5), b(values::normal, cols, depth, 6);
  gemm_test::matrix<> const c = gemm_test::normal(rows, cols, 7);
  gemm_test::matrix<> const bias = gemm_test::normal(1, cols, 8);
  gemm_test::matrix<> expected(rows, cols);
  gemm(host, a.on_host(), b.on_host(), expected.ref(),
       {.alpha = 0.3f, .beta = -1.5f, .c = c.ref(), .bias = bias.values.data()});
  device_buffer<float> const device_bias(bias.values);
  on_each_path([&]<gemm_path Path>() {
    device_buffer<float> const d(c.values);  // D is C
    matrix_ref<float> const ref(d.data(), rows, cols);
    run<Path>(a.device, b.device, ref,
              {.alpha = 0.3f, .beta = -1.5f, .c = ref, .bias = device_bias.data()});
    std::vector<float> const got = d.host();
    float worst = 0;  // or NaN
    for (std::size_t i = 0; i < got.size(); ++i) {
      float const error =
          std::fabs(got[i] - expected.values[i]) / (4 + std::fabs(expected.values[i]));
      if (!(error <= worst)) worst = error;
    }
    CHECK(worst <= 1e-5f);
  });
}

TEST_CASE("gemm on the GPU: a function is the last step, D has any stride and type") {
  i64 const rows = 50, cols = 70, depth = 96;
  four_bit const a(values::normal, rows, depth, 5), b(values::normal, cols, depth, 6);
  gemm_test::matrix<> plain(rows, cols);
  gemm(host, a.on_host(), b.on_host(), plain.ref());
  gemm_test::matrix<> const residual = gemm_test::normal(rows, cols, 9);
  device_buffer<float> const device_residual(residual.values);
  on_each_path([&]<gemm_path Path>() {
    // Columns are two apart, rows leave three elements free; what lies between stays.
    i64 const stride = 2 * cols + 3;
    device_buffer<bf16> const d(std::vector<bf16>(std::size_t(rows * stride), bf16(77.f)));
    run<Path>(a.device, b.device, matrix_ref<bf16>(d.data(), rows, cols, stride, 2), {},
              halved_and_shifted{device_residual.data()});
    std::vector<bf16> const got = d.host();
    i64 wrong = 0;
    for (i64 r = 0; r < rows; ++r)
      for (i64 k = 0; k < stride; ++k) {
        float const x = float(got[std::size_t(r * stride + k)]);
        if (k % 2 == 1 || k >= 2 * cols) {
          wrong += x != 77;
        } else {
          float const y = plain(r, k / 2) / 2 + residual(r, k / 2);
          wrong += !(std::fabs(x - y) <= 0.005f * std::fabs(y) + 1e-5f);
        }
      }
    CHECK(wrong == 0);
  });
}
