// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Where GPU work runs, and what is checked before a launch.
///
/// Kernels are static, and the functions that launch them have hidden visibility: two shared libraries
/// compiled for different GPUs must not share either, or one of them launches code that it does not hold.

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include <cuda_runtime.h>

#include <quadrille/arch/target.hpp>
#include <quadrille/detail/check.hpp>
#include <quadrille/detail/std.hpp>

namespace quadrille {

/// Work is enqueued on `stream`. It runs on the device of the data, whichever device is current; the stream
/// must be of that device.
struct stream_policy {
  cudaStream_t stream = nullptr;
};
[[nodiscard]] inline stream_policy on(cudaStream_t stream) { return {stream}; }

/// A CUDA call failed; nothing was enqueued by the call that throws it.
class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t status, std::string const& what)
      : std::runtime_error(what), status_(status) {}
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

/// Device memory that a call may use until its work on the stream is done. The *_workspace functions
/// say how much; less, or none, is refused.
struct workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

namespace detail {
inline void check_cuda(cudaError_t status, char const* doing) {
  if (status == cudaSuccess) return;
  std::string what = std::string("quadrille: ") + doing + " failed: " + cudaGetErrorString(status);
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction)
    what +=
        "; the program holds no code for this GPU, compile with -arch=native or name its "
        "architecture";
  if (status == cudaErrorInvalidResourceHandle)
    what +=
        "; the stream belongs to another device than the data, pass a stream of the data's device";
  throw cuda_error(status, what);
}

/// Makes the device that `data` belongs to current, and the caller's current again at the end.
class device_scope {
 public:
  explicit device_scope(void const* data) {
    check_cuda(cudaGetDevice(&previous_), "asking for the current device");
    device_ = previous_;
    cudaPointerAttributes found{};
    if (data != nullptr) {
      check_cuda(cudaPointerGetAttributes(&found, data), "asking where a pointer points");
      if (found.type == cudaMemoryTypeDevice) device_ = found.device;
    }
    if (device_ != previous_) check_cuda(cudaSetDevice(device_), "selecting the data's device");
  }
  /// Throws cuda_error if work on the data cannot be enqueued there: a launch on a stream of another device may run
  /// on that device, which cannot reach the data.
  device_scope(void const* data, stream_policy where) : device_scope(data) {
    if (where.stream == nullptr || where.stream == cudaStreamLegacy ||
        where.stream == cudaStreamPerThread)
      return;  // the current device's
    cudaStreamCaptureStatus capture{};
    check_cuda(cudaStreamIsCapturing(where.stream, &capture),
               "asking whether a stream is captured");
    if (capture != cudaStreamCaptureStatusNone) return;  // it cannot be asked
    int device = device_;
    check_cuda(cudaStreamGetDevice(where.stream, &device), "asking for a stream's device");
    if (device != device_) check_cuda(cudaErrorInvalidResourceHandle, "enqueueing work");
  }
  ~device_scope() {
    if (device_ != previous_) cudaSetDevice(previous_);
  }
  device_scope(device_scope const&) = delete;
  device_scope& operator=(device_scope const&) = delete;

  /// Throws if kernels on this device cannot reach what p points to. `name` is the argument.
  void require_reachable(void const* p, char const* name) const {
    if (p == nullptr) return;
    cudaPointerAttributes found{};
    check_cuda(cudaPointerGetAttributes(&found, p), "asking where a pointer points");
    if (found.type == cudaMemoryTypeDevice && found.device != device_)
      throw error(std::string("quadrille: ") + name + " is memory of device " +
                  std::to_string(found.device) + ", the result of device " +
                  std::to_string(device_) + "; a call works on one device, copy it there");
    if (found.type == cudaMemoryTypeUnregistered) {
      int pageable = 0;
      check_cuda(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device_),
                 "asking for a device attribute");
      if (pageable == 0)
        throw error(std::string("quadrille: ") + name +
                    " is host memory; kernels read and write device memory, copy it to the device "
                    "or pass quadrille::host");
    }
  }

 private:
  int previous_ = 0;
  int device_ = 0;
};

