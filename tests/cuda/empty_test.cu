// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Empty matrices are quantized to nothing, without an error.

#include "cuda/cases.cuh"

using namespace parity;

TEST_CASE("EMP-01 empty tensors: success, nothing but the tensor's scale is written") {
  auto const check_empty = [](auto recipe, i64 rows, i64 cols) {
    using R = decltype(recipe);
    CAPTURE(rows, cols);
    matrix<float> const x(rows, cols, {});
    auto const expected = quantize<R>(host, x.host());
    parity::check(x.device(), expected);
    parity::check<R, tiled_128x4_scales>(x.device(), expected);
    parity::check(transposed(x.device().transposed()), expected);
    parity::target<R> const from(rows, cols);
    guarded const out(0, 0xA5);
    dequantize(on(nullptr), from.ref(), matrix_ref<float>(out.as<float>(), rows, cols));
    out.host();
    CHECK(on_device<R>(x.device()).codes().empty());
    CHECK(on_device<R>(x.device()).scales().empty());
  };
  for (auto const& [rows, cols] : {std::pair{0, 32}, std::pair{5, 0}, std::pair{0, 0}}) {
    check_empty(nvfp4{}, rows, cols);
    check_empty(nvfp4_per_row{}, rows, cols);
    check_empty(nvfp4_weight{}, rows, cols);
    check_empty(mxfp4{}, rows, cols);
    check_empty(nvfp4_wgrad_gradient{}, rows, cols);
  }
  device_buffer<float> const found(std::vector<float>(1, 9.f));
  amax<nvfp4>(on(nullptr), matrix_ref<float const>(nullptr, 0, 32), found.data());
  CHECK(found.host() == std::vector<float>{0.f});
  guarded const mask(0, 0xA5);
  clip_mask<mxfp4>(on(nullptr), matrix_ref<float const>(nullptr, 0, 32), mask.as<u8>());
  mask.host();
}
