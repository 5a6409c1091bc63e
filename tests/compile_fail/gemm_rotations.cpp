// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Operands in two different bases.
// expect: quadrille: gemm operands carry different rotations; along K they only cancel if both are the same, quantize both with the same recipe::rotation

#include <quadrille/gemm.hpp>
#include <quadrille/recipes.hpp>

struct other : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using rotation = quadrille::random_hadamard<16>;
#else
  using rotation = quadrille::identity;
#endif
};

void multiply(quadrille::quantized<quadrille::nvfp4> const& a, quadrille::quantized<other> const& b,
              quadrille::matrix_ref<float> d) {
  quadrille::gemm(quadrille::host, a, b, d);
}
