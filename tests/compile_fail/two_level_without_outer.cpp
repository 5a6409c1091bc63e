// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Two levels, one of which nobody shares.
// expect: quadrille: two_level without an outer scale is one level; the scope says who shares it, write outer_scope::tensor or outer_scope::row, or use one_level<F>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using scale =
      quadrille::two_level<quadrille::e4m3, quadrille::amax_rule, quadrille::outer_scope::none>;
#endif
};

quadrille::quantized<mine> q(1, 0);
