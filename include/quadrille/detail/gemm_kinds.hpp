// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// How the vector kernels of gemm take their operands: rows of A packed into tiles, rows of B decoded
/// into panels. One class for each kind of product:
///   granule                  columns of K that must stay together
///   chunk_depth              columns of K at a time: a group of panels stays in the first-level cache
///   tile_words, panel_words  32-bit words of a packed tile and of a panel, for so many columns of K
///   pack                     a tile of A, completed with zeros
///   decode                   a panel of B, completed with zeros
///   multiply                 sums += tile x panels
///   multiply_row             sums += the first row of a tile x a panel that is decoded on the way; only if
///                            has_row_kernel
/// pack and decode return false if a scale is so large or small that the order of products would show;
/// then the portable loops do the work. `depth` is a multiple of the granule.

#include <cstring>

#include <quadrille/detail/operand.hpp>
#include <quadrille/detail/panel.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

inline constexpr int deepest = 256;  // columns of K in one call of a kernel
inline constexpr int half = deepest / 2;

/// True if panels of B are decoded from 4-bit codes and one scale a block.
template <class B>
inline constexpr bool has_panel_codes = false;
template <class B>
  requires(B::is_quantized)
inline constexpr bool has_panel_codes<B> =
    B::element::bits == 4 && B::is_scaled_code && B::block_cols % word_codes == 0;

/// Rows of a tile that are multiplied: a matrix of one row has kernels of its own.
template <int Rows, class A>
int packed_rows(A const& a) {
  return a.rows() == 1 ? 1 : Rows;
}

/// The scales of a panel, [block][row], `Step` columns a block.
template <class Kernel, int Step, class B>
bool load_scales(B const& b, i64 panel, i64 k, int blocks, u32* scales) {
  static_assert(deepest / word_codes <= most_panel_scales);
  if constexpr (B::has_scale_bytes && Step == B::block_cols) {
    u8 scratch[panel_rows * most_panel_scales];
    u8 const* const bytes = b.template panel_scale_bytes<Kernel>(panel, k, blocks, scratch);
    if (bytes != nullptr &&
        Kernel::template decode_scales<typename B::scale_format>(bytes, blocks, scales))
      return true;
  }
  b.panel_scales(panel, k, Step, blocks, scales);
  u32 extreme = 0;
  if constexpr (!is_always_moderate<typename B::scale_format>)
    for (int i = 0; i < blocks * panel_rows; ++i) extreme |= u32(!is_moderate(as_float(scales[i])));
  return extreme == 0;
}

/// Decodes a panel into words that each hold 32 / Bits values of FP32 or BF16, code by code.
template <class Kernel, int Bits, class B>
bool decode_values(B const& b, i64 panel, i64 k, int depth, u32* out) {
  using element = typename B::element;
  static constexpr decode_table<element> table{};
  alignas(64) u32 scratch[deepest / word_codes * panel_rows];
  u32 const* const words =
      b.template panel_words<Kernel>(panel, k / word_codes, depth / word_codes, scratch);
  constexpr int step = min(B::block_cols, half);
  alignas(64) u32 scales[deepest / word_codes * panel_rows];
  bool const moderate = load_scales<Kernel, step>(b, panel, k, ceil_div(depth, step), scales);
  for (int w = 0; w < depth / word_codes; ++w)
    Kernel::expand(words + w * panel_rows, scales + w * word_codes / step * panel_rows, table.value,
                   out + w * panel_rows * word_codes * Bits / 32);
  return moderate;
}

/// FP32 values, scales multiplied in, summed by FMA.
template <class Kernel, class A, class B>
struct float_product {
  static constexpr int granule = word_codes;
  static constexpr int chunk_depth = half;
  static constexpr int rows = Kernel::rows;
  static constexpr int tile_words(int depth) { return depth * rows; }
  static constexpr int panel_words(int depth) { return depth * panel_rows; }

