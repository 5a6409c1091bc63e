// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Orders of FP32 operations that are equal in real arithmetic and not in bytes.

#include "quantize/probe.hpp"

namespace {
using namespace test;
using namespace quadrille;

using te = two_level<e4m3, amax_rule>;
using divided = two_level<e4m3, divide_rule>;
using folded = two_level<e4m3, reciprocal_rule>;
using code_list = std::vector<unsigned>;
}  // namespace

TEST_CASE("Scale/Order.TiesOfTheBlockScale") {
  outer_scale const o = te::outer<e2m1>(4.375f);
  CHECK(stored<divided>(2.265625f, o) == 0x76);
  CHECK(stored<te>(2.265625f, o) == 0x77);
  CHECK(stored<folded>(2.265625f, o) == 0x76);
  CHECK(stored<divided>(0.9765625f, o) == 0x6D);
  CHECK(stored<te>(0.9765625f, o) == 0x6D);
  CHECK(stored<folded>(0.9765625f, o) == 0x6C);
}

TEST_CASE("Scale/Order.OneRoundingOrTwo") {
  outer_scale const o = te::outer<e2m1>(12);
  CHECK(o.encode == 224);
  CHECK(stored<te>(9, o) == 0x7B);       // 9 * fl(224/6) = 336.00003 -> 352
  CHECK(stored<divided>(9, o) == 0x7A);  // (9/6) * 224 = 336, a tie -> 320
  floats const x{9, 4.5f, -3, 1};
  CHECK(codes<te>(x, o) == code_list{7, 5, 0xC, 1});
  CHECK(codes<divided>(x, o) == code_list{7, 5, 0xC, 1});
  CHECK(decoded<te>(x, o)[0] == Approx(9.428572f).epsilon(1e-7));
  CHECK(decoded<divided>(x, o)[0] == Approx(8.571428f).epsilon(1e-7));
}

TEST_CASE("Scale/Order.EncodeFactor") {
  outer_scale const o = te::outer<e2m1>(2);
  auto const by_te = choose<te>({0.84375f, 0.25f}, o);
  CHECK(by_te.stored == e4m3::encode(192.0f));
  CHECK(by_te.to_grid(0.25f, 1) == 1.7499999f);
  CHECK(codes<te>({0.84375f, 0.25f}, o)[1] == 3);
  auto const by_fold = choose<folded>({0.84375f, 0.25f}, o);
  CHECK(by_fold.stored == e4m3::encode(192.0f));
  CHECK(by_fold.to_grid(0.25f, 1) == 1.75f);
  CHECK(codes<folded>({0.84375f, 0.25f}, o)[1] == 4);
}

TEST_CASE("Scale/Order.UniformGridDividesOrMultiplies") {
  floats const x{1, 0.5f, -0.3f, 0.1f};
  CHECK(decoded<one_level<fp32>, int4>({7, 4, -2, 1}) == floats{7, 4, -2, 1});
  CHECK(codes<one_level<fp32>, int4>(x) == code_list{7, 4, 0xE, 1});  // .5 * 7 = 3.5 -> 4
  CHECK(codes<one_level<fp32, divide_rule>, int4>(x) == code_list{7, 3, 0xE, 1});  // 3.4999998
}

// The three orders against the oracle's, which spells them operation by operation.
TEST_CASE("Scale/Order.OracleOnRandomBlocks") {
  auto const compare = [](auto hierarchy, oracle::encode_order order) {
    using scale = decltype(hierarchy);
    oracle::two_level rule;
    rule.order = order;
    for (u64 seed = 0; seed < 500; ++seed) {
      floats const x = inputs::normal(16, seed);
      float const amax = oracle::amax_finite(x) * (1.0f + float(seed % 37));
      oracle::block const want = oracle::quantize(x, amax, rule);
      outer_scale const o = scale::template outer<e2m1>(amax);
      CHECK(unsigned(choose<scale>(x, o).stored) == want.scale_code);
      CHECK(codes<scale>(x, o) == want.codes);
      CHECK(difference(decoded<scale>(x, o), want.decoded) == "");
    }
  };
  compare(te{}, oracle::encode_order::te);
  compare(divided{}, oracle::encode_order::divide);
  compare(folded{}, oracle::encode_order::reciprocal);
}
