// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Runs a plan over the inputs.

#include "results.hpp"

namespace comparison {

/// Streams each tensor twice, some MB at a time: for its largest magnitude, then to quantize it by
/// every recipe in every basis. Then multiplies the layers. Throws tensor_file::error where a file is
/// bad or a tensor holds a NaN or an infinity.
results run(inputs const& in, plan const& what);

}  // namespace comparison
