// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// D is quantized by the thread that has its sums, so its rotation must fit that thread.
// expect: quadrille: gemm's D is quantized where its sums are finished; a block and a rotation lie in 16 or 32 columns of one row there, write D as a matrix and quantize that

#include <quadrille/quadrille.cuh>

using namespace quadrille;

struct result : nvfp4 {
#ifdef QUADRILLE_BAD
  using rotation = random_hadamard<64>;
#else
  using rotation = random_hadamard<16>;
#endif
};

void multiply(quantized_ref<nvfp4> a, quantized_ref<nvfp4> b, quantized_ref<result> d) {
  gemm<gemm_path::reference>(on(nullptr), a, b, d, {});
}
