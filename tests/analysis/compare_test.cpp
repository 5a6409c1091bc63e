// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// error_sums and compare() on pairs that are summed by hand.

#include <quadrille/analysis.hpp>

#include "quantize/matrix.hpp"
#include "support/catch.hpp"

namespace {
using namespace test;
using namespace quadrille;

error_sums sums_of(floats x, floats y) {
  error_sums s;
  for (std::size_t i = 0; i < x.size(); ++i) s.add(x[i], y[i]);
  return s;
}
}  // namespace

TEST_CASE("Analysis/Sums.ByHand") {
  error_sums const s = sums_of({3, -4, 0}, {2, -4, 1});
  CHECK(s.count == 3);
  CHECK(s.xx == 25);
  CHECK(s.xy == 22);
  CHECK(s.error == 2);
  CHECK(s.nmse() == 2.0 / 25);
  CHECK(s.sqnr_db() == Approx(10.969100130));
  CHECK(s.projection() == 22.0 / 25);
  CHECK(s.shrinkage_bias() == 0);
}

TEST_CASE("Analysis/Sums.ShrinkageIsTheBiasOfMagnitudes") {
  CHECK(sums_of({2, -2}, {1, -2}).shrinkage_bias() == -0.25);
  CHECK(sums_of({2, -2}, {3, 3}).shrinkage_bias() == 0.5);
}

TEST_CASE("Analysis/Sums.WithoutError") {
  error_sums const s = sums_of({1, -2}, {1, -2});
  CHECK(s.nmse() == 0);
  CHECK(std::isinf(s.sqnr_db()));
  CHECK(s.projection() == 1);
}

TEST_CASE("Analysis/Sums.OfZeros") {
  error_sums const s = sums_of({0, -0.0f}, {0, 0});
  CHECK(s.nmse() == 0);
  CHECK(s.projection() == 1);
  CHECK(s.shrinkage_bias() == 0);
  CHECK(std::isinf(sums_of({0}, {1}).nmse()));
}

TEST_CASE("Analysis/Sums.NonfinitePairsAreOnlyCounted") {
  error_sums const s = sums_of({1, HUGE_VALF, 2, oracle::float_nan}, {1, 1, -HUGE_VALF, 1});
  CHECK(s.count == 1);
  CHECK(s.nonfinite == 3);
  CHECK(s.xx == 1);
}

TEST_CASE("Analysis/Sums.LargeAndSmallValuesDoNotOverflow") {
  error_sums const s = sums_of({3e38f, 1e-38f}, {2.9e38f, 0});
  CHECK(std::isfinite(s.nmse()));
  CHECK(s.nmse() == Approx(1.0 / 900).epsilon(1e-5));
}

TEST_CASE("Analysis/Compare.AnyViewsAndTypes") {
  matrix<> x{2, 3, {1, 2, 3, 4, 5, 6}};
  matrix<bf16> y(3, 2);  // transposed, and 1 too large at one place
  for (std::size_t r = 0; r < 2; ++r)
    for (std::size_t c = 0; c < 3; ++c) y.at(c, r) = bf16(x.at(r, c));
  y.at(2, 1) = bf16(7.0f);
  error_sums const s = compare(x.ref(), y.ref().transposed());
  CHECK(s.count == 6);
  CHECK(s.error == 1);
  CHECK(s.xx == 91);
}

TEST_CASE("Analysis/Compare.RefusesOtherShapes") {
  matrix<> x(2, 3);
  matrix<> y(3, 2);
  CHECK_THROWS_WITH(compare(x.ref(), y.ref()),
                    "quadrille: the number of rows of the second matrix is 3 but must be 2");
  matrix<> z(2, 4);
  CHECK_THROWS_WITH(compare(x.ref(), z.ref()),
                    "quadrille: the number of columns of the second matrix is 4 but must be 3");
}
