// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// clip_mask: where an element was not clipped, in the rotated basis.

#include <quadrille/recipes.hpp>

#include "quantize/image.hpp"
#include "quantize/stock_plans.hpp"

namespace {
using namespace test;
using namespace quadrille;

struct quest_plain : quartet_forward {
  using rotation = identity;
};

template <class R>
std::vector<u8> mask_of(matrix<> x, quantize_options const& options = {}) {
  auto const q = test::quantized<R>(x, options);
  std::vector<u8> mask(3, 0xAA);
  clip_mask(host, x.ref(), q, mask, options);
  return mask;
}

bool bit(std::vector<u8> const& mask, std::size_t cols, std::size_t r, std::size_t c) {
  return (mask[r * ((cols + 7) / 8) + c / 8] >> (c % 8) & 1) != 0;
}
}  // namespace

TEST_CASE("Quantize/Mask.WorkedQuestBlocks") {
  matrix<> x(1, 32);
  for (std::size_t i = 0; i < 32; ++i) x.values[i] = i % 2 == 0 ? 2.1f : -2.1f;
  CHECK(mask_of<quest_plain>(x) == std::vector<u8>(4, 0xFF));
  for (std::size_t i = 0; i < 32; ++i) x.values[i] = i % 2 == 0 ? 1.0f : -1.0f;
  x.values[30] = 4;
  x.values[31] = -4;
  CHECK(mask_of<quest_plain>(x) == std::vector<u8>{0xFF, 0xFF, 0xFF, 0x3F});
}

// Zero exactly where |x / scale| >= 6.
TEST_CASE("Quantize/Mask.QuartetInTheRotatedBasis") {
  matrix<> const x{17, 96, inputs::student_t3(17 * 96, 2)};
  std::vector<u8> const mask = mask_of<quartet_forward>(x);
  REQUIRE(mask.size() == 17 * 12);
  plan const p = rotated(quest_plan(), 32, sign_source::none);
  matrix<> const y = rotate(p, x, 0);
  int clipped = 0;
  for (std::size_t start = 0; start < y.values.size(); start += 32) {
    auto const first = y.values.begin() + std::ptrdiff_t(start);
    oracle::block const b = quest_block(floats(first, first + 32));
    for (std::size_t i = 0; i < 32; ++i) {
      bool const inside = std::fabs(b.t[i]) < 6;
      CHECK(bit(mask, 96, start / 96, start % 96 + i) == inside);
      clipped += inside ? 0 : 1;
    }
  }
  CHECK(clipped > 5);
}

TEST_CASE("Quantize/Mask.FloorScalesClipTheTopOfTheBinade") {
  matrix<> const x{3, 45, inputs::laplace(3 * 45, 2)};
  std::vector<u8> const mask = mask_of<mxfp4>(x);
  REQUIRE(mask.size() == 3 * 6);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t c = 0; c < 45; ++c) {
      floats block;
      for (std::size_t k = c / 32 * 32; k < 45 && k < c / 32 * 32 + 32; ++k)
        block.push_back(x.at(r, k));
      unsigned const code =
          oracle::mx_scale_code(oracle::amax_finite(block), oracle::mx_rule::floor, oracle::e2m1());
      float const scale = float(oracle::decode(oracle::ue8m0(), code));
      CHECK(bit(mask, 45, r, c) == (std::fabs(x.at(r, c)) < 6 * scale));
    }
    CHECK(mask[r * 6 + 5] < 32);  // no bits beyond the last column
  }
}

TEST_CASE("Quantize/Mask.UsesTheRowScales") {
  matrix<> x(2, 16);
  x.values.assign(32, 0.5f);
  x.at(0, 0) = 6;
  x.at(1, 0) = 600;
  std::vector<u8> const mask = mask_of<nvfp4_per_row>(x);
  CHECK(mask[1] == 0xFF);
  CHECK((mask[0] & 0xFE) == 0xFE);
  CHECK((mask[2] & 0xFE) == 0xFE);
  CHECK(mask.size() == 4);
}

TEST_CASE("Quantize/Mask.EmptyMatrix") { CHECK(mask_of<mxfp4>(matrix<>(0, 32)).empty()); }
