// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Between matrices and the codec: tiles of blocks in, bytes out. Host only.
///
/// A unit is what must be together: block::rows x unit_cols<R> elements. Units are numbered row by row;
/// a tile is a run of units, long enough for vector code and small enough for the first-level cache.

#include <bit>
#include <cstring>

#include <quadrille/codec.hpp>
#include <quadrille/detail/cpu.hpp>
#include <quadrille/detail/rotate_groups.hpp>
#include <quadrille/random.hpp>
#include <quadrille/storage.hpp>

static_assert(std::endian::native == std::endian::little,
              "quadrille: the host path packs codes for little-endian machines only");

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

template <recipe R>
struct tiling {
  static constexpr int block_rows = R::block::rows;
  static constexpr int block_cols = R::block::cols;
  static constexpr int block_size = block_rows * block_cols;
  static constexpr int unit = unit_cols<R>;
  static constexpr int unit_blocks = unit / block_cols;
  static constexpr int unit_size = unit * block_rows;
  static constexpr int units = max(1, 1024 / unit_size);
  static constexpr int blocks = units * unit_blocks;
  static constexpr int elements = units * unit_size;
  static constexpr int code_bytes = R::element::bits <= 4 ? block_cols / 2 : block_cols;

  static i64 units_a_row(i64 cols) { return ceil_div(cols, i64(unit)); }
  static i64 count(i64 rows, i64 cols) {
    return ceil_div(rows, i64(block_rows)) * units_a_row(cols);
  }
};

/// Reads units of a matrix as rotated floats, block after block.
template <recipe R, class T>
class tile_loader {
  using tiles = tiling<R>;

 public:
  tile_loader(matrix_ref<T const> x, u64 rotation_seed)
      : x_(x),
        units_a_row_(tiles::units_a_row(x.cols)),
        signs_(R::rotation::signs(rotation_seed)),
        is_dense_(tiles::block_rows == 1 && x.col_stride == 1 && x.row_stride == x.cols &&
                  x.cols % tiles::unit == 0) {}

  /// Units [first, first + count), completed with zeros to a whole tile. Valid until the next call.
  float const* load(i64 first, int count) {
    if (is_dense_ && count == tiles::units) return load_dense(x_.data + first * tiles::unit);
    for (int k = 0; k < count; ++k) load_unit(first + k, buffer_ + k * tiles::unit_size);
    for (int i = count * tiles::unit_size; i < tiles::elements; ++i) buffer_[i] = 0;
    return buffer_;
  }

 private:
  using rotation = group_rotation<typename R::rotation>;

  // A whole tile that is contiguous in memory: where it is, if it can stay as it is. Processors read ahead
  // within a page only, so a line of a page far ahead is asked for: that page's address is known in time.
  float const* load_dense(T const* from) {
    __builtin_prefetch(from + 16 * tiles::elements);
    if constexpr (is_same_v<T, float> && R::rotation::size == 1) {
      return from;
    } else {
      rotation::load(from, buffer_, tiles::elements, signs_);
      return buffer_;
    }
  }

  void load_unit(i64 index, float* out) {
    i64 const row = index / units_a_row_ * tiles::block_rows;
    i64 const col = index % units_a_row_ * tiles::unit;
    if constexpr (tiles::block_rows > 1 && R::rotation::size == 1)
      if (row + tiles::block_rows <= x_.rows && col + tiles::unit <= x_.cols && x_.col_stride == 1)
        return copy_unit(x_.data + row * x_.row_stride + col, out);
    for (int r = 0; r < tiles::block_rows; ++r) {
      if constexpr (tiles::block_rows == 1) {
        load_row(row, col, out);
      } else {
        float values[tiles::unit];
        load_row(row + r, col, values);
        for (int b = 0; b < tiles::unit_blocks; ++b)
          for (int i = 0; i < tiles::block_cols; ++i)
            out[b * tiles::block_size + r * tiles::block_cols + i] =
                values[b * tiles::block_cols + i];
      }
    }
  }

  // A unit that is whole and has contiguous rows.
  void copy_unit(T const* __restrict from, float* __restrict out) const {
    for (int r = 0; r < tiles::block_rows; ++r)
      for (int b = 0; b < tiles::unit_blocks; ++b)
        for (int i = 0; i < tiles::block_cols; ++i)
          out[b * tiles::block_size + r * tiles::block_cols + i] =
              static_cast<float>(from[r * x_.row_stride + b * tiles::block_cols + i]);
  }

