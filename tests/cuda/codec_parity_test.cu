// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The block codec is one text for host and device. Here a plain kernel runs it, a thread for each unit of
// blocks, and must produce the host's bytes: for every stock recipe, on data chosen to be awkward, and
// again when this file is compiled with --use_fast_math.

#include <cstring>
#include <string>
#include <vector>

#include <quadrille/quadrille.cuh>
#include <quadrille/quantize.hpp>

#include "cuda/device_buffer.cuh"
#include "support/catch.hpp"
#include "support/inputs.hpp"

namespace {

using namespace quadrille;

constexpr i64 rows = 32;
constexpr i64 cols = 512;
constexpr random_key key{42, 7};

template <class R>
__global__ void encode_units(float const* x, outer_scale const* outer, u64 rotation_seed, u8* codes,
                             typename R::scale::stored* scales) {
  using codec = block_codec<R>;
  constexpr int block_rows = R::block::rows;
  constexpr int block_cols = R::block::cols;
  constexpr int unit = unit_cols<R>;
  constexpr int blocks = unit / block_cols;
  i64 const index = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  i64 const row = index / (cols / unit) * block_rows;
  i64 const col = index % (cols / unit) * unit;
  if (row >= rows) return;

  float values[unit * block_rows];
  typename codec::random_word random[unit * block_rows] = {};
  sign_vector const signs = R::rotation::signs(rotation_seed);
  for (int r = 0; r < block_rows; ++r) {
    float line[unit];
    for (int i = 0; i < unit; ++i) line[i] = x[(row + r) * cols + col + i];
    for (int i = 0; i < unit; i += R::rotation::size) R::rotation::apply(line + i, signs);
    for (int i = 0; i < unit; ++i) {
      int const at = i / block_cols * codec::block_size + r * block_cols + i % block_cols;
      values[at] = line[i];
      if (codec::is_random)
        random[at] = typename codec::random_word(
            random_bits<R::rounding::random_bits>(key, row + r, col + i));
    }
  }

  u32 unit_codes[unit * block_rows];
  float grid[unit * block_rows];
  typename R::scale::stored unit_scales[blocks];
  codec::template encode<blocks>(values, outer + (codec::is_row_scaled ? row : 0), random, unit_scales,
                                 unit_codes, grid);
  if constexpr (codec::is_corrected) {
    constexpr int group = correction_group<typename R::scale>;
    for (int b = 0; b < blocks; b += group / block_cols)
      R::scale::template correct<typename R::element>(
          {grid + b * block_cols, unit_codes + b * block_cols, group, group / block_cols}, unit_scales + b,
          {key, row, col + b * block_cols, block_cols});
  }
  for (int r = 0; r < block_rows; ++r)
    for (int i = 0; i < unit; ++i) {
      int const block = i / block_cols;
      codes[(row + r) * cols + col + i] =
          u8(unit_codes[block * codec::block_size + r * block_cols + i % block_cols]);
      if (i % block_cols == 0) scales[((row + r) * cols + col + i) / block_cols] = unit_scales[block];
    }
}

template <class R>
__global__ void decode_codes(u8 const* codes, typename R::scale::stored const* scales,
                             float const* outer_decode, float* x) {
  i64 const index = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= rows * cols) return;
  i64 const row = index / cols;
  float const outer = outer_decode[R::scale::scope == outer_scope::row ? row : 0];
  auto const decoder = R::scale::decoder(scales[index / R::block::cols], outer);
  x[index] = decoder(R::element::decode(codes[index]), int(index % R::block::cols));
}

