// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Hadamard rotations inside the quantize kernels, with results written down.

#include <bit>
#include <cmath>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

struct rotated : nvfp4 {
  using rotation = hadamard<16>;
};
struct unscaled_rotated : unscaled {
  using rotation = hadamard<16>;
};
struct unscaled_rotated_bf16 : unscaled {
  using rotation = bf16_rounded<hadamard<16>>;
};
/// Blocks that nest with any rotation.
template <int N>
struct bare : unscaled {
  using block = shape<1, (N < 16 ? N : 16)>;
  using rotation = hadamard<N>;
};

bool is_negative(i64 i, i64 j) { return std::popcount(unsigned(i & j)) % 2 != 0; }

/// Unit vectors, scaled so that every coordinate is close to 3, in all rows and all groups of a row.
template <int N>
void require_sylvester() {
  CAPTURE(N);
  i64 const cols = 2 * N;
  std::vector<float> x(std::size_t(N * cols));
  for (i64 r = 0; r < N; ++r)
    x[std::size_t(r * cols + r)] = x[std::size_t(r * cols + N + (r + 1) % N)] =
        3 * std::sqrt(float(N));
  matrix<float> const m(N, cols, x);
  for (auto const& q :
       {on_device<bare<N>>(m.device()), on_device<bare<N>>(transposed(transposed(m.device())))})
    for (i64 r = 0; r < N; ++r) {
      list expected;
      for (i64 c = 0; c < cols; ++c)
        expected.push_back(is_negative(c < N ? r : (r + 1) % N, c % N) ? 0xDu : 5u);
      REQUIRE(codes(q, r) == expected);
    }

  // Rotated back, it is what it was: +-3 everywhere is 3 sqrt(N) times a unit vector.
  auto const q = on_device<bare<N>>(m.device());
  device_buffer<u8> const device_codes(q.codes());
  device_buffer<u8> const device_scales(q.scales());
  quantized_ref<bare<N>, u8 const> const ref(device_codes.data(), device_scales.data(), nullptr, N,
                                             cols);
  guarded const out(std::size_t(N * cols) * 4, 0xA5);
  dequantize(on(nullptr), ref, matrix_ref<float>(out.as<float>(), N, cols));
  bytes const raw = out.host();
  std::vector<float> back(x.size());
  std::copy(raw.begin(), raw.end(), reinterpret_cast<u8*>(back.data()));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    wrong += !(std::abs(back[i] - x[i]) <= 0x1p-20f * std::abs(x[i]));
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("HAD-01 every size is Sylvester's matrix, and its own inverse") {
  require_sylvester<2>();
  require_sylvester<4>();
  require_sylvester<8>();
  require_sylvester<16>();
  require_sylvester<32>();
  require_sylvester<64>();
  require_sylvester<128>();
}

TEST_CASE("HAD-03 the tensor's amax is taken after the rotation") {
  matrix<float> const x(1, 16, std::vector<float>(16, 1.f));
  device_buffer<float> const found(std::vector<float>(1, -1.f));
  amax<rotated>(on(nullptr), x.device(), found.data());
  CHECK(found.host() == std::vector<float>{4.f});
  auto const q = on_device<rotated>(x.device());
  CHECK(q.outer()[0] == 1 / 672.f);
  CHECK(scales(q) == list{0x7E});
  CHECK(codes(q) == padded({7}));
  device_buffer<float> const before(std::vector<float>(1, 1.f));  // the fault: it clips
  CHECK(on_device<rotated>(x.device(), {.amax = before.data()}).outer()[0] == 1 / 2688.f);
}

TEST_CASE("HAD-05 rotated values stay in FP32; rounding them to BF16 is a named variant") {
  CHECK(codes(on_device<unscaled_rotated>(1, 16, row({10, 0x1p-6f})))[0] == 5);
  CHECK(codes(on_device<unscaled_rotated_bf16>(1, 16, row({10, 0x1p-6f})))[0] == 4);
}

TEST_CASE("HAD-07 the transform is block-diagonal along K, to the last block") {
  auto x = std::vector<float>(48, 0.f);
  x[17] = 12;  // becomes +-3
  list const found = codes(on_device<unscaled_rotated>(1, 48, x));
  for (i64 c = 0; c < 48; ++c)
    CHECK(found[std::size_t(c)] == (c < 16 || c >= 32 ? 0u : is_negative(1, c - 16) ? 0xDu : 5u));
}
