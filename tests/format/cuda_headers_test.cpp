// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Casts agree with the host conversions of the CUDA headers, where a toolkit is installed.

#if __has_include(<cuda_fp4.h>) && __has_include(<cuda_fp6.h>)

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

#include <bit>
#include <cmath>

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

namespace {

/// Inputs that tell two casts to f apart if anything does.
std::vector<float> float_inputs(oracle::format const& f) {
  std::vector<float> x = critical_points<float>(f);
  for (auto const& more :
       {inputs::all_bf16(), all_fp16(), special_inputs<float>(), inputs::bit_patterns(100000, 8),
        inputs::normal(100000, 9, static_cast<float>(f.max()) / 4)})
    x.insert(x.end(), more.begin(), more.end());
  return x;
}

std::vector<double> double_inputs(oracle::format const& f) {
  std::vector<double> x = critical_points<double>(f);
  for (auto const& more : {double_patterns(100000, 10), doubles_in_range(100000, 11)})
    x.insert(x.end(), more.begin(), more.end());
  for (double const special : special_inputs<double>()) x.push_back(special);
  // The FP8 header hands sign and payload of a double's NaN on, but not those of a float's.
  std::erase_if(x, [](double v) { return std::isnan(v); });
  return x;
}

template <class T, class Ours, class Theirs>
std::string differences(std::vector<T> const& inputs, Ours const& ours, Theirs const& theirs) {
  difference_log log;
  for (T const x : inputs) log.expect(ours(x), theirs(x), x, "cast");
  return log.text();
}

float to_float(__half_raw h) { return __half2float(__half(h)); }
float to_float(__nv_bfloat16_raw b) { return __bfloat162float(__nv_bfloat16(b)); }

/// Values of all codes: theirs come as a 16-bit float.
template <class F, class Theirs>
void check_values(Theirs const& theirs) {
  for (unsigned code = 0; code < 1u << F::bits; ++code) {
    float const expected = to_float(theirs(static_cast<u8>(code)));
    float const found = F::decode(code);
    INFO("code " << code);
    if (std::isnan(expected))
      CHECK(std::isnan(found));
    else
      CHECK(std::bit_cast<u32>(found) == std::bit_cast<u32>(expected));
  }
}

template <class F>
void check_fp8(__nv_fp8_interpretation_t kind) {
  auto const x = float_inputs(twin<F>());
  auto const y = double_inputs(twin<F>());
  auto const saturated = [](auto v) { return F::encode(v); };
  auto const special = [](auto v) {
    return F::template encode<nearest_even, overflow::special>(v);
  };
  auto const fp8 = [kind](__nv_saturation_t s) {
    return [kind, s](float v) { return __nv_cvt_float_to_fp8(v, s, kind); };
  };
  auto const fp8_of_double = [kind](__nv_saturation_t s) {
    return [kind, s](double v) { return __nv_cvt_double_to_fp8(v, s, kind); };
  };
  CHECK(differences(x, saturated, fp8(__NV_SATFINITE)) == "");
  CHECK(differences(x, special, fp8(__NV_NOSAT)) == "");
  CHECK(differences(y, saturated, fp8_of_double(__NV_SATFINITE)) == "");
  CHECK(differences(y, special, fp8_of_double(__NV_NOSAT)) == "");
  check_values<F>([kind](u8 code) { return __nv_cvt_fp8_to_halfraw(code, kind); });
}

template <class F>
void check_fp6(__nv_fp6_interpretation_t kind) {
  auto const ours = [](auto v) { return F::encode(v); };
  CHECK(differences(float_inputs(twin<F>()), ours, [kind](float v) {
          return __nv_cvt_float_to_fp6(v, kind, cudaRoundNearest);
        }) == "");
  CHECK(differences(double_inputs(twin<F>()), ours, [kind](double v) {
          return __nv_cvt_double_to_fp6(v, kind, cudaRoundNearest);
        }) == "");
  check_values<F>([kind](u8 code) { return __nv_cvt_fp6_to_halfraw(code, kind); });
}

template <class R>
void check_e8m0(cudaRoundMode mode) {
  auto const x = float_inputs(twin<ue8m0>());
  CHECK(differences(
            x, [](float v) { return ue8m0::encode<R>(v); },
            [mode](float v) { return __nv_cvt_float_to_e8m0(v, __NV_SATFINITE, mode); }) == "");
  CHECK(differences(
            x, [](float v) { return ue8m0::encode<R, overflow::special>(v); },
            [mode](float v) { return __nv_cvt_float_to_e8m0(v, __NV_NOSAT, mode); }) == "");
}

}  // namespace

TEST_CASE("Format/CudaHeaders.E2m1") {
  auto const ours = [](auto v) { return e2m1::encode(v); };
  CHECK(differences(float_inputs(oracle::e2m1()), ours, [](float v) {
          return __nv_cvt_float_to_fp4(v, __NV_E2M1, cudaRoundNearest);
        }) == "");
  CHECK(differences(double_inputs(oracle::e2m1()), ours, [](double v) {
          return __nv_cvt_double_to_fp4(v, __NV_E2M1, cudaRoundNearest);
        }) == "");
  check_values<e2m1>([](u8 code) { return __nv_cvt_fp4_to_halfraw(code, __NV_E2M1); });
}

TEST_CASE("Format/CudaHeaders.E2m3") { check_fp6<e2m3>(__NV_E2M3); }
TEST_CASE("Format/CudaHeaders.E3m2") { check_fp6<e3m2>(__NV_E3M2); }
TEST_CASE("Format/CudaHeaders.E4m3") { check_fp8<e4m3>(__NV_E4M3); }
TEST_CASE("Format/CudaHeaders.E5m2") { check_fp8<e5m2>(__NV_E5M2); }

TEST_CASE("Format/CudaHeaders.E8m0") {
  check_e8m0<toward_zero>(cudaRoundZero);
  check_e8m0<away_from_zero>(cudaRoundPosInf);
  check_values<ue8m0>([](u8 code) { return __nv_cvt_e8m0_to_bf16raw(code); });
}

TEST_CASE("Format/CudaHeaders.HalfAndBfloat16") {
  std::vector<float> x = inputs::bit_patterns(300000, 12);
  for (float const v : all_fp16()) x.push_back(std::nextafter(v, 1.f));
  std::erase_if(x, [](float v) { return std::isnan(v); });
  CHECK(differences(
            x, [](float v) { return fp16(v).bits; },
            [](float v) { return __half_raw(__float2half_rn(v)).x; }) == "");
  CHECK(differences(
            x, [](float v) { return bf16(v).bits; },
            [](float v) { return __nv_bfloat16_raw(__float2bfloat16_rn(v)).x; }) == "");
}

#endif
