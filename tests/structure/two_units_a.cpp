// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Linked with two_units_b.cpp: whatever a header defines without `inline` clashes here.

#include <quadrille/quadrille.hpp>

int other_unit();

int main() { return other_unit(); }
