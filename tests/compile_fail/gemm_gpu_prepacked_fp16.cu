// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prepacked weights are decoded to BF16, which does not hold FP16.
// expect: quadrille: gemm multiplies a prepacked B with what BF16 holds; this A does not fit, pass A as BF16 or B as the quantized matrix

#include <quadrille/quadrille.cuh>

using namespace quadrille;

#ifdef QUADRILLE_BAD
using activation = fp16;
#else
using activation = bf16;
#endif

gemm_plan plan(matrix_ref<activation const> a, prepacked_ref<nvfp4> b, matrix_ref<float> d) {
  return explain(a, b, d);
}
