// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Several products at once: batches, and mixtures of experts whose sizes are on the device.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {

using four_bit = quantized_operand<nvfp4>;
using mx = quantized_operand<mxfp4>;

/// D, product by product, on the host. B of product g are rows [g cols, (g + 1) cols).
template <class A, class B>
product one_by_one(A const& a, B const& b, std::vector<i32> const& offsets, i64 cols, i64 depth) {
  auto const left = a.exact();
  auto const right = b.exact();
  product all;
  for (std::size_t g = 0; g + 1 < offsets.size(); ++g) {
    std::vector<long double> const x(left.begin() + offsets[g] * depth,
                                     left.begin() + offsets[g + 1] * depth);
    std::vector<long double> const y(right.begin() + i64(g) * cols * depth,
                                     right.begin() + i64(g + 1) * cols * depth);
    product const one = gemm_test::multiply(x, y, offsets[g + 1] - offsets[g], cols, depth);
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
    all.magnitudes.insert(all.magnitudes.end(), one.magnitudes.begin(), one.magnitudes.end());
  }
  return all;
}

template <class A, class B, gemm_path... Paths>
void check_groups(std::vector<i32> const& offsets, i64 cols, i64 depth, bool is_even,
                  values v = values::normal) {
  i32 const groups = i32(offsets.size()) - 1;
  A const a(v, offsets.back(), depth, 1);
  B const b(values::normal, groups * cols, depth, 2);
  product const exact = one_by_one(a, b, offsets, cols, depth);
  device_buffer<i32> const device_offsets(offsets);
  INFO(groups << " groups, N " << cols << ", K " << depth);
  for_each_path<Paths...>([&]<gemm_path Path>() {
    std::vector<float> const d =
        multiply<Path>(a, b, offsets.back(), cols,
                       {.groups = groups, .offsets = is_even ? nullptr : device_offsets.data()});
    check_close(d, exact, Path, depth);
  });
}
}  // namespace

TEST_CASE("gemm on the GPU: a batch") {
  check_groups<plain_operand<bf16>, four_bit, reference, mma, dense, skinny, fused>({0, 33, 66, 99},
                                                                                    70, 96, true);
  check_groups<four_bit, four_bit, mma, skinny, fused>({0, 1, 2}, 129, 64, true);
}
TEST_CASE("gemm on the GPU: a mixture of experts, some of which get nothing") {
  check_groups<plain_operand<bf16>, four_bit, reference, mma, dense, skinny, fused>(
      {0, 0, 5, 5, 140, 141, 141}, 72, 160, false);
  check_groups<four_bit, four_bit, mma, skinny, fused>({0, 64, 64, 65, 300}, 40, 96, false);
  check_groups<plain_operand<bf16>, four_bit, reference, mma, dense, skinny, fused>({0, 0, 0}, 40,
                                                                                    96, false);
}
TEST_CASE("gemm on the GPU: experts of a few rows, more of them than multiprocessors") {
  std::vector<i32> offsets{0};
  for (i32 expert = 0; expert < 150; ++expert) offsets.push_back(offsets.back() + expert % 9);
  check_groups<plain_operand<bf16>, four_bit, skinny, fused>(offsets, 130, 528, false);
  check_groups<plain_operand<bf16>, mx, skinny, fused>({0, 20, 40, 60}, 328, 800, true);
  check_groups<four_bit, four_bit, skinny>(offsets, 130, 528, false);
  for (i32 expert = 0; expert <= 150; ++expert) offsets[std::size_t(expert)] = 3 * expert;
  check_groups<four_bit, four_bit, skinny>(offsets, 130, 528, true);
}
TEST_CASE("gemm on the GPU: experts on FP8, with tiles that do not fit it") {
  check_groups<mx, mx, fp8>({0, 0, 130, 131, 300}, 136, 288, false);
  check_groups<mx, mx, fp8>({0, 0, 130, 131, 300}, 136, 288, false, values::wide);
  check_groups<mx, mx, fp8>({0, 20, 40}, 25, 96, true, values::wide);
}
