# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Fails when the vcpkg port states another version than the project. (The Conan recipe reads the
# project's.)

file(READ "${SOURCE_DIR}/cmake/vcpkg/vcpkg.json" port)
string(JSON stated GET "${port}" version)
if(NOT stated STREQUAL VERSION)
  message(FATAL_ERROR "cmake/vcpkg/vcpkg.json states ${stated}; the project is ${VERSION}")
endif()
