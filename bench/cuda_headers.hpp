// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The yardstick of the host benchmarks: the loop that a user would write over the CUDA headers' host
/// conversions. One block after the other, amax, E4M3 or UE8M0 scale, E2M1 codes.

#include <cmath>
#include <cstddef>

#include <cuda_fp4.h>
#include <cuda_fp8.h>

namespace cuda_headers {

/// n elements, n a multiple of 16, with the tensor's encode scale s, into n / 2 + n / 16 bytes.
inline void quantize_nvfp4(float const* x, std::size_t n, float s, unsigned char* codes,
                           unsigned char* scales) {
  for (std::size_t b = 0; b < n / 16; ++b) {
    float const* const block = x + 16 * b;
    float amax = 0;
    for (int i = 0; i < 16; ++i) amax = std::fmax(amax, std::fabs(block[i]));
    scales[b] = __nv_cvt_float_to_fp8(amax / 6 * s, __NV_SATFINITE, __NV_E4M3);
    float const scale = __half2float(__half(__nv_cvt_fp8_to_halfraw(scales[b], __NV_E4M3)));
    float const encode = scale == 0 ? 0 : s / scale;
    for (int i = 0; i < 16; i += 2)
      codes[8 * b + i / 2] = __nv_cvt_float2_to_fp4x2({block[i] * encode, block[i + 1] * encode},
                                                      __NV_E2M1, cudaRoundNearest);
  }
}

/// n elements, n a multiple of 32, under the OCP floor rule, into n / 2 + n / 32 bytes.
inline void quantize_mxfp4(float const* x, std::size_t n, unsigned char* codes,
                           unsigned char* scales) {
  for (std::size_t b = 0; b < n / 32; ++b) {
    float const* const block = x + 32 * b;
    float amax = 0;
    for (int i = 0; i < 32; ++i) amax = std::fmax(amax, std::fabs(block[i]));
    scales[b] = __nv_cvt_float_to_e8m0(amax / 4, __NV_SATFINITE, cudaRoundZero);
    float const encode = std::ldexp(1.f, 127 - scales[b]);
    for (int i = 0; i < 32; i += 2)
      codes[16 * b + i / 2] = __nv_cvt_float2_to_fp4x2({block[i] * encode, block[i + 1] * encode},
                                                       __NV_E2M1, cudaRoundNearest);
  }
}

}  // namespace cuda_headers
