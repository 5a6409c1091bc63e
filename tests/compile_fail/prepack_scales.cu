// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// FP32 block scales are not prepacked.
// expect: quadrille: weights of this recipe cannot be prepacked; that takes 4-bit elements

#include <quadrille/quadrille.cuh>

using namespace quadrille;

struct weights : nvfp4 {
#ifdef QUADRILLE_BAD
  using scale = one_level<fp32>;
#endif
};

void pack(quantized_ref<weights> q, prepacked_ref<weights> p) { prepack(on(nullptr), q, p); }