  static bool pack(A const& a, i64 row, i64 k, int depth, u32* out) {
    for (int r = 0; r < packed_rows<rows>(a); ++r) {
      float values[deepest] = {};
      bool const exists = row + r < a.rows();
      if (exists && !load_row(a, row + r, k, int(min(i64(depth), a.cols() - k)), values))
        return false;
      for (int i = 0; i < depth; ++i) out[i * rows + r] = bits_of(values[i]);
    }
    return true;
  }
  static bool decode(B const& b, i64 panel, i64 k, int depth, u32* out) {
    if constexpr (has_panel_codes<B>) {
      return decode_values<Kernel, 32>(b, panel, k, depth, out);
    } else {
      for (int r = 0; r < panel_rows; ++r) {
        float values[deepest] = {};
        i64 const row = panel * panel_rows + r;
        if (row < b.rows() && !load_row(b, row, k, int(min(i64(depth), b.cols() - k)), values))
          return false;
        for (int i = 0; i < depth; ++i) out[i * panel_rows + r] = bits_of(values[i]);
      }
      return true;
    }
  }
  template <int Rows, int Panels>
  static void multiply(u32 const* tile, u32 const* panel, i64 stride, int depth, float* sums,
                       i64 sums_stride) {
    Kernel::template multiply<Rows, Panels>({tile, panel, stride}, depth, sums, sums_stride);
  }

  static constexpr bool has_row_kernel = has_panel_codes<B> && requires { &Kernel::multiply_row; };
  static bool multiply_row(u32 const* tile, B const& b, i64 panel, i64 k, int depth, float* sums) {
    using element = typename B::element;
    static constexpr decode_table<element> table{};
    constexpr int step = min(B::block_cols, half);
    int const blocks = ceil_div(depth, step);
    // A last block that is not whole ends where K does.
    int const words = blocks == 1 ? depth / word_codes : step / word_codes;
    alignas(64) u32 scratch[deepest / word_codes * panel_rows];
    alignas(64) u32 scales[deepest / word_codes * panel_rows];
    bool const moderate = load_scales<Kernel, step>(b, panel, k, blocks, scales);
    int const whole = depth / (words * word_codes);
    panel_codes from{
        b.template panel_words<Kernel>(panel, k / word_codes, depth / word_codes, scratch), scales};
    Kernel::multiply_row(tile, from, table.value, words, whole, sums);
    if (int const rest = depth / word_codes - whole * words; rest != 0)
      Kernel::multiply_row(
          tile + whole * words * word_codes * rows,
          {from.words + whole * words * panel_rows, from.scales + whole * panel_rows}, table.value,
          rest, 1, sums);
    return moderate;
  }

 private:
  // n <= deepest values of a row, scales multiplied in.
  template <class Operand>
  static bool load_row(Operand const& x, i64 row, i64 k, int n, float* values) {
    float scales[deepest];
    x.template load<1>(row, k, n, values, scales);
    if constexpr (Operand::is_quantized) {
      bool moderate = true;
      for (int i = 0; i < n; ++i) {
        moderate &= is_moderate(scales[i]);
        values[i] = mul(values[i], scales[i]);
      }
      return moderate;
    }
    return true;
  }
};

/// BF16 activations times weights that are exact in BF16.
template <class Kernel, class A, class B>
struct bf16_product {
  static constexpr int granule = word_codes;
  static constexpr int chunk_depth = deepest;
  static constexpr int rows = Kernel::rows;
  static constexpr int tile_words(int depth) { return depth / 2 * rows; }
  static constexpr int panel_words(int depth) { return depth / 2 * panel_rows; }

  static constexpr bool has_row_kernel = false;  // a single row goes in FP32
  static bool pack(A const& a, i64 row, i64 k, int depth, u32* out) {
    u32 small = 0;
    for (int r = 0; r < packed_rows<rows>(a); ++r) {
      bf16 values[deepest] = {};
      if (row + r < a.rows()) a.copy(row + r, k, int(min(i64(depth), a.cols() - k)), values);
      u32 pairs[deepest / 2];
      std::memcpy(pairs, values, sizeof pairs);
      for (int i = 0; i < depth / 2; ++i) out[i * rows + r] = pairs[i];
      // The instruction takes subnormal numbers for zero.
      for (int i = 0; i < depth; ++i) {
        u32 const magnitude = values[i].bits & 0x7fffu;
        small |= u32(magnitude - 1 < ((127 - 60) << 7) - 1);
      }
    }
    return small == 0;
  }
  static bool decode(B const& b, i64 panel, i64 k, int depth, u32* out) {
    return decode_values<Kernel, 16>(b, panel, k, depth, out);
  }
  template <int Rows, int Panels>
  static void multiply(u32 const* tile, u32 const* panel, i64 stride, int depth, float* sums,
                       i64 sums_stride) {
    Kernel::template multiply<Rows, Panels>({tile, panel, stride}, depth / 2, sums, sums_stride);
  }
};

