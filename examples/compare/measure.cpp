// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include "recipe_table.hpp"

#include <algorithm>
#include <cmath>

namespace comparison {
namespace {

using quadrille::i64;
using quadrille::u8;

template <class R>
void count_values(quadrille::matrix_ref<float const> x, quadrille::quantized_ref<R, u8 const> q,
                  std::array<quadrille::u64, value_bins>& bins) {
  for (i64 row = 0; row < x.rows; ++row)
    for (i64 block = 0; block < q.scale_cols(); ++block) {
      auto const scale = q.scales[row * q.scale_cols() + block];
      float const largest = R::scale::decoder(scale, q.outer_decode(row))(R::element::max, 0);
      if (largest == 0) continue;
      i64 const first = block * R::block::cols;
      for (i64 col = first; col < std::min(x.cols, first + R::block::cols); ++col) {
        double const bin = std::abs(double(x(row, col)) / largest) * value_bins_to_one;
        ++bins[static_cast<std::size_t>(std::min(bin, double(value_bins - 1)))];
      }
    }
}

template <class R>
tally measure_as(piece const& x) {
  static_assert(piece_granularity % R::block::rows == 0);
  auto const rows = x.rows.ref();
  quadrille::quantized<R> q(rows.rows, rows.cols);
  quadrille::quantize_options options;
  options.first_row = static_cast<i64>(x.first_row);
  options.amax = x.amax;
  quadrille::quantize(quadrille::host_policy{1}, rows, q, options);
  tally result;
  result.report = quadrille::analyze(rows, q);
  count_values<R>(rows, q.ref(), result.values);
  return result;
}

constexpr auto measure_functions = for_every_recipe([](auto const& row) {
  return &measure_as<typename std::remove_cvref_t<decltype(row)>::recipe>;
});

void add_sums(quadrille::error_sums& to, quadrille::error_sums const& from) {
  to.count += from.count;
  to.nonfinite += from.nonfinite;
  to.xx += from.xx;
  to.xy += from.xy;
  to.error += from.error;
  to.abs_x += from.abs_x;
  to.abs_y += from.abs_y;
}

}  // namespace

void tally::add(tally const& other) {
  auto const& from = other.report;
  add_sums(report.sums, from.sums);
  report.clipped += from.clipped;
  report.underflowed += from.underflowed;
  for (std::size_t i = 0; i < report.codes.size(); ++i) report.codes[i] += from.codes[i];
  for (auto const& [exponent, blocks] : from.scale_exponents)
    report.scale_exponents[exponent] += blocks;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
}

tally measure(std::size_t recipe, piece const& x) { return measure_functions[recipe](x); }

float amax_of(matrix const& x, int threads) {
  return quadrille::amax<unrotated<quadrille::nvfp4>>(quadrille::host_policy{threads}, x.ref());
}

}  // namespace comparison
