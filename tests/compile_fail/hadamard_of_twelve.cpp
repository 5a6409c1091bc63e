// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A size without a Sylvester matrix.
// expect: quadrille: there is no Hadamard rotation of this size; it is a power of two from 2 to 128, write random_hadamard<16>

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using rotation = quadrille::random_hadamard<12>;
#else
  using rotation = quadrille::random_hadamard<8>;
#endif
};

quadrille::quantized<mine> q(1, 0);
