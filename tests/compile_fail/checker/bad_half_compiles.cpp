// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A fault for the checker to find: the bad half compiles.
// expect: quadrille: one is not two; write 2

static_assert(1 == 1, "quadrille: one is not two; write 2");
