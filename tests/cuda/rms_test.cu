// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RMSNorm inside the quantize kernel: right to FP32 accuracy, and quantized as the values that it makes.

#include <cmath>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

struct normed {
  i64 rows;
  i64 cols;
  float epsilon;
  std::vector<bf16> values;
  std::vector<float> weights;
  matrix<bf16> x;
  device_buffer<float> weight;

  normed(i64 r, i64 c, float eps, std::vector<float> const& from)
      : rows(r),
        cols(c),
        epsilon(eps),
        values(rounded_to<bf16>(from)),
        weights(inputs::normal(std::size_t(c), 4)),
        x(r, c, values),
        weight(weights) {}
  auto source() const { return rms_normalized(x.device(), weight.data(), epsilon); }

  /// The values in double precision.
  std::vector<double> exact() const {
    std::vector<double> result;
    for (i64 r = 0; r < rows; ++r) {
      double squares = 0;
      for (i64 c = 0; c < cols; ++c) squares += std::pow(at(r, c), 2);
      double const inverse = 1 / std::sqrt(squares / double(cols) + double(epsilon));
      for (i64 c = 0; c < cols; ++c)
        result.push_back(at(r, c) * inverse * double(weights[std::size_t(c)]));
    }
    return result;
  }
  double at(i64 r, i64 c) const {
    return double(static_cast<float>(values[std::size_t(r * cols + c)]));
  }
};

constexpr extents shapes_of_norms[] = {{1, 16},    {3, 1},    {5, 48},  {33, 131},
                                       {70, 1040}, {3, 8192}, {2, 5001}};

/// Integers up to 7: their squares add up exactly, in whatever order.
std::vector<float> integers(extents const& shape) {
  inputs::splitmix64 random(6);
  std::vector<float> x;
  for (i64 i = 0; i < shape.rows * shape.cols; ++i) x.push_back(float(int(random.below(15)) - 7));
  return x;
}

/// The FP32 values, one rounded operation after another.
std::vector<float> rounded(normed const& n) {
  std::vector<float> result;
  for (i64 r = 0; r < n.rows; ++r) {
    float squares = 0;
    for (i64 c = 0; c < n.cols; ++c) squares += float(n.at(r, c) * n.at(r, c));
    float const inverse = 1 / std::sqrt(squares / float(n.cols) + n.epsilon);
    for (i64 c = 0; c < n.cols; ++c) {
      float const scaled = float(n.at(r, c)) * inverse;
      result.push_back(scaled * n.weights[std::size_t(c)]);
    }
  }
  return result;
}

template <class R>
void check_bytes(normed const& n, std::vector<float> const& expected) {
  matrix_ref<float const> const view(expected.data(), n.rows, n.cols);
  quantize_options const options{.seed = key.seed, .stream = key.stream};
  parity::check(n.source(), quantize<R>(host, view, options, rotation_seed));
}

}  // namespace

TEST_CASE("amax of rms_normalized is within 1e-6 of the same in double precision, in every row") {
  for (extents const& shape : shapes_of_norms)
    for (auto const& [epsilon, sigma] :
         {std::pair{1e-6f, 1.f}, std::pair{1e-5f, 1e-3f}, std::pair{0.5f, 100.f}}) {
      CAPTURE(shape.rows, shape.cols, epsilon, sigma);
      normed const n(shape.rows, shape.cols, epsilon,
                     inputs::normal(std::size_t(shape.rows * shape.cols), 3, sigma));
      auto const exact = n.exact();
      device_buffer<float> const found(std::vector<float>(std::size_t(n.rows), -1.f));
      amax<nvfp4_per_row>(on(nullptr), n.source(), found.data());
      auto const amaxes = found.host();
      for (i64 r = 0; r < n.rows; ++r) {
        double largest = 0;
        for (i64 c = 0; c < n.cols; ++c)
          largest = std::max(largest, std::abs(exact[std::size_t(r * n.cols + c)]));
        CHECK(std::abs(double(amaxes[std::size_t(r)]) - largest) <= 1e-6 * largest);
      }
    }
}

TEST_CASE("rms_normalized is quantized as the FP32 values that it makes") {
  for (extents const& shape : shapes_of_norms) {
    CAPTURE(shape.rows, shape.cols);
    normed const n(shape.rows, shape.cols, 1e-6f, integers(shape));
    auto const expected = rounded(n);
    check_bytes<nvfp4>(n, expected);
    check_bytes<nvfp4_per_row>(n, expected);
    check_bytes<mxfp4>(n, expected);
    if (shape.cols % 16 == 0) check_bytes<nvfp4_wgrad_gradient>(n, expected);
    if (shape.cols % 128 == 0) check_bytes<quartet2_backward>(n, expected);
  }
}

TEST_CASE(
    "rms_normalized: a zero row stays zero, a row with NaN is poisoned, others do not notice") {
  std::vector<float> x = inputs::normal(4 * 64, 5);
  std::fill_n(x.begin() + 64, 64, 0.f);
  x[128 + 5] = detail::quiet_nan();
  matrix<float> const m(4, 64, x);
  device_buffer<float> const weight(std::vector<float>(64, 1.f));
  auto const q = on_device<nvfp4_per_row>(rms_normalized(m.device(), weight.data()));
  CHECK(codes(q, 1) == list(64, 0));
  CHECK(scales(q)[4] == 0);
  for (std::size_t b = 8; b < 12; ++b) CHECK(scales(q)[b] == e4m3::nan);
  std::vector<float> without = x;
  without[128 + 5] = 1;
  matrix<float> const clean(4, 64, without);
  auto const expected = on_device<nvfp4_per_row>(rms_normalized(clean.device(), weight.data()));
  for (i64 r : {0, 3}) CHECK(codes(q, r) == codes(expected, r));
}
