// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The published recipes. Each is composed as a user would compose it.

#include <quadrille/recipe.hpp>

namespace quadrille {

// ---- NVFP4 (arXiv 2509.25149, Transformer Engine): activations and, with SR, gradients.
struct nvfp4 {
  using element = e2m1;
  using block = shape<1, 16>;
  using scale = two_level<e4m3>;
  using rounding = nearest_even;
  using rotation = identity;
};
/// Weights: 16x16 blocks, so that W and its transpose hold the same values.
struct nvfp4_weight : nvfp4 {
  using block = shape<16, 16>;
};
/// Gradients, the operand of dgrad.
struct nvfp4_gradient : nvfp4 {
  using rounding = stochastic<8>;
};
/// The wgrad operands: rotated along tokens; the gradient one also rounded stochastically.
struct nvfp4_wgrad : nvfp4 {
  using rotation = random_hadamard<16>;
};
struct nvfp4_wgrad_gradient : nvfp4_gradient {
  using rotation = random_hadamard<16>;
};
/// Four over six (arXiv 2512.02010).
struct nvfp4_four_over_six : nvfp4 {
  using scale = two_level<e4m3, four_over_six<squared_error>>;
};
/// NVFP4 whose block scales keep every element x scale exact in E4M3.
struct nvfp4_fp8_exact : nvfp4 {
  using scale = two_level<e4m3, fp8_exact>;
};
/// An FP32 scale for each row in place of one for the tensor.
struct nvfp4_per_row : nvfp4 {
  using scale = two_level<e4m3, amax_rule, outer_scope::row>;
};

// ---- MXFP4 (OCP Microscaling v1.0) under each scale rule in use.
struct mxfp4 {
  using element = e2m1;
  using block = shape<1, 32>;
  using scale = one_level<ue8m0, ocp_floor>;
  using rounding = nearest_even;
  using rotation = identity;
};
struct mxfp4_even : mxfp4 {
  using scale = one_level<ue8m0, ocp_even>;
};
struct mxfp4_ceil : mxfp4 {
  using scale = one_level<ue8m0, ocp_ceil>;
};
struct mxfp4_round_up : mxfp4 {
  using scale = one_level<ue8m0, round_up>;
};

// ---- UFP4 (arXiv 2606.20381): a uniform grid, rotated in all three GEMMs.
struct ufp4 {
  using element = e1m2;
  using block = shape<1, 16>;
  using scale = one_level<fp32>;
  using rounding = nearest_even;
  using rotation = random_hadamard<16>;
};
struct ufp4_gradient : ufp4 {
  using rounding = stochastic<8>;
};
/// With NVFP4's scale hierarchy: 4.5 bits an element in place of 6.
struct ufp4_two_level : ufp4 {
  using scale = two_level<e4m3>;
};
struct ufp4_two_level_gradient : ufp4_two_level {
  using scale = two_level<e4m3, headroom_rule>;
  using rounding = stochastic<8>;
};

// ---- Quartet (arXiv 2505.14669 v4).
/// Forward: QuEST scales in a Hadamard basis; see clip_mask() for its gradient mask.
struct quartet_forward : mxfp4 {
  using scale = one_level<ue8m0, quest>;
  using rotation = hadamard<32>;
};
/// Backward: round to nearest of 3/4 x, decoded by 4/3 (16/9 for a product).
struct quartet_backward : mxfp4 {
  using scale = one_level<ue8m0, floor_three_quarters>;
  using rotation = random_hadamard<32, seeded_signs>;
};

// ---- Quartet II (arXiv 2601.22813).
struct quartet2_forward : nvfp4_four_over_six {};
/// Backward: MS-EDEN. The randomness is in the signs and in the scales.
struct quartet2_backward : nvfp4 {
  using scale = two_level<e4m3, eden<16>>;
  using rotation = random_hadamard<128, seeded_signs>;
};

/// Backward operand of Tseng et al. (arXiv 2502.20586): never clips, unbiased.
struct mxfp4_tseng : mxfp4 {
  using scale = one_level<ue8m0, floor_three_quarters>;
  using rounding = stochastic<8>;
  using rotation = random_hadamard<64, seeded_signs>;
};

}  // namespace quadrille
