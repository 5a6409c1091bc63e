// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// device_quantized: owns, moves, copies to the host and frees in the order of its stream.

#include <type_traits>
#include <utility>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

matrix<bf16> noise(i64 rows, i64 cols, u64 seed = 1) {
  return {rows, cols, rounded_to<bf16>(inputs::normal(std::size_t(rows * cols), seed))};
}

template <class R>
void check_same(quantized<R> const& q, quantized<R> const& expected) {
  CHECK(q.rows() == expected.rows());
  CHECK(q.cols() == expected.cols());
  CHECK(q.rotation_seed() == expected.rotation_seed());
  check_equal("codes", bytes_of(q.codes()), bytes_of(expected.codes()));
  check_equal("scales", bytes_of(q.scales()), bytes_of(expected.scales()));
  check_equal("outer", bytes_of(q.outer()), bytes_of(expected.outer()));
}

template <class R, class Layout>
void check_round(i64 rows, i64 cols) {
  CAPTURE(rows, cols);
  auto const x = noise(rows, cols);
  auto const q = quantize<R, Layout>(on(nullptr), x.device(), {.seed = 3}, rotation_seed);
  CHECK(q.workspace().bytes == quantize_workspace<R>(rows, cols));
  check_same(q.to_host(on(nullptr)), quantize<R>(host, x.host(), {.seed = 3}, rotation_seed));
}

template <class R>
void require_empty(device_quantized<R> const& q) {
  CHECK(q.rows() == 0);
  CHECK(q.cols() == 0);
  CHECK(q.ref().codes == nullptr);
  CHECK(q.workspace().bytes == 0);
  CHECK_NOTHROW(q.to_host(on(nullptr)));
  cudaGetLastError();  // of a copy from nowhere must not reach the next test
}

}  // namespace

static_assert(!std::is_copy_constructible_v<device_quantized<nvfp4>>);
static_assert(std::is_nothrow_move_constructible_v<device_quantized<nvfp4>>);
static_assert(std::is_nothrow_move_assignable_v<device_quantized<nvfp4>>);

TEST_CASE("device_quantized: to_host has the bytes of the host in either layout") {
  check_round<nvfp4, row_major_scales>(33, 100);
  check_round<nvfp4, tiled_128x4_scales>(33, 100);
  check_round<nvfp4_per_row, tiled_128x4_scales>(130, 80);
  check_round<quartet_backward, tiled_128x4_scales>(5, 96);
  check_round<ufp4_gradient, row_major_scales>(5, 96);
  check_round<nvfp4_weight, tiled_128x4_scales>(129, 260);
  check_round<nvfp4, tiled_128x4_scales>(0, 64);
  check_round<nvfp4_per_row, row_major_scales>(4, 0);
}

TEST_CASE(
    "device_quantized: codes, scales and outer scales do not overlap, and scales of tiles are "
    "padded") {
  device_quantized<nvfp4_per_row, tiled_128x4_scales> q(on(nullptr), 3, 80, 9);
  auto const ref = q.ref();
  CHECK(ref.rotation_seed == 9);
  CHECK(ref.scale_count() == 1024);
  CHECK(reinterpret_cast<u8*>(ref.scales) >= ref.codes + 3 * 40);
  CHECK(reinterpret_cast<u8*>(ref.outer) >= ref.scales + 1024);
  CHECK(q.workspace().data >= static_cast<void*>(ref.outer + 3));
  CHECK(q.workspace().bytes == 3 * sizeof(float));
  for (void const* p : {static_cast<void const*>(ref.codes), static_cast<void const*>(ref.scales),
                        static_cast<void const*>(ref.outer)})
    CHECK(reinterpret_cast<std::uintptr_t>(p) % 256 == 0);
}

TEST_CASE("device_quantized: default-constructed it is empty, and can be assigned to") {
  require_empty(device_quantized<mxfp4>());
  require_empty(device_quantized<nvfp4>());
  require_empty(device_quantized<nvfp4_per_row>());
  auto const x = noise(16, 64);
  device_quantized<nvfp4> q;
  q = quantize<nvfp4>(on(nullptr), x.device());
  check_same(q.to_host(on(nullptr)), quantize<nvfp4>(host, x.host()));
}

