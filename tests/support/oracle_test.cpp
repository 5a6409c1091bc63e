// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The oracle's blocks against worked vectors, named as in the collection they come from: V = NVFP4
// training with Transformer Engine's order, Q = Quartet and Quartet II, I = uniform grids,
// F = Four Over Six.

#include "oracle.hpp"
#include "catch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace {

using namespace oracle;
using codes = std::vector<unsigned>;
using floats = std::vector<float>;

constexpr float inf = std::numeric_limits<float>::infinity();

floats padded(floats x, std::size_t n = 16) {
  x.resize(n, 0.0f);
  return x;
}

codes first(codes c, std::size_t n) {
  c.resize(n);
  return c;
}

/// Equal to the precision that a decimal was printed with.
void check_near(floats const& x, std::vector<double> const& expected, double relative) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i << ": " << x.at(i) << " against " << expected[i]);
    CHECK(std::fabs(static_cast<double>(x[i]) - expected[i]) <= relative * std::fabs(expected[i]));
  }
}

floats as_bf16(std::vector<double> const& x) {
  floats y;
  for (double const v : x) y.push_back(to_bf16(static_cast<float>(v)));
  return y;
}

two_level te(encode_order order = encode_order::te) {
  return {&e2m1(), 6.0f, 448.0f, order, decode_order::te_amax, non_finite::saturate};
}

}  // namespace

TEST_CASE("Oracle/TwoLevel.Constants") {
  CHECK(std::bit_cast<std::uint32_t>(div(1.0f, 6.0f)) == 0x3E2AAAAB);
  CHECK(std::bit_cast<std::uint32_t>(div(1.0f, 2688.0f)) == 0x39C30C31);
  CHECK(std::bit_cast<std::uint32_t>(div(1.0f, 7225344.0f)) == 0x34149B93);
}

TEST_CASE("Oracle/TwoLevel.V1") {
  floats const x{.25f,  .75f,  1.25f, 1.75f, 2.5f, 3.5f,  5.0f, 5.0000005f,
                 -.25f, -.75f, -2.5f, -5.0f, 0.0f, -0.0f, 0.2f, 6.0f};
  block const b = quantize(x, 2688.0f, te());
  CHECK(b.scale_code == 0x38);
  CHECK(b.t == x);
  CHECK(b.codes == codes{0, 2, 2, 4, 4, 6, 6, 7, 8, 0xA, 0xC, 0xE, 0, 8, 0, 7});
}

TEST_CASE("Oracle/TwoLevel.V2") {
  block const b = quantize(padded({.9f, -.1f, .02f, 3.5f}), 3.5f, te());
  CHECK(tensor_scale(te(), 3.5f) == 768.0f);
  CHECK(b.scale_code == 0x7E);
  CHECK(first(b.codes, 4) == codes{3, 8, 0, 7});
  check_near(b.t, {1.542857, -.1714286, .0342857, 5.9999995}, 5e-7);
  CHECK(b.t[3] == 5.9999995f);
  CHECK(floats(b.decoded.begin(), b.decoded.begin() + 4) == floats{.87500006f, 0, 0, 3.5000002f});
  CHECK(std::signbit(b.decoded[1]));

  block const c = quantize(padded({.05f, .01f, -.03f, .002f}), 3.5f, te());
  CHECK(unrounded_scale(te(), .05f, 768.0f) == 6.4000001f);
  CHECK(c.scale_code == 0x4D);
  CHECK(first(c.codes, 4) == codes{7, 2, 0xE, 0});
  check_near(c.t, {5.907692, 1.181538, -3.544615, .236308}, 2e-6);
  check_near(c.decoded, {.05078125, .00846354, -.03385417, 0}, 6e-7);
}

TEST_CASE("Oracle/TwoLevel.V3") {
  floats const x = padded({9, 4.5f, -3, 1});
  block const one = quantize(x, 12.0f, te());
  CHECK(tensor_scale(te(), 12.0f) == 224.0f);
  CHECK(unrounded_scale(te(), 9.0f, 224.0f) == 336.00003f);
  CHECK(one.scale_code == 0x7B);
  CHECK(first(one.codes, 4) == codes{7, 5, 0xC, 1});
  check_near(one.decoded, {9.428572, 4.714286, -3.142857, .785714}, 5e-7);
  CHECK(floats(one.decoded.begin(), one.decoded.begin() + 4) ==
        floats{9.4285717f, 4.7142859f, -3.1428573f, .78571433f});
}

