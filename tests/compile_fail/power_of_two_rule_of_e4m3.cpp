// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An exponent rule for scales that are no powers of two.
// expect: quadrille: a power-of-two rule is paired with another scale format than ue8m0; it chooses exponents, write one_level<ue8m0, rule>, or an amax rule such as amax_rule

#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

struct mine : quadrille::mxfp4 {
#ifdef QUADRILLE_BAD
  using scale = quadrille::one_level<quadrille::e4m3, quadrille::ocp_floor>;
#else
  using scale = quadrille::one_level<quadrille::ue8m0, quadrille::ocp_floor>;
#endif
};

quadrille::quantized<mine> q(1, 0);
