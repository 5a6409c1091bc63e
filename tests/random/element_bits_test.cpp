// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Random bits of a matrix element: which lane of which block, what they depend on, how they spread.

#include <cmath>
#include <vector>

#include <quadrille/random.hpp>

#include "support/catch.hpp"

namespace {

using namespace quadrille;

/// Lane `lane` of `width` bits, lowest first.
u32 lane_of(philox_block const& block, int lane, int width) {
  u64 const lanes_a_word = static_cast<u64>(32 / width);
  u64 const word = block.word[static_cast<u64>(lane) / lanes_a_word];
  u64 const shift = static_cast<u64>(lane) % lanes_a_word * static_cast<u64>(width);
  return static_cast<u32>((word >> shift) % (u64(1) << width));
}

bool same(philox_block const& a, philox_block const& b) {
  return a.word[0] == b.word[0] && a.word[1] == b.word[1] && a.word[2] == b.word[2] &&
         a.word[3] == b.word[3];
}

template <int Bits>
void check_lanes() {
  random_key const key{0x123456789ABCDEFu, 7};
  constexpr int group = random_group<Bits>;
  for (i64 const row : {i64(0), i64(3), i64(1) << 33})
    for (i64 col = 0; col < 5 * group; ++col) {
      philox_block const block = random_block<Bits>(key, row, col);
      CHECK(same(block, random_block<Bits>(key, row, col / group * group)));
      CHECK(random_bits<Bits>(key, row, col) ==
            lane_of(block, static_cast<int>(col % group), random_width<Bits>));
    }
}

/// n words of one row.
template <int Bits>
std::vector<u32> draw(random_key key, i64 row, i64 n) {
  std::vector<u32> result;
  for (i64 col = 0; col < n; ++col) result.push_back(random_bits<Bits>(key, row, col));
  return result;
}

double deviations_from_half(i64 hits, i64 n) {
  return std::fabs(static_cast<double>(2 * hits - n)) / std::sqrt(static_cast<double>(n));
}

}  // namespace

static_assert(random_width<1> == 8 && random_width<8> == 8 && random_width<9> == 16);
static_assert(random_width<16> == 16 && random_width<17> == 32 && random_width<24> == 32);
static_assert(random_group<8> == 16 && random_group<16> == 8 && random_group<24> == 4);
static_assert(random_bits<8>({1, 2}, 3, 4) == random_bits<8>({1, 2}, 3, 4));

TEST_CASE("Random/Element.IsItsLaneOfTheBlock") {
  SECTION("8 bits") { check_lanes<8>(); }
  SECTION("16 bits") { check_lanes<16>(); }
  SECTION("32 bits") { check_lanes<24>(); }
}

TEST_CASE("Random/Element.AllWidthsOfAClassDrawTheSame") {
  for (i64 col = 0; col < 64; ++col) {
    CHECK(random_bits<1>({5, 0}, 2, col) == random_bits<8>({5, 0}, 2, col));
    CHECK(random_bits<9>({5, 0}, 2, col) == random_bits<16>({5, 0}, 2, col));
    CHECK(random_bits<17>({5, 0}, 2, col) == random_bits<24>({5, 0}, 2, col));
  }
}

TEST_CASE("Random/Element.IsAPureFunction") {
  std::vector<u32> const forward = draw<8>({9, 1}, 4, 100);
  for (i64 col = 99; col >= 0; --col)
    CHECK(random_bits<8>({9, 1}, 4, col) == forward[static_cast<std::size_t>(col)]);
}

TEST_CASE("Random/Element.SeedStreamRowAndColumnMatter") {
  // Blocks of 128 bits: two that agree would be a collision by construction.
  std::vector<philox_block> blocks;
  i64 const far = i64(1) << 32;
  for (u64 const seed : {u64(0), u64(1), u64(1) << 32, u64(1) << 63})
    for (u32 const stream : {0u, 1u, 0x80000000u})
      for (i64 const row : {i64(0), i64(1), far, far + 1})
        for (i64 const col : {i64(0), i64(16), i64(32), far * 15})
          blocks.push_back(random_block<8>({seed, stream}, row, col));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (same(blocks[i], blocks[j])) FAIL_CHECK("blocks " << i << " and " << j);
  CHECK(blocks.size() == 192);
}

TEST_CASE("Random/Element.NeighboursUseDifferentLanes") {
  // Each of the 128 bits of a block reaches exactly one element of its group.
  philox_block const block = random_block<8>({77, 0}, 5, 32);
  u32 words[4] = {};
  for (int col = 0; col < 16; ++col)
    words[col / 4] |= random_bits<8>({77, 0}, 5, 32 + col) << 8 * (col % 4);
  CHECK(same(block, {{words[0], words[1], words[2], words[3]}}));
}

TEST_CASE("Random/Spread.BytesAreUniform") {
  i64 const n = i64(1) << 18;
  for (u64 const seed : {u64(0), u64(1), u64(2)}) {
    std::vector<i64> bins(256);
    for (u32 const byte : draw<8>({seed, 0}, 0, n)) ++bins[byte];
    double chi_square = 0;
    double const expected = static_cast<double>(n) / 256;
    for (i64 const hits : bins) {
      double const d = static_cast<double>(hits) - expected;
      chi_square += d * d / expected;
    }
    INFO("seed " << seed);
    CHECK(std::fabs(chi_square - 255) < 5 * std::sqrt(2. * 255));
  }
}

TEST_CASE("Random/Spread.EveryBitIsFair") {
  i64 const n = i64(1) << 16;
  std::vector<i64> ones(16);
  for (u32 const word : draw<16>({3, 0}, 8, n))
    for (std::size_t bit = 0; bit < 16; ++bit) ones[bit] += word >> bit & 1;
  for (i64 const hits : ones) CHECK(deviations_from_half(hits, n) < 5);
}

TEST_CASE("Random/Spread.NeighboursRowsStreamsAndSeedsAreUnrelated") {
  i64 const n = i64(1) << 16;
  std::vector<u32> const base = draw<8>({3, 0}, 0, n + 16);
  auto const equal_top_bits = [&](std::vector<u32> const& other, std::size_t shift) {
    i64 hits = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
      hits += (base[i] ^ other[i + shift]) < 128 ? 1 : 0;
    return hits;
  };
  for (std::size_t const shift : {1u, 2u, 4u, 8u, 16u})
    CHECK(deviations_from_half(equal_top_bits(base, shift), n) < 5);
  CHECK(deviations_from_half(equal_top_bits(draw<8>({3, 0}, 1, n), 0), n) < 5);
  CHECK(deviations_from_half(equal_top_bits(draw<8>({3, 1}, 0, n), 0), n) < 5);
  CHECK(deviations_from_half(equal_top_bits(draw<8>({4, 0}, 0, n), 0), n) < 5);
}
