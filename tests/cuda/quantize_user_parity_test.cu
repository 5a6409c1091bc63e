// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recipes that a user might write, composed of the library's policies. The first three are quantized
// unit by unit, the others by threads that own their elements.

#include "cuda/parity.cuh"

using namespace quadrille;

namespace {

struct odd_block : nvfp4_gradient {
  using block = shape<4, 12>;
};
/// Eight bits an element, an odd number of them a block.
struct odd_bytes : nvfp4 {
  using element = e5m2;
  using block = shape<3, 7>;
  using rounding = stochastic<16>;
};
struct mxfp8 : mxfp4_round_up {
  using element = e4m3;
};
struct int4_search : nvfp4 {
  using element = quadrille::int4;
  using scale = two_level<e4m3, error_search<>>;
  using rounding = stochastic<11>;
};
struct short_block : nvfp4 {
  using block = shape<1, 4>;
  using scale = two_level<e4m3, divide_rule>;
  using rounding = ties_away;
};

}  // namespace

PARITY(odd_block)
PARITY(odd_bytes)
PARITY(mxfp8)
PARITY(int4_search)
PARITY(short_block)
