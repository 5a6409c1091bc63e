#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Installs what the tests need, builds them in build/tests and runs them. Arguments go to ctest.
set -eu
cd "$(dirname "$0")/.."
. cmake/packages.sh

needs g++ has "${CXX:-c++}"
needs cmake has cmake
needs ninja-build has_either ninja make
needs catch2 has_header catch2/catch.hpp catch2/catch_all.hpp
needs nlohmann-json3-dev has_header nlohmann/json.hpp
wants clang has clang++
wants g++-aarch64-linux-gnu has aarch64-linux-gnu-g++
wants qemu-user has qemu-aarch64
wants libcli11-dev has_header CLI/CLI.hpp
wants libfmt-dev has_header fmt/format.h
wants libbenchmark-dev has_header benchmark/benchmark.h
install_missing

if has ninja >/dev/null; then
  export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"
fi
jobs=$(nproc)

# Examples and benchmarks are built too, so that they cannot rot; with nvcc, so is all CUDA code, for
# every architecture.
cmake -S . -B build/tests -DCMAKE_COMPILE_WARNING_AS_ERROR=ON
cmake --build build/tests --parallel "$jobs"
ctest --test-dir build/tests --output-on-failure --parallel "$jobs" "$@"
