// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A fault for the checker to find: the good half does not compile.
// expect: quadrille: one is not two; write 2

#ifdef QUADRILLE_BAD
static_assert(1 == 2, "quadrille: one is not two; write 2");
#else
int value = no_such_name;
#endif
