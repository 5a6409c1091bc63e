// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Fifteen 4-bit codes: seven and a half bytes.
// expect: quadrille: the block ends inside a byte; two 4-bit codes share one, write an even block::cols

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<1, 15>;
#else
  using element = quadrille::e2m3;  // a byte each
  using block = quadrille::shape<1, 15>;
#endif
};

quadrille::quantized<mine> q(1, 0);
