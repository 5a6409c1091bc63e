// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// An independent oracle for the tests. It includes no header of the library and shares no method
/// with it: formats are lists of values searched for neighbours, and FP32 steps are spelled one by
/// one. `oracle_test.cpp` checks the oracle itself against published vectors.

#include "oracle_arithmetic.hpp"
#include "oracle_blocks.hpp"
#include "oracle_choices.hpp"
#include "oracle_formats.hpp"
#include "oracle_gemm.hpp"
#include "oracle_hadamard.hpp"
#include "oracle_random.hpp"
#include "oracle_storage.hpp"
