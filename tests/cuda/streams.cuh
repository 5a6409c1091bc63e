// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Streams and graphs for tests.

#include "cuda/device_buffer.cuh"

namespace parity {

class own_stream {
 public:
  own_stream() { check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~own_stream() { cudaStreamDestroy(stream_); }
  own_stream(own_stream const&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// What f enqueues on the stream, captured.
class graph {
 public:
  template <class F>
  graph(cudaStream_t stream, cudaStreamCaptureMode mode, F f) {
    cudaGraph_t captured = nullptr;
    check_cuda(cudaStreamBeginCapture(stream, mode));
    f();
    check_cuda(cudaStreamEndCapture(stream, &captured));
    check_cuda(cudaGraphInstantiate(&exec_, captured, 0));
    check_cuda(cudaGraphDestroy(captured));
  }
  ~graph() { cudaGraphExecDestroy(exec_); }
  graph(graph const&) = delete;
  void replay(cudaStream_t stream) const {
    check_cuda(cudaDeviceSynchronize());  // what was copied and cleared before
    check_cuda(cudaGraphLaunch(exec_, stream));
    check_cuda(cudaStreamSynchronize(stream));
  }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

constexpr cudaStreamCaptureMode modes[] = {
    cudaStreamCaptureModeRelaxed, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal};

}  // namespace parity
