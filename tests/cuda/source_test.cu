// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Computations that run inside a quantize kernel: its bytes are those of the computed FP32 matrix.

#include <cmath>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

// Each is one FP32 operation or exact, so that the host computes the same values.
struct twice {
  __host__ __device__ float operator()(float x) const { return 2 * x; }
};
struct square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};
struct relu {
  __host__ __device__ float operator()(float x) const { return x > 0 ? x : 0; }
};
/// Not 0 at 0: what follows the last column must not count.
struct plus_hundred {
  __host__ __device__ float operator()(float x) const { return x + 100; }
};
struct times {
  __host__ __device__ float operator()(float x, float y) const { return x * y; }
};
struct plus_and_hundred {
  __host__ __device__ float operator()(float x, float y) const {
    return x + y > 0 ? 100.f : -100.f;
  }
};

struct odd_block : nvfp4_gradient {
  using block = shape<4, 12>;
};

constexpr extents shapes_of_sources[] = {{1, 16}, {5, 48}, {33, 144}, {130, 272}};
constexpr extents odd_shapes[] = {{1, 1}, {5, 17}, {33, 131}};

template <class F>
std::vector<float> apply(F f, std::vector<bf16> const& x) {
  std::vector<float> result;
  for (bf16 const v : x) result.push_back(f(static_cast<float>(v)));
  return result;
}
template <class F>
std::vector<float> apply(F f, std::vector<bf16> const& x, std::vector<bf16> const& y) {
  std::vector<float> result;
  for (std::size_t i = 0; i < x.size(); ++i)
    result.push_back(f(static_cast<float>(x[i]), static_cast<float>(y[i])));
  return result;
}

quantize_options const drawn{.seed = key.seed, .stream = key.stream};

/// Quantization of a source must be that of its values.
template <class R, class Source>
void check_rows_of(Source const& source, std::vector<float> const& values) {
  matrix_ref<float const> const x(values.data(), source.rows, source.cols);
  parity::check(source, quantize<R>(host, x, drawn, rotation_seed));
}
template <class R, class Source>
void check_columns_of(Source const& source, std::vector<float> const& values) {
  matrix_ref<float const> const x(values.data(), source.rows, source.cols);
  parity::check(transposed(source), quantize<R>(host, x.transposed(), drawn, rotation_seed));
}

template <class R, class F>
void check_transformed(F f, extents const& shape) {
  CAPTURE(shape.rows, shape.cols);
  std::size_t const n = std::size_t(shape.rows * shape.cols);
  auto const values = rounded_to<bf16>(inputs::normal(n, 3));
  matrix<bf16> const x(shape.rows, shape.cols, values);
  check_rows_of<R>(transformed(f, x.device()), apply(f, values));
}

template <class R, class F>
void check_transformed_pair(F f, extents const& shape) {
  CAPTURE(shape.rows, shape.cols);
  std::size_t const n = std::size_t(shape.rows * shape.cols);
  auto const values = rounded_to<bf16>(inputs::normal(n, 3));
  auto const others = rounded_to<bf16>(inputs::student_t3(n, 4));
  matrix<bf16> const x(shape.rows, shape.cols, values);
  matrix<bf16> const y(shape.rows, shape.cols, others);
  check_rows_of<R>(transformed(f, x.device(), y.device()), apply(f, values, others));
}

}  // namespace

TEST_CASE("transformed: one function of each element") {
  for (extents const& shape : shapes_of_sources) {
    check_transformed<nvfp4>(twice{}, shape);
    check_transformed<nvfp4_wgrad_gradient>(square{}, shape);
    check_transformed<nvfp4_weight>(relu{}, shape);
  }
  for (extents const& shape : odd_shapes) {
    check_transformed<nvfp4_weight>(plus_hundred{}, shape);
    check_transformed<odd_block>(plus_hundred{}, shape);
  }
}

TEST_CASE("transformed: a function of two matrices, and of computed ones") {
  for (extents const& shape : shapes_of_sources)
    check_transformed_pair<nvfp4_gradient>(times{}, shape);
  for (extents const& shape : odd_shapes) check_transformed_pair<mxfp4>(plus_and_hundred{}, shape);

  auto const gate = rounded_to<bf16>(inputs::normal(20 * 96, 5));
  auto const up = rounded_to<bf16>(inputs::normal(20 * 96, 6));
  matrix<bf16> const x(20, 96, gate);
  matrix<bf16> const y(20, 96, up);
  std::vector<float> expected;
  for (std::size_t i = 0; i < gate.size(); ++i)
    expected.push_back(relu{}(static_cast<float>(gate[i])) * static_cast<float>(up[i]));
  check_rows_of<nvfp4>(transformed(times{}, transformed(relu{}, x.device()), y.device()), expected);
}

TEST_CASE("transformed: along the columns, and both copies from one read") {
  constexpr i64 rows = 144;
  constexpr i64 cols = 131;
  auto const values = rounded_to<bf16>(inputs::normal(rows * cols, 7));
  matrix<bf16> const x(rows, cols, values);
  auto const source = transformed(plus_hundred{}, x.device());
  auto const expected = apply(plus_hundred{}, values);
  check_columns_of<nvfp4_wgrad>(source, expected);

  matrix_ref<float const> const view(expected.data(), rows, cols);
  device_quantized<nvfp4, tiled_128x4_scales> along_rows(on(nullptr), rows, cols);
  device_quantized<nvfp4_wgrad> along_cols(on(nullptr), cols, rows);
  quantize_both(on(nullptr), source, along_rows, {}, along_cols, {});
  auto const a = along_rows.to_host(on(nullptr));
  auto const b = along_cols.to_host(on(nullptr));
  CHECK(a.codes() == quantize<nvfp4>(host, view).codes());
  CHECK(a.scales() == quantize<nvfp4>(host, view).scales());
  CHECK(b.codes() == quantize<nvfp4_wgrad>(host, view.transposed()).codes());
  CHECK(b.scales() == quantize<nvfp4_wgrad>(host, view.transposed()).scales());
}

TEST_CASE("a source that is not contiguous") {
  auto const buffer = rounded_to<bf16>(inputs::normal(64 * 200, 8));
  device_buffer<bf16> const device(buffer);
  matrix_ref<bf16 const> const on_host(buffer.data() + 3, 40, 96, 131);
  matrix_ref<bf16 const> const view(device.data() + 3, 40, 96, 131);
  std::vector<float> expected;
  for (i64 r = 0; r < 40; ++r)
    for (i64 c = 0; c < 96; ++c) expected.push_back(square{}(static_cast<float>(on_host(r, c))));
  check_rows_of<nvfp4>(transformed(square{}, view), expected);
}
