// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// requantize for the backward passes of Quartet and Quartet II.

#include "cuda/requantize.cuh"

using namespace parity;

TEST_CASE("requantize: Quartet's forward operand for the backward pass") {
  check_requantized_everywhere<quartet_forward, quartet_backward>();
}
TEST_CASE("requantize: Quartet II's forward operand for the backward pass") {
  check_requantized_everywhere<nvfp4_four_over_six, quartet2_backward, tiled_128x4_scales>();
}
