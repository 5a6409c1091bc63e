// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Time of GPU work, beside a device-to-device copy and a second operation, interleaved in one run
/// so that all of them see the same clocks.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

#include <quadrille/random.hpp>

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

// Four normal numbers a thread.
template <class T>
static __global__ void normal_kernel(T* to, std::int64_t count, unsigned seed) {
  std::int64_t const at = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (at >= count) return;
  quadrille::philox_block const random =
      quadrille::philox4x32({{unsigned(at), unsigned(at >> 32), 0, 0}}, seed);
  for (int pair = 0; pair < 4; pair += 2) {
    float const radius = sqrtf(-2 * logf((float(random.word[pair]) + 0.5f) * 0x1p-32f));
    float sine, cosine;
    sincospif(2 * float(random.word[pair + 1]) * 0x1p-32f, &sine, &cosine);
    to[at + pair] = T(radius * sine);
    to[at + pair + 1] = T(radius * cosine);
  }
}
/// `count` normal numbers, a multiple of 4.
template <class T>
void fill_normal(T* to, std::int64_t count, unsigned seed, cudaStream_t stream) {
  normal_kernel<<<unsigned((count + 1023) / 1024), 256, 0, stream>>>(to, count, seed);
  check(cudaGetLastError());
}

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

/// A GPU that has just multiplied for a while runs at a lower clock: what came before must not count.
inline void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(500)); }

/// Nothing waits between the repetitions: the host stays ahead, and the GPU is never idle.
inline times measure(cudaStream_t stream, operation const& work, operation const& base,
                     int slices) {
  bool const has_base = bool(base.enqueue);
  operation const copy = device_copy(stream);
  rest();
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

/// Seconds of each operation, the median over repetitions that take turns, forwards and backwards.
inline std::vector<double> in_turns(cudaStream_t stream, std::vector<operation> const& all) {
  rest();
  std::vector<std::unique_ptr<series>> spans;
  for (std::size_t i = 0; i < all.size(); ++i)
    spans.push_back(std::make_unique<series>(repetitions));
  for (int r = 0; r < repetitions; ++r)
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t const which = r % 2 == 0 ? i : all.size() - 1 - i;
      (*spans[which])[r].enqueue(stream, all[which], 1);
    }
  check(cudaStreamSynchronize(stream));
  std::vector<double> seconds;
  for (auto const& of : spans) seconds.push_back(of->median_seconds(warm_up));
  return seconds;
}

// Four numbers of 16 bytes a thread and turn, so that many reads are under way.
static __global__ void read_kernel(uint4 const* from, std::size_t count, unsigned* to) {
  std::size_t const step = std::size_t(gridDim.x) * blockDim.x;
  unsigned all = 0;
  for (std::size_t i = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; i + 3 * step < count;
       i += 4 * step)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      uint4 const x = __ldcs(from + i + j * step);
      all ^= x.x ^ x.y ^ x.z ^ x.w;
    }
  if (all == 0x12345678) *to = all;
}
/// Reads 4 GiB.
inline operation device_read(cudaStream_t stream) {
  constexpr std::size_t bytes = std::size_t(4) << 30;
  static device_array<unsigned char> const from(bytes);
  static device_array<unsigned> const to(1);
  return {[stream](int) {
            read_kernel<<<132 * 16, 512, 0, stream>>>(reinterpret_cast<uint4 const*>(from.data()),
                                                      bytes / 16, to.data());
            check(cudaGetLastError());
          },
          double(bytes)};
}

}  // namespace gpu_timing
