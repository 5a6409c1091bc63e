// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A tensor scale over block scales that need none.
// expect: quadrille: two_level<ue8m0> is redundant; a power-of-two block scale needs no tensor scale, use one_level<ue8m0>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using scale = quadrille::two_level<quadrille::ue8m0>;
#else
  using scale = quadrille::one_level<quadrille::ue8m0>;
#endif
};

quadrille::quantized<mine> q(1, 0);
