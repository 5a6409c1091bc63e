// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The figures of the page, each with its caption, as HTML.

#include "results.hpp"

namespace comparison {

/// The least and the greatest dB of any picture, so that all have one axis.
struct db_range {
  double low;
  double high;
};
db_range range_of(results const& found);

std::string overall_figures(results const& found, db_range range);
std::string layer_figure(plan const& what, layer_result const& layer, db_range range);
/// Errors, values and scales of one tensor.
std::string tensor_figures(plan const& what, tensor_result const& tensor, db_range range);

}  // namespace comparison
