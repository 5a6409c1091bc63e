// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What gemm refuses: the error names the rule, and D keeps what it held (fault case GEM-06 for paths that a
/// GPU or a pair of operands does not have).

#include "cuda/gemm.cuh"
#include "cuda/refused.cuh"

using namespace gemm_cuda;

namespace {

/// A product that is right, of which one argument is made wrong.
struct setting {
  static constexpr i64 rows = 16, cols = 32, depth = 64;
  quantized_operand<nvfp4> a{values::normal, rows, depth, 1};
  quantized_operand<nvfp4> b{values::normal, cols, depth, 2};
  device_buffer<float> d{std::vector<float>(rows * cols, 42.f)};
  device_buffer<u8> work{std::size_t(1) << 20};
  device_gemm_options<float> options{.workspace = {work.data(), std::size_t(1) << 20}};

  template <gemm_path Path = mma, class F>
  void refuses(char const* rule, F change) {
    auto left = a.device.ref();
    auto right = b.device.ref();
    matrix_ref<float> to(d.data(), rows, cols);
    auto changed = options;
    change(left, right, to, changed);
    parity::require_refused(rule, [&] { gemm<Path>(on(nullptr), left, right, to, changed); });
    CHECK(d.host() == std::vector<float>(rows * cols, 42.f));
  }
};

struct rotated : nvfp4 {
  using rotation = random_hadamard<16, seeded_signs>;
};

}  // namespace

TEST_CASE("gemm on the GPU refuses what does not fit together") {
  setting s;
  float host_value = 0;
  s.refuses("K of gemm's B", [](auto&, auto& b, auto&, auto&) { b.cols = 48; });
  s.refuses("the number of rows of gemm's D", [](auto&, auto&, auto& d, auto&) { d.rows = 15; });
  s.refuses("the number of rows of gemm's B", [](auto&, auto&, auto& d, auto&) { d.cols = 31; });
  s.refuses("the number of rows of gemm's B", [](auto&, auto&, auto&, auto& o) { o.groups = 2; });
  s.refuses("groups is at least 1", [](auto&, auto&, auto&, auto& o) { o.groups = 0; });
  s.refuses("beta is not 0 but C is missing", [](auto&, auto&, auto&, auto& o) { o.beta = 1; });
  s.refuses("has no codes or no scales", [](auto& a, auto&, auto&, auto&) { a.codes = nullptr; });
  s.refuses("has no outer scales", [](auto&, auto& b, auto&, auto&) { b.outer = nullptr; });
  s.refuses("has no data", [](auto&, auto&, auto& d, auto&) { d.data = nullptr; });
  s.refuses("workspace", [](auto&, auto&, auto&, auto& o) { o.workspace = {}; });
  s.refuses("misaligned", [](auto&, auto&, auto&, auto& o) {
    o.workspace.data = static_cast<u8*>(o.workspace.data) + 16;
  });
  int pageable = 0;
  check_cuda(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, 0));
  if (pageable == 0)
    s.refuses("is host memory", [&](auto&, auto&, auto&, auto& o) { o.bias = &host_value; });
}

TEST_CASE("gemm on the GPU refuses a path that it cannot take (GEM-06)") {
  setting s;
  s.refuses<fp8>(runs(fp8) ? "do not fit FP8" : "cannot take the path fp8",
                 [](auto&, auto&, auto&, auto&) {});
  if (!runs(dense))
    s.refuses<dense>("cannot take the path dense", [](auto&, auto&, auto&, auto&) {});
}

TEST_CASE("gemm on the GPU refuses operands rotated with different seeds") {
  device_quantized<rotated> const a(on(nullptr), 16, 64, 1), b(on(nullptr), 16, 64, 2);
  device_buffer<float> const d(256);
  parity::require_refused("different seeds", [&] {
    gemm<mma>(on(nullptr), a, b, matrix_ref<float>(d.data(), 16, 16));
  });
}

TEST_CASE("gemm on the GPU: empty products") {
  quantized_operand<nvfp4> const none(values::normal, 0, 64, 1), some(values::normal, 16, 64, 2);
  device_buffer<float> const d(std::vector<float>(256, 42.f));
  gemm<mma>(on(nullptr), none.device, some.device, matrix_ref<float>(d.data(), 0, 16));
  CHECK(d.host() == std::vector<float>(256, 42.f));
  // Nothing to add up: zeros.
  quantized_operand<nvfp4> const thin(values::normal, 16, 0, 1);
  for_each_path<reference, mma, dense, skinny, fused>([&]<gemm_path Path>() {
    CHECK(multiply<Path>(thin, thin, 16, 16) == std::vector<float>(256, 0.f));
  });
}
