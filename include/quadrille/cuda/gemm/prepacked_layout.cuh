// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// 4-bit weights in the order in which the tensor cores take them: prepacked once, multiplied often.
///
/// A record holds 64 rows x 64 columns: the codes of its four units of 16 rows, 512 bytes each, then their
/// scales. The records of 64 rows follow one another along K. In a unit, lane 4g + t of a warp owns 16
/// bytes; word j of them are, in the main, the codes of its A fragment of columns [16 j, 16 j + 16) (mma.sync
/// m16n8k16 and wgmma alike): rows g, g + 8, columns 2t, 2t + 1, then both rows, columns 2t + 8, 2t + 9. The bits
/// of two words lie so that few instructions bring them where BF16 has them: see fragment_code.
/// Rows and columns are padded to 64 with zeros.
///
/// It is a permutation of the canonical codes and scales, with these exceptions, none of which changes a
/// value: the codes of a block whose E4M3 scale is zero, or whose UE8M0 scale is NaN, become zeros, and a
/// negative E4M3 scale (no rule makes one) gives its sign to the codes.

#include <quadrille/arch/target.hpp>
#include <quadrille/recipe.hpp>
#include <quadrille/storage.hpp>

namespace quadrille {

namespace detail {

QUADRILLE_LEAF constexpr u32 rotate_left(u32 x, int n) { return x << n | x >> (32 - n) % 32; }
QUADRILLE_LEAF constexpr u32 rotate_right(u32 x, int n) { return x >> n | x << (32 - n) % 32; }

/// `ones` where the mask is set, `zeros` where it is not; and (x & mask) | set. One instruction each, which the compiler
/// does not find where two of the words are constants.
__device__ __forceinline__ u32 select_bits(u32 mask, u32 ones, u32 zeros) {
  u32 r;
  asm("lop3.b32 %0, %1, %2, %3, 0xca;" : "=r"(r) : "r"(mask), "r"(ones), "r"(zeros));
  return r;
}
__device__ __forceinline__ u32 and_or(u32 x, u32 mask, u32 set) {
  u32 r;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(r) : "r"(x), "r"(mask), "r"(set));
  return r;
}

/// Powers of two that stand for shifts to the left. Where the compiler does not know them (a kernel's
/// argument) multipliers shift, which decoding leaves idler than the pipe of shifts and logic.
struct shift_factors {
  u32 by2 = 1 << 2;
  u32 by4 = 1 << 4;
  u32 by6 = 1 << 6;
};

/// The two codes of a byte, one in each half.
QUADRILLE_LEAF constexpr u32 two_codes(u32 byte) { return byte * 0x1001u & 0x000f000fu; }

/// The codes of a lane in two k16 steps, as two words, and eight of a step in the halves of four words as BF16
/// numbers.
///   raw(two)                          for a code in each half, 16 bits that are the BF16 number
///                                     value(code) * 2^raw_exponent (+ offset)
///   code(raw)                         and back, for one
///   gather(v, step)                   the word of a step, from both steps' four pairs of raws
///   spread(words, step, v, shifts)    and back: what the kernels pay for
/// E2M1 magnitudes sit in the two low exponent bits and the first mantissa bit, so that all eight, the
/// subnormal one included, are BF16 numbers as they are. Uniform grids are BF16 subnormals.
template <class E>
struct fragment_code;

template <>
struct fragment_code<e2m1> {
  static constexpr int raw_exponent = -126;
  static constexpr float offset = 0;
  static constexpr u32 mask = 0x81c081c0u;
  // No four shifts of the mask fill a word. Three leave these bits; those of both words are the fourth pairs of
  // both steps.
  static constexpr u32 left = 0x06030603u;

