// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "multiply.hpp"

#include "recipe_table.hpp"

#include <quadrille/gemm.hpp>

namespace comparison {
namespace {

using quadrille::i64;
constexpr quadrille::host_policy one_thread{1};

template <class R>
quadrille::quantized<R> quantize(operand const& x) {
  quadrille::quantize_options options;
  options.amax = x.amax;
  return quadrille::quantize<R>(one_thread, x.rows.ref(), options);
}

template <class A, class B>
matrix product(quadrille::host_policy where, A const& a, B const& b, std::size_t rows,
               std::size_t cols) {
  matrix d{rows, cols, std::vector<float>(rows * cols)};
  quadrille::matrix_ref<float> const out(d.values.data(), i64(rows), i64(cols));
  quadrille::gemm(where, a, b, out);
  return d;
}

template <class Activation, class Weight>
product_errors multiply_as(operand const& activations, operand const& weights,
                           matrix const& exact) {
  auto const a = quantize<Activation>(activations);
  auto const w = quantize<Weight>(weights);
  auto const plain = activations.rows.ref();
  auto const both = product(one_thread, a, w, exact.rows, exact.cols);
  auto const weight_only = product(one_thread, plain, w, exact.rows, exact.cols);
  return {quadrille::compare(exact.ref(), both.ref()),
          quadrille::compare(exact.ref(), weight_only.ref())};
}

constexpr auto multiply_functions = for_every_recipe([](auto const& row) {
  using entry = std::remove_cvref_t<decltype(row)>;
  return &multiply_as<typename entry::activation, typename entry::recipe>;
});

}  // namespace

product_errors multiply(std::size_t recipe, operand const& activations, operand const& weights,
                        matrix const& exact) {
  return multiply_functions[recipe](activations, weights, exact);
}

matrix multiply_exact(matrix const& activations, matrix const& weights, int threads) {
  return product(quadrille::host_policy{threads}, activations.ref(), weights.ref(),
                 activations.rows, weights.rows);
}

}  // namespace comparison
