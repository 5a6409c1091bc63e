// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A view over the user's own memory is held to the same rules.
// expect: quadrille: the rotation crosses a block edge; its size must divide block::cols or be a multiple of it, write random_hadamard<block::cols>

#include <quadrille/recipes.hpp>
#include <quadrille/storage.hpp>

struct mine : quadrille::nvfp4 {
#ifdef QUADRILLE_BAD
  using block = quadrille::shape<1, 24>;
#else
  using block = quadrille::shape<1, 32>;
#endif
  using rotation = quadrille::random_hadamard<16>;
};

quadrille::quantized_ref<mine> q;
