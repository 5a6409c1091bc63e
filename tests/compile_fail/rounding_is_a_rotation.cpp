// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two members exchanged.
// expect: quadrille: recipe::rounding is missing or is not a rounding mode; it picks between two neighbouring codes, write using rounding = nearest_even;

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using rounding = quadrille::identity;
#endif
};

quadrille::quantized<mine> q(1, 0);