/// What a launch may ask for: clusters of so many thread blocks; or that the kernel may start while the one before it
/// ends, since it waits by itself.
inline cudaLaunchAttribute in_clusters(unsigned blocks) {
  cudaLaunchAttribute result{};
  result.id = cudaLaunchAttributeClusterDimension;
  result.val.clusterDim = {blocks, 1, 1};
  return result;
}
inline cudaLaunchAttribute starting_early(bool may_start = true) {
  cudaLaunchAttribute result{};
  if (!may_start) return result;  // ignored
  result.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  result.val.programmaticStreamSerializationAllowed = 1;
  return result;
}

/// What a kernel that is starting_early() does before it reads or writes global memory: waits for what comes before
/// in the stream, and lets what comes after take the multiprocessors as they become free.
__device__ __forceinline__ void wait_for_earlier_work() {
  if constexpr (target::compute_capability >= 90) {
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
  }
}

#pragma GCC visibility push(hidden)
/// Enqueues kernel<<<grid, threads, shared>>>(arguments...) with attributes.
template <class... Parameters, class... Arguments>
void launch_with(std::initializer_list<cudaLaunchAttribute> attributes, stream_policy where,
                 void (*kernel)(Parameters...), dim3 grid, unsigned threads, std::size_t shared,
                 Arguments const&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = where.stream;
  config.attrs = const_cast<cudaLaunchAttribute*>(attributes.begin());
  config.numAttrs = unsigned(attributes.size());
  check_cuda(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), "launching a kernel");
}
template <class... Parameters, class... Arguments>
void launch(stream_policy where, void (*kernel)(Parameters...), dim3 grid, unsigned threads,
            std::size_t shared, Arguments const&... arguments) {
  launch_with({}, where, kernel, grid, threads, shared, arguments...);
}

/// Whether what the current device runs of a kernel was compiled for sm_90 or newer, where kernels can wait.
template <class... Parameters>
bool is_for_sm_90(void (*kernel)(Parameters...)) {
  cudaFuncAttributes code{};
  check_cuda(cudaFuncGetAttributes(&code, kernel), "asking for a kernel");
  return code.ptxVersion >= 90;
}
/// Enqueues a kernel that may start while the one before it ends, if its code for this GPU is such that it waits.
template <class... Parameters, class... Arguments>
void launch_early(stream_policy where, void (*kernel)(Parameters...), dim3 grid, unsigned threads,
                  std::size_t shared, Arguments const&... arguments) {
  launch_with({starting_early(is_for_sm_90(kernel))}, where, kernel, grid, threads, shared,
              arguments...);
}

/// An attribute of the current device.
inline int device_attribute(cudaDeviceAttr attribute) {
  int device = 0;
  int value = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "asking for a device attribute");
  return value;
}

/// Thread blocks of a kernel that run at once on the current device.
template <class... Parameters>
i64 resident_blocks(void (*kernel)(Parameters...), unsigned threads, std::size_t shared) {
  int each = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, int(threads), shared),
             "asking for the occupancy of a kernel");
  return max(i64(1), i64(each) * device_attribute(cudaDevAttrMultiProcessorCount));
}
#pragma GCC visibility pop

/// Kernels count rows and columns in 32 bits, and what follows the last ones too; elements in 64.
inline void require_extents(i64 rows, i64 cols) {
  constexpr i64 most = (i64(1) << 31) - 65536;
  require(rows <= most && cols <= most,
          "the matrix has too many rows or columns for the GPU; each is less than 2^31 - 65536, "
          "quantize it in pieces with options.first_row");
}

/// A grid of `columns` x `rows` thread blocks: rows beyond what one grid axis holds go to the next.
inline dim3 grid_of(i64 columns, i64 rows) {
  i64 const y = max(i64(1), min(rows, i64(32768)));
  return dim3(unsigned(max(i64(1), columns)), unsigned(y),
              unsigned(max(i64(1), ceil_div(rows, y))));
}
}  // namespace detail

}  // namespace quadrille
