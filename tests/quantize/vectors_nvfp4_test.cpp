// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// NVFP4: worked examples through quantize and dequantize, numbers typed, not computed.

#include <quadrille/recipes.hpp>

#include "quantize/vectors.hpp"

namespace {
using namespace test;
using namespace quadrille;

struct two_roundings : nvfp4 {
  using scale = two_level<e4m3, divide_rule>;
};
struct folded : nvfp4 {
  using scale = two_level<e4m3, reciprocal_rule>;
};
struct int4_rotated : ufp4 {
  using element = int4;
};
}  // namespace

TEST_CASE("Quantize/Vectors.V1Ties") {
  auto const q = test::quantized<nvfp4>(row({0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, 5.0000005f,
                                             -0.25f, -0.75f, -2.5f, -5, 0, -0.0f, 0.2f, 6}),
                                        with_amax(2688));
  CHECK(q.scales()[0] == 0x38);
  CHECK(codes_of(q) == code_list{0, 2, 2, 4, 4, 6, 6, 7, 8, 0xA, 0xC, 0xE, 0, 8, 0, 7});
}

TEST_CASE("Quantize/Vectors.V2TwoBlocksOfOneTensor") {
  floats x = row({0.9f, -0.1f, 0.02f, 3.5f}).values;
  x.insert(x.end(), {0.05f, 0.01f, -0.03f, 0.002f});
  auto const q = test::quantized<nvfp4>(row(x, 32));
  CHECK(q.outer()[0] == oracle::div(1, 768));
  CHECK(q.scales() == std::vector<u8>{0x7E, 0x4D});
  code_list want(32);
  want[0] = 3, want[1] = 8, want[3] = 7, want[16] = 7, want[17] = 2, want[18] = 0xE;
  CHECK(codes_of(q) == want);
  floats const y = decode(q);
  check_near(y, {0.875f, 0, 0, 3.5f}, 1.5e-7);
  check_near({y.begin() + 16, y.end()}, {0.05078125f, 0.00846354f, -0.03385417f, 0}, 3e-7);
}

TEST_CASE("Quantize/Vectors.V3OneRoundingOrTwo") {
  matrix<> const x = row({9, 4.5f, -3, 1});
  auto const te = test::quantized<nvfp4>(x, with_amax(12));
  CHECK(te.scales()[0] == 0x7B);
  CHECK(first(codes_of(te), 4) == code_list{7, 5, 0xC, 1});
  check_near(decode(te), {9.428572f, 4.714286f, -3.142857f, 0.785714f}, 1e-6);
  auto const two = test::quantized<two_roundings>(x, with_amax(12));
  CHECK(two.scales()[0] == 0x7A);
  CHECK(first(codes_of(two), 4) == code_list{7, 5, 0xC, 1});
  check_near(decode(two), {8.571428f, 4.285714f, -2.857143f, 0.714286f}, 1e-6);
}

TEST_CASE("Quantize/Vectors.V4EncodeFactor") {
  matrix<> const x = row({0.84375f, 0.25f});
  auto const te = test::quantized<nvfp4>(x, with_amax(2));
  CHECK(te.scales()[0] == e4m3::encode(192.0f));
  CHECK(codes_of(te)[1] == 3);
  CHECK(codes_of(test::quantized<folded>(x, with_amax(2)))[1] == 4);
}

TEST_CASE("Quantize/Vectors.V5Saturation") {
  auto const q = test::quantized<nvfp4>(row({6.375f, -6.375f, 3, 1}), with_amax(2688));
  CHECK(q.scales()[0] == 0x38);
  CHECK(first(decode(q), 4) == floats{6, -6, 3, 1});
}

TEST_CASE("Quantize/Vectors.V6Underflow") {
  float const a = 6 * 0x1p-10f;
  auto const flushed = test::quantized<nvfp4>(row({a, -a}), with_amax(2688));
  CHECK(flushed.scales()[0] == 0);
  CHECK(first(codes_of(flushed), 3) == code_list{7, 0xF, 0});
  CHECK(decode(flushed) == floats(16, 0.0f));
  float const b = a * (1 + 0x1p-22f);
  auto const kept = test::quantized<nvfp4>(row({b, -b}), with_amax(2688));
  CHECK(kept.scales()[0] == 1);
  CHECK(first(codes_of(kept), 3) == code_list{5, 0xD, 0});
  CHECK(first(decode(kept), 2) == floats{0.005859375f, -0.005859375f});
}

