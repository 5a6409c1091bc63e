// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Options of a GEMM on the GPU, and what is said about how it will be done.

#include <cstddef>
#include <string>

#include <quadrille/cuda/stream.cuh>
#include <quadrille/storage.hpp>

namespace quadrille {

/// How a product is made. Every path is exact in its operands; they differ in speed, in memory, and in what
/// they run on.
enum class gemm_path {
  automatic,  ///< the fastest for the operands, the shape and the GPU
  skinny,     ///< few rows of A: 4-bit weights decoded in registers, mma.sync
  fused,      ///< 4-bit weights decoded in registers, wgmma (sm_90a)
  fp8,        ///< operands folded into FP8 in the workspace, wgmma (sm_90a)
  fp8_fast,   ///< the same with sums that stay in the tensor cores' 14 bits for all of K: not exact
  dense,      ///< operands decoded to BF16 or FP16 in the workspace, wgmma (sm_90a)
  mma,        ///< the same with mma.sync (sm_80 and newer)
  block_sums,  ///< sums of blocks by mma.sync, scaled in FP32 (sm_80 and newer)
  reference    ///< the host's operations, one by one, on CUDA cores
};

constexpr char const* name_of(gemm_path path) {
  constexpr char const* names[] = {"automatic", "skinny", "fused",      "fp8",      "fp8_fast",
                                   "dense",     "mma",    "block_sums", "reference"};
  return names[int(path)];
}

/// Settings of one GEMM; all have defaults. T is the type of D.
template <class T>
struct device_gemm_options {
  float alpha = 1;
  float beta = 0;
  /// C may be absent; it is not read when beta is 0.
  matrix_ref<T const> c = {};
  /// An entry for each column of D.
  T const* bias = nullptr;
  /// In device memory, multiplies alpha: one number for each product.
  float const* device_alpha = nullptr;
  /// Several products at once: B has groups x N rows; A and D have the rows of all products one after
  /// another, evenly, or as `offsets` says: groups + 1 ascending numbers from 0 on in device memory, product g
  /// has rows [offsets[g], offsets[g + 1]) and may have none (mixture of experts).
  i32 groups = 1;
  i32 const* offsets = nullptr;
  /// B does not change while this product is in the stream: what writes it has finished when the product is enqueued (or
  /// its graph launched), and does not only stand before it. Then, without offsets, the kernels for few rows of A
  /// begin to read a prepacked B while the work before them ends: 1 us earlier with up to 16 rows, less with more.
  bool constant_b = false;
  /// explain(...).workspace_bytes bytes.
  quadrille::workspace workspace{};
  /// Operands that no FP8 type holds are rounded to E4M3 to run at its rate.
  bool inexact_operands = false;
};

/// What gemm would do. Nothing is approximate unless is_exact says so.
struct gemm_plan {
  gemm_path path = gemm_path::reference;
  char const* type_a = "";  ///< what the arithmetic units read
  char const* type_b = "";
  int tile_rows = 0;
  int tile_cols = 0;
  std::size_t workspace_bytes = 0;
  bool is_exact = true;
  std::string why;
};

namespace detail {
/// A workspace that is being divided up; without memory it only counts.
class space {
 public:
  space() = default;  // counts
  explicit space(workspace given) : data_(static_cast<u8*>(given.data)) {}
  template <class T>
  T* take(i64 count) {
    used_ = (used_ + 255) / 256 * 256;
    u8* const at = data_ == nullptr ? nullptr : data_ + used_;
    used_ += std::size_t(count) * sizeof(T);
    return reinterpret_cast<T*>(at);
  }
  std::size_t used() const { return used_; }

 private:
  u8* data_ = nullptr;
  std::size_t used_ = 0;
};
}  // namespace detail
}  // namespace quadrille