  QUADRILLE_LEAF static constexpr u32 raw(u32 two) { return two * (1 << 12 | 1 << 6) & mask; }
  QUADRILLE_LEAF static constexpr u32 code(u32 raw) { return raw >> 12 & 8 | raw >> 6 & 7; }
  QUADRILLE_LEAF static constexpr u32 gather(u32 const (&v)[2][4], int step) {
    u32 const fourth = v[0][3] >> 6 | rotate_left(v[1][3], 4);
    return v[step][0] | v[step][1] >> 4 | rotate_right(v[step][2], 10) |
           (step == 0 ? fourth & left : fourth >> 2 & left);
  }
  __device__ __forceinline__ static void spread(u32 const (&words)[2], int step, u32 (&v)[4],
                                                shift_factors shifts = {}) {
    u32 const word = words[step];
    u32 const fourth = select_bits(left, words[0], words[1] * shifts.by2);
    v[0] = word & mask;
    v[1] = word * shifts.by4 & mask;
    v[2] = rotate_left(word, 10) & mask;
    v[3] = (step == 0 ? fourth * shifts.by6 : rotate_right(fourth, 4)) & mask;
  }
};

template <>
struct fragment_code<e1m2> {
  static constexpr int raw_exponent = -127;
  static constexpr float offset = 0;
  static constexpr u32 mask = 0x80708070u;

  QUADRILLE_LEAF static constexpr u32 raw(u32 two) { return two * (1 << 12 | 1 << 4) & mask; }
  QUADRILLE_LEAF static constexpr u32 code(u32 raw) { return raw >> 12 & 8 | raw >> 4 & 7; }
  QUADRILLE_LEAF static constexpr u32 gather(u32 const (&v)[2][4], int step) {
    return v[step][0] | v[step][1] >> 4 | rotate_right(v[step][2], 8) |
           rotate_right(v[step][3], 12);
  }
  __device__ __forceinline__ static void spread(u32 const (&words)[2], int step, u32 (&v)[4],
                                                shift_factors shifts = {}) {
    u32 const word = words[step];
    v[0] = word & mask;
    v[1] = word * shifts.by4 & mask;
    v[2] = rotate_left(word, 8) & mask;
    v[3] = rotate_left(word, 12) & mask;
  }
};

/// Offset binary: a raw is value + 8, which the multiplication by the scale takes off again.
template <int Low>
struct fragment_code<twos_complement<4, Low>> {
  static constexpr int raw_exponent = -129;
  static constexpr float offset = 8;
  static constexpr u32 mask = 0x00f000f0u;

  QUADRILLE_LEAF static constexpr u32 raw(u32 two) { return (two ^ 0x00080008u) << 4; }
  QUADRILLE_LEAF static constexpr u32 code(u32 raw) { return raw >> 4 & 15 ^ 8; }
  QUADRILLE_LEAF static constexpr u32 gather(u32 const (&v)[2][4], int step) {
    return v[step][0] >> 4 | v[step][1] | v[step][2] << 4 | v[step][3] << 8;
  }
  __device__ __forceinline__ static void spread(u32 const (&words)[2], int step, u32 (&v)[4],
                                                shift_factors shifts = {}) {
    u32 const word = words[step];
    v[0] = word * shifts.by4 & mask;
    v[1] = word & mask;
    v[2] = word >> 4 & mask;
    v[3] = word >> 8 & mask;
  }
};

template <class E>
inline constexpr bool has_fragment_code = false;
template <>
inline constexpr bool has_fragment_code<e2m1> = true;
template <>
inline constexpr bool has_fragment_code<e1m2> = true;
template <int Low>
inline constexpr bool has_fragment_code<twos_complement<4, Low>> = true;

/// A block scale as a byte, of which few instructions turn two into two BF16 numbers.
///   pack(stored), unpack(byte)
///   rotation                by which a word of four bytes is stored rotated to the left
///   expand(four, even, odd) bytes 0 and 2 of such a word, and bytes 3 and 1, each as BF16 number
///                           scale * 2^exponent
template <class F>
struct fragment_scale;

/// Five bits of exponent and three of mantissa, normalised, so that BF16 has the same bits: scale * 2^119.
/// 0xff is NaN there too. There is no zero: 0 stands for it where the codes are zeros.
template <>
struct fragment_scale<e4m3> {
  static constexpr int exponent = 119;
  static constexpr int bias = 22;
  static constexpr int rotation = 4;  // bytes 0 and 2 lie where BF16 has them

