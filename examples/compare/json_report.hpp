// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The results as JSON, with every count that was taken.

#include "results.hpp"

namespace comparison {

std::string json_report(results const& found);

}  // namespace comparison
