// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Where codes and scales lie in memory.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oracle {

/// Two codes to a byte: even element in the low nibble; an odd tail leaves the high nibble 0.
inline std::vector<std::uint8_t> pack(std::vector<unsigned> const& codes) {
  std::vector<std::uint8_t> bytes((codes.size() + 1) / 2, 0);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    unsigned const weight = i % 2 == 0 ? 1 : 16;
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] + weight * codes[i]);
  }
  return bytes;
}

/// The first `count` codes of packed bytes.
inline std::vector<unsigned> unpack(std::vector<std::uint8_t> const& bytes, std::size_t count) {
  std::vector<unsigned> codes;
  for (std::size_t i = 0; i < count; ++i)
    codes.push_back(i % 2 == 0 ? bytes.at(i / 2) % 16u : bytes.at(i / 2) / 16u);
  return codes;
}

/// The scale layout of block-scaled tensor cores: tiles of 128 rows x 4 columns in row-major order.
/// Inside a tile the 32 rows of a quarter are 16 bytes apart, and each run of 16 bytes holds the
/// four columns of row r, then of rows r+32, r+64 and r+96.
struct scale_tiles {
  std::size_t padded_rows = 0;
  std::size_t padded_cols = 0;
  std::vector<std::size_t> offsets;  ///< by row * padded_cols + column
  std::size_t size() const { return padded_rows * padded_cols; }
  std::size_t at(std::size_t row, std::size_t col) const {
    return offsets[row * padded_cols + col];
  }
};

/// Walks the bytes in memory order and notes which entry each one holds.
inline scale_tiles lay_out_scales(std::size_t rows, std::size_t cols) {
  scale_tiles t{(rows + 127) / 128 * 128, (cols + 3) / 4 * 4, {}};
  t.offsets.resize(t.size());
  std::size_t next = 0;
  for (std::size_t top = 0; top < t.padded_rows; top += 128)
    for (std::size_t left = 0; left < t.padded_cols; left += 4)
      for (std::size_t row = 0; row < 32; ++row)
        for (std::size_t quarter = 0; quarter < 128; quarter += 32)
          for (std::size_t col = 0; col < 4; ++col)
            t.offsets[(top + quarter + row) * t.padded_cols + left + col] = next++;
  return t;
}

/// Scales of a row-major rows x cols matrix in that layout; padding bytes are 0.
inline std::vector<std::uint8_t> tile_scales(std::vector<std::uint8_t> const& scales,
                                             std::size_t rows, std::size_t cols) {
  scale_tiles const t = lay_out_scales(rows, cols);
  std::vector<std::uint8_t> bytes(t.size(), 0);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) bytes[t.at(r, c)] = scales.at(r * cols + c);
  return bytes;
}

}  // namespace oracle
