// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Packing, tails, strides, empty tensors, scale tiles, 2D blocks.

#include "cases.hpp"

#include <algorithm>

using namespace cases;

TEST_CASE("PAK-02 the first element of a pair is in the low nibble") {
  auto const q = quantize<unscaled>(host, row({1, -2}).ref());
  CHECK(q.codes()[0] == 0xC2);
}

TEST_CASE("PAK-02 packing a pair writes one byte and leaves its neighbours") {
  auto const insert_at = [](int byte) {
    u32 word = 0xABCDEF12u;
    u8 bytes[4];
    u8 scale;
    std::memcpy(bytes, &word, 4);
    quantize(host, matrix<>(1, 2, {4, 6}).ref(),
             quantized_ref<unscaled>(bytes + byte, &scale, nullptr, 1, 2));
    std::memcpy(&word, bytes, 4);
    return word;
  };
  CHECK(insert_at(0) == 0xABCDEF76u);
  CHECK(insert_at(2) == 0xAB76EF12u);
}

TEST_CASE("PAK-04 an odd row takes ceil(n/2) bytes and its last nibble is 0") {
  auto const q = quantize<unscaled>(host, matrix<>(1, 5, {0.5f, 1, 1.5f, 2, 3}).ref());
  CHECK(q.codes() == std::vector<u8>{0x21, 0x43, 0x05});
}

TEST_CASE("PAK-04 sibling: rows of odd length start on bytes of their own") {
  matrix<> const x(2, 5, {0.5f, 1, 1.5f, 2, 3, 6, 6, 6, 6, 6});
  auto const q = quantize<unscaled>(host, x.ref());
  CHECK(q.codes() == std::vector<u8>{0x21, 0x43, 0x05, 0x77, 0x77, 0x07});
  CHECK(decoded(q).values == x.values);
}

TEST_CASE("ODD-02 padding of the tiled scales is written, and nothing beyond it") {
  auto const q = quantize<nvfp4_one_level>(host, matrix<>(3, 48, 1.0f).ref());
  std::vector<u8> buffer(512 + 64, 0x7F);
  std::fill(buffer.begin() + 512, buffer.end(), u8(0x5A));
  REQUIRE(tiled_128x4_scales::size(3, 3) == 512);
  tile_scales(q.scales().data(), 3, 3, buffer.data());
  std::vector<u8> expected(512, 0);
  for (std::size_t const offset : {0u, 1u, 2u, 16u, 17u, 18u, 32u, 33u, 34u})
    expected[offset] = 0x23;
  expected.resize(512 + 64, 0x5A);
  CHECK(buffer == expected);
}

TEST_CASE("SWZ-02 host half: one row of four scales, 508 bytes of padding") {
  auto const q = quantize<nvfp4>(host, matrix<>(1, 64, 1.0f).ref());
  std::vector<u8> buffer(512, 0x7F);
  tile_scales(q.scales().data(), 1, 4, buffer.data());
  std::vector<u8> expected(512, 0);
  std::fill_n(expected.begin(), 4, u8(0x7E));
  CHECK(buffer == expected);

  auto const b = quantize<nvfp4>(host, matrix<>(8, 64, 1.0f).ref());
  matrix<> d(1, 8);
  gemm(host, q, b, d.ref());
  for (float const value : d.values) CHECK(std::abs(value - 64.f) <= 64 * 0x1p-22f);
}

TEST_CASE("SWZ-04 the scale of a 16x16 block is repeated in each of its rows") {
  struct weight : nvfp4_weight {
    using scale = one_level<e4m3>;
  };
  matrix<> x(32, 32);
  x(5, 5) = 6;
  x(5, 20) = -12;
  x(20, 5) = 24;
  x(31, 31) = 48;
  auto const q = quantize<weight>(host, x.ref());
  list expected;
  for (int r = 0; r < 16; ++r) expected.insert(expected.end(), {0x38, 0x40});
  for (int r = 0; r < 16; ++r) expected.insert(expected.end(), {0x48, 0x50});
  CHECK(scales(q) == expected);
}

TEST_CASE("ODD-04 host half: elements that start at an odd address give the same bytes") {
  std::vector<bf16> buffer;
  for (int i = 0; i < 257; ++i) buffer.push_back(bf16(float(i)));
  std::vector<bf16> const aligned(buffer.begin() + 1, buffer.end());
  matrix_ref<bf16 const> const odd(buffer.data() + 1, 1, 256);
  matrix_ref<bf16 const> const even(aligned.data(), 1, 256);
  CHECK(quantize<nvfp4>(host, odd).codes() == quantize<nvfp4>(host, even).codes());
  CHECK(quantize<nvfp4>(host, odd).scales() == quantize<nvfp4>(host, even).scales());
  CHECK(quantize<mxfp4>(host, odd).codes() == quantize<mxfp4>(host, even).codes());
  CHECK(quantize<mxfp4>(host, odd).scales() == quantize<mxfp4>(host, even).scales());
}

