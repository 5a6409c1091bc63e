// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices that start anywhere, with any strides, and results that start anywhere.

#include <bit>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

/// Device quantization of a view into device memory against the host's of the same view.
template <class R, class T>
void check_view(matrix_ref<T const> on_host, T const* device_data) {
  auto const expected = quantize<R>(host, on_host, {.seed = key.seed, .stream = key.stream});
  matrix_ref<T const> view = on_host;
  view.data = device_data;
  parity::check(view, expected);
  parity::check(transposed(view.transposed()), expected);
}

/// A view of `buffer` that starts at element `first`.
template <class T>
void check_views(std::vector<T> const& buffer, i64 first, i64 rows, i64 cols, i64 row_stride,
                 i64 col_stride = 1) {
  CAPTURE(sizeof(T), first, rows, cols, row_stride, col_stride);
  device_buffer<T> const device(buffer);
  matrix_ref<T const> const view(buffer.data() + first, rows, cols, row_stride, col_stride);
  check_view<nvfp4>(view, device.data() + first);
  check_view<mxfp4>(view, device.data() + first);
}

template <class T>
std::vector<T> counting(i64 n) {
  std::vector<float> x;
  for (i64 i = 0; i < n; ++i) x.push_back(float(i));
  return rounded_to<T>(x);
}

/// Codes that start `offset` bytes after an aligned address, a poisoned surrounding.
template <class R, class X>
void check_codes_at(X const& x, i64 offset, quantized<R> const& expected) {
  CAPTURE(offset);
  std::size_t const size = expected.codes().size();
  guarded const memory(size + 32, 0xA5);
  parity::target<R> const to(expected.rows(), expected.cols());
  guarded const work(quantize_workspace<R>(expected.rows(), expected.cols()), 0xA5);
  auto q = to.ref();
  q.codes = memory.as<u8>() + offset;
  quantize(on(nullptr), x, q, {.workspace = work.workspace()});
  bytes around(size + 32, 0xA5);
  std::copy(expected.codes().begin(), expected.codes().end(), around.begin() + offset);
  check_equal("codes and their surrounding", memory.host(), around);
  check_equal("scales", to.scales(), bytes_of(expected.scales()));

  guarded const out(std::size_t(expected.rows() * expected.cols()) * 4, 0xA5);
  std::vector<float> decoded(std::size_t(expected.rows() * expected.cols()));
  dequantize(host, expected, matrix_ref<float>(decoded.data(), expected.rows(), expected.cols()));
  dequantize(on(nullptr), q, matrix_ref<float>(out.as<float>(), expected.rows(), expected.cols()));
  check_equal("values", out.host(), bytes_of(decoded));
}

struct hadamard_32 : unscaled {
  using rotation = hadamard<32>;
};

/// Row r of a rows x 32 matrix is 8 times unit vector r mod 32; every coordinate becomes +-sqrt(2).
void check_unit_vectors(i64 rows) {
  CAPTURE(rows);
  std::vector<float> x(std::size_t(rows * 32));
  bytes expected;
  for (i64 r = 0; r < rows; ++r) {
    x[std::size_t(r * 32 + r % 32)] = 8;
    for (unsigned j = 0; j < 32; j += 2) {
      auto const code = [&](unsigned at) {
        return std::popcount(at & unsigned(r % 32)) % 2 == 0 ? 3u : 0xBu;
      };
      expected.push_back(u8(code(j) | code(j + 1) << 4));
    }
  }
  matrix<bf16> const device_x(rows, 32, rounded_to<bf16>(x));
  for (int run = 0; run < 5; ++run) {
    parity::target<hadamard_32> const to(rows, 32);
    quantize(on(nullptr), device_x.device(), to.ref());
    check_equal("codes", to.codes(), expected);
    parity::target<hadamard_32> const by_tiles(rows, 32);
    quantize(on(nullptr), transposed(device_x.device().transposed()), by_tiles.ref());
    check_equal("codes by tiles", by_tiles.codes(), expected);
  }
}

}  // namespace

TEST_CASE("ODD-04 elements that start at any address") {
  for (i64 first = 0; first < 9; ++first) {
    check_views(counting<bf16>(first + 256), first, 1, 256, 256);
    check_views(counting<float>(first + 256), first, 1, 256, 256);
    check_views(counting<fp16>(first + 4 * 64), first, 4, 64, 64);
  }
}

TEST_CASE("STR-01 a column slice is read with its leading dimension") {
  std::vector<float> buffer(2 * 48, 1000.f);
  std::fill_n(buffer.begin() + 8, 16, 1.f);
  std::fill_n(buffer.begin() + 48 + 8, 16, 4.f);
  device_buffer<float> const device(buffer);
  matrix_ref<float const> const view(device.data() + 8, 2, 16, 48);
  for (auto const& q : {on_device<nvfp4_one_level>(view),
                        on_device<nvfp4_one_level>(transposed(view.transposed()))}) {
    CHECK(scales(q) == list{0x23, 0x33});
    CHECK(codes(q, 0) == list(16, 7));
    CHECK(codes(q, 1) == list(16, 7));
  }
}

TEST_CASE("STR-01 sibling: any strides, odd, beyond the columns, zero and negative") {
  auto const buffer = rounded_to<bf16>(inputs::normal(64 * 1024, 4));
  auto const wide = inputs::normal(64 * 1024, 5);
  for (auto const& [first, rows, cols, row_stride, col_stride] :
       {std::tuple{3, 17, 64, 67, 1}, std::tuple{8, 17, 64, 72, 1}, std::tuple{0, 33, 100, 101, 1},
        std::tuple{1, 16, 48, 128, 2}, std::tuple{5, 20, 33, 1, 20}, std::tuple{16, 9, 160, 0, 1},
        std::tuple{64 * 40, 40, 64, -64, 1}, std::tuple{300, 7, 96, 400, -1},
        std::tuple{0, 140, 130, 256, 1}}) {
    check_views(buffer, first, rows, cols, row_stride, col_stride);
    check_views(wide, first, rows, cols, row_stride, col_stride);
  }
}

TEST_CASE("ODD-04 sibling: codes that start at any address, written and read") {
  for (i64 const cols : {64, 50, 33}) {
    matrix<bf16> const x(5, cols, rounded_to<bf16>(inputs::normal(std::size_t(5 * cols), 6)));
    auto const expected = quantize<nvfp4>(host, x.host());
    for (i64 offset = 0; offset < 9; ++offset) {
      check_codes_at(x.device(), offset, expected);
      if (offset < 4) check_codes_at(transposed(x.device().transposed()), offset, expected);
    }
  }
}

TEST_CASE("ODD-06 more than 8192 rows that no tile divides are rotated to the last, every time") {
  check_unit_vectors(8193);
  check_unit_vectors(20004);
}
