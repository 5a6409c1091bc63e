// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A user's own scale hierarchies: one bends the grid, one depends on the position in the block.

#include "quantize/stock_plans.hpp"

#include <quadrille/analysis.hpp>
#include <quadrille/recipes.hpp>

namespace {
using namespace test;
using namespace quadrille;

/// Companding: a grid value v stands for v |v| s / 4, s a power of two.
struct squared_grid {
  using stored = u8;
  static constexpr outer_scope scope = outer_scope::none;
  static constexpr int stored_bits = 8;
  static constexpr bool reads_values = false;
  static constexpr u8 poison = 0xFF;

  struct bend {
    float inverse;
    QUADRILLE_LEAF float operator()(float x, int) const {  // clang has no constant square root
      float const root = __builtin_sqrtf(4 * detail::magnitude(x) * inverse);
      return x < 0 ? -root : root;
    }
  };
  struct unbend {
    float quarter;
    QUADRILLE_LEAF constexpr float operator()(float v, int) const {
      return v * detail::magnitude(v) * quarter;
    }
  };
  template <class E>
  QUADRILLE_LEAF static constexpr outer_scale outer(float) {
    return {};
  }
  template <class E>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& b, outer_scale const&) {
    u32 const byte = round_up::byte<E>(b.amax);  // amax lands in (3, 6] s
    return chosen_scale{byte, bend{ue8m0::inverse(byte)}};
  }
  QUADRILLE_LEAF static constexpr unbend decoder(u8 s, float) {
    return unbend{ue8m0::decode(s) * 0.25f};
  }
};
static_assert(scale_hierarchy<squared_grid>);
static_assert(!is_linear<squared_grid> && is_linear<two_level<e4m3>>);

struct companded : mxfp4 {
  using scale = squared_grid;
};

/// The second half of a block of 16 has half the scale of the first.
struct halved : squared_grid {
  struct to_half {
    float factor;
    QUADRILLE_LEAF constexpr float operator()(float x, int i) const {
      return x * (i < 8 ? factor : 2 * factor);
    }
  };
  struct from_half {
    float scale;
    QUADRILLE_LEAF constexpr float operator()(float v, int i) const {
      return v * (i < 8 ? scale : scale / 2);
    }
  };
  template <class E>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& b, outer_scale const&) {
    u32 const byte = round_up::byte<E>(b.amax);
    return chosen_scale{byte, to_half{ue8m0::inverse(byte)}};
  }
  QUADRILLE_LEAF static constexpr from_half decoder(u8 s, float) {
    return from_half{ue8m0::decode(s)};
  }
};
struct halved_recipe : nvfp4 {
  using scale = halved;
  using rounding = stochastic<8>;
};

float power(unsigned code) { return float(oracle::decode(oracle::ue8m0(), code)); }
float value(unsigned code) { return float(oracle::decode(oracle::e2m1(), code)); }

matrix<> moderate(std::size_t rows, std::size_t cols) {
  return {rows, cols, inputs::sprinkle_non_finite(inputs::laplace(rows * cols, 3), 5, 200)};
}
}  // namespace

TEST_CASE("Quantize/Hierarchy.BentGrid") {
  plan p;
  p.block_cols = 32;
  p.poison = 0xFF;
  p.encode = [](floats const& x, block_site const&) {
    oracle::block b;
    b.scale_code =
        oracle::mx_scale_code(oracle::amax_finite(x), oracle::mx_rule::rceil, oracle::e2m1());
    for (float const v : x) {
      float const root = std::sqrt(4 * std::fabs(v) / power(b.scale_code));  // exact but the root
      b.codes.push_back(oracle::encode(oracle::e2m1(), std::copysign(root, v)));
      float const q = value(b.codes.back());
      b.decoded.push_back(q * std::fabs(q) * power(b.scale_code) / 4);
    }
    return b;
  };
  check_against<companded>(p, moderate(9, 128));
  check_against<companded>(p, moderate(5, 45));
}

TEST_CASE("Quantize/Hierarchy.ScaleDependsOnThePosition") {
  plan p;
  p.poison = 0xFF;
  p.random_bits = 8;
  p.encode = [](floats const& x, block_site const& site) {
    oracle::block b;
    b.scale_code =
        oracle::mx_scale_code(oracle::amax_finite(x), oracle::mx_rule::rceil, oracle::e2m1());
    for (std::size_t i = 0; i < x.size(); ++i) {
      float const scale = i < 8 ? power(b.scale_code) : power(b.scale_code) / 2;
      b.codes.push_back(oracle::encode(oracle::e2m1(), x[i] / scale, site.how(i)));
      b.decoded.push_back(value(b.codes.back()) * scale);
    }
    return b;
  };
  check_against<halved_recipe>(p, moderate(9, 128), {3, 4, 0, 0});
  check_against<halved_recipe>(p, moderate(5, 45), {3, 4, 2, 0});
}

TEST_CASE("Quantize/Hierarchy.ThreadsAndViewsTakeItToo") {
  matrix<> const x = moderate(300, 512);
  check_same(image_of(test::quantized<companded>(x, {}, 0, 3)),
             image_of(test::quantized<companded>(x)));
}

TEST_CASE("Quantize/Hierarchy.AnalysisReportsIt") {
  matrix<> x = normal_matrix(64, 64, 2);
  auto const report = analyze(x.ref(), test::quantized<companded>(x));
  CHECK(report.sums.count == 64 * 64);
  CHECK(report.sums.sqnr_db() > 10);
}
