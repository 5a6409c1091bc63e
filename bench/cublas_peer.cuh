// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The peers: cuBLASLt's BF16 and FP8 (E4M3, fast accumulation, BF16 out) products D = A B^T, and cuBLAS's
/// grouped BF16 one, on random normal data.

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "gpu_timing.cuh"

namespace cublas_peer {

using gpu_timing::device_array;

inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cuBLAS: ") + cublasGetStatusString(status));
}

enum class type { bf16, fp8 };

struct extents {
  std::int64_t m, n, k;
  int layers;
  int groups;
};

/// All layers of one shape, with operands of their own.
class product {
 public:
  product(type t, extents of, cudaStream_t stream) : of_(of), stream_(stream), type_(t) {
    check(cublasLtCreate(&light_));
    check(cublasCreate(&handle_));
    check(cublasSetStream(handle_, stream));
    std::size_t const bytes = t == type::bf16 ? 2 : 1;
    for (int i = 0; i < of.layers; ++i) {
      a_.push_back(make(std::size_t(of.groups * of.m * of.k), unsigned(2 * i + 1)));
      b_.push_back(make(std::size_t(of.groups * of.n * of.k), unsigned(2 * i + 2)));
      d_.push_back(std::make_unique<device_array<char>>(std::size_t(of.groups * of.m * of.n) * 2));
    }
    if (of.groups > 1) {
      place_pointers(bytes);
    } else {
      choose(bytes);
    }
  }
  ~product() {
    cublasLtDestroy(light_);
    cublasDestroy(handle_);
  }
  product(product const&) = delete;
  product& operator=(product const&) = delete;

  void enqueue(int layer) const {
    auto const i = std::size_t(layer);
    if (of_.groups > 1) {
      int const m = int(of_.n), n = int(of_.m), k = int(of_.k);
      cublasOperation_t const yes = CUBLAS_OP_T, no = CUBLAS_OP_N;
      int const count = of_.groups;
      check(cublasGemmGroupedBatchedEx(handle_, &yes, &no, &m, &n, &k, &one_, b_pointers_->data(),
                                       CUDA_R_16BF, &k, a_pointers_->data(), CUDA_R_16BF, &k,
                                       &zero_, d_pointers_->data(), CUDA_R_16BF, &m, 1, &count,
                                       CUBLAS_COMPUTE_32F));
    } else {
      check(cublasLtMatmul(light_, operation_, &one_, b_[i]->data(), b_layout_, a_[i]->data(),
                           a_layout_, &zero_, d_[i]->data(), d_layout_, d_[i]->data(), d_layout_,
                           &best_.algo, memory_.data(), workspace, stream_));
    }
  }

 private:
  static constexpr std::size_t workspace = std::size_t(64) << 20;

  std::unique_ptr<device_array<char>> make(std::size_t count, unsigned seed) const;

  // Column-major, as cuBLAS counts: D^T (N x M) = B A^T, both operands K-contiguous.
  void choose(std::size_t bytes) {
    cudaDataType_t const kind = bytes == 2 ? CUDA_R_16BF : CUDA_R_8F_E4M3;
    auto const m = std::uint64_t(of_.m), n = std::uint64_t(of_.n), k = std::uint64_t(of_.k);
    check(cublasLtMatrixLayoutCreate(&b_layout_, kind, k, n, of_.k));
    check(cublasLtMatrixLayoutCreate(&a_layout_, kind, k, m, of_.k));
    check(cublasLtMatrixLayoutCreate(&d_layout_, CUDA_R_16BF, n, m, of_.n));
    check(cublasLtMatmulDescCreate(&operation_, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    cublasOperation_t const yes = CUBLAS_OP_T;
    check(
        cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_TRANSA, &yes, sizeof yes));
    std::int8_t const fast = 1;
    if (bytes == 1)
      check(cublasLtMatmulDescSetAttribute(operation_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                           sizeof fast));
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference));
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &workspace, sizeof workspace));
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(light_, operation_, b_layout_, a_layout_, d_layout_,
                                         d_layout_, preference, 1, &best_, &found));
    cublasLtMatmulPreferenceDestroy(preference);
    if (found == 0) throw std::runtime_error("cuBLASLt has no algorithm for this product");
  }

  void place_pointers(std::size_t bytes) {
    std::vector<void*> a, b, d;
    for (int g = 0; g < of_.groups; ++g) {
      a.push_back(a_[0]->data() + std::size_t(g * of_.m * of_.k) * bytes);
      b.push_back(b_[0]->data() + std::size_t(g * of_.n * of_.k) * bytes);
      d.push_back(d_[0]->data() + std::size_t(g * of_.m * of_.n) * 2);
    }
    a_pointers_ = on_device(a);
    b_pointers_ = on_device(b);
    d_pointers_ = on_device(d);
  }
  static std::unique_ptr<device_array<void*>> on_device(std::vector<void*> const& pointers) {
    auto to = std::make_unique<device_array<void*>>(pointers.size());
    gpu_timing::check(cudaMemcpy(to->data(), pointers.data(), pointers.size() * sizeof(void*),
                                 cudaMemcpyHostToDevice));
    return to;
  }

  extents of_;
  cudaStream_t stream_;
  type type_;
  cublasLtHandle_t light_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  cublasLtMatrixLayout_t a_layout_ = nullptr, b_layout_ = nullptr, d_layout_ = nullptr;
  cublasLtMatmulDesc_t operation_ = nullptr;
  cublasLtMatmulHeuristicResult_t best_{};
  std::vector<std::unique_ptr<device_array<char>>> a_, b_, d_;
  std::unique_ptr<device_array<void*>> a_pointers_, b_pointers_, d_pointers_;
  device_array<char> memory_{workspace};
  float const one_ = 1;
  float const zero_ = 0;
};

inline std::unique_ptr<device_array<char>> product::make(std::size_t count, unsigned seed) const {
  auto to = std::make_unique<device_array<char>>(count * (type_ == type::bf16 ? 2 : 1));
  if (type_ == type::bf16)
    gpu_timing::fill_normal(reinterpret_cast<__nv_bfloat16*>(to->data()), std::int64_t(count), seed,
                            stream_);
  else
    gpu_timing::fill_normal(reinterpret_cast<__nv_fp8_e4m3*>(to->data()), std::int64_t(count), seed,
                            stream_);
  return to;
}

}  // namespace cublas_peer
