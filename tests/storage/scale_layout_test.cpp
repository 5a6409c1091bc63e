// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Tiles of 128 x 4 scales: offsets, sizes, padding, and the way back.

#include <algorithm>
#include <vector>

#include <quadrille/quantize.hpp>
#include <quadrille/recipes.hpp>
#include <quadrille/scale_layout.hpp>

#include "support/catch.hpp"
#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace {

using namespace quadrille;
using bytes = std::vector<u8>;
using tiles = tiled_128x4_scales;

struct extents {
  i64 rows, cols;
};

constexpr extents shapes[] = {{1, 1},   {3, 3},     {128, 4}, {129, 4},  {128, 5},
                              {33, 17}, {257, 100}, {500, 1}, {1, 1023}, {384, 12}};

bytes random_scales(extents e) {
  inputs::splitmix64 random(101);
  bytes scales(static_cast<std::size_t>(e.rows * e.cols));
  for (u8& s : scales) s = static_cast<u8>(1 + random.below(255));
  return scales;
}

/// The tiles of row-major scales, between two runs of 64 guard bytes.
bytes tiled_with_guards(bytes const& row_major, extents e) {
  bytes buffer(static_cast<std::size_t>(tiles::size(e.rows, e.cols)) + 128, 0x7F);
  std::fill_n(buffer.begin(), 64, u8(0x5A));
  std::fill_n(buffer.end() - 64, 64, u8(0x5A));
  tile_scales(row_major.data(), e.rows, e.cols, buffer.data() + 64);
  return buffer;
}

void check_guards(bytes const& buffer) {
  CHECK(std::count(buffer.begin(), buffer.begin() + 64, 0x5A) == 64);
  CHECK(std::count(buffer.end() - 64, buffer.end(), 0x5A) == 64);
}

}  // namespace

// Offsets that the cuBLAS documentation's formula gives.
static_assert(tiles::offset(0, 0, 4) == 0 && tiles::offset(1, 0, 4) == 16);
static_assert(tiles::offset(32, 0, 4) == 4 && tiles::offset(127, 3, 4) == 511);
static_assert(tiles::offset(0, 4, 8) == 512 && tiles::offset(128, 0, 8) == 1024);
static_assert(tiles::offset(37, 5, 8) == 597 && tiles::offset(129, 7, 8) == 1555);
static_assert(tiles::offset(129, 7, 5) == 1555);  // five columns take two tiles as well
static_assert(tiles::offset((i64(1) << 27) + 3, 0, 1) == 536870960);  // beyond 2^29 bytes

static_assert(tiles::size(1, 1) == 512 && tiles::size(128, 4) == 512 &&
              tiles::size(129, 5) == 2048);
static_assert(tiles::size(0, 4) == 0 && tiles::size(7, 0) == 0);
static_assert(tiles::size((i64(1) << 27) + 4, 1) == ((i64(1) << 20) + 1) * 512);

static_assert(row_major_scales::size(3, 5) == 15 && row_major_scales::offset(2, 4, 5) == 14);

TEST_CASE("Storage/ScaleTiles.OffsetsAreTheOracles") {
  for (extents const e : shapes) {
    INFO(e.rows << " x " << e.cols);
    auto const layout =
        oracle::lay_out_scales(static_cast<std::size_t>(e.rows), static_cast<std::size_t>(e.cols));
    CHECK(tiles::size(e.rows, e.cols) == static_cast<i64>(layout.size()));
    i64 differences = 0;
    for (i64 r = 0; r < e.rows; ++r)
      for (i64 c = 0; c < e.cols; ++c)
        differences +=
            tiles::offset(r, c, e.cols) !=
            static_cast<i64>(layout.at(static_cast<std::size_t>(r), static_cast<std::size_t>(c)));
    CHECK(differences == 0);
  }
}

