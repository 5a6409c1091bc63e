// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Which path makes the product of two operands: what is possible and what is considered is known at compile
/// time, so that only those kernels are compiled; the shape and the GPU decide the rest.

#include <quadrille/cuda/gemm/paths.cuh>

namespace quadrille::detail {

template <class A, class B>
inline constexpr bool is_16_bit =
    wide_kind<A, B> == operand_kind::bf16 || wide_kind<A, B> == operand_kind::fp16;
/// B is decoded in registers while A is BF16.
template <class A, class B>
inline constexpr bool takes_prepacked = B::can_prepack&& A::fits_bf16;
/// Operands that can be rounded to FP8, if they do not fit it.
template <class A, class B>
inline constexpr bool can_round_to_fp8 = (A::is_scaled_code || A::fits_e4m3 || A::fits_e5m2) &&
                                         (B::is_scaled_code || B::fits_e4m3 || B::fits_e5m2) &&
                                         !B::is_prepacked;
template <class A, class B>
inline constexpr bool can_sum_blocks =
    A::codes_fit_bf16&& B::codes_fit_bf16&& is_block_sum<common_block<A, B>>;

template <gemm_path Path, class A, class B>
consteval bool can_take() {
  switch (Path) {
    case gemm_path::skinny:
    case gemm_path::fused:
      return takes_prepacked<A, B>;
    case gemm_path::fp8:
    case gemm_path::fp8_fast:
      return can_round_to_fp8<A, B>;
    case gemm_path::dense:
    case gemm_path::mma:
      return is_16_bit<A, B> && !B::is_prepacked;
    case gemm_path::block_sums:
      return can_sum_blocks<A, B>;
    default:
      return !B::is_prepacked;
  }
}

/// Whether gemm<Asked> may take a path.
template <gemm_path Asked, gemm_path Path, class A, class B>
consteval bool considers() {
  if constexpr (!can_take<Path, A, B>()) return false;
  if constexpr (Asked != gemm_path::automatic) return Asked == Path;
  switch (Path) {
    case gemm_path::fp8:
      return fits_fp8<A, B>;
    case gemm_path::fp8_fast:
      return false;
    case gemm_path::block_sums:
      return wide_kind<A, B> == operand_kind::block_sums;
    case gemm_path::reference:
      return wide_kind<A, B> == operand_kind::fp32;
    default:
      return true;
  }
}

template <gemm_path Asked, class A, class B>
consteval bool check_path() {
  constexpr bool is_possible = Asked == gemm_path::automatic
                                   ? !B::is_prepacked || takes_prepacked<A, B>
                                   : can_take<Asked, A, B>();
  if constexpr (Asked == gemm_path::automatic)
    static_assert(is_possible,
                  "quadrille: gemm multiplies a prepacked B with what BF16 holds; this A does not "
                  "fit, pass A as BF16 or B as the quantized matrix");
  else if constexpr (Asked == gemm_path::skinny || Asked == gemm_path::fused)
    static_assert(
        is_possible,
        "quadrille: gemm cannot decode these weights in registers; that takes a BF16 A and "
        "a 4-bit B with E4M3 or UE8M0 scales for blocks of a multiple of 16, write "
        "gemm_path::automatic");
  else if constexpr (B::is_prepacked)
    static_assert(is_possible,
                  "quadrille: gemm cannot take this path with a prepacked B; only skinny and fused "
                  "read it, pass the quantized matrix or write gemm_path::automatic");
  else if constexpr (Asked == gemm_path::fp8 || Asked == gemm_path::fp8_fast)
    static_assert(is_possible,
                  "quadrille: gemm cannot fold a plain operand into FP8; that takes quantized "
                  "operands or FP8 ones, write gemm_path::automatic");
  else if constexpr (Asked == gemm_path::block_sums)
    static_assert(
        is_possible,
        "quadrille: gemm cannot sum these blocks on tensor cores; that takes elements that "
        "BF16 holds in blocks of a multiple of 8, write gemm_path::automatic");
  else
    static_assert(is_possible,
                  "quadrille: gemm cannot decode these operands to 16 bits; neither BF16 nor FP16 "
                  "holds element x scale of both, write gemm_path::automatic");
  return is_possible;
}

constexpr bool needs_hopper(gemm_path path) {
  return path == gemm_path::fused || path == gemm_path::fp8 || path == gemm_path::fp8_fast ||
         path == gemm_path::dense;
}

/// Rows of A of each product up to which weights are read faster than tensor cores could use them.
inline constexpr i64 skinny_rows = 32;
/// And up to which wgmma is no faster than mma.sync.
inline constexpr i64 narrow_rows = 8;
/// And from which weights are better decoded to 16 bits before than in registers, over and over.
inline constexpr i64 dense_rows = 2048;
/// The skinny kernel keeps four bytes for each product in shared memory.
inline constexpr i32 most_skinny_groups = 8192;

template <gemm_path Path>
struct path_constant {};

template <gemm_path Asked, class A, class B>
void choose_path(gemm_plan& plan, gemm_segments const& work, bool is_hopper) {
  if constexpr (Asked != gemm_path::automatic) {
    if (needs_hopper(Asked) && !is_hopper)
      throw error(std::string("quadrille: gemm cannot take the path ") + name_of(Asked) +
                  " here; it needs a GPU of compute capability 9.0 and code for sm_90a in this "
                  "program, write gemm_path::automatic");
    plan.path = Asked;
    plan.why = "asked for";
  } else {
    i64 const rows = ceil_div(work.rows, i64(work.count));
    bool const is_short = fits_copy_engine(work);
    bool const is_skinny =
        rows <= skinny_rows && work.count <= most_skinny_groups &&
        !(is_hopper && is_short && rows > narrow_rows &&
          wide_keeps_busy(work, device_attribute(cudaDevAttrMultiProcessorCount) / 2));
    auto const takes = [&]<gemm_path Path>(path_constant<Path>, bool is_fast, char const* why) {
      if (!plan.why.empty() || !considers<Asked, Path, A, B>() || !is_fast ||
          (needs_hopper(Path) && !(is_hopper && is_short)))
        return;
      plan.path = Path;
      plan.why = why;
    };
    using enum gemm_path;
    takes(path_constant<skinny>{}, is_skinny,
          "few rows of A: the time is that of reading 4-bit weights");
    takes(path_constant<fp8>{}, true,
          "FP8 holds the operands with one exponent a row, at twice the rate of BF16");
    takes(path_constant<dense>{}, !takes_prepacked<A, B> || rows >= dense_rows,
          "16 bits hold element x scale; this GPU has wgmma");
    takes(path_constant<fused>{}, true,
          "BF16 holds element x scale; weights are decoded in registers");
    takes(path_constant<mma>{}, true,
          "16 bits hold element x scale; mma.sync runs on every GPU from sm_80 on");
    takes(path_constant<skinny>{}, true,
          "B is prepacked; mma.sync runs on every GPU from sm_80 on");
    takes(path_constant<block_sums>{}, true,
          "scales do not fit 16 bits: sums of blocks are scaled in FP32");
    takes(path_constant<reference>{}, true,
          "no tensor-core type holds the operands: the host's operations, on CUDA cores");
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// Chooses, and runs unless it only plans.
template <gemm_path Asked, class A, class B, class T, class Epilogue>
void run_gemm(gemm_call& call, A const& a, B const& b, device_gemm_options<T> const& options,
              Epilogue const& epilogue) {
  choose_path<Asked, A, B>(call.plan, call.work, has_hopper_code());
  bool const is_fp8 = call.plan.path == gemm_path::fp8 || call.plan.path == gemm_path::fp8_fast;
  if (is_fp8 && !fits_fp8<A, B>)
    require(options.inexact_operands,
            "gemm's operands do not fit FP8; element x scale would be rounded to E4M3, set "
            "options.inexact_operands if that is wanted");
  auto const run = [&]<gemm_path Path>(path_constant<Path>) {
    if constexpr (considers<Asked, Path, A, B>())
      if (call.plan.path == Path) run_path<Path>(call, a, b, epilogue);
  };
  using enum gemm_path;
  run(path_constant<skinny>{});
  run(path_constant<fused>{});
  run(path_constant<fp8>{});
  run(path_constant<fp8_fast>{});
  run(path_constant<dense>{});
  run(path_constant<mma>{});
  run(path_constant<block_sums>{});
  run(path_constant<reference>{});
  call.plan.workspace_bytes = call.memory.used();
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
