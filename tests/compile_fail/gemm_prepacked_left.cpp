// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prepacked weights where the tokens belong.
// expect: quadrille: gemm's A is prepacked; panels are of B, whose rows become D's columns, pass the prepacked weights as B

#include <quadrille/gemm.hpp>
#include <quadrille/recipes.hpp>

void multiply(quadrille::quantized<quadrille::nvfp4> const& x,
              quadrille::prepacked<quadrille::nvfp4> const& w, quadrille::matrix_ref<float> d) {
#ifdef QUADRILLE_BAD
  quadrille::gemm(quadrille::host, w, x, d);
#else
  quadrille::gemm(quadrille::host, x, w, d);
#endif
}
