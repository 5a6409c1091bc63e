// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Rotations: in which basis along K do we quantize. They cancel in a GEMM whose two operands carry the
/// same one: (A R)(B R)^T = A B^T.

#include <quadrille/detail/std.hpp>
#include <quadrille/format.hpp>
#include <quadrille/random.hpp>

QUADRILLE_EXACT_BEGIN
namespace quadrille {

/// Sign bits of up to 128 coordinates; bit i of the vector set means that coordinate i is negated.
struct sign_vector {
  u32 word[4];
  QUADRILLE_LEAF constexpr float flip(float x, int i) const {
    return detail::as_float(detail::bits_of(x) ^ (word[i >> 5] >> (i & 31)) << 31);
  }
  QUADRILLE_LEAF constexpr bool operator==(sign_vector const& other) const {
    bool equal = true;
    for (int i = 0; i < 4; ++i) equal &= word[i] == other.word[i];
    return equal;
  }
};

/// An orthogonal map of `size` consecutive elements of a row, in place, in FP32.
///   signs(seed)      what it needs to know of the seed
///   apply, invert    x[0 .. size), with those signs
template <class R>
concept block_rotation = requires(float* x, sign_vector const& s, u64 seed) {
  { R::size } -> detail::same_as<int const&>;
  { R::signs(seed) } -> detail::same_as<sign_vector>;
  R::apply(x, s);
  R::invert(x, s);
};

/// No rotation.
struct identity {
  static constexpr int size = 1;
  QUADRILLE_HD static constexpr sign_vector signs(u64) { return {}; }
  QUADRILLE_LEAF static constexpr void apply(float*, sign_vector const&) {}
  QUADRILLE_LEAF static constexpr void invert(float*, sign_vector const&) {}
};

namespace detail {
// 1/sqrt(2^log2), correctly rounded.
QUADRILLE_LEAF constexpr float inverse_sqrt_exp2(int log2) {
  return (log2 & 1) != 0 ? exp2i(-(log2 + 1) / 2) * 0x1.6a09e6p+0f : exp2i(-log2 / 2);
}
QUADRILLE_LEAF constexpr int log2_of(int n) { return n <= 1 ? 0 : 1 + log2_of(n / 2); }

// x H, H Sylvester's Hadamard matrix, as log2(N) butterfly stages of stride 1, 2, 4, ...
// This order of additions is part of the numeric contract.
template <int N, int Stride = 1>
QUADRILLE_HD constexpr void hadamard_stages(float* x) {
  for (int base = 0; base < N; base += 2 * Stride)
    for (int i = base; i < base + Stride; ++i) {
      float const a = x[i];
      float const b = x[i + Stride];
      x[i] = add(a, b);
      x[i + Stride] = sub(a, b);
    }
  if constexpr (2 * Stride < N) hadamard_stages<N, 2 * Stride>(x);
}
// x H / sqrt(N).
template <int N>
QUADRILLE_HD constexpr void hadamard_transform(float* x) {
  hadamard_stages<N>(x);
  constexpr float norm = inverse_sqrt_exp2(log2_of(N));
  for (int i = 0; i < N; ++i) x[i] = mul(x[i], norm);
}
}  // namespace detail

/// Where the signs of a random Hadamard rotation come from.
/// The vector published with the NVFP4 pretraining recipe (arXiv 2509.25149; Transformer Engine),
/// + + + - + - - - - - - + - + - -, repeated every 16 coordinates.
struct published_signs {
  static constexpr bool is_seeded = false;
  QUADRILLE_HD static constexpr sign_vector draw(u64) {
    constexpr u32 twice = 0xD7E8D7E8u;
    return {{twice, twice, twice, twice}};
  }
};
/// No signs: the plain Hadamard matrix.
struct no_signs {
  static constexpr bool is_seeded = false;
  QUADRILLE_HD static constexpr sign_vector draw(u64) { return {}; }
};
/// Drawn from the rotation seed of the call, the same vector for every block. Both operands of a GEMM
/// must be quantized with the same seed.
struct seeded_signs {
  QUADRILLE_HD static constexpr sign_vector draw(u64 seed) {
    philox_block const random = philox4x32({{0, 0, 0, 0x7369676e}}, seed);  // a stream of its own
    return {{random.word[0], random.word[1], random.word[2], random.word[3]}};
  }
};

namespace detail {
template <int N>
QUADRILLE_HD consteval int checked_hadamard_size() {
  constexpr bool exists = 2 <= N && N <= 128 && (N & (N - 1)) == 0;
  static_assert(
      exists,
      "quadrille: there is no Hadamard rotation of this size; it is a power of two from 2 to "
      "128, write random_hadamard<16>");
  return exists ? N : 1;
}
}  // namespace detail

/// y = x diag(signs) H / sqrt(N) on each N consecutive elements of a row, N = 2 .. 128 a power of two.
/// The signs act first: after H they would only flip finished coordinates. FP32 intermediates: where
/// |x| exceeds FLT_MAX / N the sums may overflow, and the group is poisoned.
template <int N, class Signs = published_signs>
struct random_hadamard {
  static constexpr int size = detail::checked_hadamard_size<N>();
  QUADRILLE_HD static constexpr sign_vector signs(u64 seed) { return Signs::draw(seed); }
  QUADRILLE_HD static constexpr void apply(float* x, sign_vector const& s) {
    for (int i = 0; i < N; ++i) x[i] = s.flip(x[i], i);
    detail::hadamard_transform<N>(x);
  }
  QUADRILLE_HD static constexpr void invert(float* y, sign_vector const& s) {
    detail::hadamard_transform<N>(y);
    for (int i = 0; i < N; ++i) y[i] = s.flip(y[i], i);
  }
};

/// The plain Hadamard rotation.
template <int N>
using hadamard = random_hadamard<N, no_signs>;

/// A rotation whose result is rounded to BF16, as Transformer Engine does between its two kernels.
template <block_rotation R>
struct bf16_rounded : R {
  QUADRILLE_HD static constexpr void apply(float* x, sign_vector const& s) {
    R::apply(x, s);
    for (int i = 0; i < R::size; ++i) x[i] = detail::round_to_bf16(x[i]);
  }
};

static_assert(block_rotation<identity> && block_rotation<random_hadamard<16>>);

}  // namespace quadrille
QUADRILLE_EXACT_END
