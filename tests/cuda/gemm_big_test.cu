// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm with more than 2^31 elements. Each test is left out, with a message, where memory is short.

#include "cuda/big.cuh"
#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {

struct bare : nvfp4 {
  using scale = one_level<e4m3>;
};

template <gemm_path Path, class A, class B, class T>
void run(A const& a, B const& b, matrix_ref<T> d) {
  gemm_plan const plan = explain<Path>(a, b, d);
  if (!parity::has_memory(plan.workspace_bytes)) return;
  device_buffer<u8> const work(plan.workspace_bytes);
  gemm<Path>(on(nullptr), a, b, d, {.workspace = {work.data(), plan.workspace_bytes}});
  check_cuda(cudaDeviceSynchronize());
}

}  // namespace

TEST_CASE("gemm on the GPU: B has more than 2^31 elements") {
  constexpr i64 cols = (i64(1) << 18) + 8, depth = 8208;  // N, K
  constexpr std::size_t count = cols * depth;
  static_assert(count > std::size_t(1) << 31);
  if (!parity::has_memory(count)) return;
  parity::filled<u8> const codes(count / 2, 0), scales(count / 16, 0x38);
  check_cuda(cudaMemset(codes.data() + (cols - 1) * depth / 2, 0x77, depth / 2));  // sixes
  quantized_ref<bare, u8 const> const b(codes.data(), scales.data(), nullptr, cols, depth);
  device_buffer<bf16> const a(std::vector<bf16>(2 * depth, bf16(1.f)));
  matrix_ref<bf16 const> const ones(a.data(), 2, depth);
  for_each_path<reference, mma, dense, skinny, fused>([&]<gemm_path Path>() {
    device_buffer<float> const d(2 * cols);
    run<Path>(ones, b, matrix_ref<float>(d.data(), 2, cols));
    std::vector<float> const got = d.host();
    CHECK(got[std::size_t(cols - 1)] == 6 * depth);
    CHECK(got[std::size_t(2 * cols - 1)] == 6 * depth);
    CHECK(parity::others(d.data(), 2 * cols, 0.f) == 2);
  });
}

TEST_CASE("gemm on the GPU: D has more than 2^31 elements") {
  constexpr i64 rows = 46400, cols = 46400, depth = 16;
  static_assert(rows * cols > i64(1) << 31);
  if (!parity::has_memory(std::size_t(2 * rows * cols))) return;
  parity::filled<u8> const codes(rows * depth / 2, 0x22), scales(rows * depth / 16, 0x38);  // ones
  quantized_ref<bare, u8 const> const x(codes.data(), scales.data(), nullptr, rows, depth);
  device_buffer<u16> const d(std::size_t(rows * cols));
  for_each_path<mma, dense, fused>([&]<gemm_path Path>() {
    check_cuda(cudaMemset(d.data(), 0xA5, std::size_t(2 * rows * cols)));
    run<Path>(x, x, matrix_ref<bf16>(reinterpret_cast<bf16*>(d.data()), rows, cols));
    CHECK(parity::others(d.data(), rows * cols, __builtin_bit_cast(u16, bf16(16.f))) == 0);
  });
}
