// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Block and tensor scales: rules, order of operations, overflow, zeros, non-finite blocks.

#include "cases.hpp"

#include <cmath>
#include <limits>

using namespace cases;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

template <class Rule>
struct two_level_by : nvfp4 {
  using scale = two_level<e4m3, Rule>;
};

// Scale bytes of blocks whose amax are given, one a row, under a tensor amax.
template <class R>
list scales_of_blocks(std::vector<float> const& amax) {
  matrix<> x(i64(amax.size()), R::block::cols);
  for (i64 r = 0; r < x.rows; ++r) x(r, 3) = amax[std::size_t(r)];
  return scales(quantize<R>(host, x.ref()));
}

// NVFP4's rule with the block scale rounded up, as cuDNN documents it.
struct round_up_rule : amax_rule {
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto choose(block_values const& b, outer_scale const& o) {
    float const target = Self::order::target(b.amax, o.encode, E::max);
    u32 const stored = F::template encode_finite<away_from_zero>(target);
    return chosen_scale{stored, Self::order::map(F::decode(stored), o)};
  }
};
struct nvfp4_rounded_up : nvfp4 {
  using scale = one_level<e4m3, round_up_rule>;
};

void require_finite_encoding(u8 byte) { REQUIRE((byte & 0x7F) != 0x7F); }

}  // namespace

TEST_CASE("RND-05 the E4M3 block scale is rounded to nearest even and saturated") {
  auto const q = quantize<nvfp4_one_level>(host, row({6.375f}).ref());
  CHECK(scales(q) == list{0x38});
  CHECK(codes(q) == padded({7}));
}

TEST_CASE("RND-05 sibling: rounding it up is a rule of five lines") {
  auto const q = quantize<nvfp4_rounded_up>(host, row({6.375f}).ref());
  CHECK(scales(q) == list{0x39});
  CHECK(codes(q) == padded({7}));
}

TEST_CASE("RND-07 the order of operations is named: TE's unless another is asked for") {
  std::vector<float> const amax{4.375f, 2.265625f, 0.9765625f};
  CHECK(scales_of_blocks<two_level_by<divide_rule>>(amax) == list{0x7E, 0x76, 0x6D});
  CHECK(scales_of_blocks<nvfp4>(amax) == list{0x7E, 0x77, 0x6D});
  CHECK(scales_of_blocks<two_level_by<reciprocal_rule>>(amax) == list{0x7E, 0x76, 0x6C});
}

TEST_CASE("SAT-05 without a tensor scale blocks beyond 2688 are clipped; with one they are not") {
  auto const clipped = quantize<nvfp4_one_level>(host, row({5376.f}).ref());
  CHECK(scales(clipped) == list{0x7E});
  CHECK(codes(clipped) == padded({7}));
  CHECK(decoded(clipped)(0, 0) == 2688.f);

  auto const q = quantize<nvfp4>(host, row({5376.f}).ref());
  CHECK(scales(q) == list{0x7E});
  CHECK(codes(q) == padded({7}));
  CHECK(decoded(q)(0, 0) == 5376.f);
}

TEST_CASE("SAT-05 elements beyond a calibrated amax saturate at it") {
  auto const q = quantize<nvfp4>(host, row({2.f}).ref(), {.amax = 1.0f});
  CHECK(scales(q) == list{0x7E});
  CHECK(codes(q) == padded({7}));
  CHECK(decoded(q)(0, 0) == 1.0f);
}

TEST_CASE("NAN-03 infinity poisons its MX block: scale 255, codes 0 (policy PROPAGATE)") {
  matrix<> x(2, 32, {inf, -inf, 1.0f});
  x(1, 0) = 1.0f;
  auto const fp8 = quantize<mxfp8>(host, x.ref());
  auto const fp4 = quantize<mxfp4>(host, x.ref());
  CHECK(scales(fp8) == list{255, 119});
  CHECK(scales(fp4) == list{255, 125});
  CHECK(codes(fp8) == list(32, 0));
  CHECK(codes(fp4) == list(32, 0));
  CHECK(std::isnan(decoded(fp4)(0, 31)));
  CHECK(decoded(fp4)(1, 0) == 1.0f);
  CHECK(bits(ue8m0::inverse(254)) == 0x00400000u);
}

