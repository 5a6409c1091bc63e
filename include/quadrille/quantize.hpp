// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// quantize, amax and clip_mask on the host, multi-threaded, for any recipe.

#include <atomic>
#include <optional>
#include <type_traits>
#include <vector>

#include <quadrille/codec.hpp>
#include <quadrille/dequantize.hpp>
#include <quadrille/detail/check.hpp>
#include <quadrille/detail/correct_tile.hpp>
#include <quadrille/detail/encode_tile.hpp>
#include <quadrille/detail/parallel.hpp>
#include <quadrille/detail/strips.hpp>
#include <quadrille/detail/tile.hpp>
#include <quadrille/quantized.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// Settings of one quantization; all have defaults.
struct quantize_options {
  /// Random bits of stochastic rounding and of MS-EDEN: a pure function of (seed, stream, row, column).
  /// Two quantizations of one tensor that must not share bits take two streams.
  u64 seed = 0;
  u32 stream = 0;
  /// Row of the whole tensor that x's row 0 is, when it is quantized in pieces.
  i64 first_row = 0;
  /// amax for the outer scale, where it is known (delayed, reduced over ranks, calibrated); larger
  /// elements saturate. With a scale a row, use row_amax: one a row. A recipe without an outer scale of
  /// that scope does not read it.
  std::optional<float> amax = std::nullopt;
  float const* row_amax = nullptr;
};

namespace detail {
inline float checked_amax(float amax) {
  require(amax == 0 || bits_of(amax) <= infinity_bits,
          "the given amax is negative or NaN; it is the largest magnitude, pass max |x|");
  return amax;
}

// f(first, count) on every tile of a rows x cols matrix, in parallel; make() builds each task's f.
template <recipe R, class Make>
void for_each_tile(host_policy where, i64 rows, i64 cols, Make const& make) {
  using tiles = tiling<R>;
  constexpr i64 grain = ceil_div(elements_a_task, i64(tiles::elements)) * tiles::units;
  parallel_for(where.threads, tiles::count(rows, cols), grain, [&](i64 begin, i64 end) {
    auto work = make();
    for (i64 first = begin; first < end; first += tiles::units)
      work(first, int(min(i64(tiles::units), end - first)));
  });
}

// What one task needs to find the amax of tiles; the results meet in `bits`. The bits of non-negative
// floats are ordered as the floats are.
template <recipe R, class T>
struct amax_task {
  tile_loader<R, T> loader;
  std::atomic<u32>& bits;

  void operator()(i64 first, int count) {
    u32 const mine = bits_of(finite_amax(loader.load(first, count), tiling<R>::elements));
    u32 seen = bits.load(std::memory_order_relaxed);
    while (seen < mine && !bits.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) {
    }
  }
};

template <recipe R, class T>
float rotated_amax(host_policy where, matrix_ref<T const> x, u64 rotation_seed) {
  std::atomic<u32> bits{0};
  auto const make = [&](matrix_ref<T const> part) {
    return amax_task<R, T>{tile_loader<R, T>(part, rotation_seed), bits};
  };
  if (is_turned(x))
    for_each_strip<R>(where, x, [&](matrix_ref<T const> strip, i64) {
      for_each_tile<R>({1}, strip.rows, strip.cols, [&] { return make(strip); });
    });
  else
    for_each_tile<R>(where, x.rows, x.cols, [&] { return make(x); });
  return as_float(bits.load());
}

// One of each row.
template <recipe R, class T>
std::vector<float> row_amaxes(host_policy where, matrix_ref<T const> x, u64 rotation_seed) {
  std::vector<float> amax(std::size_t(x.rows));
  parallel_for(where.threads, x.rows, rows_a_task(x.cols), [&](i64 first, i64 last) {
    for (i64 r = first; r < last; ++r) {
      matrix_ref<T const> const row(x.data + r * x.row_stride, 1, x.cols, x.row_stride,
                                    x.col_stride);
      amax[std::size_t(r)] = rotated_amax<R>({1}, row, rotation_seed);
    }
  });
  return amax;
}

// The outer scales of a quantization: computed, and their decode factors stored in q.
template <recipe R, class T>
std::vector<outer_scale> outer_scales(host_policy where, matrix_ref<T const> x, quantized_ref<R> q,
                                      quantize_options const& options) {
  using element = typename R::element;
  default_fp_environment const environment;
  std::vector<outer_scale> outer;
  if constexpr (R::scale::scope == outer_scope::row) {
    std::vector<float> found;
    if (options.row_amax == nullptr) found = row_amaxes<R>(where, x, q.rotation_seed);
    for (i64 r = 0; r < x.rows; ++r)
      outer.push_back(R::scale::template outer<element>(
          options.row_amax != nullptr ? checked_amax(options.row_amax[r]) : found[std::size_t(r)]));
  } else {
    float amax = 0;
    if constexpr (R::scale::scope == outer_scope::tensor)
      amax =
          options.amax ? checked_amax(*options.amax) : rotated_amax<R>(where, x, q.rotation_seed);
    outer.push_back(R::scale::template outer<element>(amax));
  }
  if (R::scale::scope != outer_scope::none && q.outer != nullptr)
    for (std::size_t i = 0; i < outer.size(); ++i) q.outer[i] = outer[i].decode;
  return outer;
}

// Quantizes tiles: load, encode, correct, write.
template <recipe R, class T>
class quantize_task {
  using tiles = tiling<R>;
  using codec = block_codec<R>;
  using scale = typename R::scale;

