// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MXFP4 under each scale rule.

#include "cuda/parity.cuh"

using namespace quadrille;

PARITY(mxfp4)
PARITY(mxfp4_even)
PARITY(mxfp4_ceil)
PARITY(mxfp4_round_up)
