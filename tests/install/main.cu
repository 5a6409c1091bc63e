// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The umbrella header in nvcc, with the same cast in a kernel.

#include <quadrille/quadrille.cuh>

__global__ void encode(float const* x, quadrille::u8* code) {
  code[threadIdx.x] = quadrille::e2m1::encode(x[threadIdx.x]);
}

int main() {
  encode<<<1, 1>>>(nullptr, nullptr);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
