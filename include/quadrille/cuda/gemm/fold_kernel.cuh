// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantized matrices as FP8: element x block scale / 2^e, with one exponent e for each row.
///
/// E2M1 x UE8M0 has two significand bits, so E5M2 holds it exactly while the scales of a row lie within 29
/// binades; E2M1 x a scale of significand 1, 1.25 or 1.5 has four, for E4M3. Where an element does not fit,
/// its group of 128 rows is marked, and another kernel makes the tiles of that group.
///
/// A thread block makes a row: it finds the row's largest scale, then each thread writes whole blocks. The
/// eight magnitudes of a block are converted once and looked up by byte permutation.

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

/// Both halves in a word.
__device__ __forceinline__ u32 word_of(__half2_raw x) { return x.x | u32(x.y) << 16; }
/// And back, to FP16.
template <class T>
__device__ __forceinline__ u32 two_halves(u32 codes) {
  return word_of(
      __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t(codes), fp8_conversion<T>::interpretation));
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
  bool is_exact;

  __device__ explicit fp8_table(float factor) {
    float y[8];
#pragma unroll
    for (u32 code = 0; code < 8; ++code) y[code] = mul(E::decode(code), factor);
    low = two_fp8<T>(y[0], y[1]) | two_fp8<T>(y[2], y[3]) << 16;
    high = two_fp8<T>(y[4], y[5]) | two_fp8<T>(y[6], y[7]) << 16;
    // FP16 holds all that FP8 holds; a y above the least FP8 number it rounds to another only if FP8 does.
    u32 lost = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      lost |= word_of(__floats2half2_rn(y[2 * i], y[2 * i + 1])) ^
              two_halves<T>((i < 2 ? low : high) >> i % 2 * 16);
    is_exact = !is_finite(factor) || (lost == 0 && magnitude(y[1]) >= float(T::min_subnormal));
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

inline constexpr int fold_threads = 64;  // a row: many rows at once hide the wait for its scales

/// Codes of a few blocks of a row, `step` columns apart.
template <int BlockCols>
struct code_batch {
  static constexpr int turns = max(1, min(4, 128 / BlockCols));
  static constexpr int words = BlockCols / 16;
  static constexpr i64 step = fold_threads * BlockCols;
  uint2 at[turns][words];

  __device__ __forceinline__ void load(u8 const* codes, i64 first, i64 end) {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      i64 const k = first + turn * step;
      if (k >= end) break;
#pragma unroll
      for (int i = 0; i < words; ++i)
        at[turn][i] = reinterpret_cast<uint2 const*>(codes + k / 2)[i];
    }
  }
};

/// A row by a thread block. Rounds: elements that do not fit are rounded in place of being marked.
template <class T, bool Rounds, class Operand>
__device__ __forceinline__ void fold_row(Operand const& from, folded const& to, i64 row) {
  using element = typename Operand::element;
  constexpr int block_cols = Operand::block_cols;
  constexpr float limit = float(T::max / largest_magnitude<element>);
  constexpr bool has_table = is_sign_magnitude<element> && block_cols % 16 == 0;
  using batch = code_batch<has_table ? block_cols : 16>;
  i64 const row_size = row_bytes<element>(from.cols());
  u8 const* const codes = from.q.codes + row * row_size;
  u8* const out = to.codes + row * to.stride;
  bool const is_aligned = (reinterpret_cast<std::uintptr_t>(from.q.codes) | u64(row_size)) % 8 == 0;
  i64 const whole = has_table && is_aligned ? from.cols() / block_cols * block_cols : 0;
  i64 const first = i64(threadIdx.x) * block_cols;
  batch some;
  some.load(codes, first, whole);  // on their way while the largest scale is sought

  float top = 0;
#pragma unroll 4
  for (i64 k = first; k < from.cols(); k += fold_threads * block_cols) {
    float const scale = from.scale(row, k);
    if (is_finite(scale)) top = fmaxf(top, magnitude(scale));
  }
  __shared__ u32 tops[fold_threads / 32];
  u32 const of_warp = __reduce_max_sync(0xffffffffu, bits_of(top));
  if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = of_warp;
  __syncthreads();
  for (u32 const other : tops) top = fmaxf(top, as_float(other));
  float const fold = fold_of(top, limit);
  if (threadIdx.x == 0) to.factors[row] = 1 / fold;

  bool is_exact = true;
  if constexpr (has_table) {
    for (i64 start = first; start < whole; start += batch::turns * batch::step) {
      if (start != first) some.load(codes, start, whole);
#pragma unroll
      for (int turn = 0; turn < batch::turns; ++turn) {
        i64 const k = start + turn * batch::step;
        if (k >= whole) break;
        fp8_table<T, element> const table(mul(from.scale(row, k), fold));
        u32 used = 0;
#pragma unroll
        for (int i = 0; i < batch::words; ++i) {
          uint2 const both = some.at[turn][i];
          uint2 const a = table(both.x);
          uint2 const b = table(both.y);
          reinterpret_cast<uint4*>(out + k)[i] = make_uint4(a.x, a.y, b.x, b.y);
          used |= (both.x | both.y) & 0x77777777u;
        }
        is_exact &= table.is_exact || used == 0;
      }
    }
  }
  for (i64 k = whole + threadIdx.x; k < to.stride; k += fold_threads) {
    float const value = k < from.cols() ? from.value(row, k) : 0.f;
    float const y = k < from.cols() ? mul(value, mul(from.scale(row, k), fold)) : 0.f;
    u8 const code = u8(two_fp8<T>(y, 0));
    out[k] = code;
    if (value != 0 && is_finite(y)) is_exact &= y != 0 && T::decode(code) == y;
  }
  if (!Rounds && !is_exact) {
    to.marks[row / 128] = 1;
    to.marks[max(i64(0), row - 31) / 128] = 1;  // up to 32 columns of D go by the mark of the first
  }
}

/// Rows to fold of an operand of a product.
template <class Operand>
QUADRILLE_HD i64 rows_to_fold(Operand const& from) {
  return Operand::is_quantized ? from.rows() : 0;
}

/// The rows of A, then those of B, of which one may be plain.
template <class TA, class TB, bool Rounds, class A, class B>
static __global__ void __launch_bounds__(fold_threads)
    fold_kernel(A const a, folded const to_a, B const b, folded const to_b) {
  wait_for_earlier_work();
  i64 const row = blockIdx.x;
  if constexpr (A::is_quantized)
    if (row < a.rows()) return fold_row<TA, Rounds>(a, to_a, row);
  if constexpr (B::is_quantized) fold_row<TB, Rounds>(b, to_b, row - rows_to_fold(a));
}

#pragma GCC visibility push(hidden)  // see stream.cuh
template <class TA, class TB, bool Rounds, class A, class B>
void launch_fold(stream_policy where, A const& a, folded const& to_a, B const& b,
                 folded const& to_b) {
  i64 const rows = rows_to_fold(a) + rows_to_fold(b);
  if (rows == 0) return;
  launch_early(where, fold_kernel<TA, TB, Rounds, A, B>, dim3(unsigned(rows)), fold_threads, 0, a,
               to_a, b, to_b);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
