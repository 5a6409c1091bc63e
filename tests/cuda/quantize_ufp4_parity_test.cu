// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// UFP4, with one and with two levels of scales.

#include "cuda/parity.cuh"

using namespace quadrille;

PARITY(ufp4)
PARITY(ufp4_gradient)
PARITY(ufp4_two_level)
PARITY(ufp4_two_level_gradient)
