// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// requantize out of rotations that are larger than what a thread holds, and out of a scale a row.

#include "cuda/requantize.cuh"

using namespace parity;

TEST_CASE("requantize: out of a rotation of 128") {
  check_requantized_everywhere<quartet2_backward, nvfp4>();
}
TEST_CASE("requantize: out of a rotation of 64 into one of 16") {
  check_requantized_everywhere<mxfp4_tseng, ufp4_gradient>();
}
TEST_CASE("requantize: out of a scale a row and tiled scales") {
  check_requantized_everywhere<nvfp4_per_row, nvfp4_wgrad, tiled_128x4_scales>();
}
