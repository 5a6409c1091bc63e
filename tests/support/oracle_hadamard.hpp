// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Hadamard rotation by its definition: y = H D x / sqrt(n), with D = diag(signs) applied first and
/// H[i][j] = (-1)^popcount(i AND j) (Sylvester order). H is symmetric, so x*D*H is the same thing.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace oracle {

/// The entry of the n x n Sylvester matrix, by its recursion on halves.
inline int sylvester(std::size_t i, std::size_t j, std::size_t n) {
  if (n == 1) return 1;
  std::size_t const half = n / 2;
  int const inner = sylvester(i % half, j % half, half);
  return i >= half && j >= half ? -inner : inner;
}

/// The sixteen signs published with NVFP4 training (mask 0xD7E8, bit i set where sign i is -1).
inline std::vector<int> published_signs() {
  return {+1, +1, +1, -1, +1, -1, -1, -1, -1, -1, -1, +1, -1, +1, -1, -1};
}

/// Signs from a mask: bit i set means -1.
inline std::vector<int> signs_from_mask(std::uint64_t mask, std::size_t n) {
  std::vector<int> signs;
  for (std::size_t i = 0; i < n; ++i, mask /= 2) signs.push_back(mask % 2 == 1 ? -1 : 1);
  return signs;
}

inline std::vector<int> no_signs(std::size_t n) { return std::vector<int>(n, 1); }

/// Rotates consecutive groups of `signs.size()` values; the group size is a power of two.
inline std::vector<double> rotate(std::vector<double> const& x, std::vector<int> const& signs) {
  std::size_t const n = signs.size();
  if (n == 0 || x.size() % n != 0) throw std::invalid_argument("oracle: ragged rotation");
  std::vector<double> y;
  for (std::size_t start = 0; start < x.size(); start += n)
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += x[start + i] * signs[i] * sylvester(i, j, n);
      y.push_back(sum / std::sqrt(static_cast<double>(n)));
    }
  return y;
}

/// Undoes `rotate`: transform again, then apply the signs.
inline std::vector<double> rotate_back(std::vector<double> const& y,
                                       std::vector<int> const& signs) {
  std::vector<double> x = rotate(y, no_signs(signs.size()));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= signs[i % signs.size()];
  return x;
}

}  // namespace oracle
