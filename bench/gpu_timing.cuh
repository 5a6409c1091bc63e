// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Time of GPU work, beside a device-to-device copy and a second operation, interleaved in one run
/// so that all of them see the same clocks.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace gpu_timing {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

template <class T>
class device_array {
 public:
  explicit device_array(std::size_t count) { check(cudaMalloc(&data_, count * sizeof(T))); }
  ~device_array() { cudaFree(data_); }
  device_array(device_array const&) = delete;
  device_array& operator=(device_array const&) = delete;
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Work that is measured: enqueue(i) launches it on slice i of the data.
struct operation {
  std::function<void(int)> enqueue;
  /// Bytes that one launch must move: what it reads, once, and what it writes.
  double bytes = 0;
};

inline double median(std::vector<double> values) {
  auto const middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Two events around some launches of one operation.
class span {
 public:
  span() {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~span() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  span(span const&) = delete;
  span& operator=(span const&) = delete;

  /// The launch before the first event leaves caches and write queues as the others do.
  void enqueue(cudaStream_t stream, operation const& work, int slices) {
    work.enqueue(slices - 1);
    check(cudaEventRecord(begin_, stream));
    for (int i = 0; i < slices; ++i) work.enqueue(i);
    check(cudaEventRecord(end_, stream));
  }
  double seconds() const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// Medians of the spans of one operation.
class series {
 public:
  explicit series(int repetitions) : spans_(std::size_t(repetitions)) {}
  span& operator[](int repetition) { return spans_[std::size_t(repetition)]; }
  double median_seconds(int warm_up) const {
    std::vector<double> seconds;
    for (auto i = std::size_t(warm_up); i < spans_.size(); ++i)
      seconds.push_back(spans_[i].seconds());
    return median(seconds);
  }

 private:
  std::vector<span> spans_;
};

/// A copy that reads and writes 1 GiB.
inline operation device_copy(cudaStream_t stream) {
  constexpr std::size_t bytes = std::size_t(1) << 30;
  static device_array<unsigned char> const from(bytes), to(bytes);
  return {[stream](int) {
            check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
          },
          2.0 * bytes};
}

/// Seconds for all slices; `base` is 0 without a base.
struct times {
  double work = 0;
  double base = 0;
  double copy = 0;
};

inline constexpr int warm_up = 3;
inline constexpr int repetitions = warm_up + 25;

/// Nothing waits between the repetitions: the host stays ahead, and the GPU is never idle.
inline times measure(cudaStream_t stream, operation const& work, operation const& base,
                     int slices) {
  bool const has_base = bool(base.enqueue);
  operation const copy = device_copy(stream);
  series works(repetitions), bases(has_base ? repetitions : 0), copies(repetitions + 1);
  for (int i = 0; i < repetitions; ++i) {
    copies[i].enqueue(stream, copy, 1);
    bool const base_first = has_base && i % 2 == 1;
    if (base_first) bases[i].enqueue(stream, base, slices);
    works[i].enqueue(stream, work, slices);
    if (has_base && !base_first) bases[i].enqueue(stream, base, slices);
  }
  copies[repetitions].enqueue(stream, copy, 1);
  check(cudaStreamSynchronize(stream));
  return {works.median_seconds(warm_up), has_base ? bases.median_seconds(warm_up) : 0,
          copies.median_seconds(warm_up)};
}

}  // namespace gpu_timing
