// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks that end inside a word of eight codes, prepacked.
// expect: quadrille: prepacked weights have blocks of whole words; a word is 8 codes, make block::cols a multiple of 8

#include <quadrille/prepacked.hpp>
#include <quadrille/recipes.hpp>

struct short_blocks : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<1, 20>;
#else
  using block = quadrille::shape<1, 24>;
#endif
};

quadrille::prepacked<short_blocks> pack(quadrille::quantized<short_blocks> const& w) {
  return quadrille::prepack(w);
}
