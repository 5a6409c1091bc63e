// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// quantize_both of recipes with one level of scales, alone and with others.

#include "cuda/both.cuh"

using namespace quadrille;

namespace {
struct unit_by_unit : nvfp4_gradient {
  using block = shape<1, 12>;
};
}  // namespace

BOTH(mxfp4, ufp4_gradient)
BOTH(mxfp4_tseng, ufp4_two_level_gradient)
BOTH(quartet_forward, quartet_backward)
BOTH(ufp4_two_level, mxfp4_even)
BOTH(ufp4, unit_by_unit)
