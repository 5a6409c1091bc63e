// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The input generators: distribution, shape, and bytes that may never change.

#include "inputs.hpp"
#include "catch.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

using floats = std::vector<float>;

double moment(floats const& x, int power) {
  double sum = 0;
  for (float const v : x) sum += std::pow(std::fabs(static_cast<double>(v)), power);
  return sum / static_cast<double>(x.size());
}

/// FNV-1a over the bit patterns.
std::uint64_t digest(floats const& x) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (float const v : x) hash = (hash ^ std::bit_cast<std::uint32_t>(v)) * 0x100000001B3u;
  return hash;
}

}  // namespace

TEST_CASE("Inputs/SplitMix64.KnownAnswers") {
  inputs::splitmix64 random(1234567);
  CHECK(random.next() == 6457827717110365317u);
  CHECK(random.next() == 3203168211198807973u);
}

TEST_CASE("Inputs/Distributions.Moments") {
  std::size_t const n = 1 << 18;
  floats const z = inputs::normal(n, 1);
  CHECK(std::fabs(moment(z, 1) - 0.797885) < 0.006);
  CHECK(std::fabs(moment(z, 2) - 1) < 0.014);
  CHECK(std::fabs(moment(z, 4) - 3) < 0.1);
  floats const l = inputs::laplace(n, 2);
  CHECK(std::fabs(moment(l, 1) - 1) < 0.01);
  CHECK(std::fabs(moment(l, 2) - 2) < 0.05);
  CHECK(std::fabs(moment(inputs::student_t3(n, 3), 1) - 1.102658) < 0.016);
}

TEST_CASE("Inputs/Shapes") {
  floats const x = inputs::outlier_channels(64, 128, 5, 64, 100.0f);
  CHECK(std::fabs(x[63]) > 0);
  CHECK(inputs::normal(64 * 128, 5)[63] * 100.0f == x[63]);
  CHECK(inputs::normal(64 * 128, 5)[62] == x[62]);
  for (float const v : inputs::subnormal(1000, 6)) CHECK(std::fabs(v) < 0x1p-126f);
  CHECK(inputs::all_bf16().size() == 65536);
  int not_finite = 0;
  for (float const v : inputs::sprinkle_non_finite(floats(5000, 1.0f), 7))
    not_finite += std::isfinite(v) ? 0 : 1;
  CHECK(not_finite > 50);
  CHECK(not_finite < 150);
}

TEST_CASE("Inputs/ZeroBlocks") {
  floats const x = inputs::zero_blocks(floats(1600, 1.0f), 16, 8);
  int zeros = 0;
  for (std::size_t start = 0; start < x.size(); start += 16) {
    for (std::size_t i = 0; i < 16; ++i) CHECK(x[start + i] == x[start]);
    zeros += x[start] == 0.0f ? 1 : 0;
  }
  CHECK(zeros > 25);
  CHECK(zeros < 75);
}

TEST_CASE("Inputs/TieAligned") {
  floats const grid{0, .5f, 1, 1.5f, 2, 3, 4, 6};
  floats const x = inputs::tie_aligned(1600, 9, grid, 0.25f);
  CHECK(std::fabs(x[16]) == 1.5f);
  int exact = 0;
  for (float const v : x)
    for (std::size_t i = 0; i + 1 < grid.size(); ++i)
      exact += std::fabs(v) == (grid[i] + grid[i + 1]) * 0.125f ? 1 : 0;
  CHECK(exact > 400);
  CHECK(exact < 600);
}

TEST_CASE("Inputs/BytesNeverChange") {
  floats const grid{0, .5f, 1, 1.5f, 2, 3, 4, 6};
  CHECK(digest(inputs::normal(4096, 1)) == 0x351fa7ff9ec06781u);
  CHECK(digest(inputs::laplace(4096, 1)) == 0x35b9273b00b5bd10u);
  CHECK(digest(inputs::student_t3(4096, 1)) == 0xae425d658db5cce5u);
  CHECK(digest(inputs::tie_aligned(4096, 1, grid)) == 0x14424a5be1fdec85u);
  CHECK(digest(inputs::subnormal(4096, 1)) == 0x926705ae35ccf113u);
  CHECK(digest(inputs::bit_patterns(4096, 1)) == 0x6f023a291f48f257u);
}
