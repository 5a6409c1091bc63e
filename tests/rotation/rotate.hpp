// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the tests of rotations share: a rotation as a function of a vector.

#include <vector>

#include <quadrille/rotation.hpp>

namespace rotations {

using namespace quadrille;
using floats = std::vector<float>;

template <class Rotation>
floats rotate(floats x, u64 seed = 0) {
  Rotation::apply(x.data(), Rotation::signs(seed));
  return x;
}

template <class Rotation>
floats rotate_back(floats y, u64 seed = 0) {
  Rotation::invert(y.data(), Rotation::signs(seed));
  return y;
}

/// Coordinate i is 1, the others 0.
inline floats unit(std::size_t n, std::size_t i) {
  floats x(n);
  x[i] = 1;
  return x;
}

}  // namespace rotations
