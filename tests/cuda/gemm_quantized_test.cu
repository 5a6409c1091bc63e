// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm whose D is quantized where its sums are finished.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {
using four_bit = quantized_operand<nvfp4>;
}  // namespace

TEST_CASE("gemm on the GPU: D is quantized as quantize would") {
  i64 const rows = 50, cols = 80, depth = 96;
  four_bit const a(values::normal, rows, depth, 5), b(values::normal, cols, depth, 6);
  float const largest = 40;
  device_buffer<float> const amax(std::vector<float>{largest});
  for_each_path<mma, dense, fused>([&]<gemm_path Path>() {
    device_gemm_options<float> options{};
    std::vector<float> const plain = multiply<Path>(a, b, rows, cols, options);
    parity::matrix<float> const as_matrix(rows, cols, plain);
    auto const check = [&]<class R>(R) {
      device_quantized<R> expected(on(nullptr), rows, cols, seed);
      device_quantized<R> d(on(nullptr), rows, cols, seed);
      device_quantize_options how{.seed = 3, .amax = amax.data()};
      quantize(on(nullptr), as_matrix.device(), expected, how);
      device_buffer<float> unused(1);
      device_buffer<u8> work(std::size_t(1) << 20);
      options.workspace = {work.data(), std::size_t(1) << 20};
      gemm<Path>(on(nullptr), a.device, b.device, d.ref(), how, options);
      quantized<R> const x = expected.to_host(on(nullptr)), y = d.to_host(on(nullptr));
      parity::check_equal("codes", y.codes(), x.codes());
      parity::check_equal("scales", parity::bytes_of(y.scales()), parity::bytes_of(x.scales()));
      CHECK(y.outer() == x.outer());
    };
    check(nvfp4_gradient{});
    check(mxfp4{});
  });
}
