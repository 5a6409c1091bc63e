// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One face for both kinds of GEMM operand. Host only.
///   load<step>(row, k, n, values, scales)   element values of columns [k, k + n) and one scale for each
///                                           `step` of them
///   check()                                 throws if extents or pointers are wrong
///   signs()                                 of its rotation
///   row_factor(row)                         what multiplies the whole row afterwards

#include <quadrille/quantized.hpp>
#include <quadrille/storage.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

/// The values of all codes of an element format.
template <class E>
struct decode_table {
  float value[1 << E::bits];
  constexpr decode_table() : value{} {
    for (u32 code = 0; code < (1u << E::bits); ++code) value[code] = E::decode(code);
  }
};

/// A quantized matrix. If its scale bends or splits the block, values are decoded and the scale is 1.
template <recipe R>
class quantized_operand {
  using element = typename R::element;
  using scale = typename R::scale;

 public:
  using rotation = typename R::rotation;
  static constexpr int block_cols = R::block::cols;
  static constexpr bool is_scaled_code = is_linear<scale>;
  static constexpr double largest = element::max;
  static constexpr double smallest = element::min_subnormal;

  explicit quantized_operand(quantized_ref<R, u8 const> q) : q_(q) {}
  i64 rows() const { return q_.rows; }
  i64 cols() const { return q_.cols; }
  void check() const {
    check_extents<R>(q_.rows, q_.cols);
    require_data(q_);
  }
  sign_vector signs() const { return rotation::signs(q_.rotation_seed); }
  float row_factor(i64 row) const { return q_.outer_decode(row); }

  template <int Step>
  void load(i64 row, i64 k, int n, float* values, float* scales) const {
    u8 const* const codes = q_.codes + row * row_bytes<element>(q_.cols);
    typename scale::stored const* const stored = q_.scales + row * q_.scale_cols();
    for (int i = 0; i < n; ++i) values[i] = decoded.value[load_code<element>(codes, k + i)];
    for (int j = 0; j * Step < n; ++j) {
      auto const decoder = scale::decoder(stored[(k + j * Step) / block_cols], 1);
      if constexpr (is_scaled_code) {
        scales[j] = decoder.factor;
      } else {
        scales[j] = 1;
        int const first = int(row % R::block::rows) * block_cols;
        for (int i = j * Step; i < min((j + 1) * Step, n); ++i)
          values[i] = decoder(values[i], first + int((k + i) % block_cols));
      }
    }
  }

 private:
  static constexpr decode_table<element> decoded{};
  quantized_ref<R, u8 const> q_;
};

/// A plain matrix: every scale is 1.
template <class T>
class plain_operand {
 public:
  using rotation = identity;
  static constexpr int block_cols = 0;  // none of its own
  static constexpr bool is_scaled_code = false;
  static constexpr double largest = 0;
  static constexpr double smallest = 1;

  explicit plain_operand(matrix_ref<T const> x) : x_(x) {}
  i64 rows() const { return x_.rows; }
  i64 cols() const { return x_.cols; }
  void check() const {
    check_size(x_.rows, x_.cols);
    require_data(x_);
  }
  sign_vector signs() const { return {}; }
  float row_factor(i64) const { return 1; }

  template <int Step>
  void load(i64 row, i64 k, int n, float* values, float* scales) const {
    for (int i = 0; i < n; ++i) values[i] = static_cast<float>(x_(row, k + i));
    for (int j = 0; j * Step < n; ++j) scales[j] = 1;
  }

 private:
  matrix_ref<T const> x_;
};

/// Columns whose products are summed before scales come in: the shorter block of the two.
template <class A, class B>
inline constexpr int common_block = A::block_cols == 0   ? (B::block_cols == 0 ? 32 : B::block_cols)
                                    : B::block_cols == 0 ? A::block_cols
                                                         : min(A::block_cols, B::block_cols);

/// True if every partial sum of `Step` products of element values is exact in FP32; otherwise the dot
/// is summed in double and rounded once.
template <class A, class B, int Step>
inline constexpr bool exact_float_dot =
    A::is_scaled_code&& B::is_scaled_code&& A::largest* B::largest* Step <=
    A::smallest* B::smallest*(1 << 24);

template <class R>
quantized_operand<checked_recipe<R>> as_operand(quantized<R> const& q) {
  return quantized_operand<checked_recipe<R>>(q.ref());
}
template <class R, class Byte>
quantized_operand<R> as_operand(quantized_ref<R, Byte> q) {
  return quantized_operand<R>(q);
}
template <class T>
plain_operand<std::remove_const_t<T>> as_operand(matrix_ref<T> x) {
  return plain_operand<std::remove_const_t<T>>(x);
}

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
