// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Gigabytes of device memory for tests.

#include <cstddef>

#include "cuda/device_buffer.cuh"
#include "support/catch.hpp"

namespace parity {

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

}  // namespace parity
