// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Reported faults as small inputs with the right answer written down (see tests/cases): zeros, special
// values, casts, scale rules and padding, on the device.

#include <limits>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

struct mxfp8 : mxfp4 {
  using element = e4m3;
};
struct unscaled_e4m3 : unscaled {
  using element = e4m3;
};
struct weight_one_level : nvfp4_weight {
  using scale = one_level<e4m3>;
};

/// Codes of bare casts.
template <class R>
list cast(std::vector<float> const& x) {
  list result = codes(on_device<R>(1, 16, row(x)));
  result.resize(x.size());
  return result;
}

template <class R>
void require_zeros_beside_ones() {
  std::vector<float> x(64);
  for (int i = 32; i < 64; ++i) x[std::size_t(i)] = 1;
  auto const q = on_device<R>(2, 32, x);
  CHECK(scales(q) == list{0, 0, 0x7E, 0x7E});
  CHECK(codes(q, 0) == list(32, 0));
  CHECK(codes(q, 1) == list(32, 7));
  for (float const decode : q.outer()) CHECK(detail::is_finite(decode));
  CHECK(q.outer().back() == 1 / 2688.f);
}

template <class R>
list scale_of(float amax) {
  return scales(on_device<R>(1, 32, row({amax}, 32)));
}

}  // namespace

TEST_CASE("ZER-02 a zero row stays zero beside a row of ones, per tensor and per row") {
  require_zeros_beside_ones<nvfp4>();
  require_zeros_beside_ones<nvfp4_per_row>();
}

TEST_CASE("ZER-02 sibling: a scale that rounds to zero divides nothing") {
  auto x = row({1}, 32);
  x[16] = 1e-7f;
  auto const q = on_device<nvfp4>(1, 32, x);
  CHECK(scales(q) == list{0x7E, 0});
  auto const expected = quantize<nvfp4>(host, matrix_ref<float const>(x.data(), 1, 32));
  CHECK(codes(q) == codes(expected));
}

TEST_CASE("NAN-03 infinity poisons its block: the scale is NaN, the codes are 0") {
  auto const x = row({inf, -inf, 1}, 32);
  auto const fp4 = on_device<mxfp4>(1, 32, x);
  CHECK(scales(fp4) == list{255});
  CHECK(codes(fp4) == list(32, 0));
  auto const fp8 = on_device<mxfp8>(1, 32, x);
  CHECK(scales(fp8) == list{255});
  CHECK(codes(fp8) == list(32, 0));
}

