// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Tensor maps: what the bulk copy engine of sm_90 and newer knows of an array in global memory.

#include <cstdint>

#include <cuda.h>

#include <quadrille/cuda/stream.cuh>

namespace quadrille::detail {

/// Dimension 0 is contiguous. Strides need not grow from dimension to dimension: they say where rows lie, and
/// the box says in which order they arrive in shared memory.
template <int Rank>
struct tensor_shape {
  cuuint64_t extent[Rank];      // in bytes, rows, ...
  cuuint64_t stride[Rank - 1];  // in bytes, of dimensions 1 ..: multiples of 16
  cuuint32_t box[Rank];         // of one copy
};

/// True if a map can be made of rows that start at `data`, `stride_bytes` apart.
inline bool is_mappable(void const* data, i64 stride_bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && stride_bytes % 16 == 0 &&
         stride_bytes > 0 && stride_bytes < (i64(1) << 40);
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// Taken from the driver through the runtime: nothing is linked to libcuda.
inline auto tensor_map_encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                              cudaEnableDefault, &result),
             "asking for cuTensorMapEncodeTiled");
  require(found != nullptr,
          "the driver has no cuTensorMapEncodeTiled; install one of CUDA 12 or newer");
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
}

/// A map of bytes. Boxes are 128 bytes wide and arrive swizzled by 128 bytes; what is outside is zero.
template <int Rank>
CUtensorMap make_tensor_map(void const* data, tensor_shape<Rank> const& shape) {
  static auto const encode = tensor_map_encoder();
  cuuint32_t each[Rank];
  for (cuuint32_t& step : each) step = 1;
  CUtensorMap map{};
  CUresult const status = encode(
      &map, CU_TENSOR_MAP_DATA_TYPE_UINT8, Rank, const_cast<void*>(data), shape.extent,
      shape.stride, shape.box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  check_cuda(status == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue, "making a tensor map");
  return map;
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
