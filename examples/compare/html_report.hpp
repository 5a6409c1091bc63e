// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The results as one HTML page with pictures: no script, no link, nothing to load.

#include "results.hpp"

namespace comparison {

std::string html_report(results const& found);

}  // namespace comparison
