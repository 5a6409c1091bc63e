// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Linked into the GPU tests: where there is no GPU they end before main, as skipped (exit code 77).

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>

namespace {

bool find_gpu() {
  int devices = 0;
  cudaError_t const status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return true;
  std::printf("skipped: no CUDA device (%s)\n", cudaGetErrorString(status));
  std::exit(77);
}

[[maybe_unused]] bool const has_gpu = find_gpu();

}  // namespace
