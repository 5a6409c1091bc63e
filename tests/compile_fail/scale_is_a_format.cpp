// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A bare format in place of a scale hierarchy.
// expect: quadrille: recipe::scale is missing or is not a scale hierarchy \(a bare format\? write one_level<F> or two_level<F>\)

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using scale = quadrille::e4m3;
#endif
};

quadrille::quantized<mine> q(1, 0);
