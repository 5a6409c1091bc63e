// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices of a model's size: sampled rows and columns have the bytes of the host.

#include "cuda/parity.cuh"

using namespace parity;

namespace {

/// Values that depend on the index alone: uniform bits, one in about a thousand 64 times larger.
__global__ void fill(u16* x, i64 n) {
  i64 const step = i64(gridDim.x) * blockDim.x;
  for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    u64 z = (u64(i) + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    float const uniform = float(i64(z >> 40) - (i64(1) << 23)) * 0x1p-23f;
    float const value = (z & 1023) == 0 ? 64 * uniform : uniform;
    x[i] = u16(detail::bits_of(detail::round_to_bf16(value)) >> 16);
  }
}

/// A matrix in device memory, and a copy of it.
struct large {
  i64 rows;
  i64 cols;
  device_buffer<u16> memory;
  std::vector<u16> copied;
  large(i64 r, i64 c) : rows(r), cols(c), memory(std::size_t(r * c)) {
    fill<<<4096, 256>>>(memory.data(), r * c);
    copied = memory.host();
  }
  matrix_ref<bf16 const> device() const {
    return {reinterpret_cast<bf16 const*>(memory.data()), rows, cols};
  }
  matrix_ref<bf16 const> host() const {
    return {reinterpret_cast<bf16 const*>(copied.data()), rows, cols};
  }
};

/// Rows of x, quantized with its amax, against those rows of `to`.
template <class R, class Layout>
void check_sampled(matrix_ref<bf16 const> x, parity::target<R, Layout> const& to, u32 stream) {
  float const largest = amax<R>(quadrille::host, x, rotation_seed);
  bytes const codes = to.codes();
  bytes const scales = to.scales();
  bytes const outer = to.outer();
  auto const q = to.ref();
  std::size_t const row_size = std::size_t(row_bytes<typename R::element>(x.cols));
  std::size_t const scale_size = sizeof(typename R::scale::stored);
  std::vector<i64> sampled{0, 1, 15, 16, 127, 128, x.rows - 129, x.rows - 2, x.rows - 1};
  for (i64 r = 131; r < x.rows; r += x.rows / 24) sampled.push_back(r);
  for (i64 const r : sampled) {
    CAPTURE(r);
    matrix_ref<bf16 const> const row(&x(r, 0), 1, x.cols, x.row_stride, x.col_stride);
    auto const expected = quantize<R>(
        quadrille::host, row, {.seed = key.seed, .stream = stream, .first_row = r, .amax = largest},
        rotation_seed);
    auto const at = codes.begin() + std::ptrdiff_t(std::size_t(r) * row_size);
    check_equal("codes of a row", bytes(at, at + std::ptrdiff_t(row_size)), expected.codes());
    bytes found;
    for (i64 c = 0; c < q.scale_cols(); ++c) {
      std::size_t const offset = std::size_t(Layout::offset(r, c, q.scale_cols())) * scale_size;
      found.insert(found.end(), scales.begin() + std::ptrdiff_t(offset),
                   scales.begin() + std::ptrdiff_t(offset + scale_size));
    }
    check_equal("scales of a row", found, bytes_of(expected.scales()));
    check_equal("outer scale", outer, bytes_of(expected.outer()));
  }
}

template <class R, class Layout = row_major_scales, class X>
void check_large(X const& x, matrix_ref<bf16 const> on_host) {
  parity::target<R, Layout> const to(on_host.rows, on_host.cols, rotation_seed);
  guarded const work(quantize_workspace<R>(on_host.rows, on_host.cols), 0xA5);
  quantize(on(nullptr), x, to.ref(),
           {.seed = key.seed, .stream = 5, .workspace = work.workspace()});
  check_sampled(on_host, to, 5);
  work.host();
}

template <class R, class S>
void check_large_both(large const& x) {
  parity::target<R, tiled_128x4_scales> const along_rows(x.rows, x.cols, rotation_seed);
  parity::target<S> const along_cols(x.cols, x.rows, rotation_seed);
  guarded const work(quantize_workspace<R>(x.rows, x.cols), 0xA5);
  guarded const work_cols(quantize_workspace<S>(x.cols, x.rows), 0xA5);
  quantize_both(on(nullptr), x.device(), along_rows.ref(),
                {.seed = key.seed, .stream = 5, .workspace = work.workspace()}, along_cols.ref(),
                {.seed = key.seed, .stream = 6, .workspace = work_cols.workspace()});
  check_sampled(x.host(), along_rows, 5);
  check_sampled(x.host().transposed(), along_cols, 6);
}

}  // namespace

TEST_CASE("quantize: 4096 x 4096 along rows, along columns and both") {
  large const x(4096, 4096);
  check_large<nvfp4>(x.device(), x.host());
  check_large<mxfp4, tiled_128x4_scales>(x.device(), x.host());
  check_large<ufp4_two_level>(x.device(), x.host());
  check_large<nvfp4_wgrad_gradient, tiled_128x4_scales>(x.device(), x.host());
  check_large<nvfp4>(transposed(x.device()), x.host().transposed());
  check_large<nvfp4_wgrad_gradient, tiled_128x4_scales>(transposed(x.device()),
                                                        x.host().transposed());
  check_large_both<nvfp4, mxfp4>(x);
  check_large_both<nvfp4_gradient, nvfp4_wgrad_gradient>(x);
}

TEST_CASE("quantize: 8192 x 28672") {
  large const x(8192, 28672);
  check_large<nvfp4>(x.device(), x.host());
  check_large<mxfp4, tiled_128x4_scales>(x.device(), x.host());
  check_large<ufp4_two_level>(x.device(), x.host());
  check_large<nvfp4_wgrad_gradient, tiled_128x4_scales>(x.device(), x.host());
  check_large<nvfp4>(transposed(x.device()), x.host().transposed());
}
