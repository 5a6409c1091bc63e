// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// block_codec by itself: runs of blocks, the largest magnitude, random words, poisoned blocks.

#include <array>

#include <quadrille/codec.hpp>
#include <quadrille/recipes.hpp>

#include "quantize/image.hpp"
#include "quantize/stock_plans.hpp"

namespace {
using namespace test;
using namespace quadrille;

/// The output of one call of encode.
template <class R>
struct encoded {
  std::vector<typename R::scale::stored> scales;
  std::vector<u32> codes;
};

template <class R, int Blocks>
encoded<R> encode(floats const& x, outer_scale const& outer,
                  std::vector<typename block_codec<R>::random_word> const& random = {}) {
  using codec = block_codec<R>;
  encoded<R> e{std::vector<typename R::scale::stored>(Blocks), std::vector<u32>(x.size())};
  floats grid(x.size());
  codec::template encode<Blocks>(x.data(), &outer, random.data(), e.scales.data(), e.codes.data(),
                                 grid.data());
  return e;
}

floats slice(floats const& x, std::size_t block, std::size_t size) {
  auto const first = x.begin() + std::ptrdiff_t(block * size);
  return {first, first + std::ptrdiff_t(size)};
}

template <int Blocks>
void runs_equal_single_blocks() {
  floats const x = inputs::sprinkle_non_finite(inputs::laplace(Blocks * 16, 3), 5, 60);
  outer_scale const o = nvfp4::scale::outer<e2m1>(oracle::amax_finite(x));
  encoded<nvfp4> const run = encode<nvfp4, Blocks>(x, o);
  for (std::size_t b = 0; b < Blocks; ++b) {
    encoded<nvfp4> const one = encode<nvfp4, 1>(slice(x, b, 16), o);
    CHECK(run.scales[b] == one.scales[0]);
    CHECK(std::equal(one.codes.begin(), one.codes.end(), run.codes.begin() + long(16 * b)));
  }
}
}  // namespace

TEST_CASE("Codec/Block.RunsOfBlocksEqualSingleBlocks") {
  runs_equal_single_blocks<2>();
  runs_equal_single_blocks<3>();
  runs_equal_single_blocks<7>();
  runs_equal_single_blocks<64>();
}

TEST_CASE("Codec/Block.OracleNvfp4") {
  for (u64 seed = 0; seed < 300; ++seed) {
    floats const x = inputs::student_t3(16, seed);
    float const amax = oracle::amax_finite(x) * float(1 + seed % 5);
    oracle::block const want = oracle::quantize(x, amax);
    encoded<nvfp4> const got = encode<nvfp4, 1>(x, nvfp4::scale::outer<e2m1>(amax));
    CHECK(got.scales[0] == want.scale_code);
    CHECK(got.codes == want.codes);
  }
}

TEST_CASE("Codec/Block.DecodeMultipliesByOneFactor") {
  std::vector<u32> const codes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  floats x(16);
  for (unsigned scale = 0; scale < 0x7F; ++scale) {
    float const outer = 0.1234567f;
    block_codec<nvfp4>::decode(u8(scale), outer, codes.data(), x.data());
    float const factor = oracle::mul(float(oracle::decode(oracle::e4m3(), scale)), outer);
    for (unsigned c = 0; c < 16; ++c)
      CHECK(bits_of(x[c]) ==
            bits_of(oracle::mul(float(oracle::decode(oracle::e2m1(), c)), factor)));
  }
}

TEST_CASE("Codec/Block.BlockMaximumOfAnySize") {
  auto const check = [](auto size) {
    constexpr int n = decltype(size)::value;
    for (u64 seed = 0; seed < 50; ++seed) {
      floats const x = inputs::normal(3 * n, seed);
      float amax[3];
      detail::block_amax<3, n>(x.data(), amax);
      for (std::size_t b = 0; b < 3; ++b) CHECK(amax[b] == oracle::amax_finite(slice(x, b, n)));
    }
  };
  check(std::integral_constant<int, 1>{});
  check(std::integral_constant<int, 2>{});
  check(std::integral_constant<int, 5>{});
  check(std::integral_constant<int, 24>{});
  check(std::integral_constant<int, 32>{});
  check(std::integral_constant<int, 128>{});
  check(std::integral_constant<int, 256>{});
}

