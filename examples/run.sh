#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Installs what examples/compare needs, builds it in build/examples and runs it: with the arguments
# given, or on the data shipped here. Needs no GPU.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/cmake/packages.sh"

needs g++ has "${CXX:-c++}"
needs cmake has cmake
needs ninja-build has_either ninja make
needs libcli11-dev has_header CLI/CLI.hpp
needs nlohmann-json3-dev has_header nlohmann/json.hpp
needs libfmt-dev has_header fmt/format.h
install_missing

if has ninja >/dev/null; then
  export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
fi
build=$root/build/examples
{
  cmake -S "$root" -B "$build" -DQUADRILLE_BUILD_TESTS=OFF -DQUADRILLE_BUILD_BENCH=OFF -DQUADRILLE_CUDA=OFF
  cmake --build "$build" --target compare --parallel "$(nproc)"
} >&2

if [ $# -eq 0 ]; then
  cd "$root"
  set -- examples/data/minilm.safetensors.index.json --report build/compare.html --json build/compare.json
fi
exec "$build/examples/compare" "$@"
