// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Rotations of many groups on end. Host only; include detail/cpu.hpp, which knows faster ones.

#include <quadrille/rotation.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

/// How to rotate many groups; the general case does them one by one. load() copies and rotates.
template <class R>
struct group_rotation {
  template <class T>
  static void load(T const* from, float* x, i64 n, sign_vector const& signs) {
    for (i64 i = 0; i < n; ++i) x[i] = static_cast<float>(from[i]);
    apply(x, n, signs);
  }
  static void apply(float* x, i64 n, sign_vector const& signs) {
    for (i64 i = 0; i < n; i += R::size) R::apply(x + i, signs);
  }
  static void invert(float* x, i64 n, sign_vector const& signs) {
    for (i64 i = 0; i < n; i += R::size) R::invert(x + i, signs);
  }
};
template <>
struct group_rotation<identity> {
  template <class T>
  static void load(T const* from, float* x, i64 n, sign_vector const&) {
    for (i64 i = 0; i < n; ++i) x[i] = static_cast<float>(from[i]);
  }
  static void apply(float*, i64, sign_vector const&) {}
  static void invert(float*, i64, sign_vector const&) {}
};

template <class R>
struct group_rotation<bf16_rounded<R>> : group_rotation<R> {
  template <class T>
  static void load(T const* from, float* x, i64 n, sign_vector const& signs) {
    group_rotation<R>::load(from, x, n, signs);
    round(x, n);
  }
  static void apply(float* x, i64 n, sign_vector const& signs) {
    group_rotation<R>::apply(x, n, signs);
    round(x, n);
  }

 private:
  static void round(float* x, i64 n) {
    for (i64 i = 0; i < n; ++i) x[i] = round_to_bf16(x[i]);
  }
};

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
