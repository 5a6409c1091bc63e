#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds the GPU benchmark for this machine's GPU and runs it; the JSON goes to
# bench/results/<gpu>/. Then writes README.md's tables and the chart from it. Leave the GPU alone
# meanwhile. With arguments it keeps nothing: sh bench/run_gpu.sh --benchmark_filter=hadamard
set -eu
cd "$(dirname "$0")/.."

cmake -S . -B build/bench_gpu -DQUADRILLE_BUILD_TESTS=OFF -DQUADRILLE_BUILD_EXAMPLES=OFF \
  -DQUADRILLE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${QUADRILLE_ARCHITECTURES:-native}"
cmake --build build/bench_gpu --target quantize_gpu_bench_cuda
bench=build/bench_gpu/bench/quantize_gpu_bench_cuda
if [ $# -gt 0 ]; then
  exec "$bench" "$@"
fi

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 |
  sed 's/^NVIDIA //' | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' -)
results=bench/results/$gpu
mkdir -p "$results"
"$bench" --benchmark_out_format=json --benchmark_out="$results/quantize_gpu_bench.json"
python3 bench/tables.py
