// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A fault for the checker to find: the bad half fails for another reason than the one expected.
// expect: quadrille: one is not three; write 3

#ifdef QUADRILLE_BAD
static_assert(1 == 2, "quadrille: one is not two; write 2");
#endif
