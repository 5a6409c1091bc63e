// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MS-EDEN over groups of 24 in blocks of 16.
// expect: quadrille: the scale correction crosses a block edge; its group holds whole blocks of one row and nests with the rotation, write eden<block::cols> and shape<1, N>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using scale = quadrille::two_level<quadrille::e4m3, quadrille::eden<24>>;
#else
  using scale = quadrille::two_level<quadrille::e4m3, quadrille::eden<32>>;
#endif
};

quadrille::quantized<mine> q(1, 0);
