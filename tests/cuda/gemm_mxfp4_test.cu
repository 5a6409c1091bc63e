// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm of MXFP4 and FP8-exact NVFP4 operands, with each other and with FP8.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {
using mx = quantized_operand<mxfp4>;
}  // namespace

TEST_CASE("gemm on the GPU: MXFP4 x MXFP4") {
  check_pair<mx, mx, reference, mma, dense, fp8, skinny, fused>(129, 67, 288);
  check_pair<mx, mx, dense, fp8>(300, 140, 1056);
}
TEST_CASE("gemm on the GPU: FP8 x MXFP4, both orders") {
  check_pair<plain_operand<__nv_fp8_e4m3>, mx, reference, mma, fp8, skinny>(65, 130, 224);
  check_pair<mx, plain_operand<__nv_fp8_e5m2>, reference, fp8>(65, 130, 224);
}
TEST_CASE("gemm on the GPU: FP8-exact NVFP4 x the same") {
  using exact = quantized_operand<nvfp4_fp8_exact>;
  check_pair<exact, exact, reference, mma, fp8>(129, 67, 272);
}

TEST_CASE("gemm on the GPU: what is not exact says so, and is close") {
  using four_bit = quantized_operand<nvfp4>;
  i64 const rows = 129, cols = 72, depth = 1024;
  for_each_path<fp8_fast, fp8>([&]<gemm_path Path>() {
    auto const check = [&](auto const& a, auto const& b, double most) {
      device_buffer<float> const d(1);
      matrix_ref<float> const to(d.data(), rows, cols);
      device_gemm_options<float> const options{.inexact_operands = true};
      CHECK(!explain<Path>(a.on_device(), b.on_device(), to, options).is_exact);
      product const exact = gemm_test::multiply(a.exact(), b.exact(), rows, cols, depth);
      CHECK(double(relative_error(multiply<Path>(a, b, rows, cols, options), exact)) < most);
    };
    if constexpr (Path == fp8_fast)
      check(mx(values::normal, rows, depth, 1), mx(values::normal, cols, depth, 2), 1e-2);
    else  // element x scale rounded to four significand bits on both sides
      check(four_bit(values::normal, rows, depth, 1), four_bit(values::normal, cols, depth, 2),
            0.05);
  });
}
