// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// GEMM operands on the GPU, and which tensor-core types hold them without rounding.
///
/// An operand's elements are element x block scale: what multiplies whole rows, the outer scale, is left to
/// the epilogue. Whether that product fits a type is counted here in significand bits, at compile time.

#include <cuda_fp8.h>

#include <quadrille/cuda/dequantized.cuh>
#include <quadrille/cuda/device_quantized.cuh>
#include <quadrille/cuda/gemm/prepacked.cuh>
#include <quadrille/detail/operand.hpp>

namespace quadrille {
#pragma GCC visibility push(hidden)  // see stream.cuh
/// Prepacked copy of q: see prepack() of a quantized_ref.
template <class R, class Layout>
device_prepacked<R> prepack(stream_policy where, device_quantized<R, Layout> const& q,
                            i32 count = 1) {
  return prepack(where, q.ref(), count);
}
#pragma GCC visibility pop
}  // namespace quadrille

namespace quadrille::detail {

/// Bits of a number's significand, without trailing zeros.
consteval int significand_width(float x) {
  if (!is_finite(x) || x == 0) return 0;
  u32 significand = (bits_of(x) & 0x7fffff) | ((bits_of(x) >> 23 & 255) != 0 ? 0x800000u : 0u);
  while ((significand & 1) == 0) significand >>= 1;
  int width = 0;
  for (; significand != 0; significand >>= 1) ++width;
  return width;
}
/// The most that a format's values need, each times `factor`.
template <class F>
consteval int widest_significand(float factor = 1) {
  if constexpr (F::bits > 8) {
    return 24;  // FP32
  } else {
    int most = 0;
    for (u32 code = 0; code < (1u << F::bits); ++code)
      most = max(most, significand_width(F::decode(code) * factor));
    return most;
  }
}

/// Significand bits of element x block scale; 32 if they are not known.
template <recipe R>
consteval int operand_bits() {
  using scale = typename R::scale;
  if constexpr (!is_linear<scale>)
    return 32;
  else if constexpr (requires { scale::rule::significands; }) {
    int most = 0;
    for (float const significand : scale::rule::significands)
      most = max(most, widest_significand<typename R::element>(significand));
    return most;
  } else
    return widest_significand<typename R::element>() + widest_significand<stored_format<scale>>() -
           (is_same_v<stored_format<scale>, ue8m0> ? 1 : 0);
}

template <class T>
inline constexpr bool is_e4m3 = is_same_v<T, __nv_fp8_e4m3>;
template <class T>
inline constexpr bool is_e5m2 = is_same_v<T, __nv_fp8_e5m2>;

/// What multiplies whole rows of an operand: a number for all, one in memory, or one a row in memory.
struct row_factor {
  float fixed = 1;
  float const* data = nullptr;
  bool is_row = false;
  __device__ float operator()(i64 row) const {
    return data == nullptr ? fixed : __ldg(data + (is_row ? row : 0));
  }
};

template <recipe R>
row_factor outer_factor(float const* outer) {
  using scale = typename R::scale;
  if constexpr (scale::scope == outer_scope::none)
    return {scale::template outer<typename R::element>(0).decode, nullptr, false};
  else
    return {1, outer, scale::scope == outer_scope::row};
}

/// A quantized matrix as an operand. Constants are the host operand's.
template <recipe R, class Layout>
struct device_operand {
  using recipe = R;
  using host = quantized_operand<R>;
  using rotation = typename R::rotation;
  using element = typename R::element;
  using scale_type = typename R::scale;
  static constexpr bool is_quantized = true;
  static constexpr bool is_prepacked = false;
  static constexpr bool is_folded = false;
  static constexpr bool can_prepack = is_prepackable<R>;
  static constexpr int block_cols = host::block_cols;
  static constexpr bool is_scaled_code = host::is_scaled_code;
  static constexpr double largest = host::largest;
  static constexpr double smallest = host::smallest;

  static constexpr int bits = operand_bits<R>();
  static constexpr bool fits_bf16 = bits <= 8;
  // BF16 has FP32's range; FP16 must hold the largest and the smallest product.
  static constexpr bool fits_fp16 =
      bits <= 11 && R::element::bits <= 4 && is_same_v<stored_format<scale_type>, e4m3>;
  static constexpr bool fits_e4m3 = bits <= 4;
  static constexpr bool fits_e5m2 = bits <= 3;
  static constexpr bool codes_fit_bf16 = is_scaled_code && widest_significand<element>() <= 8;

  quantized_ref<R, u8 const, Layout> q;

  __host__ __device__ i64 rows() const { return q.rows; }
  __host__ __device__ i64 cols() const { return q.cols; }
  void require_valid(device_scope const& device) const {
    check_extents<R>(q.rows, q.cols);
    dequantized_source<R, Layout>(q).require_valid(device);
  }
  sign_vector signs() const { return rotation::signs(q.rotation_seed); }
  row_factor factor() const { return outer_factor<R>(q.outer); }

  /// The host operand's value and scale of element (row, k).
  __device__ float value(i64 row, i64 k) const {
    float const x =
        element::decode(load_code<element>(q.codes + row * row_bytes<element>(q.cols), k));
    if constexpr (is_scaled_code) return x;
    int const inside = int(row % R::block::rows) * block_cols + int(k % block_cols);
    return scale_type::decoder(q.scale(row, k / block_cols), 1)(x, inside);
  }
  __device__ float scale(i64 row, i64 k) const {
    if constexpr (is_scaled_code)
      return scale_type::decoder(q.scale(row, k / block_cols), 1).factor;
    return 1;
  }
};

/// A plain matrix as an operand: every scale is 1.
template <class T>
struct plain_device_operand {
  using rotation = identity;
  using value_type = T;
  static constexpr bool is_quantized = false;
  static constexpr bool is_prepacked = false;
  static constexpr bool is_folded = false;
  static constexpr bool can_prepack = false;
  static constexpr int block_cols = 0;
  static constexpr bool is_scaled_code = false;
  static constexpr double largest = 0;
  static constexpr double smallest = 1;

