// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// quantize_both: from one read of a matrix, both copies have the bytes of two quantizations on the host.

#include "cuda/both.cuh"

using namespace quadrille;

BOTH(nvfp4, nvfp4_wgrad)
BOTH(nvfp4_gradient, nvfp4_wgrad_gradient)
BOTH(nvfp4_per_row, quartet2_backward)
BOTH(nvfp4_four_over_six, nvfp4_per_row)
BOTH(nvfp4_weight, nvfp4_fp8_exact)
