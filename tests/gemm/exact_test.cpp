// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// gemm against integers: products of 4-bit elements and E4M3 scales are whole multiples of a small
/// unit, so the exact product fits 64 bits.

#include "reference.hpp"
#include "support/catch.hpp"

#include <type_traits>

using namespace gemm_test;

namespace {

struct one_level_e2m1 : nvfp4 {
  using scale = one_level<e4m3>;
};
struct one_level_wide : one_level_e2m1 {
  using block = shape<1, 32>;
};
struct one_level_int4 : one_level_e2m1 {
  using element = int4;
};
struct one_level_e1m2 : one_level_e2m1 {
  using element = e1m2;
};
struct one_level_2d : one_level_e2m1 {
  using block = shape<16, 16>;
};
struct two_level_int4 : nvfp4 {
  using element = int4;
};

template <class E>
oracle::format const& oracle_format() {
  if constexpr (std::is_same_v<E, e2m1>)
    return oracle::e2m1();
  else if constexpr (std::is_same_v<E, e1m2>)
    return oracle::e1m2();
  else
    return oracle::int4();
}

template <class R>
oracle::blocked as_blocked(quantized<R> const& q) {
  using E = typename R::element;
  oracle::blocked b;
  b.rows = std::size_t(q.rows());
  b.cols = std::size_t(q.cols());
  b.block = std::size_t(R::block::cols);
  b.element = &oracle_format<E>();
  for (i64 r = 0; r < q.rows(); ++r)
    for (i64 c = 0; c < q.cols(); ++c)
      b.codes.push_back(load_code<E>(q.codes().data() + r * row_bytes<E>(q.cols()), c));
  b.scales.assign(q.scales().begin(), q.scales().end());
  return b;
}

template <class R>
struct problem {
  quantized<R> a;
  quantized<R> b;
  matrix<> d;
  problem(i64 rows, i64 cols, i64 depth)
      : a(quantize<R>(host, uneven(rows, depth, 11).ref())),
        b(quantize<R>(host, normal(cols, depth, 12).ref())),
        d(rows, cols) {
    gemm(host, a, b, d.ref());
  }
};

template <class R>
void require_exact_block() {
  problem<R> const p(33, 65, R::block::cols);
  auto const a = as_blocked(p.a);
  auto const b = as_blocked(p.b);
  for (i64 i = 0; i < 33; ++i)
    for (i64 j = 0; j < 65; ++j) {
      long double const exact = oracle::exact_dot(a, std::size_t(i), b, std::size_t(j)).value();
      REQUIRE(static_cast<long double>(p.d(i, j)) == exact);
    }
}

template <class R>
void require_stated_order(i64 rows, i64 cols, i64 depth) {
  CAPTURE(rows, cols, depth);
  problem<R> const p(rows, cols, depth);
  auto const a = as_blocked(p.a);
  auto const b = as_blocked(p.b);
  auto const exact = oracle::exact_gemm(a, b);
  for (i64 i = 0; i < rows; ++i)
    for (i64 j = 0; j < cols; ++j) {
      float const sum = oracle::sequential_dot(a, std::size_t(i), b, std::size_t(j));
      float const factor = oracle::mul(p.a.ref().outer_decode(i), p.b.ref().outer_decode(j));
      REQUIRE(p.d(i, j) == oracle::mul(factor, sum));
      auto const at = std::size_t(i * cols + j);
      REQUIRE(std::fabs(sum - exact.values[at]) <=
              oracle::sum_error_bound(a.blocks(), exact.magnitudes[at]));
    }
}

template <class R>
void require_stated_order_everywhere() {
  require_stated_order<R>(1, 1, 16);
  require_stated_order<R>(3, 5, 48);
  require_stated_order<R>(33, 65, 272);
  require_stated_order<R>(33, 65, 267);  // a partial last block
  require_stated_order<R>(64, 64, 1024);
}

}  // namespace

