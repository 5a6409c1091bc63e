// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Data on another device than the current one.

#include <memory>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

/// True, with a message, if there is only one GPU.
bool is_alone() {
  int devices = 0;
  check_cuda(cudaGetDeviceCount(&devices));
  if (devices < 2) WARN("skipped: one GPU");
  return devices < 2;
}

int current() {
  int device = -1;
  check_cuda(cudaGetDevice(&device));
  return device;
}

/// Objects on a device, the current one meanwhile; device 0 is current at the end.
template <class F>
auto make_on(int device, F f) {
  check_cuda(cudaSetDevice(device));
  auto result = f();
  check_cuda(cudaSetDevice(0));
  return result;
}

struct stream_of {
  cudaStream_t stream = nullptr;
  explicit stream_of(int device) {
    check_cuda(cudaSetDevice(device));
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    check_cuda(cudaSetDevice(0));
  }
  ~stream_of() { cudaStreamDestroy(stream); }
};

/// On device 1: ones, where they are quantized to, and the workspace.
template <class R, class Layout = row_major_scales>
struct on_device_1 {
  matrix<float> x{32, 64, std::vector<float>(32 * 64, 1.f)};
  parity::target<R, Layout> to{32, 64};
  guarded work{quantize_workspace<R>(32, 64), 0xA5};
  device_buffer<float> out{32 * 64};
};
template <class R, class Layout = row_major_scales>
auto place() {
  return make_on(1, [] {
    auto placed = std::make_unique<on_device_1<R, Layout>>();
    check_cuda(cudaDeviceSynchronize());
    return placed;
  });
}
void finish_device_1() {
  check_cuda(make_on(1, [] { return cudaDeviceSynchronize(); }));
}

}  // namespace

TEST_CASE("the current device is the same after every call") {
  int const before = current();
  matrix<float> const x(4, 32, std::vector<float>(4 * 32, 1.f));
  on_device<nvfp4>(x.device());
  CHECK(current() == before);
}

TEST_CASE("MGP-01 work runs on the data's device, and the current device is restored") {
  if (is_alone()) return;
  check_cuda(cudaSetDevice(0));
  auto const one_level = place<nvfp4_one_level>();
  auto const two_level = place<nvfp4, tiled_128x4_scales>();
  stream_of const stream(1);
  for (cudaStream_t const s : {stream.stream, cudaStream_t(nullptr)}) {
    quantize(on(s), one_level->x.device(), one_level->to.ref());
    CHECK(current() == 0);
    quantize(on(s), two_level->x.device(), two_level->to.ref(),
             {.workspace = two_level->work.workspace()});
    CHECK(current() == 0);
    finish_device_1();
    check_equal("codes", one_level->to.codes(), bytes(32 * 32, 0x77));
    check_equal("scales", one_level->to.scales(), bytes(32 * 4, 0x23));
    two_level->to.check(quantize<nvfp4>(host, two_level->x.host()));
  }
}

TEST_CASE("MGP-01 sibling: an owned matrix lives on its stream's device, whatever is current") {
  if (is_alone()) return;
  check_cuda(cudaSetDevice(0));
  auto const placed = place<nvfp4>();
  stream_of const stream(1);
  auto const expected = quantize<nvfp4>(host, placed->x.host());
  auto const q = quantize<nvfp4>(on(stream.stream), placed->x.device()).to_host(on(stream.stream));
  CHECK(current() == 0);
  CHECK(q.codes() == expected.codes());
  CHECK(q.scales() == expected.scales());
  CHECK(q.outer() == expected.outer());
}

TEST_CASE("MGP-01 sibling: memory of two devices is refused before anything is written") {
  if (is_alone()) return;
  check_cuda(cudaSetDevice(0));
  auto const placed = place<nvfp4>();
  matrix<float> const x(32, 64, std::vector<float>(32 * 64, 1.f));
  guarded const work(quantize_workspace<nvfp4>(32, 64), 0xA5);
  CHECK_THROWS_AS(
      quantize(on(nullptr), x.device(), placed->to.ref(), {.workspace = placed->work.workspace()}),
      quadrille::error);
  CHECK_THROWS_AS(
      quantize(on(nullptr), placed->x.device(), placed->to.ref(), {.workspace = work.workspace()}),
      quadrille::error);
  CHECK(current() == 0);
  finish_device_1();
  placed->to.check_untouched();
}

TEST_CASE("MGP-01 sibling: a stream of another device gives cuda_error, and nothing is written") {
  if (is_alone()) return;
  check_cuda(cudaSetDevice(0));
  stream_of const stream(0);
  auto const refused = [&](auto const& placed) {
    auto const x = placed->x.device();
    auto const q = placed->to.ref();
    CHECK_THROWS_AS(quantize(on(stream.stream), x, q, {.workspace = placed->work.workspace()}),
                    cuda_error);
    CHECK_THROWS_AS(dequantize(on(stream.stream), q, matrix_ref(placed->out.data(), 32, 64)),
                    cuda_error);
    CHECK(current() == 0);
    cudaGetLastError();
    check_cuda(cudaDeviceSynchronize());
    finish_device_1();
    placed->to.check_untouched();
  };
  refused(place<nvfp4_one_level>());
  refused(place<nvfp4>());
  refused(place<mxfp4, tiled_128x4_scales>());
}
