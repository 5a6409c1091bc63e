// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A block over 16 rows that have a scale each.
// expect: quadrille: the block shares a scale between rows that have scales of their own; with outer_scope::row a block has one row, write shape<1, 16>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4_per_row {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<16, 16>;
#endif
};

quadrille::quantized<mine> q(1, 0);