TEST_CASE("Oracle/TwoLevel.V3TwoRoundings") {
  block const two = quantize(padded({9, 4.5f, -3, 1}), 12.0f, te(encode_order::divide));
  CHECK(unrounded_scale(te(encode_order::divide), 9.0f, 224.0f) == 336.0f);
  CHECK(two.scale_code == 0x7A);
  CHECK(first(two.codes, 4) == codes{7, 5, 0xC, 1});
  check_near(two.decoded, {8.571428, 4.285714, -2.857143, .714286}, 5e-7);
}

TEST_CASE("Oracle/TwoLevel.V4") {
  floats const x = padded({.84375f, .25f});
  block const b = quantize(x, 2.0f, te());
  CHECK(b.scale == 192.0f);
  CHECK(b.t[1] == 1.7499999f);
  CHECK(b.codes[1] == 3);
  block const divided = quantize(x, 2.0f, te(encode_order::divide));
  CHECK(divided.scale == 192.0f);
  CHECK(divided.t[1] == 1.7499999f);
  block const multiplied = quantize(x, 2.0f, te(encode_order::reciprocal));
  CHECK(multiplied.scale == 192.0f);
  CHECK(multiplied.t[1] == 1.75f);
  CHECK(multiplied.codes[1] == 4);
}

TEST_CASE("Oracle/TwoLevel.V5") {
  block const b = quantize(padded({6.375f, -6.375f, 3, 1}), 2688.0f, te());
  CHECK(b.scale == 1.0f);
  CHECK(b.t[0] == 6.375f);
  CHECK(floats(b.decoded.begin(), b.decoded.begin() + 4) == floats{6, -6, 3, 1});
}

TEST_CASE("Oracle/TwoLevel.V6") {
  float const low = 6 * 0x1p-10f;
  block const flushed = quantize(padded({low, -low}), 2688.0f, te());
  CHECK(flushed.scale_code == 0);
  CHECK(first(flushed.codes, 4) == codes{7, 0xF, 0, 0});
  CHECK(flushed.decoded == floats(16, 0.0f));

  float const kept = low * (1 + 0x1p-22f);
  block const b = quantize(padded({kept, -kept}), 2688.0f, te());
  CHECK(b.scale_code == 0x01);
  CHECK(b.t[0] == 3.0000007f);
  CHECK(first(b.codes, 2) == codes{5, 0xD});
  CHECK(b.decoded[0] == .005859375f);
  CHECK(b.decoded[1] == -.005859375f);
  check_near({div(mul(1.0f, 0.5f), 1376256.0f)}, {3.633e-7}, 2e-4);
}

TEST_CASE("Oracle/TwoLevel.V7") {
  block const b = quantize(padded({0.0f, -0.0f}), 0.0f, te());
  CHECK(tensor_scale(te(), 0.0f) == 1.0f);
  CHECK(b.scale_code == 0);
  CHECK(first(b.codes, 3) == codes{0, 8, 0});
  CHECK(b.decoded == floats(16, 0.0f));
}

TEST_CASE("Oracle/TwoLevel.V8") {
  floats const x = padded({1e-36f, -.5e-36f, .2e-36f});
  block const b = quantize(x, 1e-36f, te());
  CHECK(tensor_scale(te(), 1e-36f) == float_max);
  check_near({unrounded_scale(te(), 1e-36f, float_max)}, {56.71}, 1e-4);
  CHECK(b.scale_code == 0x66);
  CHECK(first(b.codes, 3) == codes{7, 0xD, 2});
  check_near(b.decoded, {1.25e-37, -.625e-37, .208e-37}, 2e-3);
  two_level ours = te();
  ours.back = decode_order::product_first;
  check_near(quantize(x, 1e-36f, ours).decoded, {.98735e-36, -.49367e-36, .16456e-36}, 1e-4);
}

TEST_CASE("Oracle/TwoLevel.V10") {
  std::vector<double> ramp(16);
  std::iota(ramp.begin(), ramp.end(), 0.0);
  std::vector<double> const y = rotate(ramp, published_signs());
  CHECK(y == std::vector<double>{-14.5, -7.5, 6.5, -.5, 6.5, -.5, -14.5, 8.5, 7.5, 14.5, .5, 1.5,
                                 .5, -2.5, 9.5, -15.5});
  CHECK(std::inner_product(y.begin(), y.end(), y.begin(), 0.0) == 1240.0);
  block const b = quantize(as_bf16(y), 15.5f, te());
  float const s = tensor_scale(te(), 15.5f);
  CHECK(std::bit_cast<std::uint32_t>(s) == 0x432D6B5B);
  CHECK(b.scale_code == 0x7E);
  float const enc = div(1.0f, mul(448.0f, div(1.0f, s)));
  CHECK(std::bit_cast<std::uint32_t>(enc) == 0x3EC6318D);
  CHECK(b.codes == codes{0xF, 0xD, 5, 8, 5, 8, 0xF, 5, 5, 7, 0, 1, 0, 0xA, 6, 0xF});
  CHECK(pack(b.codes) == std::vector<std::uint8_t>{0xDF, 0x85, 0x85, 0x5F, 0x75, 0x10, 0xA0, 0xF6});
}