TEST_CASE("Codec/Block.OneSpecialElementPoisonsItsBlock") {
  for (float const special : {oracle::float_nan, -oracle::float_nan, HUGE_VALF, -HUGE_VALF})
    for (std::size_t at = 0; at < 16; ++at) {
      floats x = inputs::normal(3 * 16, at);
      encoded<nvfp4> const clean = encode<nvfp4, 3>(x, {100, 0.01f});
      x[16 + at] = special;
      encoded<nvfp4> const got = encode<nvfp4, 3>(x, {100, 0.01f});
      CHECK(got.scales == std::vector<u8>{clean.scales[0], 0x7F, clean.scales[2]});
      for (std::size_t i = 0; i < 48; ++i)
        CHECK(got.codes[i] == (i / 16 == 1 ? 0 : clean.codes[i]));
    }
}

TEST_CASE("Codec/Block.PoisonOfEveryScaleFormat") {
  floats x(32, 1.0f);
  x[3] = oracle::float_nan;
  CHECK(encode<mxfp4, 1>(x, {}).scales[0] == 0xFF);
  CHECK(encode<mxfp4, 1>(x, {}).codes == std::vector<u32>(32, 0));
  x.resize(16);
  CHECK(std::isnan(encode<ufp4, 1>(x, {}).scales[0]));
  CHECK(encode<ufp4, 1>(x, {}).codes == std::vector<u32>(16, 0));
}

TEST_CASE("Codec/Block.PoisonedBlockDecodesToNan") {
  std::vector<u32> const codes(32, 0);
  floats x(32, 0.0f);
  block_codec<mxfp4>::decode(0xFF, 1, codes.data(), x.data());
  for (float const v : x) CHECK(std::isnan(v));
  block_codec<nvfp4>::decode(0x7F, 0.5f, codes.data(), x.data());
  for (float const v : x) CHECK(std::isnan(v));
}

// All 256 words, for values whose tallies were published.
TEST_CASE("Codec/Block.StochasticTallies") {
  struct tally {
    float x;
    unsigned lower;
    int lowers;
    unsigned upper;
  };
  for (tally const t : {tally{0.1f, 0, 205, 1},
                        {0.3f, 0, 103, 1},
                        {1.25f, 2, 128, 3},
                        {1.9f, 3, 52, 4},
                        {2.2f, 4, 205, 5},
                        {3.9f, 5, 26, 6},
                        {4.5f, 6, 192, 7},
                        {5.9f, 6, 13, 7},
                        {-0.7f, 9, 154, 10},
                        {0.001f, 0, 256, 1}}) {
    int lowers = 0;
    for (int word = 0; word < 256; ++word) {
      floats x(16, 0.0f);
      x[0] = t.x;
      x[1] = 6;  // S = 1: the scale is 1
      auto const e = encode<nvfp4_gradient, 1>(x, {}, std::vector<u8>(16, u8(word)));
      CHECK(e.scales[0] == 0x38);
      CHECK((e.codes[0] == t.lower || e.codes[0] == t.upper));
      CHECK(e.codes[1] == 7);
      lowers += e.codes[0] == t.lower ? 1 : 0;
    }
    INFO(t.x);
    CHECK(lowers == t.lowers);
  }
}

namespace {
// The same text at compile time: the published tie vector.
struct constant_block {
  std::array<u32, 16> codes{};
  u8 scale = 0;
  constexpr constant_block() {
    float const x[16] = {0.25f,  0.75f,  1.25f, 1.75f, 2.5f, 3.5f,  5,    5.0000005f,
                         -0.25f, -0.75f, -2.5f, -5,    0,    -0.0f, 0.2f, 6};
    outer_scale const outer = nvfp4::scale::outer<e2m1>(2688);
    float grid[16] = {};
    u8 const* const random = nullptr;
    block_codec<nvfp4>::encode<1>(x, &outer, random, &scale, codes.data(), grid);
  }
};
constexpr constant_block at_compile_time;
static_assert(at_compile_time.scale == 0x38);
static_assert(at_compile_time.codes == std::array<u32, 16>{0, 2, 2, 4, 4, 6, 6, 7,  //
                                                           8, 0xA, 0xC, 0xE, 0, 8, 0, 7});
}  // namespace
