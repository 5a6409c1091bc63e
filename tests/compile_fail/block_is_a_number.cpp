// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block size in place of a block shape.
// expect: quadrille: recipe::block is missing or is not a block shape; it says which elements share one scale, write using block = shape<1, 16>;

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  struct block {
    int rows, cols;
  };
#endif
};

quadrille::quantized<mine> q(1, 0);