TEST_CASE(
    "NAN-03 sibling: NaN poisons its block of NVFP4 only, and the tensor's scale does not notice") {
  for (float const poison : {inf, -inf, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> x(48, 1.f);
    x[20] = poison;
    auto const q = on_device<nvfp4>(1, 48, x);
    CHECK(scales(q) == list{0x7E, 0x7F, 0x7E});
    CHECK(q.outer()[0] == 1 / 2688.f);
    list expected(48, 7);
    std::fill_n(expected.begin() + 16, 16, 0u);
    CHECK(codes(q) == expected);
  }
}

TEST_CASE("RND-01 RND-03 SAT-01 SAT-03 SGN-01 DBL-03 casts on the device") {
  CHECK(cast<unscaled>({.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5}) == list{0, 2, 2, 4, 4, 6, 6});
  CHECK(cast<unscaled>({-.25f, -.75f, -1.25f, -1.75f, -2.5f, -3.5f, -5}) ==
        list{8, 0xA, 0xA, 0xC, 0xC, 0xE, 0xE});
  CHECK(cast<unscaled>({5, 5.0000005f, 6, 6.99f, 7, 1e30f, -1e30f}) == list{6, 7, 7, 7, 7, 7, 0xF});
  CHECK(cast<unscaled>({-0.f, -.1f, -.25f, .1f}) == list{8, 8, 8, 0});
  CHECK(cast<unscaled_e4m3>({4.25f, 4.75f, 17, 19, 0.0029296875f}) ==
        list{0x48, 0x4A, 0x58, 0x5A, 0x02});
  CHECK(cast<unscaled_e4m3>({448, 464, 464.00003f, 465, 1000, -1000}) ==
        list{0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE});
  CHECK(cast<unscaled_e4m3>({-0.f, 1.31640625f}) == list{0x80, 0x3B});
}

TEST_CASE("SCL-02 the four readings of the MX scale rule") {
  struct {
    float amax;
    unsigned floor, ceil, even, round_up;
  } const rows[] = {{6, 127, 128, 127, 127},     {6.0000005f, 127, 128, 127, 128},
                    {6.99f, 127, 128, 127, 128}, {7, 127, 128, 128, 128},
                    {8, 128, 128, 128, 128},     {1.5f, 125, 126, 125, 125},
                    {1.75f, 125, 126, 126, 126}};
  for (auto const& r : rows) {
    CAPTURE(r.amax);
    CHECK(scale_of<mxfp4>(r.amax) == list{r.floor});
    CHECK(scale_of<mxfp4_ceil>(r.amax) == list{r.ceil});
    CHECK(scale_of<mxfp4_even>(r.amax) == list{r.even});
    CHECK(scale_of<mxfp4_round_up>(r.amax) == list{r.round_up});
  }
}

TEST_CASE("RND-07 the scale is found in the order of operations that the host has") {
  for (auto const& [amax, expected] : {std::pair{2.265625f, 0x77u}, {0.9765625f, 0x6Du}}) {
    auto x = row({4.375f}, 32);
    x[16] = amax;
    CHECK(scales(on_device<nvfp4>(1, 32, x)) == list{0x7E, expected});
  }
}

TEST_CASE("ODD-02 padding of tiled scales is zeroed, and nothing beyond it is written") {
  matrix<float> const x(3, 48, std::vector<float>(3 * 48, 1.f));
  parity::target<nvfp4_one_level, tiled_128x4_scales> const to(3, 48);
  quantize(on(nullptr), x.device(), to.ref());
  bytes expected(512, 0);
  for (int const offset : {0, 1, 2, 16, 17, 18, 32, 33, 34}) expected[std::size_t(offset)] = 0x23;
  check_equal("scales", to.scales(), expected);
  check_equal("codes", to.codes(), bytes(3 * 24, 0x77));
}

TEST_CASE("SWZ-02 one row of four scales: the other 508 bytes of the tile are zeroed") {
  matrix<float> const x(1, 64, std::vector<float>(64, 1.f));
  parity::target<nvfp4, tiled_128x4_scales> const to(1, 64);
  guarded const work(quantize_workspace<nvfp4>(1, 64), 0xA5);
  quantize(on(nullptr), x.device(), to.ref(), {.workspace = work.workspace()});
  bytes expected(512, 0);
  for (int i = 0; i < 4; ++i) expected[std::size_t(i)] = 0x7E;
  check_equal("scales", to.scales(), expected);
  check_equal("outer scale", to.outer(), bytes_of(std::vector<float>{1 / 2688.f}));
}

TEST_CASE("SWZ-04 the scale of a 16x16 block is repeated in each of its rows") {
  std::vector<float> x(32 * 32);
  x[0] = 6;
  x[16] = 12;
  x[16 * 32] = 24;
  x[16 * 32 + 16] = 48;
  list expected;
  for (int r = 0; r < 32; ++r)
    for (unsigned const s : r < 16 ? list{0x38, 0x40} : list{0x48, 0x50}) expected.push_back(s);
  CHECK(scales(on_device<weight_one_level>(32, 32, x)) == expected);
}

TEST_CASE("RAC-02 any number of blocks, 1 to 67, in a row and in a column") {
  for (i64 k = 1; k <= 67; ++k) {
    CAPTURE(k);
    matrix<float> const x(1, 16 * k, std::vector<float>(std::size_t(16 * k), 1.f));
    for (auto const& q : {on_device<nvfp4_one_level>(x.device()),
                          on_device<nvfp4_one_level>(transposed(transposed(x.device())))}) {
      CHECK(scales(q) == list(std::size_t(k), 0x23));
      CHECK(codes(q) == list(std::size_t(16 * k), 7));
    }
    matrix<float> const column(16 * k, 1, std::vector<float>(std::size_t(16 * k), 1.f));
    auto const q = on_device<nvfp4_one_level>(transposed(column.device()));
    CHECK(scales(q) == list(std::size_t(k), 0x23));
    CHECK(codes(q) == list(std::size_t(16 * k), 7));
  }
}

TEST_CASE("SUB-03 SCL-06 every code times every scale is exact in BF16") {
  // Row s: the sixteen codes under scale byte s.
  constexpr i64 rows = 0x7F;
  std::vector<u8> all_codes, all_scales;
  for (i64 s = 0; s < rows; ++s) {
    for (int i = 0; i < 8; ++i) all_codes.push_back(u8((2 * i + 1) << 4 | 2 * i));
    all_scales.push_back(u8(s));
  }
  device_buffer<u8> const device_codes(all_codes);
  device_buffer<u8> const device_scales(all_scales);
  quantized_ref<nvfp4_one_level, u8 const> const q(device_codes.data(), device_scales.data(),
                                                   nullptr, rows, 16);
  guarded const out(rows * 16 * sizeof(bf16), 0xA5);
  dequantize(on(nullptr), q, matrix_ref<bf16>(out.as<bf16>(), rows, 16));
  float const values[] = {0, .5f, 1, 1.5f, 2, 3, 4, 6, -0.f, -.5f, -1, -1.5f, -2, -3, -4, -6};
  std::vector<bf16> expected;
  for (i64 s = 0; s < rows; ++s)
    for (float const v : values) {
      bf16 const exact = static_cast<bf16>(v * e4m3::decode(u32(s)));
      REQUIRE(static_cast<float>(exact) == v * e4m3::decode(u32(s)));
      expected.push_back(exact);
    }
  check_equal("values", out.host(), bytes_of(expected));
}
