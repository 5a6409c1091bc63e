// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A picture as inline SVG. Colours and fonts come from the page's style, by class.

#include <string>
#include <string_view>

namespace comparison {

/// Text for HTML and SVG.
std::string escaped(std::string_view text);

class drawing {
 public:
  /// Sizes in pixels; `title` is read out in place of the picture.
  drawing(double width, double height, std::string_view title);

  void text(double x, double y, std::string_view css, std::string_view words);
  void line(double x1, double y1, double x2, double y2, std::string_view css);
  void rectangle(double x, double y, double width, double height, std::string_view css);
  /// A mark around (x, y): a circle for series 0 and a diamond for the others.
  void mark(double x, double y, std::size_t series, std::string_view css);
  void path(std::string_view commands, std::string_view css);

  std::string finished() const { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace comparison
