// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A recipe without its element format.
// expect: quadrille: recipe::element is missing or is not an element format; it says which values the codes mean, write using element = e2m1;

#include <quadrille/quantized.hpp>

struct mine {
#ifndef QUADRILLE_BAD
  using element = quadrille::e2m1;
#endif
  using block = quadrille::shape<1, 16>;
  using scale = quadrille::two_level<quadrille::e4m3>;
  using rounding = quadrille::nearest_even;
  using rotation = quadrille::identity;
};

quadrille::quantized<mine> q(1, 16);
