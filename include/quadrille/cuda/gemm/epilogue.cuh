// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What becomes of the sums of a GEMM: D = f(((alpha outer_a) outer_b) sum + beta C + bias), as a matrix or
/// quantized. The order of operations is the host's.

#include <quadrille/cuda/gemm/operand.cuh>
#include <quadrille/cuda/target.cuh>

namespace quadrille {

/// An epilogue function: x is the finished element of D before it is converted.
struct no_activation {
  __device__ float operator()(float x, i64, i64) const { return x; }
};

namespace detail {

/// (alpha outer_a) outer_b: one number for a segment unless an operand has a scale a row.
struct product_scale {
  float alpha = 1;
  float const* device_alpha = nullptr;  // one for each segment
  row_factor outer_a;
  row_factor outer_b;

  bool is_uniform() const { return !outer_a.is_row && !outer_b.is_row; }
  __device__ float of_row(i32 segment, i64 row) const {
    float const own = device_alpha == nullptr ? alpha : mul(alpha, __ldg(device_alpha + segment));
    return mul(own, outer_a(row));
  }
  __device__ float uniform(i32 segment) const { return mul(of_row(segment, 0), outer_b(0)); }
};

/// Powers of two by which sums of folded operands are multiplied: one for each row of A and of B.
struct row_folds {
  float const* a = nullptr;
  float const* b = nullptr;
};

template <class T, int N>
__device__ __forceinline__ void store_whole(T* to, float const (&x)[N]) {
  struct alignas(16) vector {
    T at[16 / sizeof(T)];
  };
  constexpr int each = 16 / sizeof(T);
  static_assert(N % each == 0);
#pragma unroll
  for (int v = 0; v < N / each; ++v) {
    vector part;
#pragma unroll
    for (int i = 0; i < each; ++i) part.at[i] = from_float<T>(x[v * each + i]);
    __stcs(reinterpret_cast<uint4*>(to) + v, __builtin_bit_cast(uint4, part));
  }
}

/// All that gemm_options ask for, on sums of consecutive columns of a row. What does not depend on the sums is
/// read before anything else: a store in between would hold it up.
template <class T, class F>
struct linear_epilogue {
  product_scale scale;
  row_folds folds;
  float beta = 0;
  matrix_ref<T const> c;
  T const* bias = nullptr;
  i64 cols = 0;
  F f;

  template <int N>
  __device__ void apply(i32 segment, i64 row, i64 col, float (&x)[N]) const {
    float const of_row = scale.of_row(segment, row);
    float const fold = folds.a == nullptr ? 1.f : __ldg(folds.a + row);
    if (!scale.outer_b.is_row && folds.b == nullptr) {
      float const all = mul(of_row, scale.outer_b(0));
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = mul(all, mul(x[i], fold));
    } else {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        i64 const b_row = segment * cols + min(col + i, cols - 1);
        float const both = folds.b == nullptr ? fold : mul(fold, __ldg(folds.b + b_row));
        x[i] = mul(mul(of_row, scale.outer_b(b_row)), mul(x[i], both));
      }
    }
    if (beta != 0) {
#pragma unroll
      for (int i = 0; i < N; ++i)
        x[i] = add(x[i], mul(beta, to_float(c(row, min(col + i, cols - 1)))));
    }
    if (bias != nullptr) {
#pragma unroll
      for (int i = 0; i < N; ++i) x[i] = add(x[i], to_float(bias[min(col + i, cols - 1)]));
    }
    if constexpr (!is_same_v<F, no_activation>) {
#pragma unroll
      for (int i = 0; i < N; ++i)
        if (col + i < cols) x[i] = f(x[i], row, col + i);
    }
  }
};

/// The frequent case: nothing but a scale and whole vectors of D. Folds start at multiples of 16 bytes.
template <class T, bool HasFolds>
struct scaling_epilogue {
  static constexpr int width = 8;
  product_scale scale;
  row_folds folds;
  T* d;
  i64 stride;
  i64 cols;

