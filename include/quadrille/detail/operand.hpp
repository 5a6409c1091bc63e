// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One face for both kinds of GEMM operand. Host only.
///   load<step>(row, k, n, values, scales)   element values of columns [k, k + n) and one scale for each
///                                           `step` of them
///   check()                                 throws if extents or pointers are wrong
///   signs()                                 of its rotation
///   row_factor(row)                         what multiplies the whole row afterwards
/// and of a quantized one, for the vector kernels:
///   panel_words<Kernel>(panel, first, n, scratch)   n words of 8 codes of each row of a panel, interleaved;
///                                           zeros beyond the matrix. In `scratch`, or where they are.
///   block_scales(row, k, step, n, out)      n block scales, at columns k, k + step, .., as the bits of floats;
///                                           0 beyond the matrix
///   panel_scales(panel, k, step, n, out)    the same for each row of a panel: [block][row]
///   panel_scale_bytes<Kernel>(panel, k, n, scratch)   n blocks' scales of a byte as they are stored, in `scratch`
///                                           or where they are; null if not all are there

#include <cstring>

#include <quadrille/detail/integer_element.hpp>
#include <quadrille/detail/panel.hpp>
#include <quadrille/quantized.hpp>
#include <quadrille/storage.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

// The format of a hierarchy's block scales, where it names one.
template <class S>
struct format_of {
  using type = fp32;
};
template <class S>
  requires requires { typename S::format; }
struct format_of<S> {
  using type = typename S::format;
};
template <class S>
using stored_format = typename format_of<S>::type;

/// True if a block's scale is a byte that decodes to E4M3's value, or to UE8M0's: the vector kernels know these.
template <class Scale>
constexpr bool has_scale_bytes() {
  using format = stored_format<Scale>;
  if constexpr (!is_linear<Scale> || !(is_same_v<format, e4m3> || is_same_v<format, ue8m0>)) {
    return false;
  } else {
    for (u32 code = 0; code < 256; ++code) {
      float const value = format::decode(code);
      // To clang a product with NaN is no constant.
      if (!is_nan(value) && bits_of(Scale::decoder(u8(code), 1).factor) != bits_of(value))
        return false;
    }
    return true;
  }
}

/// Fetches a line into the second-level cache; any address may be named.
QUADRILLE_LEAF void prefetch(void const* line) { __builtin_prefetch(line, 0, 2); }

/// Block scales of a panel's row that are decoded at once.
inline constexpr int most_panel_scales = 32;

/// Bytes are decoded as words: a loop over bytes and floats together gets the short vectors of bytes.
template <class Scale>
using wide_scale = select_t<sizeof(typename Scale::stored) == 1, u32, typename Scale::stored>;

/// Scales as the bits of floats. A minifloat's fields, moved to where a float has them, are its value
/// times a power of two, subnormal or not: the callers keep subnormals (default_fp_environment).
template <class Scale, class Word>
void decode_scales(Word const* stored, int n, u32* out) {
  using format = stored_format<Scale>;
  using narrow = typename Scale::stored;
  if constexpr (has_scale_bytes<Scale>() && is_same_v<format, e4m3>) {
    using ordinary = ordinary_scales<format>;
    constexpr int sign = format::exponent_bits + format::mantissa_bits;
    for (int i = 0; i < n; ++i) {
      u32 const magnitude = stored[i] & ((1u << sign) - 1);
      float const value = mul(as_float(magnitude << ordinary::shift), ordinary::unit);
      u32 const bits = magnitude > format::max_code ? bits_of(quiet_nan()) : bits_of(value);
      out[i] = bits | stored[i] >> sign << 31;
    }
  } else {
    for (int i = 0; i < n; ++i) out[i] = bits_of(Scale::decoder(narrow(stored[i]), 1).factor);
  }
}

/// The scales of columns [k, k + n) of a row, one for each `Step` of them, of which stored(block) is what is
/// kept. If a scale bends or splits the block, the values are decoded in place and the scale is 1.
template <recipe R, int Step, class Stored>
void load_scales(i64 row, i64 k, int n, Stored const& stored, float* values, float* scales) {
  constexpr int block_cols = R::block::cols;
  for (int j = 0; j * Step < n; ++j) {
    auto const decoder = R::scale::decoder(stored((k + j * Step) / block_cols), 1);
    if constexpr (is_linear<typename R::scale>) {
      scales[j] = decoder.factor;
    } else {
      scales[j] = 1;
      int const first = int(row % R::block::rows) * block_cols;
      for (int i = j * Step; i < min((j + 1) * Step, n); ++i)
        values[i] = decoder(values[i], first + int((k + i) % block_cols));
    }
  }
}

/// A quantized matrix. If its scale bends or splits the block, values are decoded and the scale is 1.
template <recipe R>
class quantized_operand {
  using scale = typename R::scale;