TEST_CASE("device_quantized: moves carry the memory along, and a self-move keeps it") {
  auto const x = noise(16, 64);
  auto const y = noise(8, 32, 2);
  auto a = quantize<nvfp4>(on(nullptr), x.device());
  auto b = quantize<nvfp4>(on(nullptr), y.device());
  u8* const codes_of_a = a.ref().codes;
  device_quantized<nvfp4> c(std::move(a));
  CHECK(c.ref().codes == codes_of_a);
  require_empty(a);  // moved from
  b = std::move(c);
  CHECK(b.ref().codes == codes_of_a);
  auto& itself = b;
  b = std::move(itself);
  CHECK(b.ref().codes == codes_of_a);
  check_same(b.to_host(on(nullptr)), quantize<nvfp4>(host, x.host()));
}

TEST_CASE("device_quantized: quantized again and again it holds the last") {
  device_quantized<nvfp4_gradient, tiled_128x4_scales> q(on(nullptr), 20, 48);
  for (u64 seed = 0; seed < 3; ++seed) {
    auto const x = noise(20, 48, seed);
    quantize(on(nullptr), x.device(), q, {.seed = seed});
    check_same(q.to_host(on(nullptr)), quantize<nvfp4_gradient>(host, x.host(), {.seed = seed}));
  }
}

TEST_CASE("device_quantized: memory is freed after the work that was enqueued before") {
  auto const x = noise(512, 2048);
  auto const expected = quantize<nvfp4>(host, x.host());
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  constexpr int count = 20;
  std::size_t const size = expected.codes().size();
  device_buffer<u8> const kept(size * count);
  check_cuda(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) {
    auto const q = quantize<nvfp4>(on(stream), x.device());
    check_cuda(cudaMemcpyAsync(kept.data() + std::size_t(i) * size, q.ref().codes, size,
                               cudaMemcpyDeviceToDevice, stream));
  }
  check_cuda(cudaStreamSynchronize(stream));
  auto const found = kept.host();
  for (int i = 0; i < count; ++i) {
    auto const first = found.begin() + std::ptrdiff_t(std::size_t(i) * size);
    check_equal("codes", bytes(first, first + std::ptrdiff_t(size)), expected.codes());
  }
  check_cuda(cudaStreamDestroy(stream));
}

TEST_CASE("device_quantized: both copies, dequantized and requantized") {
  auto const x = noise(64, 96);
  device_quantized<nvfp4> along_rows(on(nullptr), 64, 96);
  device_quantized<nvfp4_wgrad, tiled_128x4_scales> along_cols(on(nullptr), 96, 64);
  quantize_both(on(nullptr), x.device(), along_rows, {}, along_cols, {});
  auto const expected = quantize<nvfp4>(host, x.host());
  check_same(along_rows.to_host(on(nullptr)), expected);
  check_same(along_cols.to_host(on(nullptr)), quantize<nvfp4_wgrad>(host, x.host().transposed()));

  std::vector<float> decoded(64 * 96);
  dequantize(host, expected, matrix_ref<float>(decoded.data(), 64, 96));
  guarded const out(64 * 96 * 4, 0xA5);
  dequantize(on(nullptr), along_rows, matrix_ref<float>(out.as<float>(), 64, 96));
  check_equal("values", out.host(), bytes_of(decoded));

  device_quantized<quartet_backward> again(on(nullptr), 64, 96, 5);
  requantize(on(nullptr), along_rows, again);
  check_same(
      again.to_host(on(nullptr)),
      quantize<quartet_backward>(host, matrix_ref<float const>(decoded.data(), 64, 96), {}, 5));
}

TEST_CASE("device_quantized: a negative extent is refused before memory is asked for") {
  CHECK_THROWS_AS(device_quantized<nvfp4>(on(nullptr), -1, 16), quadrille::error);
  CHECK_THROWS_AS(device_quantized<nvfp4>(on(nullptr), 16, -1), quadrille::error);
}