  __device__ void store(i32 segment, i64 row, i64 col, float (&x)[width]) const {
    float const all = scale.uniform(segment);
    if constexpr (HasFolds) {
      float const fold = folds.a == nullptr ? 1.f : __ldg(folds.a + row);
      float4 b[2] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
      if (folds.b != nullptr)
#pragma unroll
        for (int v = 0; v < 2; ++v)
          b[v] = __ldg(reinterpret_cast<float4 const*>(folds.b + segment * cols + col) + v);
          // One product of the two first: each alone can lie far outside of what the sum allows.
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        x[4 * v] = mul(x[4 * v], mul(fold, b[v].x));
        x[4 * v + 1] = mul(x[4 * v + 1], mul(fold, b[v].y));
        x[4 * v + 2] = mul(x[4 * v + 2], mul(fold, b[v].z));
        x[4 * v + 3] = mul(x[4 * v + 3], mul(fold, b[v].w));
      }
    }
#pragma unroll
    for (float& sum : x) sum = mul(all, sum);
    store_whole(d + row * stride + col, x);
  }
};

/// D as a matrix.
template <class T, class F>
struct matrix_epilogue {
  static constexpr int width = 8;
  linear_epilogue<T, F> linear;
  matrix_ref<T> d;
  bool is_vectorized;

  /// Whether scaling() does the same.
  bool only_scales() const {
    return is_same_v<F, no_activation> && is_vectorized && d.cols % width == 0 &&
           linear.scale.is_uniform() && linear.beta == 0 && linear.bias == nullptr;
  }
  template <bool HasFolds>
  scaling_epilogue<T, HasFolds> scaling() const {
    return {linear.scale, linear.folds, d.data, d.row_stride, d.cols};
  }

  struct sums {
    float at[width];
  };
  // A call: kernels store sums in many places, and inlined into each this would be most of their code.
  __device__ __noinline__ static void put(matrix_epilogue const& e, i32 segment, i64 row, i64 col,
                                          sums x) {
    e.put_inline(segment, row, col, x.at);
  }
  __device__ void store(i32 segment, i64 row, i64 col, float (&x)[width]) const {
    sums all;
#pragma unroll
    for (int i = 0; i < width; ++i) all.at[i] = x[i];
    put(*this, segment, row, col, all);
  }

 private:
  __device__ void put_inline(i32 segment, i64 row, i64 col, float (&x)[width]) const {
    linear.apply(segment, row, col, x);
    T* const out = d.data + row * d.row_stride + col * d.col_stride;
    if (is_vectorized && col + width <= d.cols) {
      store_whole(out, x);
    } else {
#pragma unroll
      for (int i = 0; i < width; ++i)
        if (col + i < d.cols) out[i * d.col_stride] = from_float<T>(x[i]);
    }
  }
};

/// D quantized with recipe R: its blocks, and its rotation, fit the columns of one thread.
template <class R, class Layout, class T, class F>
struct quantizing_epilogue {
  using target = encode_target<R, Layout, least_chunk<R>>;
  using codec = typename target::codec;
  static constexpr int width = codec::chunk;
  linear_epilogue<T, F> linear;
  target to;

  __device__ void store(i32 segment, i64 row, i64 col, float (&x)[width]) const {
    put(*this, segment, row, col, x);
  }

 private:
  __device__ __noinline__ static void put(quantizing_epilogue const& e, i32 segment, i64 row,
                                          i64 col, float (&x)[width]) {
    e.put_inline(segment, row, col, x);
  }
  __device__ void put_inline(i32 segment, i64 row, i64 col, float (&x)[width]) const {
    linear.apply(segment, row, col, x);
#pragma unroll
    for (int i = 0; i < width; ++i)
      if (col + i >= to.q.cols) x[i] = 0;
    to.take_alone(x, u32(row), u32(col) / width);
  }
};

}  // namespace detail
}  // namespace quadrille
