// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Signs of a random Hadamard rotation: which, where they act, and the worked vectors.

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <quadrille/quantize.hpp>
#include <quadrille/recipes.hpp>

#include "rotate.hpp"
#include "support/catch.hpp"
#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace {

using namespace rotations;

/// Sign i of a vector, as the oracle counts them.
std::vector<int> signs_of(sign_vector const& s, int n) {
  std::vector<int> signs(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) signs[static_cast<std::size_t>(i)] = s.flip(1, i) < 0 ? -1 : 1;
  return signs;
}

bool same(sign_vector const& a, sign_vector const& b) {
  return std::equal(a.word, a.word + 4, b.word);
}

/// The rotation that the oracle makes of the same signs, to FP32 accuracy.
template <class Rotation>
void check_against_oracle(u64 seed) {
  constexpr std::size_t n = Rotation::size;
  floats const x = inputs::normal(n, seed + 1);
  auto const signs = signs_of(Rotation::signs(seed), Rotation::size);
  std::vector<double> const exact = oracle::rotate({x.begin(), x.end()}, signs);
  floats const y = rotate<Rotation>(x, seed);
  floats const back = rotate_back<Rotation>(y, seed);
  double magnitudes = 0;
  for (float const v : x) magnitudes += std::fabs(static_cast<double>(v));
  double const bound = 0x1p-21 * magnitudes;
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(std::fabs(static_cast<double>(y[i]) - exact[i]) <= bound);
    CHECK(std::fabs(back[i] - x[i]) <= static_cast<float>(bound));
  }
}

}  // namespace

static_assert(block_rotation<identity> && block_rotation<hadamard<2>> &&
              block_rotation<random_hadamard<128, seeded_signs>> &&
              block_rotation<bf16_rounded<random_hadamard<16>>>);
static_assert(!block_rotation<int> && !block_rotation<published_signs>);
static_assert(identity::size == 1 && random_hadamard<64>::size == 64);

TEST_CASE("Rotation/Signs.PublishedVector") {
  for (u64 const seed : {u64(0), u64(42)}) {
    sign_vector const s = random_hadamard<128>::signs(seed);
    for (u32 const word : s.word) CHECK(word == 0xD7E8D7E8u);
    CHECK(signs_of(s, 16) == oracle::published_signs());
  }
}

TEST_CASE("Rotation/Signs.NoneForThePlainMatrix") {
  CHECK(same(hadamard<32>::signs(42), sign_vector{}));
  CHECK(same(identity::signs(42), sign_vector{}));
}

TEST_CASE("Rotation/Signs.SeededOnesFollowTheSeed") {
  using rotation = random_hadamard<128, seeded_signs>;
  CHECK(same(rotation::signs(1), rotation::signs(1)));
  CHECK(!same(rotation::signs(0), sign_vector{}));
  for (u64 const other : {u64(0), u64(2), u64(1) << 32}) {
    int different = 0;
    for (int w = 0; w < 4; ++w)
      different += std::popcount(rotation::signs(1).word[w] ^ rotation::signs(other).word[w]);
    INFO("seed " << other);
    CHECK(std::abs(different - 64) < 29);  // 5 sigma of 128 fair coins
  }
}

TEST_CASE("Rotation/Signs.SmallerSizesShareTheFirstOnes") {
  CHECK(same(random_hadamard<16, seeded_signs>::signs(7),
             random_hadamard<128, seeded_signs>::signs(7)));
}

TEST_CASE("Rotation/Signs.EveryBlockOfAMatrixUsesTheSameOnes") {
  using recipe = mxfp4_tseng;
  struct nearest : recipe {
    using rounding = nearest_even;
  };
  floats const block = inputs::normal(64, 71);
  floats x;
  for (int copy = 0; copy < 6; ++copy) x.insert(x.end(), block.begin(), block.end());
  auto const q = quantize<nearest>(host, matrix_ref<float const>(x.data(), 2, 192), {}, 5);
  std::vector<u8> const first(q.codes().begin(), q.codes().begin() + 32);
  for (std::ptrdiff_t at = 0; at < 192; at += 32)
    CHECK(std::equal(first.begin(), first.end(), q.codes().begin() + at));
  auto const other = quantize<nearest>(host, matrix_ref<float const>(x.data(), 2, 192), {}, 6);
  CHECK(other.codes() != q.codes());
}

