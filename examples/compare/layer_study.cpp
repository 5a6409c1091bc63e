// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layer_study.hpp"

#include "tasks.hpp"
#include "tensor_study.hpp"

#include <algorithm>

namespace comparison {
namespace {

using tensor_file::tensor;

constexpr double nanoseconds_a_product = 1.2;  // of two GEMMs

std::size_t input_rows(tensor const& input, plan const& what) {
  return std::min(rows_to_read(input, what), input_rows_limit);
}
std::size_t weight_rows(tensor const& weight, plan const& what) {
  return std::min(rows_to_read(weight, what), weight_rows_limit);
}

matrix read_first(tensor const& source, std::size_t rows) {
  matrix x{rows, source.cols(), std::vector<float>(rows * source.cols())};
  tensor_file::reader(source).read_rows(0, rows, x.values.data());
  return x;
}

double products(layer_result const& result) {
  return double(result.input_rows) * double(result.weight_rows) * double(result.cols);
}

/// The product by every recipe, in one basis of the plan.
void multiply_in_basis(layer_result& result, std::size_t basis, operand const& input,
                       operand const& weight, matrix const& exact, plan const& what,
                       progress& bar) {
  run_tasks(what.threads, what.recipes.size(), [&](std::size_t r) {
    if (fits(result.cols, what.recipes[r], what.bases[basis]))
      result.cells.at(r, basis) = multiply(what.recipes[r], input, weight, exact);
    bar.advance(products(result) * nanoseconds_a_product);
  });
}

}  // namespace

double layer_work(inputs const& in, layer const& which, plan const& what) {
  auto const& input = in.tensors[which.input];
  auto const& weight = in.tensors[which.weight];
  return double(input_rows(input, what)) * double(weight_rows(weight, what)) *
         double(input.cols()) * nanoseconds_a_product *
         double(what.recipes.size() * what.bases.size());
}

layer_result study(inputs const& in, layer const& which, std::vector<tensor_result> const& tensors,
                   plan const& what, progress& bar) {
  bar.start(which.name);
  auto const& input = in.tensors[which.input];
  auto const& weight = in.tensors[which.weight];
  auto const rows = input_rows(input, what);
  auto const outputs = weight_rows(weight, what);
  bool const is_whole = rows == input.rows() && outputs == weight.rows();
  layer_result result{which.name, rows, outputs, input.cols(), is_whole, {}};
  result.cells = table<product_errors>(what.recipes.size(), what.bases.size());

  auto const a = read_first(input, rows);
  auto const w = read_first(weight, outputs);
  auto const exact = multiply_exact(a, w, what.threads);
  for (std::size_t b = 0; b < what.bases.size(); ++b) {
    auto const& basis = bases()[what.bases[b]];
    if (a.cols % basis.size != 0) continue;
    operand const left{rotated(a, basis), tensors[which.input].amax_in_basis[b]};
    operand const right{rotated(w, basis), tensors[which.weight].amax_in_basis[b]};
    multiply_in_basis(result, b, left, right, exact, what, bar);
  }
  return result;
}

}  // namespace comparison
