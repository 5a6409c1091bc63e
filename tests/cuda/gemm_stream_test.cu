// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm in graphs and on several streams: a replay finds new operands, and calls do not disturb one another.

#include "cuda/gemm.cuh"
#include "cuda/streams.cuh"

using namespace gemm_cuda;

namespace {
constexpr i64 rows = 48, cols = 160, depth = 288;
using four_bit = quantized_operand<nvfp4>;
using mx = quantized_operand<mxfp4>;

/// Captures a product, replaces A, replays: D is that of the new A, bit for bit.
template <class Operand, gemm_path Path>
void check_replay() {
  Operand a(values::normal, rows, depth, 1);
  Operand const b(values::normal, cols, depth, 2), other(values::outliers, rows, depth, 3);
  std::vector<float> const expected = multiply<Path>(other, b, rows, cols);
  parity::own_stream const stream;
  device_buffer<float> const d(std::size_t(rows * cols));
  matrix_ref<float> const to(d.data(), rows, cols);
  device_gemm_options<float> options;
  gemm_plan const plan = explain<Path>(a.device, b.device, to, options);
  device_buffer<u8> const work(plan.workspace_bytes);
  options.workspace = {work.data(), plan.workspace_bytes};
  parity::graph const graph(stream.get(), cudaStreamCaptureModeGlobal,
                            [&] { gemm<Path>(on(stream.get()), a.device, b.device, to, options); });
  auto const from = other.device.ref();
  auto const into = a.device.ref();
  auto const copy = [](void* to, void const* from, i64 bytes) {
    check_cuda(cudaMemcpy(to, from, std::size_t(bytes), cudaMemcpyDeviceToDevice));
  };
  copy(into.codes, from.codes, rows * depth / 2);
  copy(into.scales, from.scales, from.scale_count());
  if (into.outer != nullptr) copy(into.outer, from.outer, sizeof(float));
  for (int i = 0; i < 2; ++i) {
    check_cuda(cudaMemset(d.data(), 0xA5, std::size_t(rows * cols) * sizeof(float)));
    graph.replay(stream.get());
    parity::check_equal("D", parity::bytes_of(d.host()), parity::bytes_of(expected));
  }
}
}  // namespace

TEST_CASE("gemm on the GPU: graphs") {
  for_each_path<reference, mma, dense, skinny, fused>(
      [&]<gemm_path Path>() { check_replay<four_bit, Path>(); });
  for_each_path<fp8>([&]<gemm_path Path>() { check_replay<mx, Path>(); });
}

TEST_CASE("gemm on the GPU: streams at once") {
  four_bit const b(values::normal, cols, depth, 2);
  constexpr int count = 4;
  for_each_path<mma, dense, skinny, fused>([&]<gemm_path Path>() {
    std::vector<std::unique_ptr<four_bit>> a;
    std::vector<std::vector<float>> expected;
    std::vector<std::unique_ptr<device_buffer<float>>> d;
    std::vector<std::unique_ptr<device_buffer<u8>>> work;
    parity::own_stream const streams[count];
    for (int i = 0; i < count; ++i) {
      a.push_back(std::make_unique<four_bit>(values::normal, rows, depth, 10 + i));
      expected.push_back(multiply<Path>(*a.back(), b, rows, cols));
      d.push_back(std::make_unique<device_buffer<float>>(std::size_t(rows * cols)));
      work.push_back(std::make_unique<device_buffer<u8>>(std::size_t(1) << 20));
    }
    check_cuda(cudaDeviceSynchronize());
    for (int round = 0; round < 20; ++round)
      for (int i = 0; i < count; ++i)
        gemm<Path>(on(streams[i].get()), a[i]->device, b.device,
                   matrix_ref<float>(d[i]->data(), rows, cols),
                   {.workspace = {work[i]->data(), std::size_t(1) << 20}});
    for (int i = 0; i < count; ++i)
      parity::check_equal("D", parity::bytes_of(d[i]->host()), parity::bytes_of(expected[i]));
  });
}
