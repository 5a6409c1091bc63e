#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What including a header costs: seconds (best of five) and preprocessed lines, per compiler.
#   sh bench/compile_time.sh [HEADER...]
# A table to look at, not a test: the machine decides the numbers.
set -eu
cd "$(dirname "$0")/../include"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if [ $# -eq 0 ]; then
  # shellcheck disable=SC2046  # names without spaces
  set -- $(find quadrille -name '*.hpp' -o -name '*.cuh' | LC_ALL=C sort)
fi

best_of_five() {
  best=
  for _ in 1 2 3 4 5; do
    start=$(date +%s%N)
    "$@" >/dev/null 2>&1 || { echo "does not compile"; return; }
    took=$((($(date +%s%N) - start) / 1000000))
    if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
  done
  echo "$best" | awk '{ printf "%.2f s", $1 / 1000 }'
}

printf '%-36s %10s %18s %18s %18s\n' header lines g++ clang++ nvcc
for header in "" "$@"; do
  unit=$dir/unit.cpp
  echo "${header:+#include <$header>}" >"$unit"
  lines=- gxx=- clang=- nvcc=-
  case $header in
    *.cuh) ;;
    *)
      if command -v g++ >/dev/null; then
        lines=$(g++ -std=c++20 -I. -E -P "$unit" | wc -l)
        gxx=$(best_of_five g++ -std=c++20 -I. -fsyntax-only "$unit")
      fi
      if command -v clang++ >/dev/null; then
        clang=$(best_of_five clang++ -std=c++20 -I. -fsyntax-only "$unit")
      fi
      ;;
  esac
  if command -v nvcc >/dev/null; then
    nvcc=$(best_of_five nvcc -std=c++20 -I. -arch=sm_90a -x cu -c "$unit" -o "$dir/unit.o")
  fi
  printf '%-36s %10s %18s %18s %18s\n' "${header:-(empty file)}" "$lines" "$gxx" "$clang" "$nvcc"
done
