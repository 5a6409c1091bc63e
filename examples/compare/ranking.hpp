// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which recipe loses least, in one tensor and over all.

#include "results.hpp"

#include <functional>
#include <limits>

namespace comparison {

/// A recipe in a basis, as positions in the plan, and its signal-to-noise ratio in dB.
struct entry {
  std::size_t recipe;
  std::size_t basis;
  double db;
};

/// The most bits an element that one of the two competitions admits.
inline constexpr double narrow_bits = 4.5;
inline constexpr double any_bits = std::numeric_limits<double>::infinity();

/// Signal-to-noise ratio of a cell, if it has one.
std::optional<double> tensor_db(tensor_result const& tensor, std::size_t recipe, std::size_t basis);
std::optional<double> both_db(layer_result const& layer, std::size_t recipe, std::size_t basis);
std::optional<double> weight_only_db(layer_result const& layer, std::size_t recipe,
                                     std::size_t basis);

/// A value in dB for each recipe and basis.
using db_of = std::function<std::optional<double>(std::size_t recipe, std::size_t basis)>;

/// The largest among the recipes of at most `bits`; the first one in the plan if several are equal.
std::optional<entry> best(plan const& what, double bits, db_of const& db);

/// Means in dB over the tensors (or layers) that have a finite value in every cell, so that all means
/// are over the same data; `count` says how many those are. A cell that none has is left out.
struct means {
  std::size_t count = 0;
  table<double> db;
};
means mean_over_tensors(results const& found);
means mean_over_layers(results const& found, decltype(both_db) db);

/// Positions of the plan's recipes, best mean first.
std::vector<std::size_t> by_mean(plan const& what, means const& mean);

}  // namespace comparison
