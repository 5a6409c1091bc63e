// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// dequantize on the device: the values of the host in every type, any strides, rotated back or not.

#include "cuda/cases.cuh"

using namespace parity;

namespace {

struct odd_bytes : nvfp4 {
  using element = e5m2;
  using block = shape<3, 7>;
};

/// NaNs differ in payload between host and device; what counts is that both have one.
template <class T>
bytes with_one_nan(bytes raw) {
  std::vector<T> values(raw.size() / sizeof(T));
  std::copy(raw.begin(), raw.end(), reinterpret_cast<u8*>(values.data()));
  for (T& v : values)
    if (detail::is_nan(static_cast<float>(v))) v = static_cast<T>(detail::quiet_nan());
  return bytes_of(values);
}

/// Where the values of a rows x cols matrix go.
struct place {
  i64 first;
  i64 row_stride;
  i64 col_stride;
};

template <class T, class R, class Layout>
void check_values(parity::target<R, Layout> const& from, quantized<R> const& q, place to,
                  bool rotated) {
  CAPTURE(sizeof(T), to.first, to.row_stride, to.col_stride, rotated);
  i64 const rows = q.rows();
  i64 const cols = q.cols();
  std::size_t const size =
      std::size_t(to.first + (rows - 1) * to.row_stride + (cols - 1) * to.col_stride + 5);
  guarded const out(size * sizeof(T), 0x3C);
  std::vector<T> expected(size);
  std::memset(static_cast<void*>(expected.data()), 0x3C, size * sizeof(T));
  matrix_ref<T> const on_host(expected.data() + to.first, rows, cols, to.row_stride, to.col_stride);
  matrix_ref<T> const view(out.as<T>() + to.first, rows, cols, to.row_stride, to.col_stride);
  dequantize(host, q, on_host, {.rotated = rotated});
  dequantize(on(nullptr), from.ref(), view, {.rotated = rotated});
  check_equal("values", with_one_nan<T>(out.host()), with_one_nan<T>(bytes_of(expected)));
}

/// With every output type, or FP32 alone.
template <class R, class Layout = row_major_scales, bool Every = true>
void check_all() {
  for (kind const k : {kind::normal, kind::zeros, kind::non_finite, kind::binades})
    for (extents const shape :
         {extents{1, 1}, extents{5, 17}, extents{33, 64}, extents{130, 300}}) {
      i64 const rows = shape.rows;
      i64 const cols = whole_groups<R>(shape.cols);
      INFO(rows << " x " << cols << ", " << name_of(k));
      matrix<bf16> const x(rows, cols, values<R, bf16>(k, rows, cols));
      auto const q = quantize<R>(host, x.host(), {.seed = 1}, rotation_seed);
      parity::target<R, Layout> const from(rows, cols, rotation_seed);
      guarded const work(quantize_workspace<R>(rows, cols), 0xA5);
      quantize(on(nullptr), x.device(), from.ref(), {.seed = 1, .workspace = work.workspace()});
      from.check(q);
      for (place const& to :
           {place{0, cols, 1}, place{3, cols + 3, 1}, place{8, cols + 8 - cols % 8, 1},
            place{0, 1, rows}, place{1, 2 * cols + 1, 2}})
        for (bool const rotated : {false, true}) {
          check_values<float>(from, q, to, rotated);
          if constexpr (Every) check_values<bf16>(from, q, to, rotated);
          if constexpr (Every) check_values<fp16>(from, q, to, rotated);
        }
    }
}

}  // namespace

TEST_CASE("dequantize: NVFP4, and tiled scales in a Hadamard basis") {
  check_all<nvfp4>();
  check_all<nvfp4_wgrad, tiled_128x4_scales>();
}
TEST_CASE("dequantize: a rotation that is larger than what a thread holds") {
  check_all<quartet2_backward, row_major_scales, false>();
  check_all<mxfp4_tseng, tiled_128x4_scales, false>();
}
TEST_CASE("dequantize: a scale a row, 2D blocks, FP32 scales, eight bits an element") {
  check_all<nvfp4_per_row, row_major_scales, false>();
  check_all<nvfp4_weight, tiled_128x4_scales, false>();
  check_all<ufp4, row_major_scales, false>();
  check_all<odd_bytes, row_major_scales, false>();
}
