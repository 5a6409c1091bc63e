// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A rotation of 32 over blocks of 24.
// expect: quadrille: the rotation crosses a block edge; its size must divide block::cols or be a multiple of it, write random_hadamard<block::cols>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::quartet_forward {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<1, 24>;
#else
  using block = quadrille::shape<1, 16>;
#endif
};

quadrille::quantized<mine> q(1, 0);
