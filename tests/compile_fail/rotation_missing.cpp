// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A recipe without its rotation.
// expect: quadrille: recipe::rotation is missing or is not a rotation; it says in which basis we quantize, write using rotation = identity;

#include <quadrille/quantized.hpp>

struct mine {
  using element = quadrille::e2m1;
  using block = quadrille::shape<1, 16>;
  using scale = quadrille::two_level<quadrille::e4m3>;
  using rounding = quadrille::nearest_even;
#ifndef QUADRILLE_BAD
  using rotation = quadrille::identity;
#endif
};

quadrille::quantized<mine> q(1, 16);
