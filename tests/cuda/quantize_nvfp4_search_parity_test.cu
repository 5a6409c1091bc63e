// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NVFP4 with scales that are tried on the block's elements.

#include "cuda/parity.cuh"

using namespace quadrille;

PARITY(nvfp4_four_over_six)
PARITY(nvfp4_fp8_exact)
PARITY(quartet2_forward)
