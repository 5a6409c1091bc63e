// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm of NVFP4 operands, and of NVFP4 with BF16 and FP16.

#include "cuda/gemm.cuh"

#include <array>

using namespace gemm_cuda;

namespace {
using four_bit = quantized_operand<nvfp4>;
using four_bit_tiled = quantized_operand<nvfp4, tiled_128x4_scales>;
}  // namespace

TEST_CASE("gemm on the GPU: NVFP4 x NVFP4") {
  for (auto const& [rows, cols, depth] :
       {std::array<i64, 3>{129, 67, 272}, {1, 1, 16}, {33, 300, 1040}, {16, 450, 720}})
    check_pair<four_bit, four_bit, reference, mma, dense, skinny, fused>(rows, cols, depth);
}
TEST_CASE("gemm on the GPU: NVFP4 with tiled scales x NVFP4") {
  check_pair<four_bit_tiled, four_bit, reference, mma>(130, 70, 144);
  check_pair<four_bit, four_bit_tiled, mma, skinny>(130, 70, 144);
}
TEST_CASE("gemm on the GPU: NVFP4 x BF16, both orders") {
  check_pair<plain_operand<bf16>, four_bit, reference, mma, dense, skinny, fused>(65, 130, 208);
  check_pair<four_bit, plain_operand<bf16>, reference, mma, dense>(65, 130, 208);
}
TEST_CASE("gemm on the GPU: FP16 x NVFP4") {
  check_pair<plain_operand<fp16>, four_bit, reference, mma, dense>(65, 130, 208);
}
