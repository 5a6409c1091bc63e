// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The ways of making a product on the GPU. Each places its operands in the workspace, says so in the plan, and
/// unless only that is wanted decodes them and launches its kernel.

#include <type_traits>

#include <quadrille/cuda/gemm/block_sum_kernel.cuh>
#include <quadrille/cuda/gemm/dense_kernel.cuh>
#include <quadrille/cuda/gemm/epilogue.cuh>
#include <quadrille/cuda/gemm/folded.cuh>
#include <quadrille/cuda/gemm/fused_launch.cuh>
#include <quadrille/cuda/gemm/mma_kernel.cuh>
#include <quadrille/cuda/gemm/plan.cuh>
#include <quadrille/cuda/gemm/reference_kernel.cuh>
#include <quadrille/cuda/gemm/skinny_kernel.cuh>

namespace quadrille::detail {

template <class V>
constexpr char const* type_name() {
  if constexpr (is_same_v<V, bf16>) return "BF16";
  if constexpr (is_same_v<V, fp16>) return "FP16";
  if constexpr (is_same_v<V, e4m3>) return "E4M3";
  if constexpr (is_same_v<V, e5m2>) return "E5M2";
  return "FP32";
}

/// The copy engine counts bytes along K, and rows, in 31 bits; a launch that folds has a block a row.
inline bool fits_copy_engine(gemm_segments const& work) {
  return work.depth < i64(1) << 30 && work.rows + work.count * work.cols < i64(1) << 31;
}
inline void require_short(gemm_segments const& work) {
  require(
      fits_copy_engine(work),
      "an operand is too large for the copy engine; K is less than 2^30 and both operands' rows "
      "together less than 2^31 on this path, write gemm_path::mma");
}

/// One call: what is asked for, where its workspace is, and what is found out about it.
struct gemm_call {
  stream_policy where;
  gemm_segments work;
  space memory;
  bool only_plans;
  bool describes;  // the tile too, where finding it takes longer: for explain
  bool constant_b;
  gemm_plan plan;
};

#pragma GCC visibility push(hidden)  // see stream.cuh

/// Says what the arithmetic units read, and of which part of D a thread block keeps the sums.
inline void describe(gemm_plan& plan, char const* type_a, char const* type_b, int rows, int cols) {
  plan.type_a = type_a;
  plan.type_b = type_b;
  plan.tile_rows = rows;
  plan.tile_cols = cols;
}
inline void describe_dense(gemm_call& call, char const* type_a, char const* type_b) {
  bool const is_large = takes_large_tiles(call.work);
  describe(call.plan, type_a, type_b, dense_large::rows,
           is_large ? dense_large::cols : dense_small::cols);
}

/// launch(epilogue), or a simpler epilogue that does the same. A kernel is compiled for both: in one, what is
/// not asked for would cost registers and time.
template <bool HasFolds, class Epilogue, class Launch>
void with_epilogue(Epilogue const& epilogue, Launch const& launch) {
  if constexpr (requires { epilogue.only_scales(); })
    if (epilogue.only_scales()) return launch(epilogue.template scaling<HasFolds>());
  launch(epilogue);
}

template <class A, class B, class Epilogue>
void run_reference(gemm_call& call, A const& a, B const& b, Epilogue const& epilogue) {
  describe(call.plan, "FP32", "FP32", reference_tile, reference_tile);
  if (!call.only_plans) launch_reference(call.where, call.work, a, b, tile_filter{}, epilogue);
}

template <gemm_path Path, class V, class A, class B, class Epilogue>
void run_dense(gemm_call& call, A const& a, B const& b, Epilogue const& epilogue) {
  if constexpr (Path == gemm_path::dense) require_short(call.work);
  auto const left = place_decoded<V>(call.memory, a);
  auto const right = place_decoded<V>(call.memory, b);
  if constexpr (Path == gemm_path::dense)
    describe_dense(call, type_name<V>(), type_name<V>());
  else
    describe(call.plan, type_name<V>(), type_name<V>(), mma_large::rows, mma_large::cols);
  if (call.only_plans) return;
  fill_decoded(call.where, a, left);
  fill_decoded(call.where, b, right);
  if constexpr (Path == gemm_path::dense)
    with_epilogue<false>(epilogue, [&](auto const& e) {
      launch_dense<V, V, false>(call.where, call.work, left.data, left.stride * i64(sizeof(V)),
                                right.data, right.stride * i64(sizeof(V)), e);
    });
  else
    with_epilogue<false>(epilogue, [&](auto const& e) {
      launch_mma<V>(call.where, call.work, left.data, left.stride, right.data, right.stride, e);
    });
}

template <class A, class B, class Epilogue>
void run_block_sums(gemm_call& call, A const& a, B const& b, Epilogue const& epilogue) {
  constexpr int block = common_block<A, B>;
  auto const left = place_decoded<bf16>(call.memory, a);
  auto const right = place_decoded<bf16>(call.memory, b);
  i64 const steps = ceil_div(a.cols(), i64(block));
  auto* const left_scales = call.memory.take<float>(a.rows() * steps);
  auto* const right_scales = call.memory.take<float>(b.rows() * steps);
  using shape = block_sum_shape<block>;
  describe(call.plan, "BF16", "BF16", shape::rows, shape::cols);
  if (call.only_plans) return;
  fill_decoded<decoding::element>(call.where, a, left);
  fill_decoded<decoding::element>(call.where, b, right);
  fill_block_scales<block>(call.where, a, left_scales);
  fill_block_scales<block>(call.where, b, right_scales);
  launch_block_sum<block>(call.where, call.work, {left.data, left.stride, left_scales, 1, a.rows()},
                          {right.data, right.stride, right_scales, 1, b.rows()}, tile_filter{},
                          epilogue);
}

// Rounds: operands that do not fit are rounded; otherwise the tiles that they are in go to the reference.
template <bool IsFast, class A, class B, class Epilogue>
void run_fp8(gemm_call& call, A const& a, B const& b, Epilogue const& epilogue) {
  using TA = fp8_of<A>;
  using TB = fp8_of<B>;
  constexpr bool rounds = !fits_fp8<A, B>;
  require_short(call.work);
  auto* const marks = call.memory.take<u8>(mark_count(a) + mark_count(b));
  auto const left = place_fp8<TA>(call.memory, a, marks);
  auto const right = place_fp8<TB>(call.memory, b, marks + mark_count(a));
  describe_dense(call, type_name<TA>(), type_name<TB>());
  call.plan.is_exact = !rounds && !IsFast;
  if (call.only_plans) return;
  if constexpr (is_to_fold<A> || is_to_fold<B>)
    clear_marks(call.where, marks, mark_count(a) + mark_count(b));
  fill_fp8<rounds>(call.where, a, left, b, right);
  Epilogue folded = epilogue;
  folded.linear.folds = {left.factors, right.factors};
  with_epilogue<A::is_quantized || B::is_quantized>(folded, [&](auto const& e) {
    launch_dense<TA, TB, IsFast>(call.where, call.work, left.codes.data, left.codes.stride,
                                 right.codes.data, right.codes.stride, e,
                                 tile_filter{left.marks, right.marks, false});
  });
  if constexpr (!rounds && (A::is_quantized || B::is_quantized))
    launch_reference(call.where, call.work, a, b, tile_filter{left.marks, right.marks, true},
                     epilogue);
}

/// B in prepacked form: as it is, or space for it in the workspace.
template <class B>
prepacked_ref<typename B::recipe> place_prepacked(gemm_call& call, B const& b) {
  if constexpr (B::is_prepacked) {
    return {const_cast<u8*>(b.p.data), b.p.outer, b.p.rows, b.p.cols, b.p.count, b.p.rotation_seed};
  } else {
    prepacked_ref<typename B::recipe> to(nullptr, b.q.outer, call.work.cols, b.q.cols,
                                         call.work.count, b.q.rotation_seed);
    to.data = call.memory.take<u8>(to.size());
    return to;
  }
}

// B's codes are decoded in registers; A becomes BF16, before or in the kernel.
template <gemm_path Path, class A, class B, class Epilogue>
void run_prepacked(gemm_call& call, A const& a, B const& b, Epilogue const& epilogue) {
  using R = typename B::recipe;
  if constexpr (Path == gemm_path::fused) require_short(call.work);
  constexpr bool can_be_late = Path == gemm_path::skinny && A::can_prepack;
  bool is_late = false;  // A's codes go to the kernel
  if constexpr (can_be_late) is_late = coded_matrix(a.q).is_whole() && skinny_decodes(call.work);
  auto const left = is_late ? decoded<bf16>{} : place_decoded<bf16>(call.memory, a);
  auto const right = place_prepacked(call, b);
  if (call.describes) {
    if constexpr (Path == gemm_path::fused) {
      i64 clusters = 0;
      fused_choice const choice = choose_fused<R, Epilogue>(call.work, clusters);
      describe(call.plan, "BF16", "BF16", choice.tokens, choice.block_rows());
    } else {
      skinny_extent const tile = skinny_extent_of<R>(call.work, Epilogue::width);
      describe(call.plan, "BF16", "BF16", tile.tokens, tile.rows);
    }
  }
  if (call.only_plans) return;
  fill_decoded(call.where, a, left);
  if constexpr (!B::is_prepacked) prepack(call.where, b.q, right);
  prepacked_ref<R, u8 const> const weights(right);
  bool const is_b_constant = B::is_prepacked && call.constant_b;
  with_epilogue<false>(epilogue, [&](auto const& e) {
    if constexpr (Path == gemm_path::fused) {
      launch_fused(call.where, call.work, weights, left.data, left.stride, is_b_constant, e);
    } else {
      auto const launch = [&](auto const& x) {
        launch_skinny(call.where, call.work, weights, x, is_b_constant, e);
      };
      if constexpr (can_be_late)
        if (is_late) return launch(skinny_source{coded_matrix(a.q)});
      launch(skinny_activations{reinterpret_cast<__nv_bfloat16 const*>(left.data), left.stride});
    }
  });
}

/// Takes a path that can_take().
template <gemm_path Path, class A, class B, class Epilogue>
void run_path(gemm_call& call, A const& a, B const& b, Epilogue const& epilogue) {
  if constexpr (Path == gemm_path::skinny || Path == gemm_path::fused)
    run_prepacked<Path>(call, a, b, epilogue);
  else if constexpr (Path == gemm_path::fp8 || Path == gemm_path::fp8_fast)
    run_fp8<Path == gemm_path::fp8_fast>(call, a, b, epilogue);
  else if constexpr (Path == gemm_path::dense || Path == gemm_path::mma)
    run_dense<Path, select_t<wide_kind<A, B> == operand_kind::bf16, bf16, fp16>>(call, a, b,
                                                                                 epilogue);
  else if constexpr (Path == gemm_path::block_sums)
    run_block_sums(call, a, b, epilogue);
  else
    run_reference(call, a, b, epilogue);
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
