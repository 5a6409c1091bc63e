// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm of two different recipes, of recipes that users make, and of plain matrices.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {
struct odd_blocks : nvfp4 {
  using block = shape<1, 24>;
  using scale = one_level<fp32>;
};
struct long_blocks : odd_blocks {
  using block = shape<1, 128>;
};
/// The second half of each block counts twice: no single factor.
struct stepped_scale : two_level<e4m3> {
  struct map {
    float factor;
    QUADRILLE_HD constexpr float operator()(float x, int i) const {
      return detail::mul(x, i < 8 ? factor : factor * 2);
    }
  };
  struct chosen {
    u32 stored;
    map to_grid;
  };
  template <class E>
  QUADRILLE_HD static constexpr chosen choose(block_values const& b, outer_scale const& o) {
    auto const c = two_level<e4m3>::choose<E>(b, o);
    return {c.stored, {c.to_grid.factor / 2}};
  }
  QUADRILLE_HD static constexpr map decoder(stored s, float outer_decode) {
    return {two_level<e4m3>::decoder(s, outer_decode).factor};
  }
};
struct stepped : nvfp4 {
  using scale = stepped_scale;
};
}  // namespace

TEST_CASE("gemm on the GPU: NVFP4 x MXFP4") {
  check_pair<quantized_operand<nvfp4>, quantized_operand<mxfp4>, reference, mma, dense, fused>(
      67, 129, 288);
}
TEST_CASE("gemm on the GPU: INT4 of a user's recipe x NVFP4 weights") {
  check_pair<quantized_operand<integers>, quantized_operand<nvfp4_weight>, reference, mma, skinny>(
      67, 144, 288);
  check_pair<quantized_operand<nvfp4_weight>, quantized_operand<integers>, mma, skinny, fused>(
      67, 144, 288);
}
TEST_CASE("gemm on the GPU: blocks of 24 and of 128 with FP32 scales") {
  check_pair<quantized_operand<odd_blocks>, quantized_operand<odd_blocks>, reference, block_sums>(
      67, 129, 240);
  check_pair<quantized_operand<long_blocks>, quantized_operand<long_blocks>, reference, block_sums>(
      67, 129, 300);
}
TEST_CASE("gemm on the GPU: a hierarchy that is no factor") {
  check_pair<quantized_operand<stepped>, quantized_operand<stepped>, reference>(67, 129, 128);
}
TEST_CASE("gemm on the GPU: plain matrices") {
  check_pair<plain_operand<bf16>, plain_operand<bf16>, reference, mma, dense>(65, 130, 200);
  check_pair<plain_operand<float>, plain_operand<bf16>, reference>(65, 130, 200);
}
