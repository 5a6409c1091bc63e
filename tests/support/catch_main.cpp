// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The main function of every host test, compiled once.

#define CATCH_CONFIG_RUNNER
#include "catch.hpp"

int main(int argc, char** argv) {
  // Catch returns the number of failures, and 77 of them must not read as "skipped".
  return Catch::Session().run(argc, argv) == 0 ? 0 : 1;
}
