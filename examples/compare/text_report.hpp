// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The results as text of at most 100 columns.

#include "results.hpp"

namespace comparison {

std::string text_report(results const& found);

}  // namespace comparison
