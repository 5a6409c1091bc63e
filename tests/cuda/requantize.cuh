// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Quantizes on the device what was quantized before, along either axis, against dequantizing to FP32 and
/// quantizing again on the host.

#include "cuda/parity.cuh"

namespace parity {

inline constexpr u64 second_seed = 12;

template <class R, class S, class Layout = row_major_scales>
void check_requantized(kind k, i64 rows, i64 cols) {
  INFO(rows << " x " << cols << ", " << name_of(k));
  matrix<bf16> const x(rows, cols, values<R, bf16>(k, rows, cols));
  auto const first = quantize<R>(host, x.host(), {.seed = 1}, rotation_seed);
  target<R, Layout> const from(rows, cols, rotation_seed);
  guarded const work(quantize_workspace<R>(rows, cols), 0xA5);
  quantize(on(nullptr), x.device(), from.ref(), {.seed = 1, .workspace = work.workspace()});
  from.check(first);

  std::vector<float> decoded(std::size_t(rows * cols));
  dequantize(host, first, matrix_ref<float>(decoded.data(), rows, cols));
  matrix_ref<float const> const view(decoded.data(), rows, cols);
  quantize_options const options{.seed = key.seed, .stream = key.stream};
  if (cols == whole_groups<S>(cols)) {
    INFO("along rows");
    auto const expected = quantize<S>(host, view, options, second_seed);
    parity::check(dequantized(from.ref()), expected);

    target<S> const to(rows, cols, second_seed);
    guarded const again(quantize_workspace<S>(rows, cols), 0xA5);
    requantize(on(nullptr), from.ref(), to.ref(),
               {.seed = key.seed, .stream = key.stream, .workspace = again.workspace()});
    to.check(expected);
  }
  if (rows == whole_groups<S>(rows)) {
    INFO("along columns");
    parity::check(transposed(dequantized(from.ref())),
                  quantize<S>(host, view.transposed(), options, second_seed));
  }
}

template <class R, class S, class Layout = row_major_scales>
void check_requantized_everywhere() {
  for (kind const k : {kind::normal, kind::zeros, kind::non_finite, kind::binades})
    for (auto const& [rows, cols] :
         {std::pair{5, 17}, std::pair{16, 33}, std::pair{130, 128}, std::pair{128, 272}})
      check_requantized<R, S, Layout>(k, rows, whole_groups<R>(cols));
}

}  // namespace parity
