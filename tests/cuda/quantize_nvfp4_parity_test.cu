// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NVFP4 without rotation, with a scale a tensor and a scale a row, and weights in 16x16 blocks.

#include "cuda/parity.cuh"

using namespace quadrille;

PARITY(nvfp4)
PARITY(nvfp4_gradient)
PARITY(nvfp4_per_row)
PARITY(nvfp4_weight)
