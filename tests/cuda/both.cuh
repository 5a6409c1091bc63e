// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One read of a matrix, quantized along rows and along columns, against two quantizations on the host.

#include "cuda/parity.cuh"

namespace parity {

/// One of the two copies: its target, options and what it must be.
template <class R, class Layout, class T>
struct copy {
  quantized<R> expected;
  target<R, Layout> to;
  guarded work;
  std::vector<float> given;
  device_buffer<float> device_given;
  device_quantize_options options;

  copy(matrix_ref<T const> x, u32 stream, bool is_given)
      : expected(x.rows, x.cols, rotation_seed),
        to(x.rows, x.cols, rotation_seed),
        work(quantize_workspace<R>(x.rows, x.cols), 0xA5),
        given(amaxes<R>(x)),
        device_given(halved(given)) {
    quantize_options host_options{.seed = key.seed, .stream = stream, .first_row = 1000};
    options.seed = key.seed;
    options.stream = stream;
    options.first_row = 1000;
    options.workspace = work.workspace();
    if (is_given) {
      options.workspace = {};
      options.amax = device_given.data();
      host_options.amax = given[0];
      host_options.row_amax = given.data();
    }
    quantize(host, x, expected, host_options);
  }
  void check() const {
    to.check(expected);
    work.host();  // looks at the guard
  }

 private:
  static std::vector<float> const& halved(std::vector<float>& amaxes) {
    for (float& a : amaxes) a /= 2;
    return amaxes;
  }
};

template <class R, class S, class T>
void check_both(matrix<T> const& x, bool is_given, bool is_given_transposed) {
  copy<R, tiled_128x4_scales, T> along_rows(x.host(), 7, is_given);
  copy<S, row_major_scales, T> along_cols(x.host().transposed(), 8, is_given_transposed);
  quantize_both(on(nullptr), x.device(), along_rows.to.ref(), along_rows.options,
                along_cols.to.ref(), along_cols.options);
  {
    INFO("along rows");
    along_rows.check();
  }
  INFO("along columns");
  along_cols.check();
}

template <class R, class S, class T = bf16>
void check_both_everywhere() {
  for (extents const shape : shapes)
    for (kind const k : kinds) {
      i64 const rows = whole_groups<S>(shape.rows);
      i64 const cols = whole_groups<R>(shape.cols);
      INFO(rows << " x " << cols << ", " << name_of(k));
      matrix<T> const x(rows, cols, values<R, T>(k, rows, cols));
      check_both<R, S>(x, false, false);
      check_both<R, S>(x, true, true);
      check_both<R, S>(x, true, false);
      check_both<R, S>(x, false, true);
    }
}

}  // namespace parity

#define BOTH(recipe, transposed_recipe)                                                          \
  TEST_CASE("quantize_both: device bytes are host bytes: " #recipe " and " #transposed_recipe) { \
    parity::check_both_everywhere<recipe, transposed_recipe>();                                  \
  }
