// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text_report.hpp"

#include "ranking.hpp"
#include "recipe_table.hpp"
#include "words.hpp"

#include <fmt/format.h>
#include <iterator>

namespace comparison {
namespace {

constexpr std::size_t name_width = 23;
constexpr std::size_t heading_width = 60;

/// Text that grows by lines; trailing blanks are cut.
class page {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    while (text_.ends_with(' ')) text_.pop_back();
    text_ += '\n';
  }
  std::string const& text() const { return text_; }

 private:
  std::string text_;
};

std::string_view basis_name(plan const& what, std::size_t b) { return bases()[what.bases[b]].name; }

std::string name_and_bits(plan const& what, std::size_t r) {
  auto const& recipe = recipes()[what.recipes[r]];
  return fmt::format("{:{}} {:4.2f}", recipe.name, name_width, recipe.bits);
}

std::string db_cell(std::optional<double> db) { return db ? decibels(*db) : "-"; }

std::string_view name_of(tensor_file::dtype type) {
  return type == tensor_file::dtype::f32 ? "F32" : type == tensor_file::dtype::f16 ? "F16" : "BF16";
}

std::string shape_of(tensor_file::tensor const& t) {
  std::string text;
  for (auto const extent : t.shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text.empty() ? "a scalar" : text;
}

void introduce(page& out, results const& found) {
  out.line("{} and {}, {}.", counted(found.tensors.size(), "tensor"),
           counted(found.layers.size(), "layer"), counted(found.plan.recipes.size(), "recipe"));
  for (auto const& note : found.notes) out.line("Note: {}.", note);
  out.line("");
  for (auto const r : found.plan.recipes)
    out.line("  {:{}} {}", recipes()[r].name, name_width, recipes()[r].text);
  out.line("");
  out.line(
      "Tensors. bits: stored for an element, with its share of the block scale. SQNR: signal to");
  out.line(
      "quantization noise in dB, more is better. proj: what is left of the signal, 1 is all. clip "
      "and");
  out.line("zero: % of the elements beyond the largest value of their block, and that became 0.");
}

std::string tally_cells(std::optional<tally> const& cell) {
  if (!cell) return fmt::format("{:>8}{:>8}{:>8}{:>8}", "-", "-", "-", "-");
  auto const& report = cell->report;
  return fmt::format("{:>8}{:8.4f}{:8.2f}{:8.2f}", decibels(report.sums.sqnr_db()),
                     report.sums.projection(), 100 * report.clip_rate(),
                     100 * report.underflow_rate());
}

void write_tensor(page& out, plan const& what, tensor_result const& tensor) {
  out.line("");
  bool const is_whole = tensor.rows == tensor.source.rows();
  out.line("{}  {} {}, max |x| {:.3g}{}", shortened(tensor.source.name, heading_width),
           name_of(tensor.source.type), shape_of(tensor.source), tensor.amax,
           is_whole ? "" : fmt::format(", first {}", counted(tensor.rows, "row")));
  std::string groups(name_width + 5, ' ');
  std::string heads = fmt::format("{:{}} {:>4}", "recipe", name_width, "bits");
  for (std::size_t b = 0; b < what.bases.size(); ++b) {
    auto const name = b == 0 && what.bases[b] == 0 ? "not rotated" : basis_name(what, b);
    groups += fmt::format("  {:-^30}", fmt::format(" {} ", name));
    heads += fmt::format("{:>8}{:>8}{:>8}{:>8}", "SQNR", "proj", "clip", "zero");
  }
  out.line("{}", groups);
  out.line("{}", heads);
  for (std::size_t r = 0; r < what.recipes.size(); ++r) {
    auto text = name_and_bits(what, r);
    for (std::size_t b = 0; b < what.bases.size(); ++b) text += tally_cells(tensor.cells.at(r, b));
    out.line("{}", text);
  }
}

/// Columns of dB under a heading, one for each basis.
struct column_group {
  std::string_view heading;
  db_of db;
};

void write_groups(page& out, plan const& what, std::vector<std::size_t> const& order,
                  std::vector<column_group> const& groups) {
  constexpr std::size_t width = 12;
  std::string first(name_width + 5, ' ');
  std::string second = fmt::format("{:{}} {:>4}", "recipe", name_width, "bits");
  for (auto const& group : groups) {
    auto const inner = width * what.bases.size() - 2;
    first += fmt::format("  {:-^{}}", fmt::format(" {} ", group.heading), inner);
    for (std::size_t b = 0; b < what.bases.size(); ++b)
      second += fmt::format("{:>{}}", basis_name(what, b), width);
  }
  out.line("{}", first);
  out.line("{}", second);
  for (auto const r : order) {
    auto text = name_and_bits(what, r);
    for (auto const& group : groups)
      for (std::size_t b = 0; b < what.bases.size(); ++b)
        text += fmt::format("{:>{}}", db_cell(group.db(r, b)), width);
    out.line("{}", text);
  }
}

std::vector<std::size_t> plan_order(plan const& what) {
  std::vector<std::size_t> order(what.recipes.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  return order;
}

bool has_gaps(results const& found) {
  for (auto const& tensor : found.tensors)
    for (std::size_t r = 0; r < found.plan.recipes.size(); ++r)
      for (std::size_t b = 0; b < found.plan.bases.size(); ++b)
        if (!tensor.cells.at(r, b)) return true;
  return false;
}

void write_tensors(page& out, results const& found) {
  for (auto const& tensor : found.tensors) write_tensor(out, found.plan, tensor);
  if (!has_gaps(found)) return;
  out.line("");
  out.line(
      "-  The columns are no multiple of the elements that this rotation or recipe takes "
      "together.");
}

void write_layers(page& out, results const& found) {
  if (found.layers.empty()) return;
  out.line("");
  out.line(
      "Layers: input * weight^T. SQNR in dB of the product, with both operands quantized (W4A4) "
      "and");
  out.line(
      "with the weights only (W4A16). At most the first {} rows of an input and the first {} of a",
      input_rows_limit, weight_rows_limit);
  out.line("weight are multiplied.");
  for (auto const& layer : found.layers) {
    out.line("");
    out.line("{}  {} x {} by {} x {}{}", shortened(layer.name, heading_width), layer.input_rows,
             layer.cols, layer.weight_rows, layer.cols, layer.is_whole ? "" : ", the first rows");
    write_groups(out, found.plan, plan_order(found.plan),
                 {{"W4A4", [&](auto r, auto b) { return both_db(layer, r, b); }},
                  {"W4A16", [&](auto r, auto b) { return weight_only_db(layer, r, b); }}});
  }
}

std::string winner_text(plan const& what, std::optional<entry> const& e) {
  if (!e) return "-";
  return fmt::format("{}, {} {}", recipes()[what.recipes[e->recipe]].name,
                     basis_name(what, e->basis), decibels(e->db));
}

void write_winners(page& out, results const& found) {
  out.line("");
  out.line("Best for each tensor (recipe, rotation, SQNR in dB)");
  out.line("{:32}{:36}{}", "tensor", fmt::format("of at most {} bits", narrow_bits), "of all");
  for (auto const& tensor : found.tensors) {
    auto const db = [&](std::size_t r, std::size_t b) { return tensor_db(tensor, r, b); };
    out.line("{:32}{:36}{}", shortened(tensor.source.name, 31),
             winner_text(found.plan, best(found.plan, narrow_bits, db)),
             winner_text(found.plan, best(found.plan, any_bits, db)));
  }
}

void write_overall(page& out, results const& found) {
  auto const tensors = mean_over_tensors(found);
  auto const both = mean_over_layers(found, both_db);
  auto const weight_only = mean_over_layers(found, weight_only_db);
  out.line("");
  if (tensors.count == 0) {
    out.line("Overall: no tensor has a finite SQNR in every column, so there are no means.");
    return;
  }
  auto const cells = [](means const& of) {
    return [&of](std::size_t r, std::size_t b) { return of.db.at(r, b); };
  };
  std::vector<column_group> groups{{"tensors", cells(tensors)}};
  if (both.count > 0) groups.push_back({"W4A4", cells(both)});
  if (weight_only.count > 0) groups.push_back({"W4A16", cells(weight_only)});
  out.line("Overall: mean SQNR in dB of {} and {}, best recipe first",
           counted(tensors.count, "tensor"), counted(both.count, "layer"));
  write_groups(out, found.plan, by_mean(found.plan, tensors), groups);
  out.line("");
  for (double const bits : {narrow_bits, any_bits})
    for (auto const& group : groups)
      out.line("Best {:20} by {:8} {} dB",
               bits == narrow_bits ? fmt::format("of at most {} bits", bits) : "of all",
               group.heading, winner_text(found.plan, best(found.plan, bits, group.db)));
}

}  // namespace

std::string text_report(results const& found) {
  page out;
  introduce(out, found);
  write_tensors(out, found);
  write_layers(out, found);
  write_winners(out, found);
  write_overall(out, found);
  return out.text();
}

}  // namespace comparison
