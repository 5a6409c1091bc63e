// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantized matrices as FP8: element x block scale / 2^e, with one exponent e for each row.
///
/// E2M1 x UE8M0 has two significand bits, so E5M2 holds it exactly while the scales of a row lie within 29
/// binades; E2M1 x a scale of significand 1, 1.25 or 1.5 has four, for E4M3. Where an element does not fit,
/// its group of 128 rows is marked, and another kernel makes the tiles of that group.
///
/// A warp makes a row: it finds the row's largest scale, then each lane writes whole blocks. The eight
/// magnitudes of a block are converted once and looked up by byte permutation.

#include <quadrille/cuda/gemm/operand.cuh>

namespace quadrille::detail {

template <class T>
struct fp8_conversion;
template <>
struct fp8_conversion<e4m3> {
  static constexpr auto interpretation = __NV_E4M3;
};
template <>
struct fp8_conversion<e5m2> {
  static constexpr auto interpretation = __NV_E5M2;
};

/// Two floats to the nearest FP8 codes, the first in the low byte.
template <class T>
__device__ __forceinline__ u32 two_fp8(float low, float high) {
  return __nv_cvt_float2_to_fp8x2(make_float2(low, high), __NV_SATFINITE,
                                  fp8_conversion<T>::interpretation);
}

/// 4-bit codes whose top bit is the sign.
template <class E>
inline constexpr bool is_sign_magnitude = [] {
  if (E::bits != 4) return false;
  for (u32 code = 0; code < 8; ++code)
    if (E::decode(code + 8) != -E::decode(code)) return false;
  return true;
}();

template <class E>
inline constexpr float largest_magnitude = [] {
  float largest = 0;
  for (u32 code = 0; code < (1u << E::bits); ++code) {
    float const x = E::decode(code);
    if (is_finite(x)) largest = max(largest, x < 0 ? -x : x);
  }
  return largest;
}();

/// The FP8 codes of the magnitudes of a 4-bit format times a factor.
template <class T, class E>
struct fp8_table {
  u32 low, high;
  bool is_exact = true;

  __device__ explicit fp8_table(float factor) {
    float y[8];
#pragma unroll
    for (u32 code = 0; code < 8; ++code) y[code] = mul(E::decode(code), factor);
    low = two_fp8<T>(y[0], y[1]) | two_fp8<T>(y[2], y[3]) << 16;
    high = two_fp8<T>(y[4], y[5]) | two_fp8<T>(y[6], y[7]) << 16;
    // A power of two that leaves every magnitude normal is exact in E5M2.
    constexpr float least = float(T::min_normal / E::min_subnormal);
    if (!is_finite(factor) || (is_same_v<T, e5m2> && magnitude(factor) >= least)) return;
#pragma unroll
    for (u32 code = 1; code < 8; ++code)
      is_exact &=
          y[code] != 0 && T::decode(u8((code < 4 ? low : high) >> 8 * (code % 4))) == y[code];
  }
  /// FP8 codes of the eight 4-bit codes of a word.
  __device__ uint2 operator()(u32 word) const {
    u32 const magnitudes = word & 0x77777777u;
    u32 const odd = word & 0x80808080u;
    u32 const even = (word << 4) & 0x80808080u;
    return make_uint2(__byte_perm(low, high, magnitudes) ^ __byte_perm(even, odd, 0x5140),
                      __byte_perm(low, high, magnitudes >> 16) ^ __byte_perm(even, odd, 0x7362));
  }
};

/// What fold_kernel writes: rows of FP8 codes, zeros from K on; a power of two for each row; marks.
struct folded {
  u8* codes;
  i64 stride;  // bytes, a multiple of 16
  float* factors;
  u8* marks;  // zeroed before
};

/// The power of two by which a row is multiplied so that `top` times the largest element fits.
__device__ inline float fold_of(float top, float limit) {
  if (!(top > 0)) return 1;
  float const ratio = min(limit / top, 0x1p126f);
  return as_float(bits_of(ratio) & infinity_bits);
}

inline constexpr int fold_warps = 8;

/// Rounds: elements that do not fit are rounded in place of being marked.
template <class T, bool Rounds, class Operand>
static __global__ void __launch_bounds__(32 * fold_warps)
    fold_kernel(Operand const from, folded const to) {
  using element = typename Operand::element;
  constexpr int block_cols = Operand::block_cols;
  constexpr float limit = float(T::max / largest_magnitude<element>);
  i64 const row = i64(blockIdx.x) * fold_warps + threadIdx.x / 32;
  u32 const lane = threadIdx.x % 32;
  if (row >= from.rows()) return;

  float top = 0;
  for (i64 k = lane * block_cols; k < from.cols(); k += 32 * block_cols) {
    float const scale = from.scale(row, k);
    if (is_finite(scale)) top = fmaxf(top, magnitude(scale));
  }
  float const fold = fold_of(as_float(__reduce_max_sync(0xffffffffu, bits_of(top))), limit);
  if (lane == 0) to.factors[row] = 1 / fold;

  bool is_exact = true;
  u8* const out = to.codes + row * to.stride;
  auto const codes = from.q.codes + row * row_bytes<element>(from.cols());
  bool const is_aligned = row_bytes<element>(from.cols()) % 4 == 0 &&
                          reinterpret_cast<std::uintptr_t>(from.q.codes) % 4 == 0;
  for (i64 k = lane * block_cols; k < to.stride; k += 32 * block_cols) {
    float const factor = k < from.cols() ? mul(from.scale(row, k), fold) : 0.f;
    if constexpr (is_sign_magnitude<element> && block_cols % 16 == 0) {
      if (is_aligned && k + block_cols <= from.cols()) {
        fp8_table<T, element> const table(factor);
        bool is_used = false;
#pragma unroll
        for (int i = 0; i < block_cols / 16; ++i) {
          u32 const first = reinterpret_cast<u32 const*>(codes + k / 2)[2 * i];
          u32 const second = reinterpret_cast<u32 const*>(codes + k / 2)[2 * i + 1];
          uint2 const a = table(first);
          uint2 const b = table(second);
          reinterpret_cast<uint4*>(out + k)[i] = make_uint4(a.x, a.y, b.x, b.y);
          is_used |= ((first | second) & 0x77777777u) != 0;
        }
        is_exact &= table.is_exact || !is_used;
        continue;
      }
    }
    for (int i = 0; i < block_cols && k + i < to.stride; ++i) {
      float const value = k + i < from.cols() ? from.value(row, k + i) : 0.f;
      float const y = mul(value, factor);
      u8 const code = u8(two_fp8<T>(y, 0));
      out[k + i] = code;
      if (value != 0 && is_finite(y)) is_exact &= y != 0 && T::decode(code) == y;
    }
  }
  if (!Rounds && !is_exact) {
    to.marks[row / 128] = 1;
    to.marks[max(i64(0), row - 31) / 128] = 1;  // up to 32 columns of D go by the mark of the first
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <class T, bool Rounds, class Operand>
void launch_fold(stream_policy where, Operand const& from, folded const& to) {
  if (from.rows() == 0) return;
  i64 const blocks = ceil_div(from.rows(), i64(fold_warps));
  launch(where, fold_kernel<T, Rounds, Operand>, dim3(unsigned(blocks)), 32 * fold_warps, 0, from,
         to);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
