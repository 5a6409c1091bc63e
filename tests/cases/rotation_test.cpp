// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Hadamard rotations.

#include "cases.hpp"

#include <bit>
#include <cmath>

using namespace cases;

namespace {

int hadamard_sign(int i, int j) { return std::popcount(unsigned(i & j)) % 2 == 0 ? 1 : -1; }

template <int N>
void require_sylvester() {
  CAPTURE(N);
  int signs[N][N];
  float const entry = 1 / std::sqrt(float(N));
  for (int i = 0; i < N; ++i) {
    float x[N] = {};
    x[i] = 1;
    hadamard<N>::apply(x, {});
    for (int j = 0; j < N; ++j) {
      REQUIRE(std::abs(x[j]) == entry);
      signs[i][j] = x[j] > 0 ? 1 : -1;
      REQUIRE(signs[i][j] == hadamard_sign(i, j));
    }
    hadamard<N>::apply(x, {});
    for (int j = 0; j < N; ++j) REQUIRE(std::abs(x[j] - float(i == j)) <= 0x1p-23f);
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      int dot = 0;
      for (int k = 0; k < N; ++k) dot += signs[i][k] * signs[j][k];
      REQUIRE(dot == (i == j ? N : 0));
    }
}

struct rotated : nvfp4 {
  using rotation = hadamard<16>;
};
struct unscaled_rotated : unscaled {
  using rotation = hadamard<16>;
};
struct unscaled_rotated_bf16 : unscaled {
  using rotation = bf16_rounded<hadamard<16>>;
};

}  // namespace

TEST_CASE("HAD-01 every size offered is Sylvester's matrix and orthogonal") {
  require_sylvester<2>();
  require_sylvester<4>();
  require_sylvester<8>();
  require_sylvester<16>();
  require_sylvester<32>();
  require_sylvester<64>();
  require_sylvester<128>();
}

TEST_CASE("HAD-03 the tensor's amax is taken after the rotation") {
  matrix<> const x(1, 16, 1.0f);
  CHECK(amax<rotated>(host, x.ref()) == 4.f);
  auto const q = quantize<rotated>(host, x.ref());
  CHECK(q.outer()[0] == 1 / 672.f);
  CHECK(scales(q) == list{0x7E});
  CHECK(codes(q) == padded({7}));
  CHECK(decoded(q, {.rotated = true}).values == row({4}).values);
  CHECK(decoded(q).values == x.values);

  auto const before = quantize<rotated>(host, x.ref(), {.amax = 1.0f});  // the fault
  CHECK(decoded(before, {.rotated = true}).values == row({1}).values);
}

TEST_CASE("HAD-05 rotated values stay in FP32; rounding them to BF16 is a named variant") {
  auto const x = row({10, 0x1p-6f});
  CHECK(codes(quantize<unscaled_rotated>(host, x.ref()))[0] == 5);
  CHECK(codes(quantize<unscaled_rotated_bf16>(host, x.ref()))[0] == 4);
}

TEST_CASE("HAD-07 the transform is block-diagonal along K") {
  matrix<> x(1, 48);
  x(0, 17) = 1;
  auto const y = decoded(quantize<rotated>(host, x.ref()), {.rotated = true});
  for (int c = 0; c < 48; ++c) {
    bool const inside = 16 <= c && c < 32;
    float const expected = inside ? 0.25f * float(hadamard_sign(1, c - 16)) : 0.f;
    CHECK(std::abs(y(0, c) - expected) <= 0x1p-24f);
  }
}

TEST_CASE("HAD-07 a K that is not a multiple of the rotation is refused") {
  matrix<> const x(1, 40, 1.0f);
  CHECK_THROWS_AS(quantized<rotated>(1, 40), quadrille::error);
  CHECK_THROWS_AS(quantize<rotated>(host, x.ref()), quadrille::error);
}
