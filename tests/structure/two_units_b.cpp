// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <quadrille/quadrille.hpp>

int other_unit();
int other_unit() { return 0; }
