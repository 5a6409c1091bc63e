// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Blocks of 16 against blocks of 24.
// expect: quadrille: gemm operands disagree on the block length along K; one must divide the other, write the same block::cols on both sides

#include <quadrille/gemm.hpp>
#include <quadrille/recipes.hpp>

struct other : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<1, 24>;
#else
  using block = quadrille::shape<1, 32>;
#endif
};

void multiply(quadrille::quantized<quadrille::nvfp4> const& a, quadrille::quantized<other> const& b,
              quadrille::matrix_ref<float> d) {
  quadrille::gemm(quadrille::host, a, b, d);
}
