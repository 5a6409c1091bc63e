// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The generator: known answers, and equality with a second implementation.

#include <array>

#include <quadrille/random.hpp>

#include "support/catch.hpp"
#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace {

using namespace quadrille;
using words = std::array<u32, 4>;

template <int Rounds = 10>
constexpr words philox(words c, u64 key) {
  philox_block const b = philox4x32<Rounds>({{c[0], c[1], c[2], c[3]}}, key);
  return {b.word[0], b.word[1], b.word[2], b.word[3]};
}

constexpr u32 ones = 0xFFFFFFFFu;

}  // namespace

// Known answers of the authors' distribution (Random123, kat_vectors).
static_assert(philox({0, 0, 0, 0}, 0) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(philox({ones, ones, ones, ones}, 0xFFFFFFFFFFFFFFFFu) ==
              words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822u) ==
              words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
static_assert(philox<7>({0, 0, 0, 0}, 0) == words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});

TEST_CASE("Random/Philox.KnownAnswersAtRunTime") {
  u32 volatile zero = 0;
  u32 const z = zero;
  CHECK(philox({z, z, z, z}, z) == words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox<7>({z, z, z, z}, z) == words{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48});
}

TEST_CASE("Random/Philox.AgreesWithTheOracle") {
  inputs::splitmix64 random(31);
  for (int i = 0; i < 2000; ++i) {
    words c;
    for (u32& w : c) w = static_cast<u32>(random.fraction());
    u64 const key = random.next();
    oracle::philox_counter const counter{c[0], c[1], c[2], c[3]};
    oracle::philox_key const halves{static_cast<u32>(key), static_cast<u32>(key >> 32)};
    CHECK(philox(c, key) == oracle::philox4x32(counter, halves));
    CHECK(philox<7>(c, key) == oracle::philox4x32(counter, halves, 7));
  }
}
