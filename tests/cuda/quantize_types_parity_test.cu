// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices of FP32 and FP16, and of CUDA's types.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "cuda/parity.cuh"

using namespace quadrille;

#define PARITY_OF(recipe, type)                                               \
  TEST_CASE("quantize: device bytes are host bytes: " #recipe " of " #type) { \
    parity::check_parity<recipe, type>();                                     \
  }
PARITY_OF(nvfp4_wgrad, float)
PARITY_OF(ufp4_two_level_gradient, float)
PARITY_OF(quartet_forward, float)
PARITY_OF(mxfp4_even, fp16)
PARITY_OF(nvfp4_gradient, __half)
PARITY_OF(nvfp4_weight, __nv_bfloat16)
