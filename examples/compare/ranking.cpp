// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ranking.hpp"

#include "recipe_table.hpp"

#include <algorithm>
#include <cmath>

namespace comparison {
namespace {

/// f(recipe, basis) for each cell of a plan.
template <class F>
void for_each_cell(plan const& what, F const& f) {
  for (std::size_t r = 0; r < what.recipes.size(); ++r)
    for (std::size_t b = 0; b < what.bases.size(); ++b) f(r, b);
}

template <class Item, class Db>
means mean_over(plan const& what, std::vector<Item> const& items, Db const& db) {
  means result{0, table<double>(what.recipes.size(), what.bases.size())};
  for (auto const& item : items)
    for_each_cell(what, [&](std::size_t r, std::size_t b) {
      if (db(item, r, b)) result.db.at(r, b) = 0;
    });
  for (auto const& item : items) {
    bool is_complete = true;
    for_each_cell(what, [&](std::size_t r, std::size_t b) {
      bool const is_finite = std::isfinite(db(item, r, b).value_or(any_bits));
      is_complete = is_complete && (is_finite || !result.db.at(r, b));
    });
    if (!is_complete) continue;
    ++result.count;
    for_each_cell(what, [&](std::size_t r, std::size_t b) {
      if (auto& sum = result.db.at(r, b)) *sum += *db(item, r, b);
    });
  }
  for_each_cell(what, [&](std::size_t r, std::size_t b) {
    auto& sum = result.db.at(r, b);
    if (result.count == 0) sum.reset();
    if (sum) *sum /= double(result.count);
  });
  return result;
}

}  // namespace

std::optional<double> tensor_db(tensor_result const& tensor, std::size_t recipe,
                                std::size_t basis) {
  auto const& cell = tensor.cells.at(recipe, basis);
  return cell ? std::optional(cell->report.sums.sqnr_db()) : std::nullopt;
}

std::optional<double> both_db(layer_result const& layer, std::size_t recipe, std::size_t basis) {
  auto const& cell = layer.cells.at(recipe, basis);
  return cell ? std::optional(cell->both.sqnr_db()) : std::nullopt;
}

std::optional<double> weight_only_db(layer_result const& layer, std::size_t recipe,
                                     std::size_t basis) {
  auto const& cell = layer.cells.at(recipe, basis);
  return cell ? std::optional(cell->weight_only.sqnr_db()) : std::nullopt;
}

std::optional<entry> best(plan const& what, double bits, db_of const& db) {
  std::optional<entry> winner;
  for_each_cell(what, [&](std::size_t r, std::size_t b) {
    auto const value = db(r, b);
    if (!value || recipes()[what.recipes[r]].bits > bits) return;
    if (!winner || *value > winner->db) winner = entry{r, b, *value};
  });
  return winner;
}

means mean_over_tensors(results const& found) {
  return mean_over(found.plan, found.tensors, tensor_db);
}

means mean_over_layers(results const& found, decltype(both_db) db) {
  return mean_over(found.plan, found.layers, db);
}

std::vector<std::size_t> by_mean(plan const& what, means const& mean) {
  std::vector<double> best_db(what.recipes.size(), -any_bits);
  for_each_cell(what, [&](std::size_t r, std::size_t b) {
    best_db[r] = std::max(best_db[r], mean.db.at(r, b).value_or(-any_bits));
  });
  std::vector<std::size_t> order(what.recipes.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t r) { return best_db[r]; });
  return order;
}

}  // namespace comparison