TEST_CASE("Oracle/TwoLevel.V10SelfDot") {
  blocked a{1, 16, 16, &e2m1(), {0xF, 0xD, 5, 8, 5, 8, 0xF, 5, 5, 7, 0, 1, 0, 0xA, 6, 0xF}, {0x7E}};
  CHECK(exact_dot(a, 0, a, 0).value() == 448.0L * 448.0L * 206.25L);
  float const alpha = mul(mul(15.5f, 15.5f), div(1.0f, 7225344.0f));
  CHECK(alpha == 3.3251014e-5f);
  check_near({mul(alpha, sequential_dot(a, 0, a, 0))}, {1376.43}, 4e-6);
}

TEST_CASE("Oracle/TwoLevel.V11") {
  floats x(16, 1.0f);
  x[0] = 100.0f;
  codes seven_then_zero(16, 0);
  seven_then_zero[0] = 7;
  CHECK(quantize(x, 100.0f, te()).codes == seven_then_zero);

  std::vector<double> const y = rotate({x.begin(), x.end()}, published_signs());
  CHECK(*std::min_element(y.begin(), y.end()) == 22.75);
  CHECK(*std::max_element(y.begin(), y.end()) == 26.75);
  floats const rotated = as_bf16(y);
  block const b = quantize(rotated, 26.75f, te());
  CHECK(b.codes == codes(16, 7));
  check_near(b.decoded, std::vector<double>(16, 26.75), 2e-7);
  std::vector<double> const decoded(b.decoded.begin(), b.decoded.end());
  std::vector<double> const back = rotate_back(decoded, published_signs());
  check_near({static_cast<float>(back[0])}, {107}, 2e-7);
  two_level const uniform{&int4(), 7.0f};
  CHECK(quantize(rotated, 26.75f, uniform).codes ==
        codes{6, 6, 7, 6, 7, 6, 6, 6, 7, 7, 7, 6, 7, 6, 7, 6});
}

TEST_CASE("Oracle/TwoLevel.V11Errors") {
  floats x(16, 1.0f);
  x[0] = 100.0f;
  floats const rotated = as_bf16(rotate({x.begin(), x.end()}, published_signs()));
  auto const squared_error = [&](block const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      double const error = static_cast<double>(b.decoded[i]) - rotated[i];
      sum += error * error;
    }
    return sum;
  };
  CHECK(std::fabs(squared_error(quantize(rotated, 26.75f, te())) - 64) < 1e-3);
  CHECK(std::fabs(squared_error(quantize(rotated, 26.75f, {&int4(), 7.0f})) - 27.29) < 5e-3);
}

TEST_CASE("Oracle/TwoLevel.NonFinite") {
  floats const x = padded({1.0f, inf, std::numeric_limits<float>::quiet_NaN()});
  block const b = quantize(x, 4.0f);
  CHECK(b.scale_code == 0x7F);
  for (float const v : b.decoded) CHECK(std::isnan(v));
  block const c = quantize(x, inf, te());
  CHECK(tensor_scale(te(), inf) == 1.0f);
  CHECK(c.scale_code == 0x7E);
  CHECK(first(c.codes, 4) == codes{0, 7, 7, 0});
}

TEST_CASE("Oracle/Fp32Scale.I1") {
  floats const x{7, 3.5f, -3.5f, 2.5f, -.5f, 1.2f, 0, -7};
  for (fp32_order order : {fp32_order::divide, fp32_order::reciprocal}) {
    block const i = quantize_fp32(x, int4(), 7.0f, order);
    CHECK(i.scale == 1.0f);
    CHECK(i.codes == codes{7, 4, 0xC, 2, 0, 1, 0, 9});
    CHECK(i.decoded == floats{7, 4, -4, 2, 0, 1, 0, -7});
    block const e = quantize_fp32(x, e1m2(), 1.75f, order);
    CHECK(e.codes == codes{7, 4, 0xC, 2, 8, 1, 0, 0xF});
    CHECK(e.decoded == floats{7, 4, -4, 2, 0, 1, 0, -7});
  }
}

