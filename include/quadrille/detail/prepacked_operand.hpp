// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Prepacked weights as an operand of gemm. Host only.

#include <quadrille/detail/operand.hpp>
#include <quadrille/prepacked.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

/// Prepacked weights: the same numbers, found where the kernels want them.
template <recipe R>
class prepacked_operand {
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

  explicit prepacked_operand(prepacked<R> const& q) : q_(&q) {}
  i64 rows() const { return q_->rows(); }
  i64 cols() const { return q_->cols(); }
  void check() const {}
  sign_vector signs() const { return rotation::signs(q_->rotation_seed()); }
  float row_factor(i64 row) const {
    if constexpr (scale::scope == outer_scope::none)
      return scale::template outer<element>(0).decode;
    else
      return q_->outer()[std::size_t(has_row_factors ? row : 0)];
  }

  template <int Step>
  void load(i64 row, i64 k, int n, float* values, float* scales) const {
    for (int i = 0; i < n; ++i) values[i] = element::decode(q_->code(row, k + i));
    load_scales<R, Step>(
        row, k, n, [&](i64 block) { return q_->scale(row, block); }, values, scales);
  }

  template <class Kernel>
  u32 const* panel_words(i64 panel, i64 first, int n, u32*) const {
    i64 const ahead = panel + Kernel::max_panels;
    for (int i = 0; i < n; ++i) prefetch(q_->words(ahead, first + i));
    i64 const block = first * word_codes / block_cols;
    auto const* const scales = reinterpret_cast<u8 const*>(q_->scales(ahead, block));
    for (int i = 0; i < n * word_codes / block_cols * panel_rows * int(sizeof(*q_->scales(0, 0)));
         i += 64)
      prefetch(scales + i);
    return q_->words(panel, first);
  }
  void panel_scales(i64 panel, i64 k, int step, int n, u32* out) const {
    wide_scale<scale> stored[panel_rows * most_panel_scales];
    i64 const left = ceil_div(max(i64(0), q_->cols() - k), i64(step));
    int const exist = int(min(i64(n), left));
    for (int j = 0; j < exist; ++j)
      for (int r = 0; r < panel_rows; ++r)
        stored[j * panel_rows + r] = q_->scales(panel, (k + j * step) / block_cols)[r];
    decode_scales<scale>(stored, exist * panel_rows, out);
    // A stored 0 need not decode to 0.
    i64 const rows = min(i64(panel_rows), q_->rows() - panel * panel_rows);
    for (int j = 0; j < n; ++j)
      for (i64 r = j < exist ? rows : 0; r < panel_rows; ++r) out[j * panel_rows + r] = 0;
  }
  template <class Kernel>
  u8 const* panel_scale_bytes(i64 panel, i64 k, int n, u8*) const {
    i64 const first = k / block_cols;
    return first + n <= q_->scale_cols() ? q_->scales(panel, first) : nullptr;
  }

 private:
  prepacked<R> const* q_;
};

template <class Operand>
inline constexpr bool is_prepacked = false;
template <recipe R>
inline constexpr bool is_prepacked<prepacked_operand<R>> = true;

template <class R>
prepacked_operand<checked_recipe<R>> as_operand(prepacked<R> const& q) {
  return prepacked_operand<checked_recipe<R>>(q);
}

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
