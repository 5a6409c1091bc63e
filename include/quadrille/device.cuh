// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What device code may use, with nvcc or NVRTC: formats, policies, recipes, views and the block codec.

#include <quadrille/codec.hpp>
#include <quadrille/recipes.hpp>
#include <quadrille/scale_layout.hpp>
#include <quadrille/storage.hpp>
