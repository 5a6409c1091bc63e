// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Nine bits.
// expect: quadrille: minifloat<E, M> does not fit one byte; write E \+ M \+ sign <= 8, E >= 1

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using element = quadrille::minifloat<5, 3>;
#else
  using element = quadrille::minifloat<5, 2>;
#endif
};

quadrille::quantized<mine> q(1, 0);
