// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// GEMMs on the device: operands of many kinds of values in host and device memory, products that D is held
/// against, and the bounds that hold for each path.

#include "cuda/parity.cuh"
#include "gemm/reference.hpp"

#include <quadrille/cuda/gemm.cuh>

#include <cuda_fp8.h>

#include <random>

namespace gemm_cuda {

using namespace quadrille;
using gemm_test::product;
using enum gemm_path;

inline constexpr u64 seed = 11;

/// INT4 with scales for 32 columns, and E1M2 with powers of two.
struct integers : nvfp4 {
  using element = quadrille::int4;
  using block = shape<1, 32>;
};
struct uniform_mx : mxfp4 {
  using element = e1m2;
};

enum class values {
  normal,
  heavy,
  outliers,
  wide,
  positive,
  zero,
  random_codes,
  stages  // small scales and large ones, 64 rows x 512 columns each: not among all_values
};
inline constexpr values all_values[] = {values::normal,      values::heavy,    values::outliers,
                                        values::wide,        values::positive, values::zero,
                                        values::random_codes};
inline char const* name_of(values v) {
  constexpr char const* names[] = {"normal",   "heavy tails", "outlier channels", "wide spread",
                                   "positive", "zero",        "random codes",     "stages"};
  return names[int(v)];
}

inline std::vector<float> make(values v, i64 rows, i64 cols, u64 s) {
  std::vector<float> x = inputs::normal(std::size_t(rows * cols), s);
  auto const at = [&](i64 r, i64 c) -> float& { return x[std::size_t(r * cols + c)]; };
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < cols; ++c) {
      float& y = at(r, c);
      switch (v) {
        case values::heavy:
          y = y * y * y;
          break;
        case values::outliers:
          y *= c % 61 == 3 ? 100.f : 1.f;
          break;
        case values::wide:
          y = std::ldexp(y, int((r * 7 + c / 16 * 13) % 61) - 30);
          break;
        case values::stages:
          y = std::ldexp(y, (r / 64 + c / 512) % 2 == 0 ? -9 : 9);
          break;
        case values::positive:
          y = std::fabs(y) + 0.1f;
          break;
        case values::zero:
          y = 0;
          break;
        default:
          break;
      }
    }
  return x;
}

/// A quantized operand, in host and in device memory.
template <class R, class Layout = row_major_scales>
struct quantized_operand {
  static constexpr bool is_narrow = false;
  device_quantized<R, Layout> device;
  quantized<R> host;

  quantized_operand(values v, i64 rows, i64 cols, u64 s)
      : device(on(nullptr), rows, cols, seed), host(rows, cols, seed) {
    parity::matrix<float> const x(rows, cols, make(v, rows, cols, s));
    quantize(on(nullptr), x.device(), device);
    host = device.to_host(on(nullptr));
    if (v == values::random_codes) randomize(s);
  }
  auto const& on_device() const { return device; }
  auto on_host() const { return host.ref(); }
  auto exact() const { return gemm_test::exact_values(host); }

  /// What the host's memory has to the device's.
  void upload() {
    auto const to = device.ref();
    copy(to.codes, host.codes());
    if constexpr (std::is_same_v<Layout, row_major_scales>) copy(to.scales, host.scales());
    copy(to.outer, host.outer());
  }

