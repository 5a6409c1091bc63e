// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The NVFP4 family against the oracle: scale bytes, code bytes and decoded values.

#include "quantize/stock_plans.hpp"

#include <quadrille/recipes.hpp>

namespace {
using namespace test;
using namespace quadrille;
}  // namespace

TEST_CASE("Quantize/Oracle.Nvfp4") { sweep<nvfp4>(nvfp4_plan()); }

TEST_CASE("Quantize/Oracle.Nvfp4Weight") {
  plan p = nvfp4_plan();
  p.block_rows = 16;
  sweep<nvfp4_weight>(p);
}

TEST_CASE("Quantize/Oracle.Nvfp4Gradient") {
  sweep<nvfp4_gradient>(randomly_rounded(nvfp4_plan()));
}

TEST_CASE("Quantize/Oracle.Nvfp4Wgrad") {
  sweep<nvfp4_wgrad>(rotated(nvfp4_plan(), 16, sign_source::published), 16);
}

TEST_CASE("Quantize/Oracle.Nvfp4WgradGradient") {
  plan const p = rotated(nvfp4_plan(), 16, sign_source::published);
  sweep<nvfp4_wgrad_gradient>(randomly_rounded(p), 16);
}

TEST_CASE("Quantize/Oracle.Nvfp4FourOverSix") { sweep<nvfp4_four_over_six>(four_over_six_plan()); }

TEST_CASE("Quantize/Oracle.Nvfp4Fp8Exact") { sweep<nvfp4_fp8_exact>(fp8_exact_plan()); }

TEST_CASE("Quantize/Oracle.Nvfp4PerRow") {
  plan p = nvfp4_plan();
  p.outer = shared_by::row;
  sweep<nvfp4_per_row>(p);
}
