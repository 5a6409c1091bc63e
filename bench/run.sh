#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Builds the host benchmarks and runs each with interleaved repetitions; the JSON goes to
# bench/results/<processor>/. Then writes README.md's tables from it. Leave the machine alone meanwhile.
# With QUADRILLE_GGML, the source folder of a ggml built in its subfolder `build`, also compares with ggml.
set -eu
cd "$(dirname "$0")/.."

processor=$(lscpu | awk -F': *' '
  /^Model name/ { name = $2 } /^CPU family/ { family = $2 } /^Model:/ { model = $2 }
  END { print tolower(name "-family" family "-model" model) }' | tr -cs 'a-z0-9\n' -)
results=bench/results/$processor
mkdir -p "$results"

cmake -S . -B build/bench -DQUADRILLE_BUILD_TESTS=OFF -DQUADRILLE_BUILD_EXAMPLES=OFF \
  -DQUADRILLE_GGML="${QUADRILLE_GGML:-}"
cmake --build build/bench --parallel "$(nproc)"

for bench in build/bench/bench/*_bench build/bench/bench/*_bench_v3 build/bench/bench/*_bench_native; do
  name=$(basename "$bench")
  case $name in *_cuda*) continue ;; esac
  echo "== $name"
  "$bench" --benchmark_repetitions=7 --benchmark_min_time=0.05 \
    --benchmark_enable_random_interleaving=true --benchmark_report_aggregates_only=true \
    --benchmark_out_format=json --benchmark_out="$results/$name.json"
done
python3 bench/tables.py
