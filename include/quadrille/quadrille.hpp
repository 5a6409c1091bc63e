// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Everything for the host.

#include <quadrille/analysis.hpp>
#include <quadrille/dequantize.hpp>
#include <quadrille/gemm.hpp>
#include <quadrille/prepacked.hpp>
#include <quadrille/quantize.hpp>
#include <quadrille/recipes.hpp>
#include <quadrille/scale_layout.hpp>
