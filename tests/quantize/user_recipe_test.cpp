// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Compositions that no paper published, against long-hand computations.

#include "quantize/stock_plans.hpp"

#include <quadrille/recipes.hpp>

namespace {
using namespace test;
using namespace quadrille;

struct mxfp6 : mxfp4 {
  using element = e2m3;
};
struct mxfp8 : mxfp4 {
  using element = e4m3;
};
struct int4_by_row {
  using element = int4;
  using block = shape<1, 32>;
  using scale = two_level<e4m3, divide_rule, outer_scope::row>;
  using rounding = nearest_even;
  using rotation = identity;
};
struct square_ties_away {
  using element = e1m2;
  using block = shape<4, 8>;
  using scale = two_level<e4m3>;
  using rounding = ties_away;
  using rotation = identity;
};
struct long_block_ue5m3 : nvfp4 {
  using block = shape<1, 128>;
  using scale = one_level<ue5m3>;
};
struct four_random_bits : mxfp4 {
  using block = shape<1, 8>;
  using scale = one_level<ue8m0, round_up>;
  using rounding = stochastic<4>;
};
struct sixteen_random_bits : nvfp4 {
  using block = shape<2, 4>;
  using rounding = stochastic<16>;
};
struct many_random_bits : nvfp4 {
  using rounding = stochastic<24>;
};
struct block_of_24 : nvfp4 {
  using block = shape<1, 24>;
};
struct block_of_three_rows : nvfp4 {
  using block = shape<3, 10>;
  using rounding = toward_zero;
};
struct capped : amax_rule {
  static constexpr float bound = 256;
  static constexpr zero_scale zero = zero_scale::smallest;
};
struct capped_nvfp4 : nvfp4 {
  using scale = two_level<e4m3, capped>;
};
struct eden_of_the_kernel : quartet2_backward {
  using scale = two_level<e4m3, eden<128>>;
};

/// A plan whose elements round in one way.
plan rounding_by(plan p, oracle::rounding const& how) {
  block_rule const encode = p.encode;
  p.encode = [encode, how](floats const& x, block_site site) {
    site.how = oracle::all_elements(how);
    return encode(x, site);
  };
  return p;
}
}  // namespace

TEST_CASE("Quantize/User.Mxfp6") { sweep<mxfp6>(mx_plan(oracle::mx_rule::floor, oracle::e2m3())); }

TEST_CASE("Quantize/User.Mxfp8") { sweep<mxfp8>(mx_plan(oracle::mx_rule::floor, oracle::e4m3())); }

// The divisor never falls below the smallest float: a scale of zero sends elements to saturation.
TEST_CASE("Quantize/User.Int4WithRowScalesAndDivisions") {
  oracle::two_level rule = two_level_of(oracle::int4());
  rule.order = oracle::encode_order::divide;
  plan p = two_level_plan(rule);
  p.outer = shared_by::row;
  p.block_cols = 32;
  p.encode = [rule](floats const& x, block_site const& site) {
    float const s = oracle::tensor_scale(rule, site.amax);
    oracle::block b;
    b.scale_code =
        oracle::encode(oracle::e4m3(), oracle::unrounded_scale(rule, oracle::amax_finite(x), s));
    b.scale = float(oracle::decode(oracle::e4m3(), b.scale_code));
    float const divisor = std::max(oracle::div(b.scale, s), 0x1p-149f);
    for (float const v : x) b.t.push_back(oracle::div(v, divisor));
    oracle::encode_elements(b, oracle::int4(), site.how, [&](float q) {
      return oracle::decoded_element(rule, q, b.scale, s, site.amax);
    });
    return b;
  };
  sweep<int4_by_row>(p);
}

TEST_CASE("Quantize/User.SquareBlocksThatRoundTiesAway") {
  plan p = two_level_plan(two_level_of(oracle::e1m2()));
  p.block_rows = 4;
  p.block_cols = 8;
  sweep<square_ties_away>(rounding_by(p, oracle::ties_away));
}

