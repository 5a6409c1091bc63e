// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantizes pieces of a tensor and counts what is lost.

#include "basis.hpp"

#include <array>
#include <quadrille/analysis.hpp>

namespace comparison {

/// Bins of |x| over the largest value that its block can hold, from 0 to 1.25. The last bin also counts
/// what is beyond.
inline constexpr std::size_t value_bins = 75;
inline constexpr double value_bins_to_one = 60;

/// What was counted of one tensor, under one recipe in one basis.
struct tally {
  quadrille::quantization_report report;
  std::array<quadrille::u64, value_bins> values{};

  void add(tally const& other);
};

/// Rows of a tensor, in the basis to quantize in. A first row is a multiple of `piece_granularity`, so
/// that no block is cut.
struct piece {
  matrix rows;
  std::size_t first_row;
  float amax;  ///< of the whole tensor in that basis
};
inline constexpr std::size_t piece_granularity = 16;

/// Quantizes a piece by a recipe of the table. One thread.
tally measure(std::size_t recipe, piece const& x);

/// Largest magnitude.
float amax_of(matrix const& x, int threads);

}  // namespace comparison
