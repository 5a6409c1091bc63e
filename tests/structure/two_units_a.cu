// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Linked with two_units_b.cu: whatever a header defines without `inline` clashes here.

#include <quadrille/quadrille.cuh>

int other_unit();

int main() { return other_unit(); }
