// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MXFP4 in Hadamard bases of 32 and 64.

#include "cuda/parity.cuh"

using namespace quadrille;

PARITY(quartet_forward)
PARITY(quartet_backward)
PARITY(mxfp4_tseng)
