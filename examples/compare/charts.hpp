// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The two kinds of pictures. Both have a row for each recipe, labelled at its left.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace comparison {

/// Inline SVG, and its width in pixels.
struct picture {
  std::string svg;
  double width;
};

/// One kind of mark. `basis` (0 or 1) gives it colour and shape; hollow marks tell two kinds of one
/// basis apart.
struct series {
  std::string group;  ///< above the name
  std::string name;
  std::size_t basis;
  bool is_hollow;
};

/// Values in dB on one axis, a row for each label, with the numbers beside them.
struct dot_chart {
  struct row {
    std::string label;
    std::string note;
    std::vector<std::optional<double>> values;  ///< one for each series
  };
  std::string title;
  std::vector<series> kinds;
  std::vector<row> rows;
  double low;
  double high;
};
picture draw(dot_chart const& chart);

/// Histograms above each other over one axis: one a row, of one or two bases.
struct strip_chart {
  struct row {
    std::string label;
    std::vector<std::vector<double>> counts;  ///< for each basis, the bins
    std::vector<double> lines;                ///< grid lines, in units of the axis
  };
  struct tick {
    double at;
    std::string text;
  };
  std::string title;
  std::vector<std::string> bases;
  std::vector<row> rows;
  std::vector<tick> ticks;
  double low;
  double high;
  double width;  ///< of the axis, in pixels
};
picture draw(strip_chart const& chart);

}  // namespace comparison
