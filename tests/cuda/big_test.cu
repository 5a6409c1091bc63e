// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Matrices of more than 2^31 elements. Each test is left out, with a message, where memory is short.

#include "cuda/big.cuh"
#include "cuda/cases.cuh"

using namespace parity;

namespace {

/// Bytes of `x` that are not `value`.
template <class T>
u64 other_bytes(T const* x, i64 n, u8 value) {
  return parity::others(reinterpret_cast<u8 const*>(x), n * i64(sizeof(T)), value);
}

template <class T>
std::vector<T> read(T const* x, i64 n) {
  auto const size = static_cast<std::size_t>(n);
  std::vector<T> result(size);
  check_cuda(cudaMemcpy(result.data(), x, size * sizeof(T), cudaMemcpyDeviceToHost));
  return result;
}

u16 const six = u16(detail::bits_of(6.f) >> 16);

}  // namespace

TEST_CASE("BIG-01 2^31 + 64 elements: zeros, and a last row of sixes") {
  constexpr i64 rows = (i64(1) << 27) + 4;
  constexpr i64 n = rows * 16;
  constexpr i64 tiles = detail::ceil_div(rows, i64(128));
  if (!has_memory(std::size_t(2 * n + n / 2 + 512 * tiles))) return;
  filled<u16> const x(n, 0);
  filled<u8> const codes_memory(n / 2, 0xA5);
  filled<u8> const scales_memory(512 * tiles, 0x7F);
  check_cuda(
      cudaMemcpy(x.data() + n - 16, std::vector<u16>(16, six).data(), 32, cudaMemcpyHostToDevice));
  matrix_ref<bf16> const view(reinterpret_cast<bf16*>(x.data()), rows, 16);
  matrix_ref<bf16 const> const input(view);

  quantized_ref<nvfp4_one_level> const q(codes_memory.data(), scales_memory.data(), nullptr, rows,
                                         16);
  quantize(on(nullptr), input, q);
  CHECK(other_bytes(codes_memory.data(), n / 2 - 8, 0x00) == 0);
  check_equal("last codes", read(codes_memory.data() + n / 2 - 8, 8), bytes(8, 0x77));
  CHECK(other_bytes(scales_memory.data(), rows - 1, 0x00) == 0);
  check_equal("last scale", read(scales_memory.data() + rows - 1, 1), bytes{0x38});
  CHECK(other_bytes(scales_memory.data() + rows, 512 * tiles - rows, 0x7F) == 0);

  INFO("tiled scales");
  quantized_ref<nvfp4_one_level, u8, tiled_128x4_scales> const tiled(
      codes_memory.data(), scales_memory.data(), nullptr, rows, 16);
  quantize(on(nullptr), input, tiled);
  CHECK(other_bytes(scales_memory.data(), 512 * tiles, 0x00) == 1);
  check_equal("last scale", read(scales_memory.data() + 536870960, 1), bytes{0x38});

  INFO("dequantized");
  check_cuda(cudaMemset(x.data(), 0xFF, std::size_t(n) * 2));
  dequantize(on(nullptr), tiled, view);
  CHECK(other_bytes(x.data(), n - 16, 0x00) == 0);
  CHECK(read(x.data() + n - 16, 16) == std::vector<u16>(16, six));
}

TEST_CASE(
    "BIG-01 sibling: 65537 x 32784 elements along rows and along columns, the last one largest") {
  constexpr i64 rows = 65537;
  constexpr i64 cols = 32784;
  constexpr i64 n = rows * cols;
  constexpr i64 code_bytes = cols * ((rows + 1) / 2);
  constexpr i64 scale_bytes = cols * detail::ceil_div(rows, i64(16));
  static_assert(n > i64(1) << 31 && code_bytes >= rows * (cols / 2));
  if (!has_memory(std::size_t(2 * n + 2 * code_bytes + 2 * scale_bytes))) return;
  filled<u16> const x(n, 0);
  check_cuda(cudaMemcpy(x.data() + n - 1, &six, sizeof six, cudaMemcpyHostToDevice));
  matrix_ref<bf16 const> const input(reinterpret_cast<bf16 const*>(x.data()), rows, cols);
  filled<u8> const codes_memory(code_bytes, 0xA5), codes_of_columns(code_bytes, 0xA5);
  filled<u8> const scales_memory(scale_bytes, 0x7F), scales_of_columns(scale_bytes, 0x7F);
  constexpr std::size_t space = quantize_workspace<nvfp4>(rows, cols);
  filled<float> const outer(2, 0xFF);
  filled<u8> const work(2 * space, 0xFF);
  quantized_ref<nvfp4> const q(codes_memory.data(), scales_memory.data(), outer.data(), rows, cols);
  quantized_ref<nvfp4> const q_transposed(codes_of_columns.data(), scales_of_columns.data(),
                                          outer.data() + 1, cols, rows);
  // What was not written is NaN.
  auto const found_in = [&](std::size_t at) {
    float largest = 0;
    for (float const part : read(reinterpret_cast<float const*>(work.data() + at), space / 4))
      largest = part > largest ? part : largest;
    return largest;
  };
  auto const check_both_copies = [&] {
    i64 const row_codes = rows * (cols / 2);
    i64 const row_scales = rows * (cols / 16);
    CHECK(other_bytes(codes_memory.data(), row_codes - 1, 0x00) == 0);
    check_equal("last codes", read(codes_memory.data() + row_codes - 1, 1), bytes{0x70});
    CHECK(other_bytes(scales_memory.data(), row_scales - 1, 0x00) == 0);
    check_equal("last scale", read(scales_memory.data() + row_scales - 1, 1), bytes{0x7E});
    CHECK(other_bytes(codes_of_columns.data(), code_bytes - 1, 0x00) == 0);
    check_equal("last codes of columns", read(codes_of_columns.data() + code_bytes - 1, 1),
                bytes{0x07});
    CHECK(other_bytes(scales_of_columns.data(), scale_bytes - 1, 0x00) == 0);
    check_equal("last scale of columns", read(scales_of_columns.data() + scale_bytes - 1, 1),
                bytes{0x7E});
    CHECK(outer.host() == std::vector<float>(2, 1 / 448.f));
    CHECK(found_in(0) == 6);
    CHECK(found_in(space) == 6);
  };
  quantize(on(nullptr), input, q, {.workspace = {work.data(), space}});
  quantize(on(nullptr), transposed(input), q_transposed,
           {.workspace = {work.data() + space, space}});
  {
    INFO("two calls");
    check_both_copies();
  }
  for (auto const* memory : {&codes_memory, &codes_of_columns, &scales_memory, &scales_of_columns})
    check_cuda(cudaMemset(memory->data(), 0x5B, 1 << 20));
  check_cuda(cudaMemset(work.data(), 0xFF, 2 * space));
  quantize_both(on(nullptr), input, q, {.workspace = {work.data(), space}}, q_transposed,
                {.workspace = {work.data() + space, space}});
  INFO("one call");
  check_both_copies();
}
