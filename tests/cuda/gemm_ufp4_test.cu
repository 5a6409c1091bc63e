// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm of UFP4 operands: with FP32 block scales, whose sums are the host's, bit for bit, and with two levels.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {
using uniform = quantized_operand<ufp4>;
using levels = quantized_operand<ufp4_two_level>;
}  // namespace

TEST_CASE("gemm on the GPU: UFP4 x UFP4") {
  check_pair<uniform, uniform, reference, block_sums>(129, 67, 272);
  check_pair<uniform, uniform, reference, block_sums>(1, 1, 16);
}
TEST_CASE("gemm on the GPU: sums of blocks are the host's") {
  i64 const rows = 150, cols = 210, depth = 528;
  for (values const v : {values::normal, values::wide, values::outliers}) {
    INFO(name_of(v));
    uniform const a(v, rows, depth, 3), b(v, cols, depth, 4);
    gemm_test::matrix<> expected(rows, cols);
    gemm(host, a.on_host(), b.on_host(), expected.ref());
    parity::check_equal("D", parity::bytes_of(multiply<block_sums>(a, b, rows, cols)),
                        parity::bytes_of(expected.values));
  }
}
TEST_CASE("gemm on the GPU: UFP4 with two levels x the same") {
  check_pair<levels, levels, reference, block_sums, mma, dense, skinny, fused>(129, 67, 272);
}
