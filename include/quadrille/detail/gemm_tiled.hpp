// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// GEMM over the vector kernels: A is packed once, panels of B are decoded where they are used. Each
/// element of D is summed from the first column of K to the last, however the work is cut. Host only.

#include <atomic>

#include <quadrille/detail/aligned.hpp>
#include <quadrille/detail/gemm_kinds.hpp>
#include <quadrille/detail/gemm_output.hpp>
#include <quadrille/detail/gemm_portable.hpp>
#include <quadrille/detail/parallel.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

template <class Kernel, class Product, class A, class B, class T>
class tiled_gemm {
  static constexpr int tile_rows = Product::rows;
  static constexpr int granule = Product::granule;
  static constexpr int chunk_depth = Product::chunk_depth;
  static constexpr int tile_words = Product::tile_words(chunk_depth);
  static constexpr int panel_words = Product::panel_words(chunk_depth);
  static constexpr int max_panels = 6;                // decoded at a time, and
  static constexpr i64 task_tiles = 512 / tile_rows;  // their sums: a fifth of a second-level cache
  static constexpr i64 packed_tiles = 4 * task_tiles;  // packed at a time

 public:
  tiled_gemm(host_policy where, A const& a, B const& b, matrix_ref<T> d,
             gemm_options<T> const& options)
      : where_(where), a_(a), b_(b), d_(d), options_(options), output_(a, b, d, options) {
    depth_ = ceil_div(a.cols(), i64(granule)) * granule;
    chunks_ = ceil_div(depth_, i64(chunk_depth));
    tiles_ = ceil_div(d.rows, i64(tile_rows));
    packed_ = aligned_array<u32>(chunks_ * min(tiles_, packed_tiles) * tile_words);
  }

  void operator()() {
    for (i64 tile = 0; tile < tiles_; tile += packed_tiles) {
      first_tile_ = tile;
      count_ = min(packed_tiles, tiles_ - tile);
      pack();
      multiply();
    }
  }

 private:
  int depth_of(i64 chunk) const { return int(min(i64(chunk_depth), depth_ - chunk * chunk_depth)); }
  u32* packed_tile(i64 chunk, i64 tile) const {
    return packed_.data() + (chunk * count_ + tile) * tile_words;
  }

  void pack() {
    std::atomic<bool> moderate{true};
    parallel_for(where_.threads, count_, 4, [&](i64 first, i64 last) {
      for (i64 tile = first; tile < last; ++tile)
        for (i64 chunk = 0; chunk < chunks_; ++chunk)
          if (!Product::pack(a_, (first_tile_ + tile) * tile_rows, chunk * chunk_depth,
                             depth_of(chunk), packed_tile(chunk, tile)))
            moderate.store(false, std::memory_order_relaxed);
    });
    is_packed_ = moderate.load();
  }

  // Tasks are rectangles of D; a task decodes each panel it needs once.
  void multiply() {
    i64 const panels = ceil_div(d_.cols, i64(panel_rows));
    i64 const row_tasks = ceil_div(count_, task_tiles);
    i64 const wanted = where_.threads == 1 ? 1 : 16;
    // Few rows: follow fewer rows of B at a time, so that the processor sees them being read on.
    i64 width = count_ <= 4 ? Kernel::max_panels : max_panels;
    while (width > Kernel::max_panels && row_tasks * ceil_div(panels, width) < wanted) width /= 2;
    i64 const col_tasks = ceil_div(panels, width);
    parallel_for(where_.threads, row_tasks * col_tasks, 1, [&](i64 first, i64 last) {
      aligned_array<u32> const decoded(width * panel_words);
      aligned_array<float> const sums(min(count_, task_tiles) * tile_rows * width * panel_rows);
      for (i64 task = first; task < last; ++task) {
        i64 const tile = task % row_tasks * task_tiles;
        i64 const panel = task / row_tasks * width;
        rectangle({tile, min(task_tiles, count_ - tile), panel, min(width, panels - panel)},
                  decoded.data(), sums.data());
      }
    });
  }

  struct extent {
    i64 tile;
    i64 tiles;
    i64 panel;
    i64 panels;
  };

  void rectangle(extent const& e, u32* decoded, float* sums) {
    i64 const stride = e.panels * panel_rows;
    i64 const first_row = (first_tile_ + e.tile) * tile_rows;
    i64 const last_row = min(d_.rows, first_row + e.tiles * tile_rows);
    i64 const first_col = e.panel * panel_rows;
    int const cols = int(min(stride, d_.cols - first_col));
    for (i64 i = 0; i < e.tiles * tile_rows * stride; ++i) sums[i] = 0;
    bool moderate = is_packed_;
    for (i64 chunk = 0; chunk < chunks_ && moderate; ++chunk)
      moderate = add_chunk(e, chunk, decoded, sums);
    if (!moderate)
      return portable_gemm<A, B, T>(a_, b_, d_, options_)(first_row, last_row, first_col,
                                                          first_col + cols);
    for (i64 row = first_row; row < last_row; ++row)
      output_.write(row, first_col, cols, sums + (row - first_row) * stride);
  }

  // Adds the products over a chunk of K. False if the scales do not allow it.
  bool add_chunk(extent const& e, i64 chunk, u32* decoded, float* sums) const {
    bool moderate = true;
    if constexpr (Product::has_row_kernel)
      if (d_.rows == 1) {
        for (i64 p = 0; p < e.panels; ++p)
          moderate &=
              Product::multiply_row(packed_tile(chunk, 0), b_, e.panel + p, chunk * chunk_depth,
                                    depth_of(chunk), sums + p * panel_rows);
        return moderate;
      }
    for (i64 p = 0; p < e.panels; ++p)
      moderate &= Product::decode(b_, e.panel + p, chunk * chunk_depth, depth_of(chunk),
                                  decoded + p * panel_words);
    multiply_chunk(e, chunk, decoded, sums);
    return moderate;
  }

  // Groups of panels outside, so that a group stays in the first-level cache while tiles stream by.
  void multiply_chunk(extent const& e, i64 chunk, u32 const* decoded, float* sums) const {
    constexpr int group = Kernel::max_panels;
    i64 p = 0;
    for (; p + group <= e.panels; p += group) multiply_panels<group>(e, chunk, p, decoded, sums);
    for (; p < e.panels; ++p) multiply_panels<1>(e, chunk, p, decoded, sums);
  }
  template <int Panels>
  void multiply_panels(extent const& e, i64 chunk, i64 p, u32 const* decoded, float* sums) const {
    i64 const stride = e.panels * panel_rows;
    u32 const* const panel = decoded + p * panel_words;
    if (d_.rows == 1)
      return Product::template multiply<1, Panels>(packed_tile(chunk, 0), panel, panel_words,
                                                   depth_of(chunk), sums + p * panel_rows, stride);
    for (i64 t = 0; t < e.tiles; ++t)
      Product::template multiply<tile_rows, Panels>(
          packed_tile(chunk, e.tile + t), panel, panel_words, depth_of(chunk),
          sums + t * tile_rows * stride + p * panel_rows, stride);
  }

  host_policy where_;
  A a_;
  B b_;
  matrix_ref<T> d_;
  gemm_options<T> options_;
  gemm_output<A, B, T> output_;
  i64 depth_ = 0;   // K, completed to whole granules
  i64 chunks_ = 0;  // of K
  i64 tiles_ = 0;   // of all rows
  i64 first_tile_ = 0;
  i64 count_ = 0;  // tiles that are packed
  bool is_packed_ = false;
  aligned_array<u32> packed_;
};

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
