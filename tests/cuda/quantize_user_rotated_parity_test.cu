// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Recipes in a rotated basis that a user might write.

#include "cuda/parity.cuh"

using namespace quadrille;

namespace {

struct bf16_rotated : nvfp4 {
  using rotation = bf16_rounded<random_hadamard<16>>;
};
/// MS-EDEN over groups of 128.
struct eden_128 : quartet2_backward {
  using scale = two_level<e4m3, eden<128>>;
};
/// A block that holds two rotations.
struct long_block : ufp4_gradient {
  using block = shape<1, 128>;
  using rotation = random_hadamard<64, seeded_signs>;
};
struct square_rotated : nvfp4_weight {
  using rotation = random_hadamard<8>;
  using rounding = stochastic<5>;
};
/// Two blocks share a correction, each row has a scale.
struct eden_per_row : nvfp4 {
  using block = shape<1, 8>;
  using scale = two_level<e4m3, eden<16>, outer_scope::row>;
  using rotation = random_hadamard<32, seeded_signs>;
};
struct rotated_away : nvfp4_wgrad {
  using rounding = away_from_zero;
};

}  // namespace

PARITY(bf16_rotated)
PARITY(eden_128)
PARITY(long_block)
PARITY(square_rotated)
PARITY(eden_per_row)
PARITY(rotated_away)

TEST_CASE("quantize: a rotated value that underflows rounds away from zero as on the host") {
  // 1 + 1 - 1 - 1 + 2^-149: the odd coordinates are the last term over four, which is 0 in FP32.
  std::vector<float> x(16);
  x[0] = x[1] = 1;
  x[2] = 0x1p-149f;
  parity::check_rows<rotated_away>(parity::matrix<float>(1, 16, x));
}
