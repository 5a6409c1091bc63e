// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which of the tiles of fused_kernel.cuh and wide_kernel.cuh make a product.

#include <quadrille/cuda/gemm/wide_kernel.cuh>

namespace quadrille::detail {

/// Tokens of a tile, and how many blocks share its K; or, of the wide kernel, how many slabs of rows a pair makes.
struct fused_choice {
  int tokens = 256;
  int split = 1;
  int slabs = 0;
  constexpr int blocks() const { return fused::blocks(split); }  // of a cluster
  constexpr int rows() const { return slabs != 0 ? slabs * 64 : fused::rows_of_cluster(split); }
  constexpr int block_rows() const { return slabs != 0 ? slabs * 32 : fused::rows; }
};

/// The fastest for the shape by measured clocks of a slab, of a tile's end, and of splitting K; resident[n] is how
/// many clusters of n blocks run at once.
inline fused_choice choose_fused(gemm_segments const& work,
                                 i64 const (&resident)[fused::most_split + 1]) {
  struct cost {
    int tokens;
    i64 slab;
    i64 tile;
  };
  constexpr cost costs[] = {{256, 1050, 5000}, {128, 580, 3000}, {64, 400, 2000}};
  struct wide_cost {
    int tokens;
    i64 slab[wide::most_slabs];  // of K, for 1, 2, ... slabs of rows
  };
  constexpr wide_cost wide_costs[] = {{64, {200, 225, 334, 400, 488, 565, 642, 715}},
                                      {32, {145, 162, 286, 333, 380, 427, 474, 521}},
                                      {16, {127, 145, 263, 299, 335, 371, 407, 443}}};
  constexpr i64 wide_tile = 3000;
  constexpr i64 splitting = 4000;
  i64 const slabs = ceil_div(work.depth, i64(fused::slab));
  i64 const each = ceil_div(work.rows, i64(max(work.count, 1)));
  fused_choice best;
  i64 least = -1;
  auto const consider = [&](fused_choice const& choice, i64 time) {
    i64 const tiles =
        work.count * ceil_div(each, i64(choice.tokens)) * ceil_div(work.cols, i64(choice.rows()));
    time *= ceil_div(tiles, resident[choice.blocks()]);
    if (choice.split > 1) time += splitting;
    if (least >= 0 && time >= least) return;
    least = time;
    best = choice;
  };
  for (cost const& c : costs)
    for (int split = 1; split <= (c.tokens <= 128 ? fused::most_split : 1); ++split)
      consider({c.tokens, split}, ceil_div(slabs, i64(split)) * c.slab + c.tile);
  for (wide_cost const& c : wide_costs)
    for (int rows = 1; rows <= wide::most_slabs; ++rows)
      consider({c.tokens, 1, rows}, slabs * c.slab[rows - 1] + wide_tile);
  return best;
}

/// Whether the wide kernel's pairs would be busy most of the time, for up to 32 tokens: then it is faster than the
/// skinny one, where they are busy 97 % of it by 5 % with 16 tokens and 26 % with 32.
inline bool wide_keeps_busy(gemm_segments const& work, i64 pairs) {
  i64 const each = ceil_div(work.rows, i64(max(work.count, 1)));
  i64 const least = each <= 16 ? 92 : 80;  // percent
  i64 const rows = work.count * ceil_div(each, i64(each <= 16 ? 16 : 32));
  i64 const all = rows * ceil_div(work.cols, i64(64));
  for (i64 slabs = 1; slabs <= wide::most_slabs; ++slabs) {
    i64 const tiles = rows * ceil_div(work.cols, 64 * slabs);
    if (all * 100 >= ceil_div(tiles, pairs) * pairs * slabs * least) return true;
  }
  return false;
}

#pragma GCC visibility push(hidden)  // see stream.cuh

/// What launch_fused does, and how many clusters of two run at once.
template <class R, class Epilogue>
fused_choice choose_fused(gemm_segments const& work, i64& clusters) {
  i64 resident[fused::most_split + 1] = {};  // the same whatever the tokens: one block fits
  for (int blocks = 2; blocks <= fused::most_split; ++blocks)
    resident[blocks] = fused_resident<64, R, Epilogue>(blocks);
  clusters = resident[2];
  return choose_fused(work, resident);
}

/// Enqueues D = X W^T on the current device, which has_hopper_code(). X is_mappable(). Segment s takes
/// matrix s of w; w.outer is the epilogue's business.
template <class R, class Epilogue>
void launch_fused(stream_policy where, gemm_segments const& work,
                  prepacked_ref<R, u8 const> const& w, bf16 const* x, i64 x_stride,
                  bool is_w_constant, Epilogue const& epilogue) {
  require_equal(w.rows, work.cols, "the number of rows of the prepacked weights");
  require_equal(w.cols, work.depth, "the number of columns of the prepacked weights");
  require_equal(w.count, work.count, "the number of matrices of prepacked weights");
  require(
      has_hopper_code(),
      "the fused kernel needs Hopper's tensor cores; run it on sm_90 with code for sm_90a, or take "
      "another path");
  require(work.depth < i64(1) << 30, "K is too long for the fused kernel; it is less than 2^30");
  if (work.rows == 0 || work.cols == 0 || work.count == 0) return;
  i64 clusters = 0;
  fused_choice const choice = choose_fused<R, Epilogue>(work, clusters);
  auto const enqueue = [&]<int Tokens> {
    launch_fused_tiles<Tokens>(where, work, w, x, x_stride, epilogue, choice.split, clusters);
  };
  auto const enqueue_wide = [&]<int Tokens> {
    launch_wide_tiles<Tokens>(where, work, w, x, x_stride, is_w_constant, epilogue, choice.slabs,
                              clusters);
  };
  if (choice.slabs != 0 && choice.tokens == 16)
    enqueue_wide.template operator()<16>();
  else if (choice.slabs != 0 && choice.tokens == 32)
    enqueue_wide.template operator()<32>();
  else if (choice.slabs != 0)
    enqueue_wide.template operator()<64>();
  else if (choice.tokens == 256)
    enqueue.template operator()<256>();
  else if (choice.tokens == 128)
    enqueue.template operator()<128>();
  else
    enqueue.template operator()<64>();
}

#pragma GCC visibility pop

}  // namespace quadrille::detail
