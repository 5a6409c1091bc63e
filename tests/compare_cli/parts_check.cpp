// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What the program adds up is what the library says of the whole tensor.

#include "measure.hpp"
#include "multiply.hpp"
#include "recipe_table.hpp"
#include "support/catch.hpp"
#include "tasks.hpp"
#include "words.hpp"

#include <quadrille/gemm.hpp>
#include <stdexcept>

using namespace comparison;
using quadrille::i64;

namespace {

matrix sample(std::size_t rows, std::size_t cols, unsigned seed) {
  matrix x{rows, cols, std::vector<float>(rows * cols)};
  for (float& value : x.values) {
    seed = seed * 1664525 + 1013904223;
    value = float(int(seed >> 8) - (1 << 23)) / float(1 << 21);
    if (seed % 61 == 0) value *= 20;
  }
  return x;
}

matrix rows_of(matrix const& x, std::size_t first, std::size_t count) {
  auto const begin = x.values.begin() + i64(first * x.cols);
  return {count, x.cols, {begin, begin + i64(count * x.cols)}};
}

std::size_t find(std::string_view name) {
  for (std::size_t r = 0; r < recipe_count; ++r)
    if (recipes()[r].name == name) return r;
  throw std::invalid_argument("no such recipe");
}

basis const& basis_named(std::string_view name) {
  for (auto const& one : bases())
    if (one.name == name) return one;
  throw std::invalid_argument("no such basis");
}

struct rotated_nvfp4 : quadrille::nvfp4 {
  using rotation = quadrille::random_hadamard<16>;
};

bool same(quadrille::error_sums const& a, quadrille::error_sums const& b) {
  return a.count == b.count && std::abs(a.error - b.error) <= 1e-9 * a.error &&
         std::abs(a.xx - b.xx) <= 1e-9 * a.xx;
}

}  // namespace

TEST_CASE("Compare.PiecesAddUpToTheWhole") {
  auto const x = sample(80, 96, 1);
  float const amax = amax_of(x, 1);
  for (std::size_t r = 0; r < recipe_count; ++r) {
    INFO(recipes()[r].name);
    auto const whole = measure(r, {x, 0, amax});
    tally sum;
    for (std::size_t first = 0; first < x.rows; first += 32)
      sum.add(measure(r, {rows_of(x, first, std::min<std::size_t>(32, 80 - first)), first, amax}));
    CHECK(same(whole.report.sums, sum.report.sums));
    CHECK(whole.report.codes == sum.report.codes);
    CHECK(whole.report.clipped == sum.report.clipped);
    CHECK(whole.report.underflowed == sum.report.underflowed);
    CHECK(whole.report.scale_exponents == sum.report.scale_exponents);
    CHECK(whole.values == sum.values);
  }
}

TEST_CASE("Compare.RotatingFirstIsTheRecipeThatRotates") {
  auto const x = sample(32, 64, 2);
  auto const y = rotated(x, basis_named("random16"));
  auto const q = quadrille::quantize<rotated_nvfp4>(quadrille::host, x.ref());
  auto const expected = quadrille::analyze(x.ref(), q);
  auto const got = measure(find("nvfp4"), {y, 0, amax_of(y, 1)});
  CHECK(got.report.codes == expected.codes);
  CHECK(got.report.scale_exponents == expected.scale_exponents);
  CHECK(got.report.sums.error == expected.sums.error);
}

TEST_CASE("Compare.ProductsAreTheLibrarys") {
  auto const a = sample(8, 64, 3);
  auto const w = sample(16, 64, 4);
  auto const exact = multiply_exact(a, w, 1);
  auto const got = multiply(find("nvfp4-16x16"), {a, amax_of(a, 1)}, {w, amax_of(w, 1)}, exact);
  auto const qa = quadrille::quantize<quadrille::nvfp4>(quadrille::host, a.ref());
  auto const qw = quadrille::quantize<quadrille::nvfp4_weight>(quadrille::host, w.ref());
  matrix d = exact;
  quadrille::gemm(quadrille::host, qa, qw, quadrille::matrix_ref<float>(d.values.data(), 8, 16));
  CHECK(got.both.error == quadrille::compare(exact.ref(), d.ref()).error);
  CHECK(got.weight_only.error < got.both.error);
}

TEST_CASE("Compare.GridsEndAtOne") {
  for (auto const& recipe : recipes()) {
    INFO(recipe.name);
    CHECK(recipe.grid.size() == 8);
    CHECK(recipe.grid.front() == 0);
    CHECK(recipe.grid.back() == 1);
  }
}

TEST_CASE("Compare.EveryTaskRunsOnceAndErrorsPass") {
  std::vector<int> runs(100);
  run_tasks(4, runs.size(), [&](std::size_t i) { ++runs[i]; });
  CHECK(runs == std::vector<int>(100, 1));
  CHECK_THROWS_AS(run_tasks(4, 100, [](std::size_t) { throw std::runtime_error("no"); }),
                  std::runtime_error);
}

TEST_CASE("Compare.NamesAreCutInTheMiddle") {
  CHECK(shortened("short", 10) == "short");
  CHECK(shortened("model.layers.10.attention.weight", 20) == "model....tion.weight");
  CHECK(printable("a\x1b[2J\n") == "a?[2J?");
}