/// Integer dots of blocks, exact, each scaled and added in FP32 from the first block to the last: the
/// stated order, bit for bit.
template <class Kernel, class A, class B>
struct int8_product {
  static constexpr int granule = common_block<A, B>;
  static constexpr int chunk_depth = deepest / granule * granule;
  static constexpr int rows = Kernel::rows;
  static constexpr int tile_words(int depth) { return (depth / 4 + depth / granule * 2) * rows; }
  static constexpr int panel_words(int depth) { return (depth / 4 + depth / granule) * panel_rows; }

  static bool pack(A const& a, i64 row, i64 k, int depth, u32* out) {
    bool moderate = true;
    u32* const scales = out + depth / 4 * rows;
    u32* const seeds = scales + depth / granule * rows;
    for (int r = 0; r < packed_rows<rows>(a); ++r) {
      u32 bytes[deepest / 4];
      i32 sums[deepest / 4];
      u32 factors[deepest / granule];
      read_row(a, row + r, k, depth, bytes);
      for (int s = 0; s < depth / 4; ++s) out[s * rows + r] = bytes[s];
      for (int s = 0; s < depth / 4; ++s) sums[s] = sum_of_bytes(bytes[s]);
      a.block_scales(row + r, k, granule, depth / granule, factors);
      for (int j = 0; j < depth / granule; ++j) {
        float const scale = as_float(factors[j]);
        if constexpr (!is_always_moderate<typename A::scale_format>) moderate &= is_moderate(scale);
        scales[j * rows + r] = bits_of(mul(scale, unit));
        i32 sum = 0;
        for (int s = 0; s < granule / 4; ++s) sum += sums[j * (granule / 4) + s];
        seeds[j * rows + r] = u32(-raise * sum);
      }
    }
    return moderate;
  }
  static bool decode(B const& b, i64 panel, i64 k, int depth, u32* out) {
    alignas(64) u32 scratch[deepest / word_codes * panel_rows];
    u32 const* const words =
        b.template panel_words<Kernel>(panel, k / word_codes, depth / word_codes, scratch);
    alignas(16) static constexpr raised_table<typename B::element> table{};
    for (int w = 0; w < depth / word_codes; ++w)
      Kernel::expand(words + w * panel_rows, table.value, out + 2 * w * panel_rows);
    u32* const scales = out + depth / 4 * panel_rows;
    bool const moderate = load_scales<Kernel, granule>(b, panel, k, depth / granule, scales);
    if constexpr (adds_exponents)
      for (int i = 0; i < depth / granule * panel_rows; ++i) scales[i] = exponent_of(scales[i]);
    return moderate;
  }
  template <int Rows, int Panels>
  static void multiply(u32 const* tile, u32 const* panel, i64 stride, int depth, float* sums,
                       i64 sums_stride) {
    u32 const* const scales = tile + depth / 4 * rows;
    block_sources const from{{tile, panel, stride},
                             scales,
                             scales + depth / granule * rows,
                             panel + depth / 4 * panel_rows};
    if constexpr (adds_exponents)
      Kernel::template multiply<Rows, Panels, granule / 4, is_exact, true>(from, depth / granule,
                                                                           sums, sums_stride);
    else
      Kernel::template multiply<Rows, Panels, granule / 4, is_exact>(from, depth / granule, sums,
                                                                     sums_stride);
  }

  static constexpr bool has_row_kernel = requires { Kernel::has_row_kernel; };
  static bool multiply_row(u32 const* tile, B const& b, i64 panel, i64 k, int depth, float* sums) {
    alignas(16) static constexpr raised_table<typename B::element> table{};
    alignas(64) u32 scratch[deepest / word_codes * panel_rows];
    alignas(64) u32 scales[deepest / word_codes * panel_rows];
    bool const moderate = load_scales<Kernel, granule>(b, panel, k, depth / granule, scales);
    u32 const* const a_scales = tile + depth / 4 * rows;
    block_sources const a{{tile, nullptr, 0}, a_scales, a_scales + depth / granule * rows, nullptr};
    panel_codes const from{
        b.template panel_words<Kernel>(panel, k / word_codes, depth / word_codes, scratch), scales};
    Kernel::template multiply_row<granule / 4, is_exact>(a, from, table.value, depth / granule,
                                                         sums);
    return moderate;
  }