TEST_CASE("Quantize/Vectors.V7Zeros") {
  auto const q = test::quantized<nvfp4>(row({0, -0.0f}));
  CHECK(q.outer()[0] == 1);
  CHECK(q.scales()[0] == 0);
  CHECK(first(codes_of(q), 3) == code_list{0, 8, 0});
  CHECK(decode(q) == floats(16, 0.0f));
}

TEST_CASE("Quantize/Vectors.V8TinyTensor") {
  auto const q = test::quantized<nvfp4>(row({1e-36f, -0.5e-36f, 0.2e-36f}));
  CHECK(q.scales()[0] == 0x66);
  CHECK(first(codes_of(q), 4) == code_list{7, 0xD, 2, 0});
  // 56 * 6 / FLT_MAX: within the rounding of a subnormal 1/FLT_MAX, not an eighth of x.
  check_near(decode(q), {0.98741e-36f, -0.49371e-36f, 0.16457e-36f}, 1e-4);
}

TEST_CASE("Quantize/Vectors.V9Rotation") {
  auto const rotate = [](floats x) {
    random_hadamard<16>::apply(x.data(), random_hadamard<16>::signs(0));
    return x;
  };
  floats unit0(16), unit3(16), ramp(16);
  unit0[0] = unit3[3] = 1;
  for (int i = 0; i < 16; ++i) ramp[std::size_t(i)] = float(i);
  CHECK(rotate(unit0) == floats(16, 0.25f));
  floats const e3 = rotate(unit3);
  CHECK(first(e3, 8) == floats{-0.25f, 0.25f, 0.25f, -0.25f, -0.25f, 0.25f, 0.25f, -0.25f});
  CHECK(rotate(floats(16, 1.0f)) == floats{-1, 0, 1, 0, 1, 0, -1, 0, 1, 2, 1, 0, 1, 0, 1, -2});
  floats signs;
  for (int const s : oracle::published_signs()) signs.push_back(float(s));
  floats want(16);
  want[0] = 4;
  CHECK(rotate(signs) == want);
  CHECK(rotate(ramp) == floats{-14.5f, -7.5f, 6.5f, -0.5f, 6.5f, -0.5f, -14.5f, 8.5f,  //
                               7.5f, 14.5f, 0.5f, 1.5f, 0.5f, -2.5f, 9.5f, -15.5f});
}

TEST_CASE("Quantize/Vectors.V10RampEndToEnd") {
  floats ramp(16);
  for (int i = 0; i < 16; ++i) ramp[std::size_t(i)] = float(i);
  auto const q = test::quantized<nvfp4_wgrad>(row(ramp));
  CHECK(amax<nvfp4_wgrad>(host, row(ramp).ref()) == 15.5f);
  CHECK(q.outer()[0] == oracle::div(1, std::bit_cast<float>(0x432D6B5Bu)));
  CHECK(q.scales()[0] == 0x7E);
  CHECK(q.codes() == std::vector<u8>{0xDF, 0x85, 0x85, 0x5F, 0x75, 0x10, 0xA0, 0xF6});
}

TEST_CASE("Quantize/Vectors.V11Outlier") {
  floats x(16, 1.0f);
  x[0] = 100;
  code_list want(16);
  want[0] = 7;
  auto const plain = test::quantized<nvfp4>(row(x));
  CHECK(codes_of(plain) == want);
  CHECK(decode(plain)[0] == Approx(100));
  auto const rotated = test::quantized<nvfp4_wgrad>(row(x));
  for (u8 const byte : rotated.codes()) CHECK((byte & 0x77) == 0x77);  // magnitude 6 everywhere
  floats const y = decode(rotated);
  CHECK(y[0] == Approx(107));
  double error = 0;
  for (std::size_t i = 0; i < 16; ++i) error += std::pow(double(y[i]) - x[i], 2);
  CHECK(error == Approx(64).epsilon(1e-5));
}

TEST_CASE("Quantize/Vectors.V11OutlierOnAUniformGrid") {
  floats x(16, 1.0f);
  x[0] = 100;
  auto const q = test::quantized<int4_rotated>(row(x));
  CHECK(codes_of(q) == code_list{6, 6, 7, 6, 7, 6, 6, 6, 7, 7, 7, 6, 7, 6, 7, 6});
  floats const y = decode(q);
  double error = 0;
  for (std::size_t i = 0; i < 16; ++i) error += std::pow(double(y[i]) - x[i], 2);
  CHECK(error == Approx(27.29).epsilon(2e-4));
}
