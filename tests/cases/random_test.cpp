// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Stochastic rounding through the block path.

#include "cases.hpp"
#include "support/inputs.hpp"

#include <cstdlib>
#include <set>

using namespace cases;

namespace {

// The codes that come of n elements of one value.
std::set<unsigned> outcomes(float value, i64 n) {
  auto const q = quantize<unscaled_stochastic>(host, matrix<>(1, n, value).ref(), {.seed = 1});
  list const found = codes(q);
  return {found.begin(), found.end()};
}

list ups_of_five_halves(u64 seed) {
  return codes(
      quantize<unscaled_stochastic>(host, matrix<>(1, 1 << 20, 2.5f).ref(), {.seed = seed}));
}

i64 count(list const& found, unsigned code) { return std::count(found.begin(), found.end(), code); }

}  // namespace

TEST_CASE("SRD-01 host half: only the two neighbours come out, and both do") {
  CHECK(outcomes(2.5f, 4096) == std::set<unsigned>{4, 5});
  CHECK(outcomes(5.0f, 4096) == std::set<unsigned>{6, 7});
  CHECK(outcomes(6.0f, 4096) == std::set<unsigned>{7});
  CHECK(outcomes(-1.25f, 4096) == std::set<unsigned>{0xA, 0xB});
}

TEST_CASE("SRD-05 host half: seeds 0, 1 and 2 are fair, repeatable and independent") {
  constexpr i64 n = 1 << 20;
  std::vector<list> const drawn{ups_of_five_halves(0), ups_of_five_halves(1),
                                ups_of_five_halves(2)};
  for (list const& found : drawn) {
    CHECK(std::llabs(count(found, 5) - n / 2) <= 2560);  // 5 standard deviations
    i64 uniform_groups = 0;
    for (i64 i = 0; i < n; i += 16) {
      i64 const ups = std::count(found.begin() + i, found.begin() + i + 16, 5u);
      uniform_groups += ups == 0 || ups == 16;
    }
    CHECK(uniform_groups * 100 < n / 16);
  }
  CHECK(drawn[0] == ups_of_five_halves(0));
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b) {
      i64 agreements = 0;
      for (std::size_t i = 0; i < drawn[a].size(); ++i) agreements += drawn[a][i] == drawn[b][i];
      CHECK(std::llabs(agreements - n / 2) * 400 <= n);  // a quarter of a percent
    }
}

TEST_CASE("SRD-05 sibling: streams of one seed are as independent as seeds") {
  auto const x = matrix<>(1, 1 << 16, 2.5f);
  auto const first = codes(quantize<unscaled_stochastic>(host, x.ref(), {.seed = 9, .stream = 0}));
  auto const second = codes(quantize<unscaled_stochastic>(host, x.ref(), {.seed = 9, .stream = 1}));
  i64 agreements = 0;
  for (std::size_t i = 0; i < first.size(); ++i) agreements += first[i] == second[i];
  CHECK(std::llabs(agreements - (1 << 15)) <= 640);  // 5 standard deviations
}

TEMPLATE_TEST_CASE(
    "SRD-07 four calls of 16 rows give the bytes of one call, in any number of threads", "",
    unscaled_stochastic, nvfp4_gradient, quartet2_backward, mxfp4_tseng) {
  matrix<> x(64, 256, 2.5f);
  if (!std::is_same_v<TestType, unscaled_stochastic>) x.values = inputs::normal(64 * 256, 3);
  float const whole_amax = amax<TestType>(host, x.ref());
  auto const whole = quantize<TestType>(host_policy{1}, x.ref(), {.seed = 42});
  auto const threaded = quantize<TestType>(host_policy{4}, x.ref(), {.seed = 42});
  CHECK(whole.codes() == threaded.codes());
  CHECK(whole.scales() == threaded.scales());
  std::vector<u8> piece_codes, piece_scales;
  for (i64 r = 0; r < 64; r += 16) {
    matrix_ref<float const> const piece(x.values.data() + r * 256, 16, 256);
    auto const q =
        quantize<TestType>(host, piece, {.seed = 42, .first_row = r, .amax = whole_amax});
    piece_codes.insert(piece_codes.end(), q.codes().begin(), q.codes().end());
    piece_scales.insert(piece_scales.end(), q.scales().begin(), q.scales().end());
  }
  CHECK(whole.codes() == piece_codes);
  CHECK(whole.scales() == piece_scales);
}
