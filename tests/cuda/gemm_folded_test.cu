// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm of operands whose FP8 form is kept: what it gives without, bit for bit.

#include "cuda/gemm.cuh"
#include "cuda/refused.cuh"

using namespace gemm_cuda;

namespace {

/// An operand of cuda/gemm.cuh, folded before.
template <class R, class Layout = row_major_scales>
struct folded_before {
  device_buffer<u8> data;
  folded_ref<detail::checked_recipe<R>, Layout> ref;

  explicit folded_before(quantized_operand<R, Layout> const& from)
      : data(std::vector<u8>(folded_bytes<R>(from.device.rows(), from.device.cols()), 0xa5)),
        ref{from.device.ref(), data.data()} {
    fold(on(nullptr), ref);
  }
  auto on_device() const { return ref; }
};

template <gemm_path Path, class R, class Layout = row_major_scales>
void check_same(i64 rows, i64 cols, i64 depth, i32 groups = 1) {
  for (values const v : all_values) {
    INFO(name_of(v) << ", " << rows << " x " << cols << " x " << depth);
    quantized_operand<R, Layout> const a(v, rows, depth, 1);
    quantized_operand<R, Layout> const b(v, cols * groups, depth, 2);
    folded_before<R, Layout> const a_folded(a);
    folded_before<R, Layout> const b_folded(b);
    device_gemm_options<float> const options{.groups = groups};
    auto const expected = parity::bytes_of(multiply<Path>(a, b, rows, cols, options));
    parity::check_equal(
        "B folded", parity::bytes_of(multiply<Path>(a, b_folded, rows, cols, options)), expected);
    parity::check_equal("both folded",
                        parity::bytes_of(multiply<Path>(a_folded, b_folded, rows, cols, options)),
                        expected);
  }
}

}  // namespace

TEST_CASE("gemm on the GPU: operands folded before") {
  for_each_path<fp8, mma, reference>([&]<gemm_path Path>() {
    check_same<Path, mxfp4>(129, 72, 288);
    check_same<Path, nvfp4_fp8_exact, tiled_128x4_scales>(70, 130, 272);
  });
  for_each_path<fp8>([&]<gemm_path Path>() {
    check_same<Path, mxfp4>(600, 1048, 1056);
    check_same<Path, nvfp4_fp8_exact>(260, 136, 528, 4);
  });
}

TEST_CASE("gemm on the GPU: a folded matrix that owns its memory") {
  if (!runs(fp8)) return;
  i64 const rows = 40, cols = 64, depth = 128;
  quantized_operand<mxfp4> const a(values::normal, rows, depth, 1);
  quantized_operand<mxfp4> const b(values::normal, cols, depth, 2);
  device_quantized<mxfp4> copy(on(nullptr), cols, depth, seed);
  parity::matrix<float> const x(cols, depth, make(values::normal, cols, depth, 2));
  quantize(on(nullptr), x.device(), copy);
  device_folded<mxfp4> owner = fold(on(nullptr), std::move(copy));
  device_folded<mxfp4> const moved = std::move(owner);
  struct {
    device_folded<mxfp4> const& w;
    auto const& on_device() const { return w; }
  } const right{moved};
  parity::check_equal("D", parity::bytes_of(multiply<fp8>(a, right, rows, cols)),
                      parity::bytes_of(multiply<fp8>(a, b, rows, cols)));
  device_buffer<float> const d(1);
  matrix_ref<float> const to(d.data(), rows, cols);
  CHECK(explain<fp8>(a.on_device(), moved, to).workspace_bytes <
        explain<fp8>(a.on_device(), b.on_device(), to).workspace_bytes);
}

TEST_CASE("gemm on the GPU: a folded matrix without data is refused") {
  quantized_operand<mxfp4> const b(values::normal, 16, 64, 2);
  folded_ref<mxfp4> f{b.device.ref(), nullptr};
  parity::require_refused("the folded matrix has no data", [&] { fold(on(nullptr), f); });
  device_buffer<u8> const data(folded_bytes<mxfp4>(16, 64) + 16);
  f.data = data.data() + 16;
  parity::require_refused("starts at a multiple of 256 bytes", [&] { fold(on(nullptr), f); });
}
