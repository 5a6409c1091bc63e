// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MS-EDEN: deterministic elements, a corrected scale that is rounded stochastically.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;
using scale = two_level<e4m3, eden<16>>;

/// A block up to its correction, and the corrected scale for a random word.
struct corrected {
  u8 start = 0;
  std::vector<unsigned> codes;
  floats grid;

  explicit corrected(floats const& x) {
    outer_scale const o = scale::outer<e2m1>(oracle::amax_finite(x));
    auto const chosen = choose<scale>(x, o);
    start = u8(chosen.stored);
    for (float const v : x) grid.push_back(chosen.to_grid(v, 0));
    codes = test::codes<scale>(x, o);
  }
  u8 at_row(i64 row) const {
    u8 stored = start;
    scale::correct<e2m1>({grid.data(), codes.data(), int(grid.size()), 1}, &stored,
                         block_random{{seed, 0}, row, 0, 16});
    return stored;
  }
  static constexpr u64 seed = 5;
};

/// The 24 bits that the block at a row draws.
u32 word_at(i64 row) { return random_bits<24>({corrected::seed, 0x80000000u}, row, 0) & 0xFFFFFFu; }

/// Corrects at `rows` rows: every word from some threshold upward must give `upper`, every other
/// one `lower`. Returns the share of words above the threshold.
double chance_of_upper(corrected const& c, unsigned lower, unsigned upper, i64 rows) {
  u32 least_up = 1u << 24;
  u32 most_down = 0;
  for (i64 row = 0; row < rows; ++row) {
    u8 const stored = c.at_row(row);
    REQUIRE((stored == lower || stored == upper));
    if (stored == upper)
      least_up = std::min(least_up, word_at(row));
    else
      most_down = std::max(most_down, word_at(row));
  }
  CHECK(most_down < least_up);
  return 1 - double(least_up) / double(1u << 24);
}

std::vector<unsigned> codes_begin(std::vector<unsigned> const& codes) {
  return {codes.begin(), codes.begin() + 4};
}

floats padded(floats x) {
  x.resize(16);
  return x;
}
}  // namespace

TEST_CASE("Scale/Eden.FirstWorkedBlock") {
  corrected const c(padded({6, 3.3f, -1.1f, 0.4f}));
  CHECK(c.start == e4m3::encode(256.0f));
  CHECK(codes_begin(c.codes) == std::vector<unsigned>{7, 5, 0xA, 1});
  CHECK(std::fabs(chance_of_upper(c, 0x78, 0x79, 1 << 20) - 0.2776385) < 5e-6);  // 256 or 288
}

TEST_CASE("Scale/Eden.SecondWorkedBlock") {
  corrected const c(padded({10, 20, 30, 40}));
  CHECK(c.start == e4m3::encode(256.0f));
  CHECK(codes_begin(c.codes) == std::vector<unsigned>{3, 5, 6, 7});
  CHECK(std::fabs(chance_of_upper(c, 0x78, 0x79, 1 << 20) - 0.3749918) < 5e-6);
}

TEST_CASE("Scale/Eden.ExpectationUndoesTheProjection") {
  for (u64 seed = 0; seed < 200; ++seed) {
    floats const x = inputs::normal(16, seed);
    auto const want = oracle::ms_eden(x, oracle::amax_finite(x)).blocks[0];
    corrected const c(x);
    CHECK(float(oracle::decode(oracle::e4m3(), c.start)) == want.scale);
    CHECK(c.codes == want.codes);
    double const chance = chance_of_upper(c, want.lower_code, want.upper_code, 4096);
    CHECK(std::fabs(chance - double(want.p_up)) < 0.003);  // 4096 words leave gaps
  }
}

TEST_CASE("Scale/Eden.ZerosAreNotCorrected") {
  corrected const c(floats(16, 0.0f));
  CHECK(c.start == e4m3::encode(1.0f));
  for (i64 row = 0; row < 100; ++row) CHECK(c.at_row(row) == e4m3::encode(1.0f));
}

TEST_CASE("Scale/Eden.PoisonedScaleStaysPoisoned") {
  floats const grid(16, 0.0f);
  std::vector<unsigned> const codes(16, 0);
  u8 stored = e4m3::nan;
  scale::correct<e2m1>({grid.data(), codes.data(), 16, 1}, &stored, block_random{{1, 0}, 0, 0, 16});
  CHECK(stored == e4m3::nan);
}

TEST_CASE("Scale/Eden.BlocksOfAGroupShareTheFactorAndDrawApart") {
  using group = two_level<e4m3, eden<32>>;
  floats const grid(32, 1.2f);
  std::vector<unsigned> const codes(32, 2);  // of value 1, so the factor is 1.2
  int differ = 0;
  for (i64 row = 0; row < 200; ++row) {
    u8 stored[2] = {e4m3::encode(1.0f), e4m3::encode(16.0f)};
    group::correct<e2m1>({grid.data(), codes.data(), 32, 2}, stored,
                         block_random{{9, 1}, row, 64, 16});
    for (int b = 0; b < 2; ++b) {  // 1.2 is 0.6 of the way from 1.125 to 1.25, 19.2 from 18 to 20
      u32 const word = random_bits<24>({9, 1 ^ 0x80000000u}, row, 64 + 16 * b) & 0xFFFFFFu;
      float const up = b == 0 ? 1.25f : 20;
      float const down = b == 0 ? 1.125f : 18;
      CHECK(e4m3::decode(stored[b]) == (double(word) >= 0.4 * 0x1p24 ? up : down));
    }
    differ += stored[0] - e4m3::encode(1.125f) != stored[1] - e4m3::encode(18.0f) ? 1 : 0;
  }
  CHECK(differ > 60);
}
