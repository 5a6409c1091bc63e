// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The whole library, for nvcc: the host part, quantization and GEMM on the GPU.

#include <quadrille/cuda/device_quantized.cuh>
#include <quadrille/cuda/gemm.cuh>
#include <quadrille/cuda/quantize.cuh>
#include <quadrille/device.cuh>
#include <quadrille/quadrille.hpp>
