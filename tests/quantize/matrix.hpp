// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Input matrices for the tests, and comparisons that tell where two sequences differ.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <quadrille/quantize.hpp>
#include <quadrille/storage.hpp>

#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace test {

using quadrille::i64;
using quadrille::u32;
using quadrille::u64;
using quadrille::u8;
using floats = std::vector<float>;

struct extents {
  std::size_t rows;
  std::size_t cols;
};

/// A dense row-major matrix that owns its values.
template <class T = float>
struct matrix {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::vector<T> values;

  matrix(std::size_t r, std::size_t c) : rows(r), cols(c), values(r * c) {}
  matrix(std::size_t r, std::size_t c, std::vector<T> v) : rows(r), cols(c), values(std::move(v)) {}
  T& at(std::size_t r, std::size_t c) { return values[r * cols + c]; }
  T const& at(std::size_t r, std::size_t c) const { return values[r * cols + c]; }
  quadrille::matrix_ref<T> ref() { return {values.data(), i64(rows), i64(cols)}; }
};

inline matrix<> transpose(matrix<> const& x) {
  matrix<> t(x.cols, x.rows);
  for (std::size_t r = 0; r < x.rows; ++r)
    for (std::size_t c = 0; c < x.cols; ++c) t.at(c, r) = x.at(r, c);
  return t;
}

/// Magnitudes of a format, ascending.
inline floats grid_of(oracle::format const& f) {
  floats grid;
  for (oracle::magnitude const& m : f.positive) grid.push_back(static_cast<float>(m.value));
  return grid;
}

/// A named way to fill a matrix.
struct generator {
  char const* name;
  floats (*make)(std::size_t rows, std::size_t cols, u64 seed);
};

inline std::vector<generator> const& generators() {
  static std::vector<generator> const all{
      {"normal", [](std::size_t r, std::size_t c, u64 s) { return inputs::normal(r * c, s); }},
      {"laplace", [](std::size_t r, std::size_t c, u64 s) { return inputs::laplace(r * c, s); }},
      {"student t3",
       [](std::size_t r, std::size_t c, u64 s) { return inputs::student_t3(r * c, s, 1e-3f); }},
      {"outlier channels",
       [](std::size_t r, std::size_t c, u64 s) { return inputs::outlier_channels(r, c, s, 32); }},
      {"ties of e2m1",
       [](std::size_t r, std::size_t c, u64 s) {
         return inputs::tie_aligned(r * c, s, grid_of(oracle::e2m1()));
       }},
      {"ties of e1m2",
       [](std::size_t r, std::size_t c, u64 s) {
         return inputs::tie_aligned(r * c, s, grid_of(oracle::e1m2()), 4.0f);
       }},
      {"subnormal",
       [](std::size_t r, std::size_t c, u64 s) { return inputs::subnormal(r * c, s); }},
      {"zero blocks",
       [](std::size_t r, std::size_t c, u64 s) {
         return inputs::zero_blocks(inputs::laplace(r * c, s), 16, s + 1);
       }},
      {"non-finite",
       [](std::size_t r, std::size_t c, u64 s) {
         return inputs::sprinkle_non_finite(inputs::normal(r * c, s), s + 1, 150);
       }},
      {"bit patterns",
       [](std::size_t r, std::size_t c, u64 s) { return inputs::bit_patterns(r * c, s); }},
  };
  return all;
}

inline matrix<> normal_matrix(std::size_t rows, std::size_t cols, u64 seed, float sigma = 1.0f) {
  return {rows, cols, inputs::normal(rows * cols, seed, sigma)};
}

inline u32 bits_of(float x) {
  return std::isnan(x) ? 0x7FC00000u : std::bit_cast<std::uint32_t>(x);  // one NaN
}

/// Where two sequences first differ, bit by bit, or "" if nowhere. All NaNs are one.
template <class T>
std::string difference(std::vector<T> const& got, std::vector<T> const& want) {
  if (got.size() != want.size())
    return "sizes " + std::to_string(got.size()) + " and " + std::to_string(want.size());
  auto const same = [](T a, T b) {
    if constexpr (std::is_same_v<T, float>) return bits_of(a) == bits_of(b);
    return a == b;
  };
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!same(got[i], want[i]))
      return "at " + std::to_string(i) + ": got " + std::to_string(got[i]) + ", want " +
             std::to_string(want[i]);
  return "";
}

}  // namespace test