 private:
  static constexpr int raise = raised_table<typename B::element>::raise;
  static constexpr float unit = A::element::min_subnormal * B::element::min_subnormal;
  // B's scales are powers of two, and the kernel multiplies by such in another pipe.
  static constexpr bool adds_exponents =
      B::has_scale_bytes && significand_bits<typename B::scale_format> == 1 && requires {
    Kernel::adds_exponents;
  };
  // Scale product times dot fits a significand.
  static constexpr bool is_exact =
      significand_bits<typename A::scale_format> + significand_bits<typename B::scale_format> +
          bit_width(u32(integers_of<typename A::element>.largest *
                        integers_of<typename B::element>.largest * granule)) <=
      24;

  // A row of A in bytes, zeros beyond the matrix, in the order of a panel's: of 8 columns the even ones, then
  // the odd ones.
  static void read_row(A const& a, i64 row, i64 k, int depth, u32* out) {
    using element = typename A::element;
    int const n = row < a.rows() ? int(min(i64(depth), a.cols() - k)) : 0;
    if constexpr (element::bits <= 4) {
      alignas(16) static constexpr signed_table<element> table{};
      alignas(64) u32 codes[deepest / word_codes] = {};
      alignas(64) u32 bytes[deepest / 4];
      if (n > 0) std::memcpy(codes, a.codes_of(row) + k / 2, std::size_t(ceil_div(n, 2)));
      if (n % word_codes != 0) codes[n / word_codes] &= (1u << 4 * (n % word_codes)) - 1;
      for (int w = 0; w < deepest / word_codes; w += panel_rows)
        Kernel::expand(codes + w, table.value, bytes + 2 * w);
      for (int w = 0; w < depth / word_codes; ++w)
        for (int odd = 0; odd < 2; ++odd)
          out[2 * w + odd] = bytes[(w / panel_rows * 2 + odd) * panel_rows + w % panel_rows];
    } else {
      u8 bytes[deepest] = {};
      if (n > 0) std::memcpy(bytes, a.codes_of(row) + k, std::size_t(n));
      if constexpr (!integers_of<element>.are_codes)
        for (int i = 0; i < n; ++i) bytes[i] = u8(integers_of<element>.value[bytes[i]]);
      u32 words[deepest / 4];
      std::memcpy(words, bytes, sizeof words);
      for (int w = 0; w < depth / word_codes; ++w) {
        u32 const low = words[2 * w];
        u32 const high = words[2 * w + 1];
        out[2 * w] =
            (low & 0xff) | (low >> 8 & 0xff00) | (high & 0xff) << 16 | (high >> 16 & 0xff) << 24;
        out[2 * w + 1] =
            (low >> 8 & 0xff) | (low >> 24) << 8 | (high >> 8 & 0xff) << 16 | (high >> 24) << 24;
      }
    }
  }
  // A loop over words, so that it vectorises.
  static i32 sum_of_bytes(u32 word) {
    return (i32(word << 24) >> 24) + (i32(word << 16) >> 24) + (i32(word << 8) >> 24) +
           (i32(word) >> 24);
  }
};

/// Whether a product of blocks can be taken in integers. Four pairs of bytes must fit 16 bits.
template <class A, class B>
inline constexpr bool is_int8_product = false;
template <class A, class B>
  requires(A::is_quantized&& B::is_quantized)
inline constexpr bool is_int8_product<A, B> =
    has_panel_codes<B> && A::is_scaled_code && common_block<A, B> % word_codes == 0 &&
    common_block<A, B> <= deepest && integers_of<typename A::element>.fits &&
    integers_of<typename B::element>.fits &&
    integers_of<typename A::element>.largest * integers_of<typename B::element>.largest * 16 <=
        32767;

/// Whether A is BF16 and every element x scale of B is exact in BF16.
template <class A, class B>
inline constexpr bool is_bf16_product = false;
template <class A, class B>
  requires(!A::is_quantized && has_panel_codes<B>)
inline constexpr bool is_bf16_product<A, B> =
    is_same_v<typename A::value, bf16> && integers_of<typename B::element>.fits &&
    significand_bits<typename B::scale_format> +
            bit_width(u32(integers_of<typename B::element>.largest)) <=
        8;

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