  void load_row(i64 row, i64 col, float* out) {
    i64 const valid = row < x_.rows ? min(i64(tiles::unit), x_.cols - col) : 0;
    T const* const from = x_.data + row * x_.row_stride + col * x_.col_stride;
    if (valid == tiles::unit && x_.col_stride == 1)
      for (int i = 0; i < tiles::unit; ++i) out[i] = static_cast<float>(from[i]);
    else
      for (int i = 0; i < tiles::unit; ++i)
        out[i] = i < valid ? static_cast<float>(from[i * x_.col_stride]) : 0.f;
    rotation::apply(out, tiles::unit, signs_);
  }

  matrix_ref<T const> x_;
  i64 units_a_row_;
  sign_vector signs_;
  bool is_dense_;
  alignas(64) float buffer_[tiles::elements];
};

/// Largest finite magnitude of n values.
inline float finite_amax(float const* x, int n) {
  constexpr int width = 64;
  i32 lanes[width] = {};
  auto const enter = [&](int lane, float value) {
    i32 const bits = i32(magnitude_bits(value));
    lanes[lane] = max(lanes[lane], bits < i32(infinity_bits) ? bits : 0);
  };
  int const whole = n / width * width;
  for (int i = 0; i < whole; i += width)
    for (int k = 0; k < width; ++k) enter(k, x[i + k]);
  for (int i = whole; i < n; ++i) enter(0, x[i]);
  i32 result = 0;
  for (i32 const lane : lanes) result = max(result, lane);
  return as_float(u32(result));
}

/// Draws the random words of the elements of a tile.
template <recipe R>
class tile_random {
  using tiles = tiling<R>;
  using word = typename block_codec<R>::random_word;
  static constexpr int bits = R::rounding::random_bits;
  static constexpr int group = random_group<bits>;

 public:
  tile_random(i64 cols, i64 first_row, random_key key)
      : units_a_row_(tiles::units_a_row(cols)), first_row_(first_row), key_(key) {}

  word const* draw(i64 first, int count) {
    if constexpr (has_kernel)
      if (draw_by_kernel(first)) return words_;
    i64 const col_end = units_a_row_ * tiles::unit;
    i64 row = first_row_ + first / units_a_row_ * tiles::block_rows;
    i64 col = first % units_a_row_ * tiles::unit;
    for (int b = 0; b < count * tiles::unit_blocks; ++b) {
      for (int r = 0; r < tiles::block_rows; ++r) {
        rows_[b * tiles::block_rows + r] = row + r;
        cols_[b * tiles::block_rows + r] = col;
      }
      col += tiles::block_cols;
      if (col == col_end) {
        col = 0;
        row += tiles::block_rows;
      }
    }
    if constexpr (tiles::block_cols % group == 0)
      draw_groups();
    else
      draw_elements(count * tiles::unit_size);
    return words_;
  }

 private:
  static constexpr int groups_a_tile = tiles::elements / group;
  static constexpr bool has_kernel = !code_kernels::is_empty && tiles::block_rows == 1 &&
                                     tiles::unit % group == 0 && groups_a_tile % 16 == 0;

  // All groups of a tile at once, in runs of a row.
  bool draw_by_kernel(i64 first) {
    u32 groups[groups_a_tile];
    u32 rows[groups_a_tile];
    u32 rows_high[groups_a_tile];
    i64 const groups_a_row = units_a_row_ * (tiles::unit / group);
    i64 row = first_row_ + first / units_a_row_;
    i64 at = first % units_a_row_ * (tiles::unit / group);
    for (int i = 0; i < groups_a_tile; ++row, at = 0) {
      int const run = int(min(i64(groups_a_tile - i), groups_a_row - at));
      for (int k = 0; k < run; ++k) {
        groups[i + k] = u32(at) + u32(k);
        rows[i + k] = u32(row);
        rows_high[i + k] = u32(u64(row) >> 32);
      }
      i += run;
    }
    return code_kernels::with_best([&]<class Kernel>() {
      u32 words[4 * groups_a_tile];
      Kernel::philox(groups, rows, rows_high, key_.stream, key_.seed, groups_a_tile, words);
      std::memcpy(words_, words, sizeof words);
    });
  }

  static constexpr int block_rows_a_tile = tiles::elements / tiles::block_cols;

  void draw_groups() {
    constexpr int groups = tiles::block_cols / group;
    u32 words[4 * groups * block_rows_a_tile];
    for (int b = 0; b < block_rows_a_tile; ++b)
      for (int g = 0; g < groups; ++g) {
        philox_block const drawn = random_block<bits>(key_, rows_[b], cols_[b] + g * group);
        for (int w = 0; w < 4; ++w) words[4 * (b * groups + g) + w] = drawn.word[w];
      }
    std::memcpy(words_, words, sizeof words);
  }

