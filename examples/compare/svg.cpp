// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "svg.hpp"

#include <fmt/format.h>
#include <iterator>

namespace comparison {
namespace {

template <class... Args>
void append(std::string& to, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(to), format, std::forward<Args>(args)...);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (char const c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return out;
}

drawing::drawing(double width, double height, std::string_view title) {
  append(svg_,
         "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
         "aria-label=\"{2}\">\n",
         width, height, escaped(title));
}

void drawing::text(double x, double y, std::string_view css, std::string_view words) {
  append(svg_, "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, css,
         escaped(words));
}

void drawing::line(double x1, double y1, double x2, double y2, std::string_view css) {
  append(svg_, "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1,
         y1, x2, y2, css);
}

void drawing::rectangle(double x, double y, double width, double height, std::string_view css) {
  append(svg_,
         "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n", x,
         y, width, height, css);
}

void drawing::mark(double x, double y, std::size_t series, std::string_view css) {
  if (series == 0)
    append(svg_, "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.5\" class=\"{}\"/>\n", x, y, css);
  else
    path(fmt::format("M{:.1f} {:.1f}l5.5 5.5l-5.5 5.5l-5.5-5.5z", x, y - 5.5), css);
}

void drawing::path(std::string_view commands, std::string_view css) {
  append(svg_, "<path d=\"{}\" class=\"{}\"/>\n", commands, css);
}

}  // namespace comparison