TEST_CASE(
    "NAN-03 sibling: a block that needs scale byte 254 is encoded through the subnormal 2^-127") {
  struct mx_uniform : mxfp4 {
    using element = e1m2;
  };
  float const top = 0x1.8p127f;
  auto const q = quantize<mx_uniform>(host, row({top, -top, 0x1p126f, 1.f}, 32).ref());
  CHECK(scales(q) == list{254});
  CHECK(codes(q) == padded({6, 0xE, 2}, 32));
  CHECK(decoded(q)(0, 0) == top);
}

TEST_CASE("NAN-03 sibling: NaN and infinity poison NVFP4 and FP32-scaled blocks, not neighbours") {
  struct nvfp4_fp32 : nvfp4 {
    using scale = one_level<fp32>;
  };
  for (float const poison : {inf, -inf, std::numeric_limits<float>::quiet_NaN()}) {
    matrix<> x(1, 48, 1.0f);
    x(0, 20) = poison;
    auto const q = quantize<nvfp4>(host, x.ref());
    CHECK(scales(q) == list{0x7E, 0x7F, 0x7E});
    CHECK(q.outer()[0] == 1 / 2688.f);
    auto const plain = quantize<nvfp4_fp32>(host, x.ref());
    for (auto const& y : {decoded(q), decoded(plain)})
      for (i64 c = 0; c < 48; ++c) {
        bool const is_nan = std::isnan(y(0, c));
        CHECK(is_nan == (16 <= c && c < 32));
      }
  }
}

TEST_CASE("ZER-02 host half: a zero row stays zero beside a row of ones, per tensor and per row") {
  matrix<> x(2, 32);
  for (i64 c = 0; c < 32; ++c) x(1, c) = 1.0f;
  auto const check = [&](auto const& q) {
    CHECK(scales(q) == list{0, 0, 0x7E, 0x7E});
    CHECK(codes(q, 0) == list(32, 0));
    CHECK(codes(q, 1) == list(32, 7));
    for (float const scale : q.outer()) CHECK(std::isfinite(scale));
    for (u8 const scale : q.scales()) require_finite_encoding(scale);
    auto const y = decoded(q);
    CHECK(y.values == x.values);
  };
  check(quantize<nvfp4>(host, x.ref()));
  check(quantize<nvfp4_per_row>(host, x.ref()));
}

TEST_CASE("ZER-02 sibling: a scale that rounds to zero decodes to zero, and divides nothing") {
  auto const q = quantize<nvfp4>(host, row({1.0f}, 32).ref());
  auto const small = row({1.0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1e-7f}, 32);
  auto const flushed = quantize<nvfp4>(host, small.ref());
  CHECK(scales(q) == list{0x7E, 0});
  CHECK(scales(flushed) == list{0x7E, 0});
  CHECK(decoded(flushed)(0, 16) == 0.f);
}

TEST_CASE("ZER-04 amax is the largest magnitude, not the largest value") {
  auto const x = row({-8, 1});
  CHECK(amax<nvfp4>(host, x.ref()) == 8.f);
  auto const q = quantize<nvfp4>(host, x.ref());
  CHECK(q.outer()[0] == 1 / 336.f);
  CHECK(scales(q) == list{0x7E});
  CHECK(codes(q) == padded({0xF, 2}));
  CHECK(decoded(q)(0, 0) == -8.f);
  CHECK(decoded(q)(0, 1) == 1.3333334f);
}