  void draw_elements(int n) {
    for (int i = 0; i < n; ++i) {
      int const b = i / tiles::block_cols;
      words_[i] = word(random_bits<bits>(key_, rows_[b], cols_[b] + i % tiles::block_cols));
    }
  }

  i64 units_a_row_;
  i64 first_row_;
  random_key key_;
  i64 rows_[block_rows_a_tile] = {};
  i64 cols_[block_rows_a_tile] = {};
  alignas(64) word words_[tiles::elements];
};

/// Two 4-bit codes a byte (even element low), or wider codes a byte each; n <= N codes. Narrowing first
/// and merging byte pairs after is what vectorises best.
template <class E, int N>
void pack_codes(u32 const* codes, int n, u8* bytes) {
  if constexpr (E::bits <= 4) {
    u8 narrow[N];
    for (int i = 0; i < n; ++i) narrow[i] = u8(codes[i]);
    for (int i = 0; i < n / 2; ++i) {
      u16 pair;
      std::memcpy(&pair, narrow + 2 * i, sizeof pair);
      bytes[i] = u8(pair | pair >> 4);
    }
  } else {
    for (int i = 0; i < n; ++i) bytes[i] = u8(codes[i]);
  }
}

/// Writes encoded units into a quantized matrix.
template <recipe R>
class tile_writer {
  using tiles = tiling<R>;
  using stored = typename R::scale::stored;

 public:
  explicit tile_writer(quantized_ref<R> q)
      : q_(q),
        units_a_row_(tiles::units_a_row(q.cols)),
        is_dense_(tiles::block_rows == 1 && q.cols % tiles::unit == 0) {}

  /// Where the bytes and scales of a whole tile go if they go there in one piece, or null.
  u8* whole_codes(i64 first, int count) const {
    if (!is_dense_ || count != tiles::units) return nullptr;
    return q_.codes + first * tiles::unit_blocks * tiles::code_bytes;
  }
  stored* whole_scales(i64 first) const { return q_.scales + first * tiles::unit_blocks; }

  void write(i64 first, int count, u32 const* codes, stored const* scales) {
    using E = typename R::element;
    constexpr int bytes = tiles::unit_blocks * tiles::code_bytes;
    if (is_dense_) {
      if (count == tiles::units)  // a constant extent makes the better code
        pack_codes<E, tiles::elements>(codes, tiles::elements, q_.codes + first * bytes);
      else
        pack_codes<E, tiles::elements>(codes, count * tiles::unit_size, q_.codes + first * bytes);
      std::memcpy(q_.scales + first * tiles::unit_blocks, scales,
                  std::size_t(count * tiles::unit_blocks) * sizeof(stored));
      return;
    }
    for (int k = 0; k < count; ++k)
      for (int b = 0; b < tiles::unit_blocks; ++b) {
        int const block = k * tiles::unit_blocks + b;
        i64 const row = (first + k) / units_a_row_ * tiles::block_rows;
        i64 const col = (first + k) % units_a_row_ * tiles::unit + b * tiles::block_cols;
        if (col < q_.cols) write_block(row, col, codes + block * tiles::block_size, scales[block]);
      }
  }

 private:
  void write_block(i64 row, i64 col, u32 const* codes, stored scale) {
    using E = typename R::element;
    constexpr int row_size = tiles::code_bytes;
    u8 bytes[tiles::block_rows * row_size];
    pack_codes<E, tiles::block_size>(codes, tiles::block_size, bytes);
    i64 const rows = min(i64(tiles::block_rows), q_.rows - row);
    i64 const valid = row_bytes<E>(min(i64(tiles::block_cols), q_.cols - col));
    i64 const stride = row_bytes<E>(q_.cols);
    u8* const out = q_.codes + row * stride + row_bytes<E>(col);
    if (valid == row_size)  // a constant size makes the better code
      for (i64 r = 0; r < rows; ++r) std::memcpy(out + r * stride, bytes + r * row_size, row_size);
    else
      for (i64 r = 0; r < rows; ++r)
        std::memcpy(out + r * stride, bytes + r * row_size, std::size_t(valid));
    stored* const scales = q_.scales + row * q_.scale_cols() + col / tiles::block_cols;
    for (i64 r = 0; r < rows; ++r) scales[r * q_.scale_cols()] = scale;
  }

  quantized_ref<R> q_;
  i64 units_a_row_;
  bool is_dense_;
};

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
