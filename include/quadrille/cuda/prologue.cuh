// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Computations that a quantize kernel runs on the elements as it reads them.

#include <quadrille/cuda/source.cuh>

namespace quadrille {
namespace detail {
/// f of the elements of one source, or of two (SwiGLU: f(gate, up)).
template <class F, class... Sources>
struct transformed_source;
template <class F, class Source>
struct transformed_source<F, Source> {
  using value = float;
  static constexpr bool is_matrix = false;
  static constexpr bool has_statistic = false;
  Source x;
  F f;
  i64 rows;
  i64 cols;

  bool is_whole(int n) const { return x.is_whole(n); }
  void require_valid(device_scope const& device) const { x.require_valid(device); }
  template <int N>
  using raw = typename Source::template raw<N>;
  template <int N, bool Whole>
  __device__ raw<N> fetch(u32 row, u32 col) const {
    return x.template fetch<N, Whole>(row, col);
  }
  template <int N>
  __device__ void values(raw<N> const& from, u32 row, u32 col, float (&out)[N]) const {
    x.values(from, row, col, out);
    apply(col, out);
  }
  template <int N>
  __device__ void load(u32 row, u32 col, float (&out)[N]) const {
    x.load(row, col, out);
    apply(col, out);
  }

 private:
  template <int N>
  __device__ void apply(i64 col, float (&out)[N]) const {
#pragma unroll
    for (int i = 0; i < N; ++i) out[i] = col + i < u32(cols) ? f(out[i]) : 0.f;
  }
};
template <class F, class A, class B>
struct transformed_source<F, A, B> {
  using value = float;
  static constexpr bool is_matrix = false;
  static constexpr bool has_statistic = false;
  A a;
  B b;
  F f;
  i64 rows;
  i64 cols;

  bool is_whole(int n) const { return a.is_whole(n) && b.is_whole(n); }
  void require_valid(device_scope const& device) const {
    require_equal(b.rows, a.rows, "the number of rows of the second source");
    require_equal(b.cols, a.cols, "the number of columns of the second source");
    a.require_valid(device);
    b.require_valid(device);
  }
  template <int N>
  struct raw {
    typename A::template raw<N> a;
    typename B::template raw<N> b;
  };
  template <int N, bool Whole>
  __device__ raw<N> fetch(u32 row, u32 col) const {
    return raw<N>{a.template fetch<N, Whole>(row, col), b.template fetch<N, Whole>(row, col)};
  }
  template <int N>
  __device__ void values(raw<N> const& from, u32 row, u32 col, float (&out)[N]) const {
    float second[N];
    a.values(from.a, row, col, out);
    b.values(from.b, row, col, second);
    apply(col, out, second);
  }
  template <int N>
  __device__ void load(u32 row, u32 col, float (&out)[N]) const {
    float second[N];
    a.load(row, col, out);
    b.load(row, col, second);
    apply(col, out, second);
  }

 private:
  template <int N>
  __device__ void apply(i64 col, float (&out)[N], float const (&second)[N]) const {
#pragma unroll
    for (int i = 0; i < N; ++i) out[i] = col + i < u32(cols) ? f(out[i], second[i]) : 0.f;
  }
};

/// x / rms(x's row) * weight, rms = sqrt(mean of squares + epsilon).
template <class Source, class W>
struct rms_source {
  using value = float;
  static constexpr bool is_matrix = false;
  static constexpr bool has_statistic = true;
  Source x;
  W const* weight;
  float epsilon;
  i64 rows;
  i64 cols;

  bool is_whole(int) const { return false; }
  void require_valid(device_scope const& device) const {
    require(cols == 0 || weight != nullptr,
            "rms_normalized has no weight; pass a device pointer to one weight a column");
    device.require_reachable(weight, "the weight of rms_normalized");
    x.require_valid(device);
  }
  /// A thread's share of a row's sum of squares.
  template <int N>
  __device__ float partial(u32 row, u32 col) const {
    float in[N];
    x.values(x.template fetch<N, false>(row, col), row, col, in);
    float sum = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) sum = add(sum, mul(in[i], in[i]));
    return sum;
  }
  __device__ float statistic(float sum) const {
    return reciprocal(sqrt(add(div(sum, float(cols)), epsilon)));
  }
  /// The values of a row whose statistic is `inverse_rms`.
  template <int N>
  __device__ void values(u32 row, u32 col, float inverse_rms, float (&out)[N]) const {
    x.values(x.template fetch<N, false>(row, col), row, col, out);
#pragma unroll
    for (int i = 0; i < N; ++i)
      out[i] = col + i < u32(cols) ? mul(mul(out[i], inverse_rms), to_float(weight[col + i])) : 0.f;
  }
};
}  // namespace detail

/// f applied to each element of x inside the kernel that quantizes it: f is a trivially copyable
/// __device__ functor, float to float.
template <class F, class X>
auto transformed(F f, X const& x) {
  auto const source = detail::as_source(x);
  return detail::transformed_source<F, std::remove_const_t<decltype(source)>>{
      source, f, source.rows, source.cols};
}
/// The same for two matrices of one shape: f(x, y).
template <class F, class X, class Y>
auto transformed(F f, X const& x, Y const& y) {
  auto const a = detail::as_source(x);
  auto const b = detail::as_source(y);
  return detail::transformed_source<F, std::remove_const_t<decltype(a)>,
                                    std::remove_const_t<decltype(b)>>{a, b, f, a.rows, a.cols};
}

/// RMSNorm inside the kernel: each row divided by sqrt(mean of its squares + epsilon), times weight, one a
/// column (Zhang and Sennrich, arXiv 1910.07467). FP32; the order of the sum is fixed.
template <class X, class W>
auto rms_normalized(X const& x, W const* weight, float epsilon = 1e-6f) {
  auto const source = detail::as_source(x);
  return detail::rms_source<std::remove_const_t<decltype(source)>, W>{source, weight, epsilon,
                                                                      source.rows, source.cols};
}

}  // namespace quadrille
