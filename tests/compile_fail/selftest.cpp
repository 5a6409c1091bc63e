// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The smallest file of this folder, independent of the library.
// expect: quadrille: one is not two; the numbers must agree, write 2

#ifdef QUADRILLE_BAD
constexpr int number = 1;
#else
constexpr int number = 2;
#endif

static_assert(number == 2, "quadrille: one is not two; the numbers must agree, write 2");