  QUADRILLE_HD static constexpr u8 pack(u32 stored) {
    u32 const magnitude = stored & 0x7f;
    if (magnitude == 0x7f) return 0xff;
    if (magnitude == 0) return 0;
    return u8((bits_of(e4m3::decode(magnitude)) >> 20) - ((127 - bias) << 3));  // subnormals too
  }
  QUADRILLE_HD static constexpr u8 unpack(u32 packed) {
    if (packed == 0xff) return 0x7f;
    if (packed == 0) return 0;
    int const field = int(packed >> 3) + 7 - bias;
    u32 const fraction = packed & 7;
    return field >= 1 ? u8(u32(field) << 3 | fraction) : u8((fraction | 8) >> (1 - field));
  }
  __device__ __forceinline__ static void expand(u32 four, u32& even, u32& odd) {
    even = and_or(four, 0x0ff00ff0u, 0x70007000u);
    odd = and_or(rotate_left(four, 8), 0x0ff00ff0u, 0x70007000u);
  }
};

/// The exponent field of the BF16 number; its subnormal 2^-127 is put right, and what stands for NaN is
/// infinity, where the codes are zeros.
template <>
struct fragment_scale<ue8m0> {
  static constexpr int exponent = 0;
  static constexpr int rotation = 0;
  QUADRILLE_HD static constexpr u8 pack(u32 stored) { return u8(stored); }
  QUADRILLE_HD static constexpr u8 unpack(u32 packed) { return u8(packed); }
  __device__ __forceinline__ static void expand(u32 four, u32& even, u32& odd) {
    even = __vmaxu2(__byte_perm(four, 0, 0x4240) << 7, 0x00400040u);
    odd = __vmaxu2(__byte_perm(four, 0, 0x4143) << 7, 0x00400040u);
  }
  /// Scales up to 1, times 2^Up, which is 125 at most.
  template <int Up>
  __device__ __forceinline__ static void expand_small(u32 four, u32& even, u32& odd) {
    even = __byte_perm(four, 0, 0x4240) * 128 + Up * 0x00800080u;
    odd = __byte_perm(four, 0, 0x4143) * 128 + Up * 0x00800080u;
  }
};

template <class S>
inline constexpr bool has_fragment_scale = false;
template <class S>
  requires requires { typename S::format; }
inline constexpr bool has_fragment_scale<S> =
    is_same_v<typename S::format, e4m3> || is_same_v<typename S::format, ue8m0>;

template <class R>
QUADRILLE_HD consteval bool can_prepack() {
  if constexpr (has_fragment_code<typename R::element> && has_fragment_scale<typename R::scale>)
    return is_linear<typename R::scale> && R::block::cols % 16 == 0;
  return false;
}
}  // namespace detail

/// True if weights of recipe R can be prepacked: a 4-bit element (e2m1, e1m2, int4), blocks of a multiple
/// of 16 columns, and E4M3 or UE8M0 block scales that multiply.
template <class R>
inline constexpr bool is_prepackable = detail::can_prepack<R>();

namespace detail {
/// How recipe R is laid out.
template <class R>
struct prepacked_layout {
  static_assert(
      is_prepackable<R>,
      "quadrille: weights of this recipe cannot be prepacked; that takes 4-bit elements (e2m1, "
      "e1m2, "
      "int4), blocks of a multiple of 16 columns and E4M3 or UE8M0 block scales that multiply, use "
      "gemm with the canonical tensor");
  using code = fragment_code<typename R::element>;
  using format = typename R::scale::format;
  using scale = fragment_scale<format>;

  static constexpr int rows = 64;  // of a record
  static constexpr int cols = 64;
  static constexpr int unit_rows = 16;
  static constexpr int unit_bytes = unit_rows * cols / 2;
  static constexpr int scale_cols = R::block::cols % 32 == 0 ? 32 : 16;  // per stored scale
  static constexpr int scale_words = cols / scale_cols / 2;  // of a lane: rows g and g + 8
  static constexpr int unit_scale_bytes = 32 * scale_words;
  static constexpr int code_bytes = 4 * unit_bytes;
  static constexpr int bytes = code_bytes + 4 * unit_scale_bytes;  // of a record: 2304 or 2176

  /// Sums of products with decoded operands, times this, are sums of products with the values.
  static constexpr int factor_exponent = is_same_v<format, ue8m0>
                                             ? (code::offset != 0 ? 3 : 2)
                                             : -(code::raw_exponent + scale::exponent);
  static constexpr float factor = exp2i(factor_exponent);