TEST_CASE("SCL-02 the four readings of the MX scale rule") {
  std::vector<float> const amax{6, from_bits(0x40C00001u), 6.99f, 7, 8, 1.5f, 1.75f};
  CHECK(scales_of_blocks<mxfp4>(amax) == list{127, 127, 127, 127, 128, 125, 125});
  CHECK(scales_of_blocks<mxfp4_ceil>(amax) == list{128, 128, 128, 128, 128, 126, 126});
  CHECK(scales_of_blocks<mxfp4_even>(amax) == list{127, 127, 127, 128, 128, 125, 126});
  CHECK(scales_of_blocks<mxfp4_round_up>(amax) == list{127, 128, 128, 128, 128, 125, 126});
}

TEST_CASE("SCL-02 sibling: zero, subnormal and the largest amax; a zero block has byte 0") {
  std::vector<float> const amax{0, from_bits(1u), 0x1p-126f, std::numeric_limits<float>::max()};
  CHECK(scales_of_blocks<mxfp4>(amax) == list{0, 0, 0, 252});
  CHECK(scales_of_blocks<mxfp4_round_up>(amax) == list{0, 0, 0, 253});
}

TEST_CASE("SCL-06 every E4M3 scale times every E2M1 code is exact in BF16") {
  constexpr i64 rows = 0x7E;
  std::vector<u8> packed(std::size_t(rows * 8));
  std::vector<u8> stored(std::size_t(rows), 0);
  for (std::size_t r = 0; r < std::size_t(rows); ++r) {
    stored[r] = u8(r + 1);
    for (std::size_t i = 0; i < 8; ++i) packed[8 * r + i] = u8(2 * i | (2 * i + 1) << 4);
  }
  quantized_ref<nvfp4_one_level, u8 const> const q(packed.data(), stored.data(), nullptr, rows, 16);
  matrix<bf16> y(rows, 16);
  dequantize(host, q, y.ref());
  float smallest = 1e9f;
  float largest = 0;
  for (i64 r = 0; r < rows; ++r)
    for (i64 c = 0; c < 16; ++c) {
      double const exact = double(e2m1::decode(u32(c))) * double(e4m3::decode(u32(r + 1)));
      float const value = float(y(r, c));
      REQUIRE(double(value) == exact);
      REQUIRE((value == 0) == (c == 0 || c == 8));
      if (value > 0) smallest = std::min(smallest, value);
      largest = std::max(largest, value);
    }
  CHECK(bf16(smallest).bits == 0x3A80);
  CHECK(bf16(largest).bits == 0x4528);
  CHECK(smallest == 0x1p-10f);
  CHECK(largest == 2688.f);
}

TEST_CASE("DOC-01 the worked example: a block of ones without a tensor scale has scale 23") {
  auto const ones = quantize<nvfp4_one_level>(host, matrix<>(1, 16, 1.0f).ref());
  CHECK(scales(ones) == list{0x23});
  CHECK(codes(ones) == list(16, 7));
  CHECK(decoded(ones)(0, 5) == 1.03125f);
  CHECK(scales(quantize<nvfp4_rounded_up>(host, matrix<>(1, 16, 1.0f).ref())) == list{0x23});

  matrix<> x(1, 16, 1.0f);
  x(0, 0) = 6.0f;
  auto const six = quantize<nvfp4_one_level>(host, x.ref());
  CHECK(scales(six) == list{0x38});
  list expected(16, 2);
  expected[0] = 7;
  CHECK(codes(six) == expected);
}

TEST_CASE("DOC-03 MXFP8 clips 957 to 896 by the OCP rule, and not by the rounded-up one") {
  auto const x = row({957, 960}, 32);
  auto const floor = quantize<mxfp8>(host, x.ref());
  CHECK(scales(floor) == list{128});
  CHECK(codes(floor) == padded({0x7E, 0x7E}, 32));
  CHECK(decoded(floor)(0, 0) == 896.f);
  auto const up = quantize<mxfp8_round_up>(host, x.ref());
  CHECK(scales(up) == list{129});
  CHECK(codes(up) == padded({0x77, 0x77}, 32));
  CHECK(decoded(up)(0, 1) == 960.f);
}
