// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "charts.hpp"

#include "svg.hpp"
#include "words.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace comparison {
namespace {

constexpr double pitch = 27;
constexpr double top = 52;
constexpr double bottom = 26;
constexpr double label_width = 150;
constexpr double note_width = 28;
constexpr double dots_width = 224;
constexpr double number_width = 66;

std::string css(series const& kind, std::string_view what) {
  return fmt::format("s{} {}", kind.basis, what);
}

/// From values to pixels.
struct axis {
  double low;
  double high;
  double left;
  double width;
  double operator()(double value) const {
    double const share = (std::clamp(value, low, high) - low) / (high - low);
    return left + share * width;
  }
};

double middle_of(std::size_t row) { return top + pitch * (double(row) + 0.5); }

/// The distance of ticks: 1, 2 or 5 times a power of ten, so that there are about six.
double tick_step(double range) {
  double const power = std::pow(10, std::floor(std::log10(range / 6)));
  for (double const factor : {1.0, 2.0, 5.0})
    if (range / (factor * power) <= 7) return factor * power;
  return 10 * power;
}

/// The best value of the full marks, or of the hollow ones.
std::optional<double> largest(dot_chart const& chart, bool is_hollow) {
  std::optional<double> most;
  for (auto const& row : chart.rows)
    for (std::size_t k = 0; k < row.values.size(); ++k)
      if (chart.kinds[k].is_hollow == is_hollow && row.values[k])
        most = std::max(most.value_or(*row.values[k]), *row.values[k]);
  return most;
}

void draw_axis(drawing& out, axis const& x, std::size_t rows) {
  double const end = top + pitch * double(rows);
  double const step = tick_step(x.high - x.low);
  for (double at = std::ceil(x.low / step) * step; at <= x.high; at += step) {
    out.line(x(at), top, x(at), end, "grid");
    out.text(x(at), end + 16, "tick", fmt::format("{:g}", at));
  }
  out.text(x.left + x.width + 12, end + 16, "unit", "dB");
}

void draw_heads(drawing& out, dot_chart const& chart, double left) {
  out.text(0, 16, "title", chart.title);
  out.text(label_width + note_width - 10, top - 8, "head end", "bits");
  for (std::size_t k = 0; k < chart.kinds.size(); ++k) {
    double const right = left + number_width * double(k + 1);
    auto const& kind = chart.kinds[k];
    out.text(right, top - 24, css(kind, "head end"), kind.group);
    out.text(right, top - 8, css(kind, "name end"), kind.name);
    out.mark(right - 8, top - 42, kind.basis, css(kind, kind.is_hollow ? "hollow" : "solid"));
  }
}

void draw_row(drawing& out, dot_chart const& chart, std::size_t index, axis const& x) {
  auto const& row = chart.rows[index];
  double const y = middle_of(index);
  auto const most = largest(chart, false);
  auto const most_hollow = largest(chart, true);
  out.text(0, y + 4, "label", row.label);
  out.text(label_width + note_width - 10, y + 4, "note end", row.note);
  out.line(x.left, y, x.left + x.width, y, "rail");
  for (std::size_t k = 0; k < row.values.size(); ++k) {
    auto const& kind = chart.kinds[k];
    auto const value = row.values[k];
    double const right = x.left + x.width + number_width * double(k + 1);
    bool const is_best = value && value == (kind.is_hollow ? most_hollow : most);
    out.text(right, y + 4, css(kind, is_best ? "number end best" : "number end"),
             value ? decibels(*value) : "-");
    double const apart = kind.basis == 0 ? -3 : 3;  // equal values stay visible
    if (value)
      out.mark(x(*value), y + apart, kind.basis, css(kind, kind.is_hollow ? "hollow" : "solid"));
  }
}

/// A histogram as steps from the base line up, closed. `scale` is pixels a count.
std::string steps(std::vector<double> const& counts, axis const& x, double base, double scale) {
  double const width = x.width / double(counts.size());
  std::string d = fmt::format("M{:.1f} {:.1f}", x.left, base);
  for (double const count : counts) d += fmt::format("V{:.1f}h{:.2f}", base - count * scale, width);
  return d + fmt::format("V{:.1f}z", base);
}

void draw_strip(drawing& out, strip_chart::row const& row, double y, axis const& x) {
  constexpr double height = pitch - 6;
  double const base = y + height / 2;
  out.text(0, y + 4, "label", row.label);
  for (double const at : row.lines) out.line(x(at), base - height, x(at), base, "point");
  out.line(x.left, base, x.left + x.width, base, "rail");
  for (std::size_t b = 0; b < row.counts.size(); ++b) {
    auto const& counts = row.counts[b];
    double const most = counts.empty() ? 0 : *std::ranges::max_element(counts);
    if (most == 0) continue;
    out.path(steps(counts, x, base, height / most),
             fmt::format("s{} {}", b, b == 0 ? "area" : "outline"));
  }
}

void draw_key(drawing& out, double x, std::size_t basis, std::string const& name) {
  out.rectangle(x, top - 17, 9, 9, fmt::format("s{} {}", basis, basis == 0 ? "area" : "outline"));
  out.text(x + 14, top - 8, fmt::format("s{} name", basis), name);
}

}  // namespace

picture draw(dot_chart const& chart) {
  axis const x{chart.low, chart.high, label_width + note_width, dots_width};
  double const right = x.left + x.width;
  double const width = right + number_width * double(chart.kinds.size()) + 4;
  drawing out(width, top + pitch * double(chart.rows.size()) + bottom, chart.title);
  draw_heads(out, chart, right);
  draw_axis(out, x, chart.rows.size());
  for (std::size_t r = 0; r < chart.rows.size(); ++r) draw_row(out, chart, r, x);
  return {out.finished(), width};
}

picture draw(strip_chart const& chart) {
  axis const x{chart.low, chart.high, label_width, chart.width};
  double const end = top + pitch * double(chart.rows.size());
  double const width = x.left + x.width + 16;
  drawing out(width, end + bottom, chart.title);
  out.text(0, 16, "title", chart.title);
  for (std::size_t b = 0; b < chart.bases.size(); ++b)
    draw_key(out, x.left + double(b) * 100, b, chart.bases[b]);
  for (auto const& tick : chart.ticks) out.text(x(tick.at), end + 16, "tick", tick.text);
  for (std::size_t r = 0; r < chart.rows.size(); ++r)
    draw_strip(out, chart.rows[r], middle_of(r), x);
  return {out.finished(), width};
}

}  // namespace comparison
