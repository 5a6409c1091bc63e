// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What tests with written-down results share: recipes whose codes can be worked out by hand, and results
/// of the device as lists of numbers.

#include "cuda/parity.cuh"

namespace parity {

using list = std::vector<unsigned>;

/// NVFP4 without the tensor scale ("S_enc = 1").
struct nvfp4_one_level : nvfp4 {
  using scale = one_level<e4m3>;
};

/// Every block scale is 1, so that codes are bare casts.
struct unit_rule : amax_rule {
  template <class Self, class E, class F>
  QUADRILLE_LEAF static constexpr auto choose(block_values const&, outer_scale const&) {
    return chosen_scale{F::encode_finite(1.f), multiply_by{1.f}};
  }
};
struct unscaled : nvfp4 {
  using scale = one_level<e4m3, unit_rule>;
};
struct unscaled_stochastic : unscaled {
  using rounding = stochastic<8>;
};

/// Quantized on the device, copied to the host.
template <class R, class X>
quantized<R> on_device(X const& x, device_quantize_options const& options = {}) {
  return quantize<R>(on(nullptr), x, options).to_host(on(nullptr));
}
/// The same of values in host memory.
template <class R, class T = float>
quantized<R> on_device(i64 rows, i64 cols, std::vector<T> const& values,
                       device_quantize_options const& options = {}) {
  return on_device<R>(matrix<T>(rows, cols, values).device(), options);
}

template <class R>
list codes(quantized<R> const& q, i64 row = 0) {
  list result;
  u8 const* const from = q.codes().data() + row * row_bytes<typename R::element>(q.cols());
  for (i64 col = 0; col < q.cols(); ++col)
    result.push_back(load_code<typename R::element>(from, col));
  return result;
}
template <class R>
list scales(quantized<R> const& q) {
  return {q.scales().begin(), q.scales().end()};
}
/// The numbers given, then zeros up to `n`.
inline list padded(list given, std::size_t n = 16) {
  given.resize(n);
  return given;
}
inline std::vector<float> row(std::vector<float> given, std::size_t n = 16) {
  given.resize(n);
  return given;
}

/// True, with a message, if kernels may read and write any host memory: then no pointer is refused for
/// where it points.
inline bool reaches_host_memory() {
  int device = 0;
  int reaches = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&reaches, cudaDevAttrPageableMemoryAccess, device));
  if (reaches != 0) WARN("skipped: this GPU reaches host memory");
  return reaches != 0;
}

}  // namespace parity