template <class T>
std::vector<u8> bytes_of(std::vector<T> const& values) {
  std::vector<u8> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// NaNs differ in payload between host and device; what counts is that both have one.
std::vector<float> with_one_nan(std::vector<float> values) {
  for (float& v : values)
    if (detail::is_nan(v)) v = detail::quiet_nan();
  return values;
}

std::vector<std::pair<std::string, std::vector<float>>> awkward_data() {
  std::size_t const n = rows * cols;
  auto mixed = inputs::normal(n, 1, 1.f);
  mixed = inputs::zero_blocks(mixed, 32, 2);
  return {{"normal", inputs::normal(n, 3, 1.f)},
          {"heavy tails", inputs::student_t3(n, 4, 1.f)},
          {"outlier channels", inputs::outlier_channels(rows, cols, 5)},
          {"subnormal", inputs::subnormal(n, 6)},
          {"zero blocks", mixed},
          {"not finite", inputs::sprinkle_non_finite(inputs::normal(n, 7, 1.f), 8, 200)},
          {"bit patterns", inputs::bit_patterns(n, 9)}};
}

template <class R>
void check_parity() {
  using stored = typename R::scale::stored;
  constexpr u64 rotation_seed = 11;
  for (auto const& [name, x] : awkward_data()) {
    INFO(name);
    matrix_ref<float const> const view(x.data(), rows, cols);
    quantized<R> q(rows, cols, rotation_seed);
    quantize(host, view, q, {.seed = key.seed, .stream = key.stream});
    std::vector<float> decoded(x.size());
    dequantize(host, q, matrix_ref<float>(decoded.data(), rows, cols), {.rotated = true});
    std::vector<u8> host_codes;
    for (i64 i = 0; i < rows * cols; ++i)
      host_codes.push_back(u8(load_code<typename R::element>(
          q.codes().data() + i / cols * row_bytes<typename R::element>(cols), i % cols)));

    std::vector<outer_scale> outer;
    std::vector<float> outer_decode;
    for (i64 row = 0; row < (R::scale::scope == outer_scope::row ? rows : 1); ++row) {
      bool const by_row = R::scale::scope == outer_scope::row;
      float const largest =
          by_row ? amax<R>(host, matrix_ref<float const>(x.data() + row * cols, 1, cols), rotation_seed)
                 : amax<R>(host, view, rotation_seed);
      outer.push_back(R::scale::template outer<typename R::element>(largest));
      outer_decode.push_back(outer.back().decode);
    }

    device_buffer<float> const device_x(x);
    device_buffer<outer_scale> const device_outer(outer);
    device_buffer<float> const device_outer_decode(outer_decode);
    device_buffer<u8> device_codes(x.size());
    device_buffer<stored> device_scales(q.scales().size());
    device_buffer<float> device_decoded(x.size());
    int const units = int(rows / R::block::rows * (cols / unit_cols<R>));
    encode_units<R><<<(units + 63) / 64, 64>>>(device_x.data(), device_outer.data(), rotation_seed,
                                              device_codes.data(), device_scales.data());
    decode_codes<R><<<int(rows * cols / 256), 256>>>(device_codes.data(), device_scales.data(),
                                                     device_outer_decode.data(), device_decoded.data());
    CHECK(bytes_of(device_scales.host()) == bytes_of(q.scales()));
    CHECK(device_codes.host() == host_codes);
    CHECK(bytes_of(with_one_nan(device_decoded.host())) == bytes_of(with_one_nan(decoded)));
  }
}

struct ties_away_recipe : nvfp4 {
  using rounding = ties_away;
};
struct divide_recipe : nvfp4 {
  using scale = two_level<e4m3, divide_rule>;
};
struct wide_recipe : mxfp4 {
  using element = e4m3;
  using scale = one_level<ue8m0, round_up>;
};
struct search_recipe : nvfp4 {
  using element = quadrille::int4;
  using scale = two_level<e4m3, error_search<>>;
  using rounding = stochastic<11>;
};
struct bf16_recipe : nvfp4 {
  using rotation = bf16_rounded<random_hadamard<16>>;
};

}  // namespace

#define PARITY(recipe) \
  TEST_CASE("device bytes are host bytes: " #recipe) { check_parity<recipe>(); }
PARITY(nvfp4)
PARITY(nvfp4_weight)
PARITY(nvfp4_gradient)
PARITY(nvfp4_wgrad)
PARITY(nvfp4_wgrad_gradient)
PARITY(nvfp4_four_over_six)
PARITY(nvfp4_fp8_exact)
PARITY(nvfp4_per_row)
PARITY(mxfp4)
PARITY(mxfp4_even)
PARITY(mxfp4_ceil)
PARITY(mxfp4_round_up)
PARITY(ufp4)
PARITY(ufp4_gradient)
PARITY(ufp4_two_level)
PARITY(ufp4_two_level_gradient)
PARITY(quartet_forward)
PARITY(quartet_backward)
PARITY(quartet2_backward)
PARITY(mxfp4_tseng)
PARITY(ties_away_recipe)
PARITY(divide_recipe)
PARITY(wide_recipe)
PARITY(search_recipe)
PARITY(bf16_recipe)
