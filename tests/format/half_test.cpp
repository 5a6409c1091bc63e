// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The 16-bit float types: every value to float, and float to them at every turn.

#include <bit>
#include <cmath>

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

namespace {

u32 bits_of(float x) { return std::bit_cast<u32>(x); }

template <class Half>
float to_float(u32 bits) {
  Half h;
  h.bits = static_cast<u16>(bits);
  return static_cast<float>(h);
}

/// Values of Half that the oracle's rounding does not confirm; NaN need only stay a NaN of its sign.
template <class Half>
std::string roundings_that_differ(std::vector<float> const& inputs, float (*expected)(float)) {
  difference_log log;
  for (float const x : inputs) {
    float const found = static_cast<float>(Half(x));
    bool const same = std::isnan(x) ? std::isnan(found) && std::signbit(found) == std::signbit(x)
                                    : bits_of(found) == bits_of(expected(x));
    log.expect(same ? 1 : 0, 1, x, "same rounding");
  }
  return log.text();
}

}  // namespace

TEST_CASE("Format/Bf16.EveryValueToFloat") {
  for (u32 bits = 0; bits < 65536; ++bits)
    if (bits_of(to_float<bf16>(bits)) != bits << 16) FAIL_CHECK("bits " << bits);
}

TEST_CASE("Format/Fp16.EveryValueToFloat") {
  std::vector<float> const values = all_fp16();
  for (u32 bits = 0; bits < 65536; ++bits) {
    float const found = to_float<fp16>(bits);
    bool const same = std::isnan(values[bits])
                          ? std::isnan(found) && std::signbit(found) == (bits >= 0x8000)
                          : bits_of(found) == bits_of(values[bits]);
    if (!same) FAIL_CHECK("bits " << bits << " became " << found);
  }
}

TEST_CASE("Format/Bf16.EveryValueAndBack") {
  for (u32 bits = 0; bits < 65536; ++bits) {
    float const x = to_float<bf16>(bits);
    if (!std::isnan(x) && bf16(x).bits != bits) FAIL_CHECK("bits " << bits);
  }
}

TEST_CASE("Format/Fp16.EveryValueAndBack") {
  for (u32 bits = 0; bits < 65536; ++bits) {
    float const x = to_float<fp16>(bits);
    if (!std::isnan(x) && fp16(x).bits != bits) FAIL_CHECK("bits " << bits);
  }
}

TEST_CASE("Format/Bf16.RoundsAroundEveryMidpoint") {
  std::vector<float> points;
  for (u32 high = 0; high < 65536; ++high)
    for (u32 low : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      points.push_back(std::bit_cast<float>(high << 16 | low));
  CHECK(roundings_that_differ<bf16>(points, oracle::to_bf16) == "");
}

TEST_CASE("Format/Fp16.RoundsAroundEveryMidpoint") {
  std::vector<float> const values = all_fp16();
  std::vector<float> points;
  for (std::size_t i = 0; i < 0x7C00; ++i) {
    float const next = i + 1 < 0x7C00 ? values[i + 1] : 65536.f;
    add_neighbourhood(points, values[i]);
    add_neighbourhood(points, (values[i] + next) / 2);
  }
  CHECK(roundings_that_differ<fp16>(points, oracle::to_fp16) == "");
}

TEST_CASE("Format/Halves.RandomFloatBits") {
  auto const patterns = inputs::bit_patterns(500000, 6);
  CHECK(roundings_that_differ<bf16>(patterns, oracle::to_bf16) == "");
  CHECK(roundings_that_differ<fp16>(patterns, oracle::to_fp16) == "");
  CHECK(roundings_that_differ<fp16>(inputs::normal(200000, 7, 1e-5f), oracle::to_fp16) == "");
  CHECK(roundings_that_differ<fp16>(special_inputs<float>(), oracle::to_fp16) == "");
}

TEST_CASE("Format/Halves.KnownBits") {
  CHECK(fp16(1.f).bits == 0x3C00);
  CHECK(fp16(-2.f).bits == 0xC000);
  CHECK(fp16(65504.f).bits == 0x7BFF);
  CHECK(fp16(65519.f).bits == 0x7BFF);
  CHECK(fp16(65520.f).bits == 0x7C00);
  CHECK(fp16(0x1p-24f).bits == 0x0001);
  CHECK(fp16(0x1p-25f).bits == 0x0000);
  CHECK(bf16(1.f).bits == 0x3F80);
  CHECK(bf16(-0.f).bits == 0x8000);
  CHECK(bf16(oracle::float_max).bits == 0x7F80);
  CHECK(bf16(0x1p-133f).bits == 0x0001);
}
