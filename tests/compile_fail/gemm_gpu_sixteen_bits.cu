// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// FP32 block scales do not fit 16 bits.
// expect: quadrille: gemm cannot decode these operands to 16 bits; neither BF16 nor FP16 holds element x scale of both, write gemm_path::automatic

#include <quadrille/quadrille.cuh>

using namespace quadrille;

void multiply(quantized_ref<ufp4> a, quantized_ref<ufp4> b, matrix_ref<float> d) {
#ifdef QUADRILLE_BAD
  gemm<gemm_path::mma>(on(nullptr), a, b, d);
#else
  gemm<gemm_path::reference>(on(nullptr), a, b, d);
#endif
}
