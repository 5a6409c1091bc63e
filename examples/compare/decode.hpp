// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// From stored elements to float, exactly, NaN payloads included.

#include "tensor_file.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace tensor_file {

static_assert(std::endian::native == std::endian::little,
              "tensor_file: elements are copied as they lie in the file, which is little-endian; "
              "build for a little-endian machine");

/// The float of an IEEE 754 binary16 code.
inline float decode_f16(std::uint16_t code) {
  std::uint32_t const sign = (code & 0x8000u) << 16;
  std::uint32_t const exponent = code >> 10 & 31u;
  std::uint32_t const fraction = code & 1023u;
  if (exponent == 0) {  // zero and subnormals count in units of 2^-24
    float const magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  std::uint32_t const wide = exponent == 31 ? 255 : exponent + 127 - 15;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

/// The float of a bfloat16 code: its upper half.
inline float decode_bf16(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

/// Decodes `count` elements that start at `in`.
inline void decode(dtype type, char const* in, std::uint64_t count, float* out) {
  if (type == dtype::f32) {
    std::memcpy(out, in, count * sizeof(float));
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::uint16_t code;
    std::memcpy(&code, in + 2 * i, 2);
    out[i] = type == dtype::f16 ? decode_f16(code) : decode_bf16(code);
  }
}

}  // namespace tensor_file