TEST_CASE("RAC-02 host half: any number of blocks, 1 to 67") {
  for (i64 k = 1; k <= 67; ++k) {
    auto const q = quantize<nvfp4_one_level>(host, matrix<>(1, 16 * k, 1.0f).ref());
    CHECK(scales(q) == list(std::size_t(k), 0x23));
    CHECK(codes(q) == list(std::size_t(16 * k), 7));
  }
}

TEST_CASE("EMP-01 empty tensors quantize to nothing; their scales take 0 bytes") {
  auto const no_rows = quantize<nvfp4>(host, matrix<>(0, 32).ref());
  CHECK(no_rows.codes().empty());
  CHECK(no_rows.scales().empty());
  auto const no_cols = quantize<nvfp4>(host, matrix<>(5, 0).ref());
  CHECK(no_cols.codes().empty());
  CHECK(no_cols.scales().empty());
  CHECK(tiled_128x4_scales::size(5, 0) == 0);
  CHECK(tiled_128x4_scales::size(0, 2) == 0);
  CHECK(decoded(no_cols).values.empty());
}

TEST_CASE("EMP-01 sibling: weights, rotations, scales a row and corrected scales of nothing") {
  CHECK(quantize<nvfp4_weight>(host, matrix<>(0, 32).ref()).scales().empty());
  CHECK(quantize<nvfp4_wgrad>(host, matrix<>(5, 0).ref()).scales().empty());
  CHECK(quantize<nvfp4_per_row>(host, matrix<>(0, 16).ref()).outer().empty());
  CHECK(quantize<quartet2_backward>(host, matrix<>(0, 128).ref()).scales().empty());
}

TEST_CASE("STR-01 a column slice is read with its leading dimension") {
  std::vector<float> buffer(2 * 48, 1000.f);
  std::fill_n(buffer.begin() + 8, 16, 1.f);
  std::fill_n(buffer.begin() + 48 + 8, 16, 4.f);
  matrix_ref<float const> const view(buffer.data() + 8, 2, 16, 48);
  auto const q = quantize<nvfp4_one_level>(host, view);
  CHECK(scales(q) == list{0x23, 0x33});
  CHECK(codes(q, 0) == list(16, 7));
  CHECK(codes(q, 1) == list(16, 7));
}

TEST_CASE("STR-01 sibling: dequantizing into a slice leaves what lies between its rows") {
  std::vector<float> buffer(2 * 48, 1000.f);
  dequantize(host, quantize<unscaled>(host, matrix<>(2, 16, 1.0f).ref()),
             matrix_ref<float>(buffer.data() + 8, 2, 16, 48));
  for (std::size_t i = 0; i < buffer.size(); ++i)
    CHECK(buffer[i] == (i % 48 >= 8 && i % 48 < 24 ? 1.f : 1000.f));
}

TEST_CASE("BIG-01 host half: offsets of more than 2^31 elements") {
  constexpr i64 rows = (i64(1) << 27) + 4;
  CHECK(tiled_128x4_scales::offset(rows - 1, 0, 1) == 536870960);
  CHECK(rows * row_bytes<e2m1>(16) == 8 * rows);
  CHECK(row_major_scales::offset(rows - 1, 63, 64) == 64 * rows - 1);
}

namespace {
template <int Cols>
struct block_of : nvfp4 {
  using block = shape<1, Cols>;
};
template <int Cols>
void require_whole_rows() {
  for (i64 cols : {i64(Cols), i64(2 * Cols), i64(3 * Cols - 1)}) {
    CAPTURE(Cols, cols);
    auto const q = quantize<block_of<Cols>>(host, matrix<>(3, cols, 1.0f).ref());
    CHECK(q.outer()[0] == 1 / 2688.f);
    CHECK(scales(q) == list(q.scales().size(), 0x7E));
    CHECK(codes(q, 2) == list(std::size_t(cols), 7));
  }
}
}  // namespace

TEST_CASE("RAC-02 sibling: blocks of a length that no vector divides") {
  require_whole_rows<2>();
  require_whole_rows<10>();
  require_whole_rows<24>();
  require_whole_rows<48>();
  require_whole_rows<1026>();
}