TEST_CASE("Quantize/User.Ue5m3WithoutATensorScale") {
  plan p;
  p.block_cols = 128;
  p.poison = 0xFF;
  p.encode = [](floats const& x, block_site const&) {
    oracle::block b;
    float const target = oracle::mul(oracle::amax_finite(x), oracle::div(1, 6));
    b.scale_code = oracle::encode(oracle::ue5m3(), target);
    b.scale = float(oracle::decode(oracle::ue5m3(), b.scale_code));
    float const factor = b.scale == 0 ? oracle::float_max : oracle::div(1, b.scale);
    for (float const v : x) b.t.push_back(oracle::mul(v, factor));
    oracle::encode_elements(b, oracle::e2m1(), oracle::all_elements(oracle::nearest_even),
                            [&](float q) { return oracle::mul(q, b.scale); });
    return b;
  };
  sweep<long_block_ue5m3>(p);
}

TEST_CASE("Quantize/User.FourRandomBits") {
  plan p = mx_plan(oracle::mx_rule::rceil);
  p.block_cols = 8;
  sweep<four_random_bits>(randomly_rounded(p, 4));
}

TEST_CASE("Quantize/User.SixteenRandomBits") {
  plan p = nvfp4_plan();
  p.block_rows = 2;
  p.block_cols = 4;
  sweep<sixteen_random_bits>(randomly_rounded(p, 16));
}

TEST_CASE("Quantize/User.TwentyFourRandomBits") {
  sweep<many_random_bits>(randomly_rounded(nvfp4_plan(), 24));
}

TEST_CASE("Quantize/User.BlockThatIsNoPowerOfTwo") {
  plan p = nvfp4_plan();
  p.block_cols = 24;
  sweep<block_of_24>(p);
}

TEST_CASE("Quantize/User.BlockOfThreeRows") {
  plan p = nvfp4_plan();
  p.block_rows = 3;
  p.block_cols = 10;
  sweep<block_of_three_rows>(rounding_by(p, oracle::toward_zero));
}

TEST_CASE("Quantize/User.OwnBoundAndZeroRule") {
  oracle::two_level rule;
  rule.scale_bound = 256;
  plan p = two_level_plan(rule);
  p.encode = [rule](floats const& x, block_site const& site) {
    oracle::block const b = oracle::quantize(x, site.amax, rule, site.how);
    return b.scale_code != 0 ? b : oracle::quantize_with_scale(x, site.amax, 1, rule, site.how);
  };
  sweep<capped_nvfp4>(p);
}

// One correction factor for eight blocks, as in the published kernel.
TEST_CASE("Quantize/User.EdenOverTheWholeRotationGroup") {
  plan const p = rotated(eden_plan(), 128, sign_source::seeded);
  matrix<> const x = normal_matrix(40, 256, 3);
  matrix<> const y = rotate(p, x, 5);
  float const amax = oracle::amax_finite(y.values);
  quantize_options options;
  options.seed = 11;
  auto const q = test::quantized<eden_of_the_kernel>(x, options, 5);
  for (std::size_t start = 0; start < y.values.size(); start += 128) {
    auto const first = y.values.begin() + std::ptrdiff_t(start);
    oracle::eden_group const want = oracle::ms_eden(floats(first, first + 128), amax);
    for (std::size_t b = 0; b < 8; ++b) {
      auto const& block = want.blocks[b];
      i64 const col = i64(start % 256 + 16 * b);
      u32 const word = random_bits<24>({11, 0x80000000u}, i64(start / 256), col) & 0xFFFFFFu;
      double const margin = double(block.p_up) + word * 0x1p-24 - 1;
      u8 const stored = q.scales()[start / 16 + b];
      CHECK((stored == block.lower_code || stored == block.upper_code));
      if (std::fabs(margin) > 1e-4) CHECK((stored == block.upper_code) == (margin > 0));
    }
  }
}
