// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Philox4x32-R, written from Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as
/// 1, 2, 3" (SC 2011), section 3.3.

#include <array>
#include <cstdint>

namespace oracle {

using philox_counter = std::array<std::uint32_t, 4>;
using philox_key = std::array<std::uint32_t, 2>;

/// One round: two multiplications, whose halves are crossed over and mixed with the key.
inline philox_counter philox_round(philox_counter const& x, philox_key const& k) {
  std::uint64_t const word = std::uint64_t{1} << 32;
  std::uint64_t const product0 = std::uint64_t{0xD2511F53u} * x[0];
  std::uint64_t const product1 = std::uint64_t{0xCD9E8D57u} * x[2];
  auto const high = [&](std::uint64_t p) { return static_cast<std::uint32_t>(p / word); };
  auto const low = [&](std::uint64_t p) { return static_cast<std::uint32_t>(p % word); };
  return {high(product1) ^ x[1] ^ k[0], low(product1), high(product0) ^ x[3] ^ k[1], low(product0)};
}

/// The block of four words for one counter; the key grows by the Weyl constants between rounds.
inline philox_counter philox4x32(philox_counter counter, philox_key key, int rounds = 10) {
  for (int r = 0; r < rounds; ++r) {
    counter = philox_round(counter, key);
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

}  // namespace oracle
