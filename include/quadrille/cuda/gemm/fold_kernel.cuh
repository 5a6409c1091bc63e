// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantized matrices as FP8: element x block scale / 2^e, with one exponent e for each row.
///
/// E2M1 x UE8M0 has two significand bits, so E5M2 holds it exactly while the scales of a row lie within 29
/// binades; E2M1 x a scale of significand 1, 1.25 or 1.5 has four, for E4M3. Where an element does not fit,
/// its group of 128 rows is marked, and another kernel makes the tiles of that group.
///
/// A thread block makes a row: it finds the row's largest scale, then each thread takes 16 codes at a time, whose
/// eight magnitudes times the scale are converted once and looked up by byte permutation.

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

/// FP8 codes of the eight magnitudes of a 4-bit format.
struct fp8_magnitudes {
  u32 low, high;

  /// FP8 codes of the eight 4-bit codes of a word.
  __device__ uint2 operator()(u32 word) const {
    u32 const magnitudes = word & 0x77777777u;
    u32 const odd = word & 0x80808080u;
    u32 const even = (word << 4) & 0x80808080u;
    return make_uint2(__byte_perm(low, high, magnitudes) ^ __byte_perm(even, odd, 0x5140),
                      __byte_perm(low, high, magnitudes >> 16) ^ __byte_perm(even, odd, 0x7362));
  }
};

/// Those of the format times a factor.
template <class T, class E>
struct fp8_table : fp8_magnitudes {
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
};

/// Whether a factor, so large that E2M1's magnitudes times it are normal numbers of T, finds them by
/// plain_magnitudes().
template <class T, class E>
__device__ __forceinline__ bool is_plain_factor(float factor) {
  return is_same_v<E, e2m1> && factor >= 2 * float(T::min_normal) && is_finite(factor);
}
/// E2M1's magnitudes are 0 and those of 1 and 1.5, some binades apart.
template <class T>
__device__ __forceinline__ fp8_magnitudes plain_magnitudes(float factor) {
  constexpr u32 binade = is_same_v<T, e4m3> ? 8 : 4;
  u32 const two = two_fp8<T>(factor, mul(factor, 1.5f));
  return {__byte_perm(two, 0, 0x1004) - (binade << 8),
          __byte_perm(two, 0, 0x1010) + binade * 0x02020101u};
}

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

/// A thread's part of a row: 16 codes in every fold_step, so that a warp reads and writes without gaps.
inline constexpr int fold_chunk = 16;
inline constexpr int fold_step = fold_threads * fold_chunk;

/// Some of these parts, read ahead.
struct code_batch {
  static constexpr int turns = 8;
  uint2 at[turns];

  __device__ __forceinline__ void load(u8 const* codes, i64 first, i64 end) {
#pragma unroll
    for (int turn = 0; turn < turns; ++turn)
      if (first + turn * fold_step < end)
        at[turn] = *reinterpret_cast<uint2 const*>(codes + (first + turn * fold_step) / 2);
  }
};

/// A row by a thread block. Rounds: elements that do not fit are rounded in place of being marked.
template <class T, bool Rounds, class Operand>
__device__ __forceinline__ void fold_row(Operand const& from, folded const& to, i64 row) {
  using element = typename Operand::element;
  constexpr int block_cols = Operand::block_cols;
  constexpr float limit = float(T::max / largest_magnitude<element>);
  constexpr bool has_table = is_sign_magnitude<element> && block_cols % fold_chunk == 0;
  i64 const row_size = row_bytes<element>(from.cols());
  u8 const* const codes = from.q.codes + row * row_size;
  u8* const out = to.codes + row * to.stride;
  bool const is_aligned = (reinterpret_cast<std::uintptr_t>(from.q.codes) | u64(row_size)) % 8 == 0;
  i64 const whole = has_table && is_aligned ? from.cols() / fold_chunk * fold_chunk : 0;
  i64 const first = i64(threadIdx.x) * fold_chunk;
  code_batch some;
  some.load(codes, first, whole);  // on their way while the largest scale is sought

  float top = 0;
#pragma unroll 4
  for (i64 k = i64(threadIdx.x) * block_cols; k < from.cols(); k += fold_threads * block_cols) {
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
    for (i64 start = first; start < whole; start += code_batch::turns * fold_step) {
      if (start != first) some.load(codes, start, whole);
#pragma unroll
      for (int turn = 0; turn < code_batch::turns; ++turn) {
        i64 const k = start + turn * fold_step;
        if (k >= whole) break;
        uint2 const both = some.at[turn];
        float const factor = mul(from.scale(row, k), fold);
        fp8_magnitudes table;
        if (is_plain_factor<T, element>(factor)) {
          table = plain_magnitudes<T>(factor);
        } else {
          fp8_table<T, element> const any(factor);
          table = any;
          is_exact &= any.is_exact || ((both.x | both.y) & 0x77777777u) == 0;
        }
        uint2 const a = table(both.x);
        uint2 const b = table(both.y);
        *reinterpret_cast<uint4*>(out + k) = make_uint4(a.x, a.y, b.x, b.y);
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
  return is_to_fold<Operand> ? from.rows() : 0;
}

/// The rows of A, then those of B, of which one may have nothing to fold.
template <class TA, class TB, bool Rounds, class A, class B>
static __global__ void __launch_bounds__(fold_threads, 20)
    fold_kernel(A const a, folded const to_a, B const b, folded const to_b) {
  wait_for_earlier_work();
  i64 const row = blockIdx.x;
  if constexpr (is_to_fold<A>)
    if (row < a.rows()) return fold_row<TA, Rounds>(a, to_a, row);
  if constexpr (is_to_fold<B>) fold_row<TB, Rounds>(b, to_b, row - rows_to_fold(a));
}

static __global__ void __launch_bounds__(256) clear_marks_kernel(u8* marks, i64 count) {
  wait_for_earlier_work();
  i64 const i = i64(blockIdx.x) * 256 + threadIdx.x;
  if (i < count) marks[i] = 0;
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// What fold_kernel wants before. Not by cudaMemsetAsync, which neither starts early nor lets what follows start early.
inline void clear_marks(stream_policy where, u8* marks, i64 count) {
  launch_early(where, clear_marks_kernel, dim3(unsigned(ceil_div(count, i64(256)))), 256, 0, marks,
               count);
}
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