  static constexpr bool is_fp8 = is_e4m3<T> || is_e5m2<T>;
  static constexpr int bits = is_e4m3<T>   ? 4
                              : is_e5m2<T> ? 3
                              : is_bf16<T> ? 8
                              : is_fp16<T> ? 11
                                           : 24;
  static constexpr bool fits_bf16 = bits <= 8;
  static constexpr bool fits_fp16 = is_fp16<T> || is_fp8;
  static constexpr bool fits_e4m3 = is_e4m3<T>;
  static constexpr bool fits_e5m2 = is_e5m2<T>;
  static constexpr bool codes_fit_bf16 = fits_bf16;

  matrix_ref<T const> x;

  __host__ __device__ i64 rows() const { return x.rows; }
  __host__ __device__ i64 cols() const { return x.cols; }
  void require_valid(device_scope const& device) const {
    check_size(x.rows, x.cols);
    matrix_source<T>(x).require_valid(device);
  }
  sign_vector signs() const { return {}; }
  row_factor factor() const { return {}; }

  __device__ float value(i64 row, i64 k) const { return to_float(x(row, k)); }
  __device__ float scale(i64, i64) const { return 1; }
};

/// Prepacked weights as an operand: element x block scale in BF16 is all that is made of them.
template <recipe R>
struct device_prepacked_operand {
  using recipe = R;
  using host = quantized_operand<R>;
  using rotation = typename R::rotation;
  static constexpr bool is_quantized = true;
  static constexpr bool is_prepacked = true;
  static constexpr bool is_folded = false;
  static constexpr bool can_prepack = true;
  static constexpr int block_cols = host::block_cols;
  static constexpr bool is_scaled_code = host::is_scaled_code;
  static constexpr double largest = host::largest;
  static constexpr double smallest = host::smallest;
  static constexpr int bits = operand_bits<R>();
  static constexpr bool fits_bf16 = true;
  static constexpr bool fits_fp16 = false;
  static constexpr bool fits_e4m3 = false;
  static constexpr bool fits_e5m2 = false;
  static constexpr bool codes_fit_bf16 = false;

  prepacked_ref<R, u8 const> p;

  i64 rows() const { return p.rows * p.count; }
  i64 cols() const { return p.cols; }
  void require_valid(device_scope const& device) const {
    check_size(p.rows, p.cols);
    require(p.size() == 0 || p.data != nullptr,
            "the prepacked weights have no data; pass what prepack() wrote");
    require(R::scale::scope == outer_scope::none || p.size() == 0 || p.outer != nullptr,
            "the prepacked weights have no outer scales; pass those of the quantized matrix");
    require(reinterpret_cast<std::uintptr_t>(p.data) % 128 == 0,
            "prepacked weights are not aligned; their records start at multiples of 128 bytes");
    device.require_reachable(p.data, "the prepacked weights");
    device.require_reachable(p.outer, "the outer scale of the prepacked weights");
  }
  sign_vector signs() const { return rotation::signs(p.rotation_seed); }
  row_factor factor() const { return outer_factor<R>(p.outer); }
};

template <class R, class Byte>
device_prepacked_operand<R> as_device_operand(prepacked_ref<R, Byte> p) {
  return {p};
}
template <class R>
device_prepacked_operand<checked_recipe<R>> as_device_operand(device_prepacked<R> const& p) {
  return {p.ref()};
}
template <class R, class Byte, class Layout>
device_operand<R, Layout> as_device_operand(quantized_ref<R, Byte, Layout> q) {
  return {q};
}
template <class R, class Layout>
device_operand<checked_recipe<R>, Layout> as_device_operand(device_quantized<R, Layout> const& q) {
  return {q.ref()};
}
template <class T>
plain_device_operand<std::remove_const_t<T>> as_device_operand(matrix_ref<T> x) {
  return {x};
}

/// Whether the FP8 path has to fold an operand.
template <class Operand>
inline constexpr bool is_to_fold = Operand::is_quantized && !Operand::is_folded;

/// The narrowest arithmetic that is exact for a pair of operands.
enum class operand_kind {
  fp8,         ///< E4M3 or E5M2 each, exponents folded into one factor a row
  bf16,        ///< element x scale in BF16
  fp16,        ///< element x scale in FP16
  block_sums,  ///< elements in BF16; scales multiply the sums of blocks, in FP32
  fp32,        ///< the host's arithmetic
};
template <class A, class B>
inline constexpr bool fits_fp8 = (A::fits_e4m3 || A::fits_e5m2) && (B::fits_e4m3 || B::fits_e5m2);
template <class A, class B>
inline constexpr operand_kind wide_kind =
    A::fits_bf16&& B::fits_bf16                                           ? operand_kind::bf16
    : A::fits_fp16&& B::fits_fp16                                         ? operand_kind::fp16
    : A::codes_fit_bf16&& B::codes_fit_bf16&& common_block<A, B> % 8 == 0 ? operand_kind::block_sums
                                                                          : operand_kind::fp32;

}  // namespace quadrille::detail
