// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Every way in which the warps of the skinny kernel can stand, whichever it would choose, with BF16 activations and
/// with quantized ones that the kernel decodes itself; and that decoding is exact, for every code and scale.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {

/// f(grid) for every grid of a shape for which there is room.
template <class R, class Shape, class F>
void for_each_grid(F const& f) {
  int const room = detail::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  for (int k_warps = 1; k_warps <= 8; k_warps *= 2)
    for (int row_warps = 1; row_warps * k_warps <= Shape::max_warps; ++row_warps)
      for (bool const splits_last : {false, true}) {
        detail::skinny_grid grid{row_warps, k_warps, splits_last};
        if (splits_last && (!Shape::can_split || grid.warps() > Shape::max_warps)) continue;
        if (Shape::warpgroups && row_warps % 4 != 0) continue;
        if (detail::skinny_fit<R, Shape>(grid, 1, std::size_t(room)) == 0) continue;
        INFO(row_warps << " x " << k_warps << " warps" << (splits_last ? ", the last split" : ""));
        f(grid);
      }
}

template <class R>
struct weights {
  // Not whole: groups of 64 rows, stretches along K. Blocks of few rows make two tiles, and rings are used twice.
  static constexpr i64 cols = 1500, depth = 3104;
  quantized_operand<R> b;
  packed_operand<R> packed;
  explicit weights(values v) : b(v, cols, depth, 2), packed(b) {}
};

/// x(a) is the X that the kernel takes.
template <class Shape, class R, class A, class X>
void check_grids(weights<R> const& w, values v, i64 rows, X const& x) {
  INFO(name_of(v) << ", " << rows << " rows, tiles of " << Shape::tokens);
  A const a(v, rows, w.depth, 1);
  product const exact = gemm_test::multiply(a.exact(), w.b.exact(), rows, w.cols, w.depth);
  detail::gemm_segments const work{rows, w.cols, w.depth, 1, rows, nullptr};
  for_each_grid<R, Shape>([&](detail::skinny_grid const& grid) {
    device_buffer<float> d(std::size_t(rows * w.cols));
    detail::launch_skinny_tiles<Shape>(
        on(nullptr), work, prepacked_ref<R, u8 const>(w.packed.ref), x(a), false,
        epilogue_of(a.on_device(), w.packed.ref, {d.data(), rows, w.cols}), grid);
    std::vector<float> const values = d.host();
    CHECK(first_wrong(values, exact, skinny, w.depth) == -1);
    // Without a split along K nearly 200 steps add to one sum, and each cuts it to 24 bits.
    CHECK(double(relative_error(values, exact)) <= double(w.depth / 512 * norm_bound_of(skinny)));
  });
}

template <class Shape, class R>
void check_plain(weights<R> const& w, i64 rows) {
  check_grids<Shape, R, plain_operand<bf16>>(w, values::normal, rows, [&](auto const& a) {
    return detail::skinny_activations{reinterpret_cast<__nv_bfloat16 const*>(a.device.data()),
                                      w.depth};
  });
}

template <class RA, class R, class Layout = row_major_scales>
void check_decoded(values v, i64 rows) {
  weights<R> const w(v);
  check_grids<detail::skinny_shape<1, false>, R, quantized_operand<RA, Layout>>(
      w, v, rows, [](auto const& a) {
        return detail::skinny_source{detail::coded_matrix(std::as_const(a.device).ref())};
      });
}

/// Row r of A has scale code `first` + r and all codes one after another; row c of W has a one at k = c, times the
/// scale code `unit`. D is A times that: every element x scale that there is.
template <class R>
void check_every_scale(int first, int unit) {
  using E = typename R::element;
  constexpr i64 rows = 8, cols = 64, depth = 64;
  quantized_operand<R> a(values::zero, rows, depth, 1);
  quantized_operand<R> b(values::zero, cols, depth, 2);
  u8 one = 0;
  while (E::decode(one) != 1) ++one;
  auto const fill = [](auto& x, auto const& code, auto const& scale) {
    auto const to = x.host.ref();
    for (i64 r = 0; r < to.rows; ++r) {
      for (i64 k = 0; k < depth; k += 2)
        to.codes[(r * depth + k) / 2] = u8(code(r, k) | code(r, k + 1) << 4);
      for (i64 s = 0; s < to.scale_cols(); ++s) to.scales[r * to.scale_cols() + s] = u8(scale(r));
    }
    if (!x.host.outer().empty()) to.outer[0] = 1;
    x.upload();
  };
  fill(
      a, [](i64, i64 k) { return u32(k % 16); }, [&](i64 r) { return first + r; });
  fill(
      b, [&](i64 c, i64 k) { return u32(k == c ? one : 0); }, [&](i64) { return unit; });
  packed_operand<R> const packed(b);
  device_buffer<float> d(std::size_t(rows * cols));
  detail::gemm_segments const work{rows, cols, depth, 1, rows, nullptr};
  detail::launch_skinny(on(nullptr), work, prepacked_ref<R, u8 const>(packed.ref),
                        detail::skinny_source{detail::coded_matrix(std::as_const(a.device).ref())},
                        false, epilogue_of(a.on_device(), packed.ref, {d.data(), rows, cols}));
  std::vector<float> const values = d.host();
  for (i64 r = 0; r < rows; ++r) {
    double const scale = double(R::scale::format::decode(u8(first + r)));
    if (scale * double(E::max) > double(std::numeric_limits<float>::max())) continue;  // infinity
    for (i64 c = 0; c < cols; ++c) {
      double const exact =
          double(E::decode(u32(c % 16))) * scale * double(R::scale::format::decode(u8(unit)));
      float const got = values[std::size_t(r * cols + c)];
      if (std::isnan(exact) ? !std::isnan(got) : double(got) != exact) {
        INFO("scale code " << first + r << ", code " << c % 16 << ": " << got << " for " << exact);
        FAIL();
      }
    }
  }
}

}  // namespace

TEST_CASE("gemm on the GPU: all grids of the skinny path, BF16 activations") {
  weights<nvfp4> const w(values::normal);
  check_plain<detail::skinny_shape<1, false>>(w, 8);
  check_plain<detail::skinny_shape<1, false>>(w, 21);
  check_plain<detail::skinny_shape<2, false>>(w, 37);
  check_plain<detail::skinny_shape<4, false>>(w, 70);
  if (detail::has_hopper_code()) check_plain<detail::skinny_shape<4, true>>(w, 70);
}

TEST_CASE("gemm on the GPU: all grids of the skinny path, quantized activations") {
  check_decoded<nvfp4, nvfp4>(values::normal, 1);
  check_decoded<nvfp4, nvfp4>(values::random_codes, 21);
  check_decoded<nvfp4, nvfp4, tiled_128x4_scales>(values::normal, 7);
  check_decoded<mxfp4, mxfp4>(values::stages, 21);
  check_decoded<integers, nvfp4>(values::random_codes, 7);
  check_decoded<uniform_mx, mxfp4>(values::random_codes, 7);
}

TEST_CASE("gemm on the GPU: every code and scale of activations is decoded exactly") {
  // A UE8M0 scale that keeps the product in FP32's normal range; the last code is NaN.
  for (int first = 0; first < 256; first += 8) {
    check_every_scale<mxfp4>(first, first < 128 ? 254 - 64 : 64);
    check_every_scale<uniform_mx>(first, first < 128 ? 254 - 64 : 64);
    check_every_scale<nvfp4>(first, 0x38);
    check_every_scale<integers>(first, 0x38);
  }
}
