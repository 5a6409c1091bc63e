// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One layer's product under every recipe in every basis.

#include "progress.hpp"
#include "results.hpp"

namespace comparison {

/// `tensors` holds the results of the layer's two operands.
layer_result study(inputs const& in, layer const& which, std::vector<tensor_result> const& tensors,
                   plan const& what, progress& bar);

/// For the progress bar; about nanoseconds of one thread.
double layer_work(inputs const& in, layer const& which, plan const& what);

}  // namespace comparison
