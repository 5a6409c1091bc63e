// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A fault for the checker to find: one mistake, two assertions.
// expect: quadrille: one is not two; write 2

#ifdef QUADRILLE_BAD
static_assert(1 == 2, "quadrille: one is not two; write 2");
static_assert(1 == 3, "quadrille: one is not three; write 3");
#endif
