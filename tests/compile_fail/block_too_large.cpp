// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block that no tile holds.
// expect: quadrille: the block is too large; a block has at most 16384 elements, write a smaller shape or let an outer scale serve the tensor

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<1024, 1024>;
#else
  using block = quadrille::shape<128, 128>;
#endif
};

quadrille::quantized<mine> q(1, 0);
