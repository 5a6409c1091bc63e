// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the vector kernels of gemm read.
///
/// A panel is 16 rows of B, which become 16 columns of D, a vector lane each. Its codes are interleaved
/// by words of 8: word [k / 8][row]. Its scales are [block][row].
/// For the kernels both operands are words of 32 bits, one a lane and step: a float, two BF16 numbers of
/// adjacent columns, or four bytes. A's are [step][row of the tile], B's [step][lane].
/// The bytes of 8 columns are two steps: the even columns, then the odd ones, as nibbles lie.

#include <quadrille/detail/std.hpp>

namespace quadrille::detail {

inline constexpr int panel_rows = 16;
inline constexpr int word_codes = 8;

/// One tile's operands, steps on end.
struct tile_sources {
  u32 const* a;
  u32 const* b;  // of the first panel
  i64 panel_stride;
};

/// The same with scales, for kernels that sum block after block. The bytes of B are raised to be unsigned;
/// a dot starts from its seed, which takes that off again.
struct block_sources : tile_sources {
  u32 const* a_scales;  // floats, [block][row]
  u32 const* a_seeds;   // [block][row]
  u32 const* b_scales;  // floats or exponents, [block][lane], `panel_stride` from panel to panel
};

/// A panel before it is decoded.
struct panel_codes {
  u32 const* words;   // [k / 8][row]
  u32 const* scales;  // floats, [block][row]
};

}  // namespace quadrille::detail