TEST_CASE("Oracle/Fp32Scale.I2") {
  floats const x{1, .5f, -.3f, .1f};
  CHECK(div(1.0f, 7.0f) == .14285715f);
  block const divided = quantize_fp32(x, int4(), 7.0f, fp32_order::divide);
  CHECK(divided.t[1] == 3.4999998f);
  CHECK(divided.codes == codes{7, 3, 0xE, 1});
  block const multiplied = quantize_fp32(x, int4(), 7.0f, fp32_order::reciprocal);
  CHECK(multiplied.t[1] == 3.5f);
  CHECK(multiplied.codes == codes{7, 4, 0xE, 1});
}

TEST_CASE("Oracle/FourOverSix.F1") {
  selection const s = quantize_four_over_six({10, 20, 30, 40}, 1536.0f);
  block const& six = s.candidates[0].result;
  CHECK(six.scale == 6.5f);
  CHECK(six.codes == codes{3, 5, 6, 7});
  CHECK(six.decoded == floats{9.75f, 19.5f, 26, 39});
  CHECK(s.candidates[0].error == 5.75f);
  CHECK(s.candidates[1].result.scale == 10.0f);
  CHECK(s.candidates[1].error == 0.0f);
  CHECK(s.index == 1);
  four_over_six const square{error_metric::mean_square};
  CHECK(quantize_four_over_six({10, 20, 30, 40}, 1536.0f, square).candidates[0].error == 17.3125f);
}

TEST_CASE("Oracle/FourOverSix.F2F3F4") {
  CHECK(quantize_four_over_six({6, 3, 1.5f, 1}, 1536.0f).index == 0);
  floats const x{1536, 1024, 1300, 700};
  selection const absolute = quantize_four_over_six(x, 1536.0f);
  CHECK(absolute.candidates[0].error == 304.0f);
  CHECK(absolute.candidates[1].error == 344.0f);
  CHECK(absolute.index == 0);
  selection const square = quantize_four_over_six(x, 1536.0f, {error_metric::mean_square});
  CHECK(square.candidates[0].error == 60320.0f);
  CHECK(square.candidates[1].error == 42912.0f);
  CHECK(square.index == 1);
  selection const f4 = quantize_four_over_six({5, 4, 4.6f, 4.4f}, 1536.0f);
  CHECK(f4.candidates[0].result.scale == .8125f);
  CHECK(f4.candidates[0].result.decoded == floats{4.875f, 3.25f, 4.875f, 4.875f});
  CHECK(f4.candidates[1].result.scale == 1.25f);
  CHECK(f4.candidates[1].result.decoded == floats{5, 3.75f, 5, 5});
  CHECK(f4.index == 1);
}

TEST_CASE("Oracle/Fp8Exact.CandidateScales") {
  int exact = 0;
  for (unsigned code = 1; code < 0x7F; ++code) {
    long double const value = decode(e4m3(), code);
    auto const found = fp8_exact_scales(static_cast<float>(value));
    bool const listed = std::find(found.begin(), found.end(), code) != found.end();
    exact += listed ? 1 : 0;
    long double const s = std::ldexp(value, -floor_log2(value));
    CHECK(listed == (s == 1.0L || s == 1.25L || s == 1.5L));
  }
  CHECK(exact == 51);
  CHECK(fp8_exact_scales(1.0f) == codes{0x34, 0x38, 0x3A, 0x3C, 0x40, 0x42});
  CHECK(fp8_exact_scales(384.0f) == codes{0x74, 0x78, 0x7A, 0x7C});
  CHECK(fp8_exact_scales(0x1.8p-10f) == codes{0x01});
  CHECK(fp8_exact_scales(0x1.8p-11f).empty());
}

TEST_CASE("Oracle/Fp8Exact.ProductsInsideE4m3") {
  // Forty scales keep all products with E2M1 in E4M3; the other candidates do once an exponent is
  // folded out.
  int kept = 0;
  for (magnitude const& scale : e4m3().positive) {
    bool exact = scale.value != 0;
    for (magnitude const& q : e2m1().positive) {
      long double const p = scale.value * q.value;
      exact = exact && decode(e4m3(), encode(e4m3(), p)) == p;
    }
    kept += exact ? 1 : 0;
  }
  CHECK(kept == 40);
}

TEST_CASE("Oracle/Fp8Exact.ChoosesTheLeastError") {
  floats const x = padded({2304, 1152, -1536, 576});
  CHECK(quantize_fp8_exact(x, 2304.0f).chosen().scale == 384.0f);
  CHECK(quantize_fp8_exact(x, 2304.0f).chosen().decoded == x);
  floats const even = padded({7, 7, -7, 7});
  selection const s = quantize_fp8_exact(even, 2304.0f);
  CHECK(s.candidates[s.index].error == 1.0f);
  CHECK(s.chosen().scale == 1.25f);
  CHECK(quantize_fp8_exact(floats(16, 0.0f), 0.0f).chosen().scale_code == 0);
}
