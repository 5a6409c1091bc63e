// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "json_report.hpp"

#include "ranking.hpp"
#include "recipe_table.hpp"

#include <climits>
#include <cmath>
#include <nlohmann/json.hpp>

namespace comparison {
namespace {

using nlohmann::ordered_json;

/// JSON has no infinity: an SQNR without error is null.
ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json errors(quadrille::error_sums const& sums) {
  return {{"sqnr_db", number(sums.sqnr_db())},
          {"nmse", number(sums.nmse())},
          {"projection", sums.projection()},
          {"shrinkage_bias", sums.shrinkage_bias()},
          {"elements", sums.count}};
}

/// [[exponent, blocks], ...]; the exponent of scale 0 is null.
ordered_json scale_exponents(quadrille::quantization_report const& report) {
  auto list = ordered_json::array();
  for (auto const& [exponent, blocks] : report.scale_exponents)
    list.push_back({exponent == INT_MIN ? ordered_json(nullptr) : ordered_json(exponent), blocks});
  return list;
}

ordered_json cell(tally const& counted) {
  auto const& report = counted.report;
  auto json = errors(report.sums);
  json["clip_rate"] = report.clip_rate();
  json["underflow_rate"] = report.underflow_rate();
  json["scale_exponents"] = scale_exponents(report);
  json["values"] = counted.values;
  return json;
}

ordered_json cell(product_errors const& product) {
  return {{"w4a4", errors(product.both)}, {"w4a16", errors(product.weight_only)}};
}

template <class T>
ordered_json cells(plan const& what, table<T> const& from) {
  auto list = ordered_json::array();
  for (std::size_t r = 0; r < what.recipes.size(); ++r)
    for (std::size_t b = 0; b < what.bases.size(); ++b) {
      auto const& one = from.at(r, b);
      if (!one) continue;
      ordered_json json{{"recipe", recipes()[what.recipes[r]].name},
                        {"rotation", bases()[what.bases[b]].name}};
      json.update(cell(*one));
      list.push_back(std::move(json));
    }
  return list;
}

ordered_json winner(plan const& what, double bits, db_of const& db) {
  auto const e = best(what, bits, db);
  if (!e) return nullptr;
  return {{"recipe", recipes()[what.recipes[e->recipe]].name},
          {"rotation", bases()[what.bases[e->basis]].name},
          {"sqnr_db", number(e->db)}};
}

ordered_json winners(plan const& what, db_of const& db) {
  return {{"at_most_4.5_bits", winner(what, narrow_bits, db)},
          {"of_all", winner(what, any_bits, db)}};
}

ordered_json tensor_json(plan const& what, tensor_result const& tensor) {
  auto const db = [&](std::size_t r, std::size_t b) { return tensor_db(tensor, r, b); };
  return {{"name", tensor.source.name},
          {"file", tensor.source.file.string()},
          {"shape", tensor.source.shape},
          {"rows_read", tensor.rows},
          {"amax", tensor.amax},
          {"best", winners(what, db)},
          {"cells", cells(what, tensor.cells)}};
}

ordered_json layer_json(plan const& what, layer_result const& layer) {
  return {
      {"name", layer.name}, {"input_rows", layer.input_rows}, {"weight_rows", layer.weight_rows},
      {"k", layer.cols},    {"all_rows", layer.is_whole},     {"cells", cells(what, layer.cells)}};
}

ordered_json recipe_json(recipe_info const& recipe) {
  return {{"name", recipe.name},
          {"text", recipe.text},
          {"bits_per_element", recipe.bits},
          {"grid", recipe.grid}};
}

ordered_json overall(results const& found) {
  auto const mean = mean_over_tensors(found);
  auto const db = [&](std::size_t r, std::size_t b) { return mean.db.at(r, b); };
  return {{"tensors", mean.count}, {"best", winners(found.plan, db)}};
}

}  // namespace

std::string json_report(results const& found) {
  ordered_json json;
  for (auto const& file : found.files) json["files"].push_back(file.string());
  json["notes"] = found.notes;
  json["value_bins_to_one"] = value_bins_to_one;
  for (auto const r : found.plan.recipes) json["recipes"].push_back(recipe_json(recipes()[r]));
  json["tensors"] = ordered_json::array();
  for (auto const& tensor : found.tensors)
    json["tensors"].push_back(tensor_json(found.plan, tensor));
  json["layers"] = ordered_json::array();
  for (auto const& layer : found.layers) json["layers"].push_back(layer_json(found.plan, layer));
  json["overall"] = overall(found);
  return json.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace comparison