TEST_CASE("a product over one block is exact") {
  require_exact_block<one_level_e2m1>();
  require_exact_block<one_level_wide>();
  require_exact_block<one_level_int4>();
  require_exact_block<one_level_e1m2>();
  require_exact_block<one_level_2d>();
}

TEST_CASE("blocks are added in FP32 from the first to the last, then the factors come in") {
  require_stated_order_everywhere<one_level_e2m1>();
  require_stated_order_everywhere<nvfp4>();
  require_stated_order_everywhere<nvfp4_weight>();
  require_stated_order_everywhere<nvfp4_per_row>();
  require_stated_order_everywhere<two_level_int4>();
  require_stated_order_everywhere<one_level_wide>();
}

TEST_CASE("with FP32 scales the scale product rounds first, then its product with the dot") {
  auto const a = quantize<ufp4>(host, uneven(7, 272, 13).ref());
  auto const b = quantize<ufp4>(host, normal(9, 272, 14).ref());
  matrix<> d(7, 9);
  gemm(host, a, b, d.ref());
  auto const value = [](quantized<ufp4> const& q, i64 r, i64 c) {
    return double(e1m2::decode(load_code<e1m2>(q.codes().data() + r * 136, c)));
  };
  for (i64 i = 0; i < 7; ++i)
    for (i64 j = 0; j < 9; ++j) {
      float sum = 0;
      for (i64 k = 0; k < 17; ++k) {
        double dot = 0;
        for (i64 c = 16 * k; c < 16 * k + 16; ++c) dot += value(a, i, c) * value(b, j, c);
        float const scale =
            oracle::mul(a.scales()[std::size_t(i * 17 + k)], b.scales()[std::size_t(j * 17 + k)]);
        sum = oracle::add(sum, oracle::mul(scale, float(dot)));
      }
      REQUIRE(d(i, j) == sum);
    }
}

TEST_CASE("the published example: dots 1/4 and -2 under scales give 96") {
  // Recipe facts 0.3.4: A = (6 -3 1.5 .5 | 4 2 -1 0), B = (2 1 -6 .5 | .5 -.5 3 6).
  struct four : one_level_e2m1 {
    using block = shape<1, 4>;
  };
  auto const pack = [](std::vector<float> const& x) {
    std::vector<u8> bytes;
    for (std::size_t i = 0; i < x.size(); i += 2)
      bytes.push_back(u8(e2m1::encode(x[i]) | e2m1::encode(x[i + 1]) << 4));
    return bytes;
  };
  auto const a = pack({6, -3, 1.5f, .5f, 4, 2, -1, 0});
  auto const b = pack({2, 1, -6, .5f, .5f, -.5f, 3, 6});
  u8 const a_scales[] = {e4m3::encode(448.f), e4m3::encode(.0625f)};
  u8 const b_scales[] = {e4m3::encode(1.125f), e4m3::encode(240.f)};
  matrix<> d(1, 1);
  gemm(host, quantized_ref<four, u8 const>(a.data(), a_scales, nullptr, 1, 8),
       quantized_ref<four, u8 const>(b.data(), b_scales, nullptr, 1, 8), d.ref());
  CHECK(d(0, 0) == 96.f);
}

TEST_CASE("8-bit elements are summed in double and rounded once a block") {
  struct mxfp8 : mxfp4 {
    using element = e4m3;
  };
  auto const a = quantize<mxfp8>(host, uneven(9, 32, 21).ref());
  auto const b = quantize<mxfp8>(host, normal(7, 32, 22).ref());
  matrix<> d(9, 7);
  gemm(host, a, b, d.ref());
  auto const exact = multiply(exact_values(a), exact_values(b), 9, 7, 32);
  for (std::size_t i = 0; i < d.values.size(); ++i)
    REQUIRE(d.values[i] == oracle::rounded(exact.values[i]));  // scales are powers of two
}
