// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Prints the E2M1 codes of every midpoint: ties go to the even code (case RND-01).

#include <quadrille/quadrille.hpp>

#include <cstdio>
#include <cstring>
#include <initializer_list>

int main() {
  char line[64] = "";
  for (float sign : {1.0f, -1.0f})
    for (float x : {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f}) {
      char code[8];
      std::snprintf(code, sizeof code, "%X ", quadrille::e2m1::encode(sign * x));
      std::strcat(line, code);
    }
  std::puts(line);
  return std::strcmp(line, "0 2 2 4 4 6 6 8 A A C C E E ") == 0 ? 0 : 1;
}