TEST_CASE("Storage/ScaleTiles.TilingIsTheOracles") {
  for (extents const e : shapes) {
    INFO(e.rows << " x " << e.cols);
    bytes const scales = random_scales(e);
    bytes const buffer = tiled_with_guards(scales, e);
    bytes const tiled(buffer.begin() + 64, buffer.end() - 64);
    CHECK(tiled == oracle::tile_scales(scales, static_cast<std::size_t>(e.rows),
                                       static_cast<std::size_t>(e.cols)));
    check_guards(buffer);
  }
}

TEST_CASE("Storage/ScaleTiles.UntilingUndoesTiling") {
  for (extents const e : shapes) {
    INFO(e.rows << " x " << e.cols);
    bytes const scales = random_scales(e);
    bytes const buffer = tiled_with_guards(scales, e);
    bytes back(scales.size() + 2, 0x5A);
    untile_scales(buffer.data() + 64, e.rows, e.cols, back.data() + 1);
    CHECK(std::equal(scales.begin(), scales.end(), back.begin() + 1));
    CHECK(back.front() == 0x5A);
    CHECK(back.back() == 0x5A);
  }
}

TEST_CASE("Storage/ScaleTiles.TilingUndoesUntiling") {
  extents const e{256, 8};  // whole tiles: every byte of them is a scale
  bytes const tiled = random_scales(e);
  bytes row_major(tiled.size());
  untile_scales(tiled.data(), e.rows, e.cols, row_major.data());
  bytes again(tiled.size());
  tile_scales(row_major.data(), e.rows, e.cols, again.data());
  CHECK(again == tiled);
}

TEST_CASE("Storage/ScaleTiles.PaddingIsZeroed (ODD-02)") {
  std::vector<float> const ones(3 * 48, 1);
  auto const q = quantize<nvfp4>(host, matrix_ref<float const>(ones.data(), 3, 48),
                                 {.amax = 2688.f});  // an outer scale of 1
  bytes const buffer = tiled_with_guards(q.scales(), {3, 3});
  REQUIRE(buffer.size() == 512 + 128);
  bytes expected(512);
  for (std::size_t const at : {0u, 1u, 2u, 16u, 17u, 18u, 32u, 33u, 34u}) expected[at] = 0x23;
  CHECK(bytes(buffer.begin() + 64, buffer.end() - 64) == expected);
  check_guards(buffer);
}

TEST_CASE("Storage/ScaleTiles.OneRow") {
  std::vector<float> const ones(64, 1);
  auto const q = quantize<nvfp4>(host, matrix_ref<float const>(ones.data(), 1, 64));
  bytes const buffer = tiled_with_guards(q.scales(), {1, 4});
  bytes expected(512);
  for (std::size_t at = 0; at < 4; ++at) expected[at] = 0x7E;
  CHECK(bytes(buffer.begin() + 64, buffer.end() - 64) == expected);
}

TEST_CASE("Storage/ScaleTiles.RowsOfABlockRepeatItsScale (SWZ-04)") {
  std::vector<float> x(32 * 32);
  for (std::size_t r = 0; r < 32; ++r)
    for (std::size_t c = 0; c < 32; ++c)
      x[r * 32 + c] = r < 16 ? (c < 16 ? 6.f : 12.f) : (c < 16 ? 24.f : 48.f);
  auto const q =
      quantize<nvfp4_weight>(host, matrix_ref<float const>(x.data(), 32, 32), {.amax = 2688.f});
  bytes expected;
  for (int r = 0; r < 32; ++r)
    for (u8 const scale : {r < 16 ? u8(0x38) : u8(0x48), r < 16 ? u8(0x40) : u8(0x50)})
      expected.push_back(scale);
  CHECK(q.scales() == expected);
}

TEST_CASE("Storage/ScaleTiles.WorksAtCompileTime") {
  constexpr bool inverse = [] {
    u8 const scales[6] = {1, 2, 3, 4, 5, 6};
    u8 tiled[512] = {};
    u8 back[6] = {};
    tile_scales(scales, 2, 3, tiled);
    untile_scales(tiled, 2, 3, back);
    for (int i = 0; i < 6; ++i)
      if (back[i] != scales[i]) return false;
    return tiled[16] == 4 && tiled[3] == 0;
  }();
  STATIC_REQUIRE(inverse);
}
