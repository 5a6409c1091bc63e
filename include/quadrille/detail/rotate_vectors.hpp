// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Hadamard rotations in the vectors that the translation unit is compiled for.
///
/// A butterfly inside a vector exchanges lanes: lane i becomes x[i ^ stride] + (+-x[i]), the sign minus
/// where i has the stride's bit. That is a + b and a - b of rotation.hpp, so not a bit differs.

#include <cstring>

#include <quadrille/detail/rotate_groups.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille::detail {

/// Floats in a vector.
inline constexpr int vector_lanes = QUADRILLE_VECTOR_BYTES / 4;

template <int... I>
struct indices {};
template <int N, int... I>
struct count_indices : count_indices<N - 1, N - 1, I...> {};
template <int... I>
struct count_indices<0, I...> {
  using type = indices<I...>;
};
/// indices<0, 1, .., N - 1>.
template <int N>
using make_indices = typename count_indices<N>::type;

/// Vectors of `Lanes` floats and words.
template <int Lanes>
struct lanes {
  typedef float floats __attribute__((vector_size(4 * Lanes)));
  typedef u32 words __attribute__((vector_size(4 * Lanes)));

  // Bit 31 of the lanes whose index has the bits of `stride`.
  template <int Stride>
  static words upper() {
    u32 bits[Lanes];
    for (int i = 0; i < Lanes; ++i) bits[i] = (i & Stride) != 0 ? 0x80000000u : 0u;
    words w;
    std::memcpy(&w, bits, sizeof w);
    return w;
  }
  template <int Stride, int... I>
  static floats exchanged(floats x, indices<I...>) {
    return __builtin_shufflevector(x, x, (I ^ Stride)...);
  }
  // The butterfly of this stride, and those of all smaller ones before it.
  template <int Stride>
  static floats butterflies(floats x) {
    if constexpr (Stride > 1) x = butterflies<Stride / 2>(x);
    return exchanged<Stride>(x, make_indices<Lanes>{}) + floats(words(x) ^ upper<Stride>());
  }
};

// x H / sqrt(N) of one group; N is at least 2. `signs` are applied before if First, else after.
template <int N, bool First>
QUADRILLE_LEAF void transform_group(float* x, u32 const* signs) {
  constexpr int width = min(N, vector_lanes);
  constexpr int vectors = N / width;
  using floats = typename lanes<width>::floats;
  using words = typename lanes<width>::words;
  floats v[vectors];
  for (int i = 0; i < vectors; ++i) std::memcpy(&v[i], x + i * width, sizeof v[i]);
  if constexpr (First)
    for (int i = 0; i < vectors; ++i) {
      words s;
      std::memcpy(&s, signs + i * width, sizeof s);
      v[i] = floats(words(v[i]) ^ s);
    }
  for (int i = 0; i < vectors; ++i) v[i] = lanes<width>::template butterflies<width / 2>(v[i]);
  for (int stride = 1; stride < vectors; stride *= 2)
    for (int i = 0; i < vectors; ++i)
      if ((i & stride) == 0) {
        floats const a = v[i];
        floats const b = v[i + stride];
        v[i] = a + b;
        v[i + stride] = a - b;
      }
  constexpr float norm = inverse_sqrt_exp2(log2_of(N));
  for (int i = 0; i < vectors; ++i) v[i] *= norm;
  if constexpr (!First)
    for (int i = 0; i < vectors; ++i) {
      words s;
      std::memcpy(&s, signs + i * width, sizeof s);
      v[i] = floats(words(v[i]) ^ s);
    }
  for (int i = 0; i < vectors; ++i) std::memcpy(x + i * width, &v[i], sizeof v[i]);
}

template <int N, class Signs>
struct group_rotation<random_hadamard<N, Signs>> {
  template <class T>
  static void load(T const* __restrict from, float* __restrict x, i64 n, sign_vector const& s) {
    constexpr int line = max(1, int(64 / sizeof(T)));
    u32 signs[N];
    for (int i = 0; i < N; ++i) signs[i] = bits_of(s.flip(0.f, i));
    for (i64 i = 0; i < n; i += N) {
      // The next n values, a group at a time: all at once would wait for one another.
      for (int k = 0; k < N; k += line) __builtin_prefetch(from + n + i + k);
      for (int k = 0; k < N; ++k) x[i + k] = static_cast<float>(from[i + k]);
      transform_group<N, true>(x + i, signs);
    }
  }
  static void apply(float* x, i64 n, sign_vector const& s) { transform<true>(x, n, s); }
  static void invert(float* x, i64 n, sign_vector const& s) { transform<false>(x, n, s); }

 private:
  template <bool First>
  static void transform(float* x, i64 n, sign_vector const& s) {
    u32 signs[N];
    for (int i = 0; i < N; ++i) signs[i] = bits_of(s.flip(0.f, i));
    for (i64 i = 0; i < n; i += N) transform_group<N, First>(x + i, signs);
  }
};

}  // namespace quadrille::detail
QUADRILLE_EXACT_END
