// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A shared library that quantizes and multiplies: hidden_kernels.sh looks at what it exports (BLD-02).

#include <quadrille/quadrille.cuh>

using namespace quadrille;

void quantize_and_back(cudaStream_t stream, matrix_ref<float> x) {
  auto const q = quantize<nvfp4>(on(stream), x);
  dequantize(on(stream), q, x);
  auto t = quantize<mxfp4>(on(stream), transposed(x));
  auto const s = quantize<nvfp4_gradient>(on(stream), x);
  auto r = quantize<nvfp4_wgrad>(on(stream), x);
  quantize_both(on(stream), x, r, {}, t, {});
}

void multiply(cudaStream_t stream, device_quantized<nvfp4> const& a,
              device_quantized<nvfp4> const& b, matrix_ref<__nv_bfloat16> d) {
  gemm(on(stream), a, b, d, {.workspace = {nullptr, explain(a, b, d).workspace_bytes}});
}
