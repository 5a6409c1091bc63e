// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A clip mask of blocks over several rows.
// expect: quadrille: clip_mask is defined for blocks of one row; write shape<1, N>

#include <vector>

#include <quadrille/quantize.hpp>
#include <quadrille/recipes.hpp>

#ifdef QUADRILLE_BAD
using recipe = quadrille::nvfp4_weight;
#else
using recipe = quadrille::quartet_forward;
#endif

void mask(quadrille::matrix_ref<float const> x, quadrille::quantized<recipe> const& q,
          std::vector<quadrille::u8>& bits) {
  quadrille::clip_mask(quadrille::host, x, q, bits);
}
