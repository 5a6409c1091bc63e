// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The Hadamard matrix itself: entries, orthogonality, norm and accuracy for every size.

#include <bit>
#include <cmath>
#include <type_traits>
#include <vector>

#include "rotate.hpp"
#include "support/catch.hpp"
#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace {

using namespace rotations;

/// Calls f(std::integral_constant<int, n>) for every size that the library offers.
template <class Function>
void for_each_size(Function const& f) {
  f(std::integral_constant<int, 2>{});
  f(std::integral_constant<int, 4>{});
  f(std::integral_constant<int, 8>{});
  f(std::integral_constant<int, 16>{});
  f(std::integral_constant<int, 32>{});
  f(std::integral_constant<int, 64>{});
  f(std::integral_constant<int, 128>{});
}

/// 1/sqrt(n), rounded once.
float norm_of(std::size_t n) { return oracle::rounded(1 / std::sqrt(static_cast<long double>(n))); }

/// Row i of the matrix without its norm: entries are exactly 1 and -1, or 0 where they are not.
template <int N>
std::vector<int> matrix_row(std::size_t i) {
  float const norm = norm_of(N);
  std::vector<int> row;
  for (float const y : rotate<hadamard<N>>(unit(N, i)))
    row.push_back(y == norm ? 1 : y == -norm ? -1 : 0);
  return row;
}

int dot(std::vector<int> const& a, std::vector<int> const& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double sum_of_magnitudes(floats const& x) {
  double sum = 0;
  for (float const v : x) sum += std::fabs(static_cast<double>(v));
  return sum;
}

double energy(floats const& x) {
  double sum = 0;
  for (float const v : x) sum += static_cast<double>(v) * static_cast<double>(v);
  return sum;
}

/// Largest error that log2(n) FP32 additions and one product by a rounded constant can make.
double error_bound(floats const& x) {
  auto const n = static_cast<double>(x.size());
  return (std::log2(n) + 2) * 0x1.001p-24 * sum_of_magnitudes(x) / std::sqrt(n);
}

}  // namespace

TEST_CASE("Rotation/Hadamard.MatrixIsSylvestersAndOrthogonal (HAD-01)") {
  for_each_size([]<int N>(std::integral_constant<int, N>) {
    std::vector<std::vector<int>> h;
    for (std::size_t i = 0; i < N; ++i) h.push_back(matrix_row<N>(i));
    INFO("size " << N);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) {
        CHECK(h[i][j] == (std::popcount(i & j) % 2 == 0 ? 1 : -1));
        CHECK(dot(h[i], h[j]) == (i == j ? N : 0));
      }
  });
}

TEST_CASE("Rotation/Hadamard.TwiceIsTheIdentity (HAD-01)") {
  for_each_size([]<int N>(std::integral_constant<int, N>) {
    bool const exact = std::log2(N) == 2 * std::floor(std::log2(N) / 2);  // the norm is 2^-k
    INFO("size " << N);
    for (std::size_t i = 0; i < N; ++i) {
      floats const twice = rotate<hadamard<N>>(rotate<hadamard<N>>(unit(N, i)));
      for (std::size_t j = 0; j < N; ++j) {
        float const expected = i == j ? 1.f : 0.f;
        CHECK(std::fabs(twice[j] - expected) <= (exact ? 0 : 0x1p-22f * expected));
      }
    }
  });
}

TEST_CASE("Rotation/Hadamard.IntegersAreExactWhereTheNormIsAPowerOfTwo") {
  // Sums of integers are exact, so only the norm could round.
  auto const check = []<int N>(std::integral_constant<int, N>) {
    inputs::splitmix64 random(41);
    floats x(N);
    for (float& v : x) v = static_cast<float>(random.below(2001)) - 1000;
    std::vector<double> const exact = oracle::rotate({x.begin(), x.end()}, oracle::no_signs(N));
    floats const y = rotate<hadamard<N>>(x);
    for (std::size_t j = 0; j < N; ++j) CHECK(y[j] == exact[j]);
    CHECK(rotate_back<hadamard<N>>(y) == x);
    CHECK(energy(y) == energy(x));
  };
  check(std::integral_constant<int, 4>{});
  check(std::integral_constant<int, 16>{});
  check(std::integral_constant<int, 64>{});
}

TEST_CASE("Rotation/Hadamard.RandomInputsAreAccurate") {
  for_each_size([]<int N>(std::integral_constant<int, N>) {
    INFO("size " << N);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      floats const x = inputs::student_t3(N, 50 + seed, 10);
      std::vector<double> const exact = oracle::rotate({x.begin(), x.end()}, oracle::no_signs(N));
      floats const y = rotate<hadamard<N>>(x);
      for (std::size_t j = 0; j < N; ++j)
        CHECK(std::fabs(static_cast<double>(y[j]) - exact[j]) <= error_bound(x));
      CHECK(std::fabs(energy(y) / energy(x) - 1) < (std::log2(N) + 2) * 0x1p-22);
    }
  });
}

TEST_CASE("Rotation/Hadamard.IsLinear") {
  for_each_size([]<int N>(std::integral_constant<int, N>) {
    floats const a = inputs::normal(N, 61);
    floats const b = inputs::normal(N, 62);
    floats mixed(N);
    for (std::size_t i = 0; i < N; ++i) mixed[i] = 4 * a[i] - b[i] / 2;
    floats const ra = rotate<hadamard<N>>(a);
    floats const rb = rotate<hadamard<N>>(b);
    floats const rm = rotate<hadamard<N>>(mixed);
    double const bound = error_bound(mixed) + 4 * error_bound(a) + error_bound(b) / 2 + 0x1p-22;
    for (std::size_t i = 0; i < N; ++i) {
      double const expected = 4. * static_cast<double>(ra[i]) - static_cast<double>(rb[i]) / 2;
      CHECK(std::fabs(static_cast<double>(rm[i]) - expected) <= bound);
    }
  });
}

TEST_CASE("Rotation/Hadamard.ScalesWithPowersOfTwo") {
  floats const x = inputs::normal(16, 63);
  floats large = x;
  for (float& v : large) v *= 0x1p40f;
  floats const y = rotate<hadamard<16>>(x);
  floats const z = rotate<hadamard<16>>(large);
  for (std::size_t i = 0; i < 16; ++i) CHECK(z[i] == y[i] * 0x1p40f);
}
