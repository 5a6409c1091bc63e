#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds the GPU benchmarks for this machine's GPU and runs them; the JSON goes to
# bench/results/<gpu>/. Then writes README.md's tables and the charts from it. Leave the GPU alone
# meanwhile. With arguments, the first names a benchmark and nothing is kept:
#   sh bench/run_gpu.sh quantize --benchmark_filter=hadamard
#   sh bench/run_gpu.sh gemm --benchmark_filter=decode
set -eu
cd "$(dirname "$0")/.."

# Tensor cores newer than Ampere's are for code of exactly their architecture.
compute=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
case $compute in
  90 | 100 | 103 | 120) compute=${compute}a ;;
esac
cmake -S . -B build/bench_gpu -DQUADRILLE_BUILD_TESTS=OFF -DQUADRILLE_BUILD_EXAMPLES=OFF \
  -DQUADRILLE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${QUADRILLE_ARCHITECTURES:-$compute}"
if [ $# -gt 0 ]; then
  bench=$1
  shift
  cmake --build build/bench_gpu --target "${bench}_gpu_bench_cuda"
  exec "build/bench_gpu/bench/${bench}_gpu_bench_cuda" "$@"
fi

gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 |
  sed 's/^NVIDIA //' | tr 'A-Z' 'a-z' | tr -cs 'a-z0-9\n' -)
results=bench/results/$gpu
mkdir -p "$results"
for bench in quantize gemm; do
  cmake --build build/bench_gpu --target "${bench}_gpu_bench_cuda"
  "build/bench_gpu/bench/${bench}_gpu_bench_cuda" --benchmark_out_format=json \
    --benchmark_out="$results/${bench}_gpu_bench.json"
done
python3 bench/tables.py
