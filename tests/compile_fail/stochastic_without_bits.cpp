// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stochastic rounding with nothing to draw.
// expect: quadrille: stochastic<Bits> has too few or too many bits; a float fraction holds 24, write stochastic<1> to stochastic<24>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using rounding = quadrille::stochastic<0>;
#else
  using rounding = quadrille::stochastic<1>;
#endif
};

quadrille::quantized<mine> q(1, 0);
