// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Counter-based random bits: a pure function of (seed, stream, row, column), so that stochastic
/// rounding gives the same bytes for any thread count, traversal, launch shape or device.

#include <quadrille/detail/std.hpp>

namespace quadrille {

/// Four 32-bit words: a Philox counter or its output.
struct philox_block {
  u32 word[4];
};

/// The keys of Philox's rounds, from a 64-bit seed, low word first. Whoever draws often makes them once.
template <int Rounds = 10>
struct philox_keys {
  u32 low[Rounds];
  u32 high[Rounds];
  QUADRILLE_LEAF constexpr philox_keys(u64 seed = 0) : low{}, high{} {
    for (int i = 0; i < Rounds; ++i) {
      low[i] = u32(seed) + u32(i) * 0x9E3779B9u;
      high[i] = u32(seed >> 32) + u32(i) * 0xBB67AE85u;
    }
  }
};

namespace detail {
template <int Round, int Rounds>
QUADRILLE_LEAF constexpr philox_block philox_rounds(u32 c0, u32 c1, u32 c2, u32 c3,
                                                    philox_keys<Rounds> const& keys) {
  if constexpr (Round == Rounds) {
    return {{c0, c1, c2, c3}};
  } else {
    u64 const p0 = wide_product(0xD2511F53u, c0);
    u64 const p1 = wide_product(0xCD9E8D57u, c2);
    return philox_rounds<Round + 1>(u32(p1 >> 32) ^ c1 ^ keys.low[Round], u32(p1),
                                    u32(p0 >> 32) ^ c3 ^ keys.high[Round], u32(p0), keys);
  }
}
}  // namespace detail

/// Philox4x32 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC11), 10 rounds.
template <int Rounds = 10>
QUADRILLE_LEAF constexpr philox_block philox4x32(philox_block counter,
                                                 philox_keys<Rounds> const& keys) {
  return detail::philox_rounds<0>(counter.word[0], counter.word[1], counter.word[2],
                                  counter.word[3], keys);
}
template <int Rounds = 10>
QUADRILLE_LEAF constexpr philox_block philox4x32(philox_block counter, u64 key) {
  return philox4x32(counter, philox_keys<Rounds>(key));
}

/// Who draws: the caller's seed and a stream number that keeps several draws of one seed apart.
struct random_key {
  u64 seed = 0;
  u32 stream = 0;
};

/// Bits a Philox word is cut into for rounding with `Bits` random bits: 8, 16 or 32.
template <int Bits>
inline constexpr int random_width = Bits <= 8    ? 8
                                    : Bits <= 16 ? 16
                                                 : 32;

/// Consecutive columns that one Philox call serves.
template <int Bits>
inline constexpr int random_group = 128 / random_width<Bits>;

/// The 128 random bits of the column group that holds (row, column); `keys` are those of key.seed.
template <int Bits>
QUADRILLE_LEAF constexpr philox_block random_block(random_key key, philox_keys<> const& keys,
                                                   i64 row, i64 column) {
  u64 const group = u64(column) / u64(random_group<Bits>);
  return philox4x32({{u32(group), u32(row), u32(u64(row) >> 32), key.stream}}, keys);
}
template <int Bits>
QUADRILLE_LEAF constexpr philox_block random_block(random_key key, i64 row, i64 column) {
  return random_block<Bits>(key, philox_keys<>(key.seed), row, column);
}

/// The random word of the element at (row, column): its lane of random_block, lowest lane first.
template <int Bits>
QUADRILLE_LEAF constexpr u32 random_bits(random_key key, i64 row, i64 column) {
  constexpr int width = random_width<Bits>;
  philox_block const block = random_block<Bits>(key, row, column);
  int const lane = int(u64(column) % u64(random_group<Bits>));
  u32 const word = block.word[lane * width / 32] >> (lane * width % 32);
  return word & u32((u64(1) << width) - 1);
}

/// Random words for whole blocks, apart from those of their elements: block b of a run of blocks that
/// starts at (row, col). 24 bits each.
struct block_random {
  static constexpr int bits = 24;
  random_key key;
  i64 row;
  i64 col;
  int block_cols;
  QUADRILLE_LEAF static constexpr random_key key_of(random_key elements) {
    return {elements.seed, elements.stream ^ 0x80000000u};
  }
  QUADRILLE_LEAF constexpr u32 operator()(int b) const {
    return random_bits<bits>(key_of(key), row, col + i64(b) * block_cols);
  }
};

}  // namespace quadrille
