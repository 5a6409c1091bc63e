// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_study.hpp"

#include "recipe_table.hpp"
#include "tasks.hpp"
#include "words.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace comparison {
namespace {

using tensor_file::tensor;

constexpr std::size_t piece_elements = std::size_t(1) << 20;
constexpr double nanoseconds_an_element = 12;

std::size_t rows_a_piece(std::size_t cols) {
  auto const groups = piece_elements / (cols * piece_granularity);
  return piece_granularity * std::max<std::size_t>(1, groups);
}

/// Calls f(first row, rows) on one piece of the tensor after the other.
template <class F>
void for_each_piece(tensor const& source, std::size_t rows, F const& f) {
  tensor_file::reader reader(source);
  std::size_t const cols = source.cols();
  auto const most = rows_a_piece(cols);
  for (std::size_t first = 0; first < rows; first += most) {
    auto const count = std::min(most, rows - first);
    matrix x{count, cols, std::vector<float>(count * cols)};
    reader.read_rows(first, count, x.values.data());
    f(first, x);
  }
}

void check_finite(tensor const& source, std::size_t first_row, matrix const& x) {
  auto const bad = std::ranges::find_if_not(x.values, [](float v) { return std::isfinite(v); });
  if (bad == x.values.end()) return;
  auto const at = static_cast<std::size_t>(bad - x.values.begin());
  throw tensor_file::error(fmt::format(
      "{}: tensor \"{}\" holds {} at row {}, column {}; only finite numbers can be compared, "
      "repair or remove the tensor",
      source.file.string(), printable(source.name), std::isnan(*bad) ? "NaN" : "infinity",
      first_row + at / x.cols, at % x.cols));
}

bool basis_fits(std::size_t cols, std::size_t basis) { return cols % bases()[basis].size == 0; }

void find_amax(tensor_result& result, plan const& what) {
  result.amax_in_basis.assign(what.bases.size(), 0.f);
  for_each_piece(result.source, result.rows, [&](std::size_t first, matrix const& x) {
    check_finite(result.source, first, x);
    result.amax = std::max(result.amax, amax_of(x, what.threads));
    run_tasks(what.threads, what.bases.size(), [&](std::size_t b) {
      if (!basis_fits(x.cols, what.bases[b])) return;
      float const amax = amax_of(rotated(x, bases()[what.bases[b]]), 1);
      result.amax_in_basis[b] = std::max(result.amax_in_basis[b], amax);
    });
  });
}

void measure_piece(tensor_result& result, std::vector<piece> const& in_basis, plan const& what,
                   progress& bar) {
  auto const bases_count = what.bases.size();
  run_tasks(what.threads, what.recipes.size() * bases_count, [&](std::size_t task) {
    auto const r = task / bases_count;
    auto const b = task % bases_count;
    if (auto& cell = result.cells.at(r, b)) cell->add(measure(what.recipes[r], in_basis[b]));
    bar.advance(double(in_basis[b].rows.values.size()) * nanoseconds_an_element);
  });
}

void measure_all(tensor_result& result, plan const& what, progress& bar) {
  for_each_piece(result.source, result.rows, [&](std::size_t first, matrix const& x) {
    std::vector<piece> in_basis(what.bases.size());
    run_tasks(what.threads, what.bases.size(), [&](std::size_t b) {
      if (basis_fits(x.cols, what.bases[b]))
        in_basis[b] = {rotated(x, bases()[what.bases[b]]), first, result.amax_in_basis[b]};
    });
    measure_piece(result, in_basis, what, bar);
  });
}

}  // namespace

bool fits(std::size_t cols, std::size_t recipe, std::size_t basis) {
  return basis_fits(cols, basis) && cols % recipes()[recipe].granularity == 0;
}

std::size_t rows_to_read(tensor const& source, plan const& what) {
  std::size_t const rows = source.rows();
  return what.row_limit == 0 ? rows : std::min(rows, what.row_limit);
}

double tensor_work(tensor const& source, plan const& what) {
  return double(rows_to_read(source, what)) * double(source.cols()) * nanoseconds_an_element *
         double(what.recipes.size() * what.bases.size());
}

tensor_result study(tensor const& source, plan const& what, progress& bar) {
  bar.start(source.name);
  tensor_result result{source, rows_to_read(source, what), 0, {}, {}};
  result.cells = table<tally>(what.recipes.size(), what.bases.size());
  for (std::size_t r = 0; r < what.recipes.size(); ++r)
    for (std::size_t b = 0; b < what.bases.size(); ++b)
      if (fits(source.cols(), what.recipes[r], what.bases[b])) result.cells.at(r, b).emplace();
  find_amax(result, what);
  measure_all(result, what, bar);
  return result;
}

}  // namespace comparison