  /// Where a record keeps the scale of a row and columns [i * scale_cols ..): in which word, and in which of its bytes
  /// before that was rotated. A word has those of rows g and g + 8: (g, even i), (g + 8, odd), (g + 8, even), (g, odd).
  QUADRILLE_LEAF static constexpr int scale_word(int row, int i) {
    return code_bytes + row / 16 * unit_scale_bytes + (row % 8 * scale_words + i / 2) * 4;
  }
  QUADRILLE_LEAF static constexpr int scale_byte(int row, int i) {
    return (i % 2 == 0 ? 0 : 3) ^ row % 16 / 8 * 2;
  }
};
}  // namespace detail

/// Prepacked weights as pointers: what kernels take. Trivially copyable.
///   data    size() bytes, aligned to 128
///   outer   decode factors as in quantized_ref
///   count   matrices of rows x cols that follow one another: the experts of a mixture, or a batch
template <recipe R, class Byte = u8>
struct prepacked_ref {
  using layout = detail::prepacked_layout<R>;
  static constexpr bool is_const = detail::is_same_v<Byte, u8 const>;

  Byte* data = nullptr;
  float const* outer = nullptr;
  i64 rows = 0;
  i64 cols = 0;
  i32 count = 1;
  u64 rotation_seed = 0;

  prepacked_ref() = default;
  QUADRILLE_HD constexpr prepacked_ref(Byte* records, float const* outer_factors, i64 row_count,
                                       i64 col_count, i32 matrices = 1, u64 seed = 0)
      : data(records),
        outer(outer_factors),
        rows(row_count),
        cols(col_count),
        count(matrices),
        rotation_seed(seed) {}
  template <class Other>
    requires(is_const&& detail::is_same_v<Other, u8>)
  QUADRILLE_HD constexpr prepacked_ref(prepacked_ref<R, Other> const& p)
      : prepacked_ref(p.data, p.outer, p.rows, p.cols, p.count, p.rotation_seed) {}

  /// Groups of 64 rows in one matrix, and records along K.
  QUADRILLE_HD constexpr i64 groups() const { return detail::ceil_div(rows, i64(layout::rows)); }
  QUADRILLE_HD constexpr i64 slabs() const { return detail::ceil_div(cols, i64(layout::cols)); }
  QUADRILLE_HD constexpr i64 size() const { return count * groups() * slabs() * layout::bytes; }
};

/// Bytes of prepacked weights: `count` matrices of rows x cols.
template <class R>
constexpr i64 prepacked_bytes(i64 rows, i64 cols, i32 count = 1) {
  return prepacked_ref<R>(nullptr, nullptr, rows, cols, count).size();
}

namespace detail {

// BF16 arithmetic on both halves of a word, one rounding, subnormals kept. `Half` of b (and c) serves both:
// written as a move of 16-bit registers it becomes an operand modifier and costs nothing.
#define QUADRILLE_HALVES(Half, REGISTER, FROM) \
  "mov.b32 {low, high}, " FROM "; mov.b32 " REGISTER ", {" Half ", " Half "};"
template <int Half>
__device__ __forceinline__ u32 fma_bf16x2(u32 a, u32 b, u32 c) {
  u32 r;
  if constexpr (Half == 0)
    asm("{ .reg .b16 low, high; .reg .b32 b, c;" QUADRILLE_HALVES("low", "b", "%2")
            QUADRILLE_HALVES("low", "c", "%3") "fma.rn.bf16x2 %0, %1, b, c; }"
        : "=r"(r)
        : "r"(a), "r"(b), "r"(c));
  else
    asm("{ .reg .b16 low, high; .reg .b32 b, c;" QUADRILLE_HALVES("high", "b", "%2")
            QUADRILLE_HALVES("high", "c", "%3") "fma.rn.bf16x2 %0, %1, b, c; }"
        : "=r"(r)
        : "r"(a), "r"(b), "r"(c));
  return r;
}
template <int Half>
__device__ __forceinline__ u32 multiply_bf16x2(u32 a, u32 b) {
  if constexpr (target::compute_capability < 90) {
    return fma_bf16x2<Half>(a, b, 0x80008000u);
  } else {
    u32 r;
    if constexpr (Half == 0)
      asm("{ .reg .b16 low, high; .reg .b32 b;" QUADRILLE_HALVES("low", "b",
                                                                 "%2") "mul.rn.bf16x2 %0, %1, b; }"
          : "=r"(r)
          : "r"(a), "r"(b));
    else
      asm("{ .reg .b16 low, high; .reg .b32 b;" QUADRILLE_HALVES("high", "b",
                                                                 "%2") "mul.rn.bf16x2 %0, %1, b; }"
          : "=r"(r)
          : "r"(a), "r"(b));
    return r;
  }
}
/// Each half of a times c, which is exact in BF16.
__device__ __forceinline__ u32 multiply_bf16x2(u32 a, u32 c) {
  u32 r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(c), "r"(0x80008000u));
  return r;
}
#undef QUADRILLE_HALVES
QUADRILLE_LEAF constexpr u32 twice_bf16(float x) {  // x is exact in BF16
  return (bits_of(x) >> 16) * 0x00010001u;
}

