// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "html_report.hpp"

#include "figures.hpp"
#include "html_style.hpp"
#include "ranking.hpp"
#include "recipe_table.hpp"
#include "svg.hpp"
#include "words.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace comparison {
namespace {

/// Pictures of more tensors would make the page slow to open; the JSON file has them all.
constexpr std::size_t most_tensors = 40;

std::string safe(std::string_view name) { return escaped(printable(name)); }

std::string file_names(results const& found) {
  std::string text;
  for (auto const& file : found.files)
    text += (text.empty() ? "" : ", ") + safe(file.filename().string());
  return text;
}

std::string winner(results const& found, std::string_view of, double bits, means const& mean) {
  auto const& what = found.plan;
  auto const first =
      best(what, bits, [&](std::size_t r, std::size_t b) { return mean.db.at(r, b); });
  if (!first) return {};
  auto const basis = what.bases[first->basis];
  return fmt::format(
      "<li>{} {}<b>{}</b>{}, {} dB</li>\n", of,
      bits == narrow_bits ? fmt::format("at {} bits or fewer", bits) : "of any width",
      recipes()[what.recipes[first->recipe]].name,
      basis == 0 ? "not rotated" : fmt::format("rotated by {}", bases()[basis].name),
      decibels(first->db));
}

std::string summary(results const& found) {
  auto const tensors = mean_over_tensors(found);
  auto const layers = mean_over_layers(found, both_db);
  std::string html = "<ul class=\"winners\">\n";
  for (double const bits : {narrow_bits, any_bits})
    html += winner(found, "Best for tensors", bits, tensors);
  for (double const bits : {narrow_bits, any_bits})
    html += winner(found, "Best for layer outputs", bits, layers);
  html += "</ul>\n";
  for (auto const& note : found.notes)
    html += fmt::format("<p class=\"muted\">{}.</p>\n", escaped(note));
  return html;
}

std::string recipe_list(plan const& what) {
  std::string html =
      "<h2>The recipes</h2>\n<table><tr><th>recipe</th><th>bits an element</th><th>what it is</th>"
      "</tr>\n";
  for (auto const r : what.recipes)
    html += fmt::format("<tr><td>{}</td><td class=\"bits\">{:.2f}</td><td>{}</td></tr>\n",
                        recipes()[r].name, recipes()[r].bits, escaped(recipes()[r].text));
  return html + "</table>\n";
}

std::string layers(results const& found, db_range range) {
  if (found.layers.empty()) return {};
  std::string html = fmt::format(
      "<h2>What layers lose</h2>\n<p>A layer multiplies its input with its weight. Of an input at "
      "most the first {} rows are multiplied, of a weight the first {}.</p>\n<div class=\"tiles\">\n",
      input_rows_limit, weight_rows_limit);
  for (auto const& layer : found.layers) html += layer_figure(found.plan, layer, range);
  return html + "</div>\n";
}

std::string tensors(results const& found, db_range range) {
  std::string html = "<h2>What tensors lose, and why</h2>\n";
  auto const shown = std::min(found.tensors.size(), most_tensors);
  if (shown < found.tensors.size())
    html += fmt::format("<p>The first {} of {} tensors.</p>\n", shown, found.tensors.size());
  for (std::size_t i = 0; i < shown; ++i) {
    auto const& tensor = found.tensors[i];
    html += fmt::format(
        "<h3>{} <small>{} rows of {}, largest magnitude {:.3g}</small></h3>\n<div class=\"row\">\n",
        safe(tensor.source.name), tensor.rows, tensor.source.cols(), tensor.amax);
    html += tensor_figures(found.plan, tensor, range) + "</div>\n";
  }
  return html;
}

}  // namespace

std::string html_report(results const& found) {
  auto const range = range_of(found);
  auto const title = "What 4-bit recipes lose: " + file_names(found);
  return fmt::format(
             "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{0}</title>\n"
             "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n"
             "<p class=\"files\">{2}, {3}, {4}. Written by compare, an example of Quadrille.</p>\n",
             title, html_style, counted(found.tensors.size(), "tensor"),
             counted(found.layers.size(), "layer"), counted(found.plan.recipes.size(), "recipe")) +
         summary(found) + "<div class=\"row\">\n" + overall_figures(found, range) + "</div>\n" +
         recipe_list(found.plan) + layers(found, range) + tensors(found, range) +
         "</body>\n</html>\n";
}

}  // namespace comparison
