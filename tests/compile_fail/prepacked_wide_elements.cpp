// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Eight bits an element, prepacked.
// expect: quadrille: prepacked weights are of 4-bit elements; wider codes take a byte each, pass the quantized matrix to gemm

#include <quadrille/prepacked.hpp>
#include <quadrille/recipes.hpp>

struct wide : quadrille::mxfp4 {
#ifdef QUADRILLE_BAD
  using element = quadrille::e4m3;
#endif
};

quadrille::prepacked<wide> pack(quadrille::quantized<wide> const& w) {
  return quadrille::prepack(w);
}