/// The scales of a lane's two rows for a word of codes: row g in the low half, row g + 8 in the high one.
template <class R>
struct fragment_scales {
  using layout = prepacked_layout<R>;
  static constexpr bool takes_offset =
      layout::code::offset != 0 && is_same_v<typename layout::format, e4m3>;
  u32 factor;
  u32 offset = 0;

  /// From a pair of expand_scales.
  __device__ __forceinline__ explicit fragment_scales(u32 both) : factor(both) {
    if constexpr (takes_offset)  // -8 * 2^-129 is normal, 2^-129 is not
      offset = multiply_bf16x2(
          both, twice_bf16(-layout::code::offset / 8 * exp2i(layout::code::raw_exponent + 3)));
  }
  template <int Half>
  __device__ __forceinline__ u32 apply(u32 pair) const {
    if constexpr (takes_offset)
      return fma_bf16x2<Half>(pair, factor, offset);
    else
      return multiply_bf16x2<Half>(pair, factor);
  }
};

/// Whether scales up to 1 bring a raw to an operand in one multiplication, and others in two.
template <class R>
inline constexpr bool has_small_scales =
    is_same_v<typename prepacked_layout<R>::format, ue8m0>&& prepacked_layout<R>::code::offset == 0;

/// An A fragment of m16n8k16, or a warp's of wgmma k16, from a lane's codes of a record and for one of its four
/// steps: exact. IsSmall: no scale is larger than 1, has_small_scales, and expand_scales was told so too.
template <class R, bool IsSmall = false>
__device__ __forceinline__ void decode_fragment(u32 const (&codes)[4], int step,
                                                fragment_scales<R> const& scales, u32 (&a)[4],
                                                shift_factors shifts = {}) {
  using layout = prepacked_layout<R>;
  using code = typename layout::code;
  u32 const words[2] = {codes[step & ~1], codes[step | 1]};
  code::spread(words, step % 2, a, shifts);
  if constexpr (is_same_v<typename layout::format, ue8m0> && !IsSmall) {
    // Further than one BF16 multiplication can bring a raw: first to values.
    constexpr u32 up = twice_bf16(exp2i(-code::raw_exponent - layout::factor_exponent));
    constexpr u32 down = twice_bf16(-code::offset * exp2i(-layout::factor_exponent));
#pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = fma_bf16x2<0>(a[i], up, down);
  }
  a[0] = scales.template apply<0>(a[0]);
  a[1] = scales.template apply<1>(a[1]);
  a[2] = scales.template apply<0>(a[2]);
  a[3] = scales.template apply<1>(a[3]);
}

/// What a lane needs of the scales of its unit: for step j the pair of scales (rows g and g + 8) that
/// fragment_scales takes.
template <class R, bool IsSmall = false>
__device__ __forceinline__ void expand_scales(u32 const (&packed)[prepacked_layout<R>::scale_words],
                                              u32 (&pairs)[4]) {
  using layout = prepacked_layout<R>;
  using scale = typename layout::scale;
  auto const expand = [](u32 four, u32& even, u32& odd) {
    if constexpr (IsSmall)
      scale::template expand_small<-layout::code::raw_exponent - layout::factor_exponent>(
          four, even, odd);
    else
      scale::expand(four, even, odd);
  };
  if constexpr (layout::scale_words == 2) {
    expand(packed[0], pairs[0], pairs[1]);
    expand(packed[1], pairs[2], pairs[3]);
  } else {
    expand(packed[0], pairs[0], pairs[2]);
    pairs[1] = pairs[0];
    pairs[3] = pairs[2];
  }
}

}  // namespace detail
}  // namespace quadrille