 private:
  // Any code and, where scales are one byte, any scale that is a number: for UE8M0 out of 20 binades.
  void randomize(u64 s) {
    std::mt19937_64 draw(s);
    auto const to = host.ref();
    i64 const bytes = row_bytes<typename R::element>(host.cols());
    for (i64 i = 0; i < i64(host.codes().size()); ++i) {
      bool const is_half = host.cols() % 2 == 1 && i % bytes == bytes - 1;
      to.codes[i] = u8(draw() & (is_half ? 0x0fu : 0xffu));
    }
    if constexpr (std::is_same_v<Layout, row_major_scales> && sizeof(to.scales[0]) == 1) {
      constexpr bool is_ue8m0 = std::is_same_v<typename R::scale::format, ue8m0>;
      for (i64 i = 0; i < i64(host.scales().size()); ++i)
        to.scales[i] = u8(is_ue8m0 ? 117 + draw() % 20 : draw() % 0x7f);
    }
    upload();
  }
  template <class T>
  static void copy(T* to, std::vector<T> const& from) {
    if (from.empty()) return;
    check_cuda(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
};

/// A quantized operand's prepacked form.
template <class R>
struct packed_operand {
  device_buffer<u8> data;
  prepacked_ref<R> ref;

  explicit packed_operand(quantized_operand<R> const& b)
      : data(std::size_t(prepacked_bytes<R>(b.host.rows(), b.host.cols()))),
        ref(data.data(), b.device.ref().outer, b.host.rows(), b.host.cols(), 1, seed) {
    prepack(on(nullptr), b.device.ref(), ref);
  }
};

/// A plain operand.
template <class T>
struct plain_operand {
  static constexpr bool is_narrow = !std::is_same_v<T, bf16> && !std::is_same_v<T, float>;
  gemm_test::matrix<T> host;
  device_buffer<T> device;

  plain_operand(values v, i64 rows, i64 cols, u64 s)
      : host(rows, cols), device(rounded(host, make(v, rows, cols, s))) {}
  matrix_ref<T const> on_device() const { return {device.data(), host.rows, host.cols}; }
  auto on_host() const { return host.ref(); }
  auto exact() const { return gemm_test::exact_values(host); }

 private:
  static std::vector<T> const& rounded(gemm_test::matrix<T>& to, std::vector<float> const& x) {
    for (std::size_t i = 0; i < x.size(); ++i) to.values[i] = T(x[i]);
    return to.values;
  }
};

/// What makes D of finished sums of A B^T, for a kernel that a test launches itself.
template <class A, class B>
auto epilogue_of(A const& a, B const& b, matrix_ref<float> d) {
  return detail::matrix_epilogue<float, no_activation>{
      detail::linear_epilogue_of(detail::as_device_operand(a), detail::as_device_operand(b), d.cols,
                                 device_gemm_options<float>{}, no_activation{}),
      d, true};
}

/// Whether this GPU, and what this program holds for it, can take a path.
inline bool runs(gemm_path path) {
  bool const needs_hopper =
      path == gemm_path::dense || path == gemm_path::fp8 || path == gemm_path::fused;
  return !needs_hopper || detail::has_hopper_code();
}

/// f<path>() for each path that runs here.
template <gemm_path... Paths, class F>
void for_each_path(F const& f) {
  auto const one = [&]<gemm_path Path>(detail::path_constant<Path>) {
    INFO(name_of(Path));
    if (runs(Path)) f.template operator()<Path>();
  };
  (one(detail::path_constant<Paths>{}), ...);
}

/// D of the device, as FP32.
template <gemm_path Path, class A, class B>
std::vector<float> multiply(A const& a, B const& b, i64 rows, i64 cols,
                            device_gemm_options<float> options = {}) {
  device_buffer<float> d(std::size_t(rows * cols));
  matrix_ref<float> const ref(d.data(), rows, cols);
  gemm_plan const plan = explain<Path>(a.on_device(), b.on_device(), ref, options);
  CHECK(plan.path == Path);
  CHECK(plan.tile_rows * plan.tile_cols >= 8 * 16);
  device_buffer<u8> work(plan.workspace_bytes);
  options.workspace = {work.data(), plan.workspace_bytes};
  gemm<Path>(on(nullptr), a.on_device(), b.on_device(), ref, options);
  return d.host();
}

/// How far tensor cores may stray from the exact product, relative to the sum of magnitudes: each step of 16
/// products adds to a sum that is truncated to 24 bits. An FP8 step of 32 drops what lies 13 bits below its
/// largest product, 33 times at most; a sum starts afresh after four.
inline long double bound_of(gemm_path path, i64 depth) {
  long double const steps = static_cast<long double>(depth) / 16 + 8;
  return path == gemm_path::fp8 ? 4 * 33 * 0x1p-13L : 2 * steps * 0x1p-23L;
}
/// The same of the whole product, by the Frobenius norm: errors of either sign.
inline long double norm_bound_of(gemm_path path) {
  return path == gemm_path::fp8 ? 0x1p-11L : 0x1p-20L;
}

/// The first element of D that is out of bounds, or -1.
inline i64 first_wrong(std::vector<float> const& d, product const& exact, gemm_path path,
                       i64 depth) {
  for (std::size_t i = 0; i < d.size(); ++i)
    if (!(std::fabs(d[i] - exact.values[i]) <= bound_of(path, depth) * exact.magnitudes[i]))
      return i64(i);
  return -1;
}
/// |D - exact| / |exact|.
inline long double relative_error(std::vector<float> const& d, product const& exact) {
  long double error = 0;
  long double all = 0;
  for (std::size_t i = 0; i < d.size(); ++i) {
    error += (d[i] - exact.values[i]) * (d[i] - exact.values[i]);
    all += exact.values[i] * exact.values[i];
  }
  return error == 0 ? 0 : std::sqrt(error / all);
}

inline void check_close(std::vector<float> const& d, product const& exact, gemm_path path,
                        i64 depth) {
  CHECK(first_wrong(d, exact, path, depth) == -1);
  CHECK(double(relative_error(d, exact)) <= double(norm_bound_of(path)));
}

/// Every path that the pair can take, on every kind of values, against the exact product; the reference path
/// bit for bit against the host.
template <class A, class B, gemm_path... Paths>
void check_pair(i64 rows, i64 cols, i64 depth) {
  for (values const v : all_values) {
    if (v == values::wide && A::is_narrow) continue;  // beyond what A's type holds
    INFO(name_of(v) << ", " << rows << " x " << cols << " x " << depth);
    A const a(v, rows, depth, 1);
    B const b(v == values::wide ? values::normal : v, cols, depth, 2);
    product const exact = gemm_test::multiply(a.exact(), b.exact(), rows, cols, depth);
    gemm_test::matrix<> expected(rows, cols);
    gemm(host, a.on_host(), b.on_host(), expected.ref());
    for_each_path<Paths...>([&]<gemm_path Path>() {
      std::vector<float> const d = multiply<Path>(a, b, rows, cols);
      parity::check_equal("the same again", parity::bytes_of(multiply<Path>(a, b, rows, cols)),
                          parity::bytes_of(d));
      if (Path == gemm_path::reference)
        parity::check_equal("D", parity::bytes_of(d), parity::bytes_of(expected.values));
      else
        check_close(d, exact, Path, depth);
    });
  }
}

}  // namespace gemm_cuda
