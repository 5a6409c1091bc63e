// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Gigabytes of device memory for tests.

#include <cstddef>

#include <quadrille/detail/std.hpp>

#include "cuda/device_buffer.cuh"
#include "support/catch.hpp"

namespace parity {
using quadrille::i64;
using quadrille::u64;

/// False, with a message, if the device has less than `bytes` to spare.
inline bool has_memory(std::size_t bytes) {
  std::size_t free = 0;
  std::size_t all = 0;
  check_cuda(cudaMemGetInfo(&free, &all));
  if (free >= bytes + (std::size_t(1) << 28)) return true;
  WARN("skipped: " << (free >> 20) << " MiB of GPU memory are free, the test needs "
                   << (bytes >> 20));
  return false;
}

/// Device memory, each byte `fill`.
template <class T>
struct filled : device_buffer<T> {
  filled(std::size_t n, int fill) : device_buffer<T>(n) {
    check_cuda(cudaMemset(this->data(), fill, n * sizeof(T)));
  }
};

template <class T>
__global__ void count_others(T const* x, i64 n, T value, u64* others) {
  i64 const step = i64(gridDim.x) * blockDim.x;
  u64 mine = 0;
  for (i64 i = i64(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) mine += x[i] != value;
  if (mine != 0) atomicAdd(others, mine);
}
/// How many of n numbers in device memory are not `value`.
template <class T>
u64 others(T const* x, i64 n, T value) {
  device_buffer<u64> const count(std::vector<u64>(1, 0));
  count_others<<<4096, 256>>>(x, n, value, count.data());
  return count.host()[0];
}

}  // namespace parity
