// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// FP32 block scales are not decoded in registers.
// expect: quadrille: gemm cannot decode these weights in registers; that takes a BF16 A and a 4-bit B with E4M3 or UE8M0 scales for blocks of a multiple of 16, write gemm_path::automatic

#include <quadrille/quadrille.cuh>

using namespace quadrille;

void multiply(quantized_ref<ufp4> a, quantized_ref<ufp4> b, matrix_ref<float> d) {
#ifdef QUADRILLE_BAD
  gemm<gemm_path::skinny>(on(nullptr), a, b, d);
#else
  gemm<gemm_path::reference>(on(nullptr), a, b, d);
#endif
}