TEST_CASE("Rotation/Vectors.Published16 (V9)") {
  using r16 = random_hadamard<16>;
  CHECK(rotate<r16>(unit(16, 0)) == floats(16, .25f));
  floats third;
  for (int v : {1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1})
    third.push_back(-.25f * static_cast<float>(v));
  CHECK(rotate<r16>(unit(16, 3)) == third);
  CHECK(rotate<r16>(floats(16, 1)) == floats{-1, 0, 1, 0, 1, 0, -1, 0, 1, 2, 1, 0, 1, 0, 1, -2});
  floats signs;
  for (int const s : oracle::published_signs()) signs.push_back(static_cast<float>(s));
  floats four(16);
  four[0] = 4;
  CHECK(rotate<r16>(signs) == four);
  floats ramp;
  for (int i = 0; i < 16; ++i) ramp.push_back(static_cast<float>(i));
  floats const rotated = rotate<r16>(ramp);
  CHECK(rotated == floats{-14.5f, -7.5f, 6.5f, -.5f, 6.5f, -.5f, -14.5f, 8.5f, 7.5f, 14.5f, .5f,
                          1.5f, .5f, -2.5f, 9.5f, -15.5f});
  CHECK(rotate_back<r16>(rotated) == ramp);
  float energy = 0;
  for (float const v : rotated) energy += v * v;
  CHECK(energy == 1240);
}

TEST_CASE("Rotation/Orientation.SignsActBeforeTheMatrix") {
  // One coordinate: its sign moves the whole row. After H it could only flip one coordinate.
  using r16 = random_hadamard<16>;
  for (std::size_t i = 0; i < 16; ++i) {
    floats const plain = rotate<hadamard<16>>(unit(16, i));
    floats const random = rotate<r16>(unit(16, i));
    auto const sign = static_cast<float>(oracle::published_signs()[i]);
    for (std::size_t j = 0; j < 16; ++j) CHECK(random[j] == sign * plain[j]);
  }
}

TEST_CASE("Rotation/Orientation.InverseUndoes") {
  for (u64 const seed : {u64(1), u64(99)}) {
    check_against_oracle<random_hadamard<2>>(seed);
    check_against_oracle<random_hadamard<16>>(seed);
    check_against_oracle<random_hadamard<32, seeded_signs>>(seed);
    check_against_oracle<random_hadamard<64, seeded_signs>>(seed);
    check_against_oracle<random_hadamard<128, seeded_signs>>(seed);
    check_against_oracle<hadamard<128>>(seed);
  }
}

TEST_CASE("Rotation/Orientation.CancelsInAProduct") {
  using rotation = random_hadamard<128, seeded_signs>;
  floats const a = inputs::normal(128, 81);
  floats const b = inputs::normal(128, 82);
  auto const product = [](floats const& x, floats const& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    return sum;
  };
  double const turned = product(rotate<rotation>(a, 3), rotate<rotation>(b, 3));
  CHECK(std::fabs(turned - product(a, b)) < 1e-4);
  CHECK(std::fabs(product(rotate<rotation>(a, 3), rotate<rotation>(b, 4)) - product(a, b)) > 1);
}

TEST_CASE("Rotation/Bf16Rounded.RoundsTheResultOnce (HAD-05)") {
  floats x(16);
  x[0] = 10;
  x[1] = 0x1p-6f;
  float const exact = rotate<hadamard<16>>(x)[0];
  float const rounded = rotate<bf16_rounded<hadamard<16>>>(x)[0];
  CHECK(exact == 2.50390625f);
  CHECK(e2m1::encode(exact) == 5);
  CHECK(rounded == 2.5f);
  CHECK(e2m1::encode(rounded) == 4);
}

TEST_CASE("Rotation/Bf16Rounded.EqualsRoundingAfterwards") {
  using plain = random_hadamard<32, seeded_signs>;
  floats const x = inputs::normal(32, 83);
  floats const exact = rotate<plain>(x, 11);
  floats const rounded = rotate<bf16_rounded<plain>>(x, 11);
  for (std::size_t i = 0; i < 32; ++i) CHECK(rounded[i] == oracle::to_bf16(exact[i]));
  CHECK(rotate_back<bf16_rounded<plain>>(exact, 11) == rotate_back<plain>(exact, 11));
}

TEST_CASE("Rotation/Identity.LeavesEverything") {
  floats x{-0.f, 1.5f};
  identity::apply(x.data(), identity::signs(1));
  identity::invert(x.data(), identity::signs(1));
  CHECK(std::signbit(x[0]));
  CHECK(x[1] == 1.5f);
}

TEST_CASE("Rotation/Constexpr.WorksAtCompileTime") {
  constexpr float first = [] {
    float x[4] = {1, 2, 3, 4};
    random_hadamard<4>::apply(x, random_hadamard<4>::signs(0));
    return x[0];  // (1 + 2 + 3 - 4) / 2
  }();
  STATIC_REQUIRE(first == 1);
}
