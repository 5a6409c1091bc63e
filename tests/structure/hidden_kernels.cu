// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A shared library that quantizes: hidden_kernels.sh looks at what it exports (BLD-02).

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
