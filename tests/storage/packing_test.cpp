// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Codes in bytes: the even element in the low nibble, rows of whole bytes.

#include <cstring>
#include <vector>

#include <quadrille/quantize.hpp>
#include <quadrille/recipes.hpp>
#include <quadrille/storage.hpp>

#include "support/catch.hpp"
#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace {

using namespace quadrille;
using bytes = std::vector<u8>;

struct mx_int4 : mxfp4 {
  using element = int4;
};
struct mx_e1m2 : mxfp4 {
  using element = e1m2;
};
struct mx_e2m3 : mxfp4 {
  using element = e2m3;
};

template <class R>
quantized<R> quantize_rows(std::vector<float> const& x, i64 rows) {
  i64 const cols = static_cast<i64>(x.size()) / rows;
  return quantize<R>(host, matrix_ref<float const>(x.data(), rows, cols));
}

}  // namespace

static_assert(row_bytes<e2m1>(0) == 0 && row_bytes<e2m1>(1) == 1 && row_bytes<int4>(5) == 3);
static_assert(row_bytes<e1m2>(16) == 8 && row_bytes<e4m3>(5) == 5 && row_bytes<e2m3>(7) == 7);
static_assert(row_bytes<e2m1>(i64(1) << 40) == i64(1) << 39);

TEST_CASE("Storage/Packing.FiveCodesTakeThreeBytes (PAK-04)") {
  auto const q = quantize_rows<mx_int4>({1, 2, 3, 4, 5}, 1);
  CHECK(q.scales() == bytes{127});
  CHECK(q.codes() == bytes{0x21, 0x43, 0x05});
  auto const r = quantize_rows<mx_e1m2>({.25f, .5f, .75f, 1, 1.25f}, 1);
  CHECK(r.codes() == bytes{0x21, 0x43, 0x05});
}

TEST_CASE("Storage/Packing.TheFirstOfAPairIsLow") {
  auto const q = quantize_rows<mxfp4>({1, -2, 4, 6}, 1);
  CHECK(q.scales() == bytes{127});
  CHECK(q.codes() == bytes{0xC2, 0x76});
}

TEST_CASE("Storage/Packing.OddRowsStartAtAByte") {
  auto const q = quantize_rows<mx_int4>({1, 2, 3, 4, 5, -1, -2, -3, -4, -5}, 2);
  CHECK(q.codes() == bytes{0x21, 0x43, 0x05, 0xEF, 0xCD, 0x0B});
}

TEST_CASE("Storage/Packing.SpareNibblesAreZeroWhateverWasThere") {
  std::vector<float> const x = inputs::normal(3 * 33, 91);
  bytes codes(3 * 17 + 2, 0xA5);
  bytes scales(3 * 2 + 2, 0xA5);
  quantized_ref<mxfp4> const q(codes.data() + 1, scales.data() + 1, nullptr, 3, 33);
  quantize(host, matrix_ref<float const>(x.data(), 3, 33), q);
  for (std::size_t row = 0; row < 3; ++row) CHECK(codes[1 + row * 17 + 16] >> 4 == 0);
  for (bytes const* guarded : {&codes, &scales}) {
    CHECK(guarded->front() == 0xA5);
    CHECK(guarded->back() == 0xA5);
  }
}

TEST_CASE("Storage/Packing.WiderCodesTakeAByteEach") {
  auto const q = quantize_rows<mx_e2m3>({7.5f, -.125f, 1, 0, 2.5f}, 1);
  CHECK(q.scales() == bytes{127});
  CHECK(q.codes() == bytes{0x1F, 0x21, 0x08, 0x00, 0x12});
}

TEST_CASE("Storage/Packing.MatchesTheOracleForEveryLength") {
  for (std::size_t cols = 1; cols <= 70; ++cols) {
    std::vector<float> const x = inputs::normal(cols, cols);
    auto const q = quantize_rows<mxfp4>(x, 1);
    std::vector<unsigned> codes;
    for (std::size_t at = 0; at < cols; at += 32) {
      auto const first = x.begin() + static_cast<std::ptrdiff_t>(at);
      auto const last = x.begin() + static_cast<std::ptrdiff_t>(std::min(at + 32, cols));
      for (unsigned const code : oracle::quantize_mx({first, last}, oracle::mx_rule::floor).codes)
        codes.push_back(code);
    }
    INFO(cols << " columns");
    CHECK(q.codes() == oracle::pack(codes));
    for (std::size_t i = 0; i < cols; ++i)
      CHECK(load_code<e2m1>(q.codes().data(), static_cast<i64>(i)) == codes[i]);
  }
}

TEST_CASE("Storage/Packing.LoadCode") {
  bytes const row{0xDF, 0x85, 0x07};
  std::vector<unsigned> found;
  for (i64 col = 0; col < 6; ++col) found.push_back(load_code<e2m1>(row.data(), col));
  CHECK(found == std::vector<unsigned>{0xF, 0xD, 5, 8, 7, 0});
  CHECK(load_code<e4m3>(row.data(), 1) == 0x85);
}
