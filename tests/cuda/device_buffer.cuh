// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Device memory for tests: filled from a vector, read back into one, every status checked.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

inline void check_cuda(cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

template <class T>
class device_buffer {
 public:
  /// n elements, poisoned, so that an unwritten one shows.
  explicit device_buffer(std::size_t n) : size_(n) {
    check_cuda(cudaMalloc(&data_, n * sizeof(T)));
    check_cuda(cudaMemset(data_, 0xA5, n * sizeof(T)));
  }
  explicit device_buffer(std::vector<T> const& values) : device_buffer(values.size()) {
    check_cuda(cudaMemcpy(data_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~device_buffer() { cudaFree(data_); }
  device_buffer(device_buffer const&) = delete;
  device_buffer& operator=(device_buffer const&) = delete;

  T* data() const { return data_; }
  /// The contents, after all work on the device is done.
  std::vector<T> host() const {
    std::vector<T> values(size_);
    check_cuda(cudaGetLastError());
    check_cuda(cudaDeviceSynchronize());
    check_cuda(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};
