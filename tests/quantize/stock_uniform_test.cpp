// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// UFP4 and its relatives, and Quartet II, against the oracle.

#include "quantize/stock_plans.hpp"

#include <quadrille/recipes.hpp>

namespace {
using namespace test;
using namespace quadrille;

plan ufp4_rotation(plan const& p) { return rotated(p, 16, sign_source::published); }
}  // namespace

TEST_CASE("Quantize/Oracle.Ufp4") { sweep<ufp4>(ufp4_rotation(uniform_fp32_plan()), 16); }

TEST_CASE("Quantize/Oracle.Ufp4Gradient") {
  sweep<ufp4_gradient>(randomly_rounded(ufp4_rotation(uniform_fp32_plan())), 16);
}

TEST_CASE("Quantize/Oracle.Ufp4TwoLevel") {
  sweep<ufp4_two_level>(ufp4_rotation(two_level_plan(two_level_of(oracle::e1m2()))), 16);
}

TEST_CASE("Quantize/Oracle.Ufp4TwoLevelGradient") {
  oracle::two_level const rule = two_level_of(oracle::e1m2(), oracle::div(16.0f, 17.0f));
  sweep<ufp4_two_level_gradient>(randomly_rounded(ufp4_rotation(two_level_plan(rule))), 16);
}

TEST_CASE("Quantize/Oracle.Quartet2Forward") { sweep<quartet2_forward>(four_over_six_plan()); }

TEST_CASE("Quantize/Oracle.Quartet2Backward") {
  sweep<quartet2_backward>(rotated(eden_plan(), 128, sign_source::seeded), 128);
}
