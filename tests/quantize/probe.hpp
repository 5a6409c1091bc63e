// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One block through one scale hierarchy, without the rest of a recipe.

#include <cmath>
#include <limits>
#include <vector>

#include <quadrille/scale.hpp>

#include "quantize/matrix.hpp"
#include "support/catch.hpp"
#include "support/oracle.hpp"

namespace test {

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline float below(float x) { return std::nextafter(x, 0.0f); }
inline float above(float x) { return std::nextafter(x, inf); }

/// What hierarchy S chooses for a block: .stored and .to_grid.
template <class S, class E = quadrille::e2m1>
auto choose(floats const& x, quadrille::outer_scale const& outer = {}) {
  return S::template choose<E>({x.data(), int(x.size()), oracle::amax_finite(x)}, outer);
}

/// The stored scale of a block that holds only `amax`.
template <class S, class E = quadrille::e2m1>
int stored(float amax, quadrille::outer_scale const& outer = {}) {
  return int(choose<S, E>({amax}, outer).stored);
}

template <class S, class E = quadrille::e2m1>
std::vector<int> stored(floats const& amaxes) {
  std::vector<int> result;
  for (float const a : amaxes) result.push_back(stored<S, E>(a));
  return result;
}

/// Codes of a block under the scale that S chooses, to nearest even.
template <class S, class E = quadrille::e2m1>
std::vector<unsigned> codes(floats const& x, quadrille::outer_scale const& outer = {}) {
  auto const chosen = choose<S, E>(x, outer);
  std::vector<unsigned> result;
  for (std::size_t i = 0; i < x.size(); ++i)
    result.push_back(E::template encode<quadrille::nearest_even>(chosen.to_grid(x[i], int(i))));
  return result;
}

/// What the block decodes to.
template <class S, class E = quadrille::e2m1>
floats decoded(floats const& x, quadrille::outer_scale const& outer = {}) {
  using code = typename S::stored;
  auto const decoder = S::decoder(static_cast<code>(choose<S, E>(x, outer).stored), outer.decode);
  floats result;
  for (unsigned const c : codes<S, E>(x, outer))
    result.push_back(decoder(E::decode(c), int(result.size())));
  return result;
}

/// `n` positive values with exponents from `lowest` to below `highest`.
inline floats spread_of_magnitudes(std::size_t n, u64 seed, int lowest, int highest) {
  inputs::splitmix64 random(seed);
  floats x;
  for (std::size_t i = 0; i < n; ++i) {
    int const exponent = lowest + int(random.below(std::size_t(highest - lowest)));
    float const significand = 1.0f + float(random.next() >> 41) * 0x1p-23f;
    x.push_back(std::ldexp(significand, exponent));
  }
  return x;
}

}  // namespace test
