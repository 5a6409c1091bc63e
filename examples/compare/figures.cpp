// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "figures.hpp"

#include "charts.hpp"
#include "ranking.hpp"
#include "recipe_table.hpp"
#include "words.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <numeric>

namespace comparison {
namespace {

std::string name_of(plan const& what, std::size_t r) {
  return std::string(recipes()[what.recipes[r]].name);
}
std::string basis_name(plan const& what, std::size_t b) {
  return std::string(bases()[what.bases[b]].name);
}

std::string figure(picture const& shown, std::string_view guide) {
  constexpr double padding = 34;
  return fmt::format("<figure style=\"width: {}px\">\n{}<figcaption>{}</figcaption>\n</figure>\n",
                     shown.width + padding, shown.svg, guide);
}

std::vector<std::size_t> plan_order(plan const& what) {
  std::vector<std::size_t> order(what.recipes.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  return order;
}

/// Several kinds of dB for each basis, as a dot chart. Kinds after the first are drawn hollow.
struct db_kind {
  std::string name;
  db_of db;
};
dot_chart chart_of(plan const& what, std::string title, std::vector<db_kind> const& kinds,
                   std::vector<std::size_t> const& order, db_range range) {
  dot_chart chart{std::move(title), {}, {}, range.low, range.high};
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (std::size_t b = 0; b < what.bases.size(); ++b)
      chart.kinds.push_back({kinds[k].name, basis_name(what, b), b, k > 0});
  for (auto const r : order) {
    dot_chart::row row{name_of(what, r), fmt::format("{:g}", recipes()[what.recipes[r]].bits), {}};
    for (auto const& kind : kinds)
      for (std::size_t b = 0; b < what.bases.size(); ++b) row.values.push_back(kind.db(r, b));
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

constexpr std::string_view dots_guide =
    "Each mark is a signal-to-noise ratio: further right is better, and 6 dB more is half the "
    "error. "
    "A "
    "circle is the tensor as it is, a diamond the tensor rotated; the best number is bold.";
constexpr std::string_view layer_guide =
    "Full marks are the layer's output with weights and inputs in 4 bits (W4A4), hollow marks with "
    "the weights only (W4A16). Further right is better; where a diamond lies right of its circle, "
    "rotating both operands pays.";
constexpr std::string_view values_guide =
    "How often each magnitude occurs, as a share of the largest value that its block can hold: 1 "
    "is "
    "that value, and what lies right of it is clipped. Thin lines are the values that 4 bits can "
    "hold; the error is small where they are dense and the hill is high.";
constexpr std::string_view scales_guide =
    "How many blocks have a scale of each power of two. A wide hill means that blocks differ much "
    "in size; where outliers made it wide, rotation narrows it.";

strip_chart values_chart(plan const& what, tensor_result const& tensor) {
  strip_chart chart{"Values over the grid of the recipe", {}, {}, {}, 0, 0, 255};
  chart.high = double(value_bins) / value_bins_to_one;
  chart.ticks = {{0, "0"}, {0.25, "\u00bc"}, {0.5, "\u00bd"}, {0.75, "\u00be"}, {1, "1"}};
  for (std::size_t r = 0; r < what.recipes.size(); ++r) {
    strip_chart::row row{name_of(what, r), {}, {}};
    for (float const value : recipes()[what.recipes[r]].grid) row.lines.push_back(value);
    for (std::size_t b = 0; b < what.bases.size(); ++b) {
      auto const& cell = tensor.cells.at(r, b);
      row.counts.emplace_back();
      if (cell) row.counts.back().assign(cell->values.begin(), cell->values.end());
    }
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

/// The exponents that block scales of a tensor have, from the least to the greatest.
struct exponent_range {
  int low = INT_MAX;
  int high = INT_MIN;
};
exponent_range exponents_of(plan const& what, tensor_result const& tensor) {
  exponent_range range;
  for (std::size_t r = 0; r < what.recipes.size(); ++r)
    for (std::size_t b = 0; b < what.bases.size(); ++b)
      if (auto const& cell = tensor.cells.at(r, b))
        for (auto const& [exponent, blocks] : cell->report.scale_exponents)
          if (exponent != INT_MIN && blocks > 0)
            range = {std::min(range.low, exponent), std::max(range.high, exponent)};
  return range.low > range.high ? exponent_range{0, 0} : range;
}

std::vector<double> exponent_counts(tally const& cell, exponent_range range) {
  std::vector<double> counts(static_cast<std::size_t>(range.high - range.low + 1));
  for (auto const& [exponent, blocks] : cell.report.scale_exponents)
    if (exponent != INT_MIN)
      counts[static_cast<std::size_t>(exponent - range.low)] += double(blocks);
  return counts;
}

/// "2" with a raised exponent.
std::string power_of_two(int exponent) {
  constexpr std::array raised{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                              "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = exponent < 0 ? "2\u207b" : "2";
  for (char const digit : std::to_string(std::abs(exponent)))
    text += raised[static_cast<std::size_t>(digit - '0')];
  return text;
}

strip_chart scales_chart(plan const& what, tensor_result const& tensor) {
  auto const range = exponents_of(what, tensor);
  strip_chart chart{"Block scales", {}, {}, {}, 0, 0, 180};
  chart.high = double(range.high - range.low + 1);
  int const step = (range.high - range.low) / 5 + 1;
  for (int e = range.low; e <= range.high; e += step)
    chart.ticks.push_back({double(e - range.low) + 0.5, power_of_two(e)});
  for (std::size_t r = 0; r < what.recipes.size(); ++r) {
    strip_chart::row row{name_of(what, r), {}, {}};
    for (std::size_t b = 0; b < what.bases.size(); ++b) {
      auto const& cell = tensor.cells.at(r, b);
      row.counts.push_back(cell ? exponent_counts(*cell, range) : std::vector<double>{});
    }
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

picture draw_strips(plan const& what, strip_chart chart) {
  for (std::size_t b = 0; b < what.bases.size(); ++b) chart.bases.push_back(basis_name(what, b));
  return draw(chart);
}

}  // namespace

db_range range_of(results const& found) {
  db_range range{any_bits, -any_bits};
  auto const include = [&](std::optional<double> db) {
    if (!db || !std::isfinite(*db)) return;
    range = {std::min(range.low, *db), std::max(range.high, *db)};
  };
  for (std::size_t r = 0; r < found.plan.recipes.size(); ++r)
    for (std::size_t b = 0; b < found.plan.bases.size(); ++b) {
      for (auto const& tensor : found.tensors) include(tensor_db(tensor, r, b));
      for (auto const& layer : found.layers) include(both_db(layer, r, b));
      for (auto const& layer : found.layers) include(weight_only_db(layer, r, b));
    }
  if (range.low > range.high) return {0, 30};
  return {std::floor(range.low - 0.5), std::ceil(range.high + 0.5)};
}

std::string overall_figures(results const& found, db_range range) {
  auto const tensors = mean_over_tensors(found);
  auto const both = mean_over_layers(found, both_db);
  auto const weight_only = mean_over_layers(found, weight_only_db);
  auto const cells = [](means const& of) {
    return [&of](std::size_t r, std::size_t b) { return of.db.at(r, b); };
  };
  std::string html;
  if (tensors.count > 0)
    html += figure(draw(chart_of(found.plan, fmt::format("Mean over {} tensors", tensors.count),
                                 {{"SQNR", cells(tensors)}}, by_mean(found.plan, tensors), range)),
                   dots_guide);
  if (both.count > 0)
    html +=
        figure(draw(chart_of(found.plan, fmt::format("Outputs: mean over {} layers", both.count),
                             {{"W4A4", cells(both)}, {"W4A16", cells(weight_only)}},
                             by_mean(found.plan, both), range)),
               layer_guide);
  return html;
}

std::string layer_figure(plan const& what, layer_result const& layer, db_range range) {
  return figure(
      draw(chart_of(what, shortened(layer.name, 48),
                    {{"W4A4", [&](auto r, auto b) { return both_db(layer, r, b); }},
                     {"W4A16", [&](auto r, auto b) { return weight_only_db(layer, r, b); }}},
                    plan_order(what), range)),
      layer_guide);
}

std::string tensor_figures(plan const& what, tensor_result const& tensor, db_range range) {
  auto const db = [&](std::size_t r, std::size_t b) { return tensor_db(tensor, r, b); };
  return figure(draw(chart_of(what, "Error", {{"SQNR", db}}, plan_order(what), range)),
                dots_guide) +
         figure(draw_strips(what, values_chart(what, tensor)), values_guide) +
         figure(draw_strips(what, scales_chart(what, tensor)), scales_guide);
}

}  // namespace comparison
