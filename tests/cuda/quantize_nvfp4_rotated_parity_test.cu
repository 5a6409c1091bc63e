// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NVFP4 in a Hadamard basis.

#include "cuda/parity.cuh"

using namespace quadrille;

PARITY(nvfp4_wgrad)
PARITY(nvfp4_wgrad_gradient)
PARITY(quartet2_backward)
