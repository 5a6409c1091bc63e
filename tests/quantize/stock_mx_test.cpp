// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// MXFP4 under each scale rule, and the recipes built on it, against the oracle.

#include "quantize/stock_plans.hpp"

#include <quadrille/recipes.hpp>

namespace {
using namespace test;
using namespace quadrille;
}  // namespace

TEST_CASE("Quantize/Oracle.Mxfp4") { sweep<mxfp4>(mx_plan(oracle::mx_rule::floor)); }

TEST_CASE("Quantize/Oracle.Mxfp4Even") { sweep<mxfp4_even>(mx_plan(oracle::mx_rule::even)); }

TEST_CASE("Quantize/Oracle.Mxfp4Ceil") { sweep<mxfp4_ceil>(mx_plan(oracle::mx_rule::ceil)); }

TEST_CASE("Quantize/Oracle.Mxfp4RoundUp") {
  sweep<mxfp4_round_up>(mx_plan(oracle::mx_rule::rceil));
}

TEST_CASE("Quantize/Oracle.QuartetForward") {
  sweep<quartet_forward>(rotated(quest_plan(), 32, sign_source::none), 32, false);
}

TEST_CASE("Quantize/Oracle.QuartetBackward") {
  sweep<quartet_backward>(rotated(three_quarters_plan(), 32, sign_source::seeded), 32);
}

TEST_CASE("Quantize/Oracle.Mxfp4Tseng") {
  plan const p = rotated(three_quarters_plan(), 64, sign_source::seeded);
  sweep<mxfp4_tseng>(randomly_rounded(p), 64);
}
