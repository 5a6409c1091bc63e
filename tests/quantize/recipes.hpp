// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Lists of recipes for tests that state laws.

#include <tuple>

#include <quadrille/recipes.hpp>

namespace test {

/// One of each kind: 2D, stochastic, rotated, per row, searched, power of two, FP32, corrected.
using kinds =
    std::tuple<quadrille::nvfp4, quadrille::nvfp4_weight, quadrille::nvfp4_wgrad_gradient,
               quadrille::nvfp4_per_row, quadrille::nvfp4_fp8_exact, quadrille::mxfp4_even,
               quadrille::ufp4_gradient, quadrille::quartet_forward, quadrille::quartet2_backward,
               quadrille::mxfp4_tseng>;

}  // namespace test
