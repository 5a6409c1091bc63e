// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block without elements.
// expect: quadrille: the block is empty; block::rows and block::cols are at least 1, write shape<1, 16>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<0, 16>;
#endif
};

quadrille::quantized<mine> q(1, 0);