 public:
  quantize_task(matrix_ref<T const> x, quantized_ref<R> q, outer_scale const* outer,
                quantize_options const& options)
      : loader_(x, q.rotation_seed),
        random_(q.cols, options.first_row, {options.seed, options.stream}),
        writer_(q),
        outer_(outer),
        options_(options),
        units_a_row_(tiles::units_a_row(q.cols)) {}

  void operator()(i64 first, int count) {
    float const* const x = loader_.load(first, count);
    typename codec::random_word const* random = nullptr;
    if constexpr (codec::is_random) random = random_.draw(first, count);
    if constexpr (has_code_kernel<R>)
      if (write_by_kernel(first, count, x, random)) return;
    codec::template encode<tiles::blocks>(x, outer_of(first, count), random, scales_, codes_,
                                          grid_);
    if constexpr (codec::is_corrected) {
      tile_correction<R> correction(first, count, units_a_row_, options_.first_row,
                                    {options_.seed, options_.stream});
      correction.correct(grid_, codes_, scales_);
    }
    writer_.write(first, count, codes_, scales_);
  }

 private:
  bool write_by_kernel(i64 first, int count, float const* x,
                       typename codec::random_word const* random) {
    u8* const bytes = writer_.whole_codes(first, count);
    bool done = false;
    if (bytes != nullptr)
      code_kernels::with_best([&]<class Kernel>() {
        done = encode_tile<Kernel, R>(x, outer_of(first, count), random,
                                      writer_.whole_scales(first), bytes);
      });
    return done;
  }

  // One outer scale for all, or with a scale a row those of the tile's blocks.
  outer_scale const* outer_of(i64 first, int count) {
    if constexpr (codec::is_row_scaled) {
      for (int b = 0; b < count * tiles::unit_blocks; ++b)
        rows_outer_[b] = outer_[(first + b / tiles::unit_blocks) / units_a_row_];
      return rows_outer_;
    }
    return outer_;
  }

  tile_loader<R, T> loader_;
  tile_random<R> random_;
  tile_writer<R> writer_;
  outer_scale const* outer_;
  quantize_options options_;
  i64 units_a_row_;
  typename scale::stored scales_[tiles::blocks];
  alignas(64) u32 codes_[tiles::elements];
  alignas(64) float grid_[codec::is_corrected ? tiles::elements : 1];
  outer_scale rows_outer_[codec::is_row_scaled ? tiles::blocks : 1];
};

// Quantizes rows of q from `first_row` on, from a copy that is contiguous along K.
template <recipe R, class T>
void quantize_strip(matrix_ref<T const> strip, i64 first_row, quantized_ref<R> q,
                    outer_scale const* outer, quantize_options options) {
  options.first_row += first_row;
  if constexpr (block_codec<R>::is_row_scaled) outer += first_row;
  quantized_ref<R> const rows(q.codes + first_row * row_bytes<typename R::element>(q.cols),
                              q.scales + first_row * q.scale_cols(), q.outer, strip.rows, q.cols,
                              q.rotation_seed);
  for_each_tile<R>({1}, strip.rows, strip.cols,
                   [&] { return quantize_task<R, T>(strip, rows, outer, options); });
}
}  // namespace detail

/// The largest finite magnitude of x in the basis that recipe R quantizes in: what a tensor's outer
/// scale is made from. Reduce it over ranks and pass it as quantize_options::amax.
template <class R, class T>
float amax(host_policy where, matrix_ref<T> x, u64 rotation_seed = 0) {
  detail::check_extents<detail::checked_recipe<R>>(x.rows, x.cols);
  detail::require_data(x);
  return detail::rotated_amax<detail::checked_recipe<R>, std::remove_const_t<T>>(where, x,
                                                                                 rotation_seed);
}