 public:
  using element = typename R::element;
  using rotation = typename R::rotation;
  using scale_format = stored_format<scale>;
  static constexpr bool is_quantized = true;
  static constexpr int block_cols = R::block::cols;
  static constexpr bool is_scaled_code = is_linear<scale>;
  static constexpr bool has_scale_bytes = detail::has_scale_bytes<scale>();
  static constexpr bool has_row_factors = scale::scope == outer_scope::row;
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
    load_scales<R, Step>(
        row, k, n, [&](i64 block) { return stored[block]; }, values, scales);
  }

  template <class Kernel>
  u32 const* panel_words(i64 panel, i64 first, int n, u32* scratch) const {
    i64 const row = panel * panel_rows;
    i64 const bytes = row_bytes<element>(q_.cols);
    int whole = 0;
    if (row + panel_rows <= q_.rows && first * 4 < bytes)
      whole = int(min(i64(n), bytes / 4 - first)) / 16 * 16;
    // 16 rows are too many streams for the processor to foresee, but a panel is one piece of memory: its
    // share of a later panel is fetched in a line.
    if (whole != 0)
      for (int i = 0; i < whole; ++i)
        prefetch(q_.codes + (row + Kernel::max_panels * panel_rows) * bytes +
                 (first * panel_rows * 4 + i * 64));
    for (int i = 0; i < whole; i += 16)
      Kernel::interleave(q_.codes + row * bytes + (first + i) * 4, bytes, scratch + i * panel_rows);
    for (int r = 0; r < panel_rows; ++r)
      for (int i = whole; i < n; ++i) scratch[i * panel_rows + r] = word(row + r, first + i);
    return scratch;
  }
  void block_scales(i64 row, i64 k, int step, int n, u32* out) const {
    wide_scale<scale> stored[most_panel_scales];
    i64 const left = row < q_.rows ? ceil_div(max(i64(0), q_.cols - k), i64(step)) : 0;
    int const exist = int(min(i64(n), left));
    auto const* const from = q_.scales + row * q_.scale_cols();
    for (int j = 0; j < exist; ++j) stored[j] = from[(k + j * step) / block_cols];
    decode_scales<scale>(stored, exist, out);
    for (int j = exist; j < n; ++j) out[j] = 0;
  }
  void panel_scales(i64 panel, i64 k, int step, int n, u32* out) const {
    wide_scale<scale> stored[panel_rows * most_panel_scales];
    i64 const rows = min(i64(panel_rows), q_.rows - panel * panel_rows);
    i64 const left = ceil_div(max(i64(0), q_.cols - k), i64(step));
    int const exist = int(min(i64(n), left));
    if (rows < panel_rows)
      for (auto& word : stored) word = 0;
    for (int r = 0; r < rows; ++r) {
      auto const* const from = q_.scales + (panel * panel_rows + r) * q_.scale_cols();
      for (int j = 0; j < exist; ++j)
        stored[j * panel_rows + r] = from[(k + j * step) / block_cols];
    }
    decode_scales<scale>(stored, exist * panel_rows, out);
    // A stored 0 need not decode to 0.
    for (int j = 0; j < n; ++j)
      for (i64 r = j < exist ? rows : 0; r < panel_rows; ++r) out[j * panel_rows + r] = 0;
  }
  template <class Kernel>
  u8 const* panel_scale_bytes(i64 panel, i64 k, int n, u8* scratch) const {
    i64 const first = k / block_cols;
    if (n % 8 != 0 || (panel + 1) * panel_rows > q_.rows || first + n > q_.scale_cols())
      return nullptr;
    Kernel::interleave_scales(q_.scales + panel * panel_rows * q_.scale_cols() + first,
                              q_.scale_cols(), n, scratch);
    return scratch;
  }
  u8 const* codes_of(i64 row) const { return q_.codes + row * row_bytes<element>(q_.cols); }

 private:
  // 8 codes of a row, zeros beyond the matrix.
  u32 word(i64 row, i64 at) const {
    i64 const bytes = row_bytes<element>(q_.cols);
    i64 const left = row < q_.rows ? bytes - at * 4 : 0;
    u32 result = 0;
    if (left > 0)
      std::memcpy(&result, q_.codes + row * bytes + at * 4, std::size_t(min(left, i64(4))));
    return result;
  }

  static constexpr decode_table<element> decoded{};
  quantized_ref<R, u8 const> q_;
};

/// A plain matrix: every scale is 1.
template <class T>
class plain_operand {
 public:
  using rotation = identity;
  using value = T;
  static constexpr bool is_quantized = false;
  static constexpr int block_cols = 0;  // none of its own
  static constexpr bool is_scaled_code = false;
  static constexpr bool has_row_factors = false;
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
    copy(row, k, n, values);
    for (int j = 0; j * Step < n; ++j) scales[j] = 1;
  }

  /// n values of a row, as they are or as another type.
  template <class To>
  void copy(i64 row, i64 k, int n, To* values) const {
    T const* const from = x_.data + row * x_.row_stride + k * x_.col_stride;
    if (x_.col_stride == 1)
      for (int i = 0; i < n; ++i) values[i] = static_cast<To>(from[i]);
    else
      for (int i = 0; i < n; ++i) values[i] = static_cast<To>(from[i * x_.col_stride]);
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