/// Quantizes x (rows x cols, any strides; float, fp16, bf16 or CUDA's types) into q.
/// A block that holds a NaN or an infinity gets the scale format's NaN and codes 0; under a rotation,
/// every block of its rotation group. Other groups and the tensor's amax do not notice. Same bytes for
/// any thread count.
/// Throws quadrille::error, before anything is written, if the shapes differ or a pointer is missing.
template <class R, class T>
void quantize(host_policy where, matrix_ref<T> x, quantized_ref<R> q,
              quantize_options const& options = {}) {
  using value = std::remove_const_t<T>;
  detail::check_same_shape<R>(x, q);
  auto const outer = detail::outer_scales<R, value>(where, x, q, options);
  matrix_ref<value const> const source = x;
  if (detail::is_turned(source))
    detail::for_each_strip<R>(where, source, [&](matrix_ref<value const> strip, i64 first_row) {
      detail::quantize_strip<R>(strip, first_row, q, outer.data(), options);
    });
  else
    detail::for_each_tile<R>(where, x.rows, x.cols, [&] {
      return detail::quantize_task<R, value>(source, q, outer.data(), options);
    });
}

template <class R, class T>
void quantize(host_policy where, matrix_ref<T> x, quantized<R>& q,
              quantize_options const& options = {}) {
  quantize(where, x, q.ref(), options);
}

/// A new quantized matrix of recipe R: quantize<nvfp4>(host, x).
template <class R, class T>
quantized<R> quantize(host_policy where, matrix_ref<T> x, quantize_options const& options = {},
                      u64 rotation_seed = 0) {
  quantized<R> q(x.rows, x.cols, rotation_seed);
  quantize(where, x, q.ref(), options);
  return q;
}

namespace detail {
// A row of x as floats, rotated as recipe R does.
template <recipe R, class T>
void rotate_row(matrix_ref<T> x, i64 row, sign_vector const& signs, float* out) {
  for (i64 col = 0; col < x.cols; ++col) out[col] = static_cast<float>(x(row, col));
  for (i64 col = 0; col < x.cols; col += R::rotation::size) R::rotation::apply(out + col, signs);
}
}  // namespace detail

namespace detail {
// Sets the bits of a unit's unclipped elements, the unit starting at column `col`, in its mask row.
template <recipe R>
void mask_unit(float const* unit, outer_scale const& outer, i64 col, i64 cols, u8* mask_row) {
  using element = typename R::element;
  using tiles = tiling<R>;
  for (int b = 0; b < tiles::unit_blocks; ++b) {
    float const* const block = unit + b * tiles::block_size;
    float amax;
    block_amax<1, tiles::block_size>(block, &amax);
    auto const chosen = R::scale::template choose<element>({block, tiles::block_size, amax}, outer);
    for (int i = 0; i < tiles::block_size; ++i, ++col)
      if (col < cols && magnitude(chosen.to_grid(block[i], i)) < element::max)
        mask_row[col / 8] |= u8(1 << col % 8);
  }
}
}  // namespace detail

/// One bit an element, row by row, ceil(cols / 8) bytes a row, lowest bit first: 1 where the element's
/// grid coordinate was inside (-max, max), that is, where it was not clipped. Quartet multiplies
/// gradients by it, in the rotated basis. q and the options must be those that x was quantized with.
template <class R, class T>
void clip_mask(host_policy where, matrix_ref<T> x, quantized<R> const& q, std::vector<u8>& mask,
               quantize_options const& options = {}) {
  using value = std::remove_const_t<T>;
  using tiles = detail::tiling<R>;
  static_assert(tiles::block_rows == 1,
                "quadrille: clip_mask is defined for blocks of one row; write shape<1, N>");
  detail::check_same_shape<R>(x, q.ref());
  quantized_ref<R> const no_storage(nullptr, nullptr, nullptr, x.rows, x.cols, q.rotation_seed());
  auto const outer = detail::outer_scales<R, value>(where, x, no_storage, options);
  i64 const mask_bytes = detail::ceil_div(x.cols, i64(8));
  mask.assign(std::size_t(x.rows * mask_bytes), 0);
  i64 const units = tiles::units_a_row(x.cols);
  detail::parallel_for(
      where.threads, x.rows, detail::rows_a_task(x.cols), [&](i64 first, i64 last) {
        detail::tile_loader<R, value> loader(x, q.rotation_seed());
        for (i64 row = first; row < last; ++row)
          for (i64 unit = 0; unit < units; ++unit)
            detail::mask_unit<R>(loader.load(row * units + unit, 1),
                                 outer[R::scale::scope == outer_scope::row ? std::size_t(row) : 0],
                                 unit * tiles::unit, x.cols, mask.data() + row * mask_bytes);
      });
}

}  // namespace quadrille
QUADRILLE_EXACT_END
