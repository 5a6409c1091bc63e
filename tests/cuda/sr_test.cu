// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Stochastic rounding on the device: fair, repeatable, independent where it must be, and the host's bits.

#include <algorithm>
#include <cstdlib>
#include <set>

#include "cuda/cases.cuh"

using namespace parity;

namespace {

std::vector<float> constant(i64 n, float value) {
  return std::vector<float>(std::size_t(n), value);
}

i64 agreements(list const& a, list const& b) {
  i64 n = 0;
  for (std::size_t i = 0; i < a.size(); ++i) n += a[i] == b[i];
  return n;
}

/// All codes of a matrix.
template <class R>
list all_codes(quantized<R> const& q) {
  list result;
  for (i64 r = 0; r < q.rows(); ++r)
    for (unsigned const code : codes(q, r)) result.push_back(code);
  return result;
}

std::set<unsigned> outcomes(float value) {
  list const found =
      codes(on_device<unscaled_stochastic>(1, 4096, constant(4096, value), {.seed = 1}));
  return {found.begin(), found.end()};
}

/// One call on a rows x cols matrix against calls on pieces of `piece` rows.
template <class R>
void require_pieces(i64 rows, i64 cols, i64 piece, std::vector<float> const& values) {
  matrix<float> const x(rows, cols, values);
  auto const whole = on_device<R>(x.device(), {.seed = 42});
  device_buffer<float> const amax_found(std::vector<float>(std::size_t(rows), 0.f));
  amax<R>(on(nullptr), x.device(), amax_found.data());
  bytes piece_codes, piece_scales;
  for (i64 r = 0; r < rows; r += piece) {
    matrix_ref<float const> const part(x.device().data + r * cols, detail::min(piece, rows - r),
                                       cols);
    auto const q = on_device<R>(part, {.seed = 42, .first_row = r, .amax = amax_found.data()});
    piece_codes.insert(piece_codes.end(), q.codes().begin(), q.codes().end());
    auto const scale_bytes = bytes_of(q.scales());
    piece_scales.insert(piece_scales.end(), scale_bytes.begin(), scale_bytes.end());
  }
  check_equal("codes of the pieces", piece_codes, bytes_of(whole.codes()));
  check_equal("scales of the pieces", piece_scales, bytes_of(whole.scales()));
  auto const expected = quantize<R>(host, x.host(), {.seed = 42});
  check_equal("codes", bytes_of(whole.codes()), bytes_of(expected.codes()));
  check_equal("scales", bytes_of(whole.scales()), bytes_of(expected.scales()));
}

}  // namespace

TEST_CASE("SRD-01 only the two neighbours come out, and both do") {
  CHECK(outcomes(2.5f) == std::set<unsigned>{4, 5});
  CHECK(outcomes(5.0f) == std::set<unsigned>{6, 7});
  CHECK(outcomes(6.0f) == std::set<unsigned>{7});
  CHECK(outcomes(-1.25f) == std::set<unsigned>{0xA, 0xB});
}

TEST_CASE(
    "SRD-05 seeds 0, 1 and 2 are fair, repeatable and independent, and tally as on the host") {
  constexpr i64 n = 1 << 20;
  matrix<float> const x(1, n, constant(n, 2.5f));
  std::vector<list> drawn;
  for (u64 const seed : {0, 1, 2}) {
    drawn.push_back(codes(on_device<unscaled_stochastic>(x.device(), {.seed = seed})));
    list const& found = drawn.back();
    i64 const ups = std::count(found.begin(), found.end(), 5u);
    CHECK(std::llabs(ups - n / 2) <= 2560);  // 5 standard deviations
    CHECK(std::count(found.begin(), found.end(), 4u) == n - ups);
    list const on_host = codes(quantize<unscaled_stochastic>(host, x.host(), {.seed = seed}));
    CHECK(std::count(on_host.begin(), on_host.end(), 5u) == ups);
    CHECK(agreements(found, on_host) == n);
    i64 uniform_groups = 0;
    for (i64 i = 0; i < n; i += 16) {
      i64 const up = std::count(found.begin() + i, found.begin() + i + 16, 5u);
      uniform_groups += up == 0 || up == 16;
    }
    CHECK(uniform_groups * 100 < n / 16);
  }
  CHECK(agreements(drawn[0], codes(on_device<unscaled_stochastic>(x.device(), {.seed = 0}))) == n);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b)
      CHECK(std::llabs(agreements(drawn[a], drawn[b]) - n / 2) * 400 <=
            n);  // a quarter of a percent
}

TEST_CASE(
    "SRD-05 sibling: streams, high bits of the seed and rows far down draw bits of their own") {
  constexpr i64 n = 1 << 16;
  matrix<float> const x(1, n, constant(n, 2.5f));
  list const first = codes(on_device<unscaled_stochastic>(x.device(), {.seed = 9}));
  for (auto const& [seed, stream, first_row] :
       {std::tuple{u64(9), 1u, i64(0)}, std::tuple{u64(9) | u64(1) << 63, 0u, i64(0)},
        std::tuple{u64(9), 0u, (i64(1) << 33) + 5}, std::tuple{u64(9), 0u, i64(1) << 32}}) {
    CAPTURE(seed, stream, first_row);
    list const second = codes(on_device<unscaled_stochastic>(
        x.device(), {.seed = seed, .stream = stream, .first_row = first_row}));
    CHECK(std::llabs(agreements(first, second) - n / 2) <= 640);  // 5 standard deviations
    list const on_host = codes(quantize<unscaled_stochastic>(
        host, x.host(), {.seed = seed, .stream = stream, .first_row = first_row}));
    CHECK(second == on_host);
  }
}

TEST_CASE("SRD-07 pieces of the rows give the bytes of one call, and of the host") {
  require_pieces<unscaled_stochastic>(64, 256, 16, constant(64 * 256, 2.5f));
  auto const values = inputs::normal(64 * 256, 3);
  require_pieces<nvfp4_gradient>(64, 256, 16, values);
  require_pieces<nvfp4_gradient>(64, 256, 1, values);
  require_pieces<quartet2_backward>(64, 256, 16, values);
  require_pieces<mxfp4_tseng>(64, 256, 7, values);
}

TEST_CASE(
    "SRD-07 sibling: the column copy draws other bits than the row copy of the same elements") {
  constexpr i64 n = 256;
  matrix<float> const x(n, n, constant(n * n, 2.5f));
  device_quantized<unscaled_stochastic> along_rows(on(nullptr), n, n);
  device_quantized<unscaled_stochastic> along_cols(on(nullptr), n, n);
  quantize_both(on(nullptr), x.device(), along_rows, {.seed = 9, .stream = 0}, along_cols,
                {.seed = 9, .stream = 1});
  list const a = all_codes(along_rows.to_host(on(nullptr)));
  list const b = all_codes(along_cols.to_host(on(nullptr)));
  list b_transposed;
  for (i64 r = 0; r < n; ++r)
    for (i64 c = 0; c < n; ++c) b_transposed.push_back(b[std::size_t(c * n + r)]);
  CHECK(std::llabs(agreements(a, b) - n * n / 2) <= 640);
  CHECK(std::llabs(agreements(a, b_transposed) - n * n / 2) <= 640);
}

TEST_CASE("SRD-05 sibling: corrected scales are drawn: seeds differ in scales and not in codes") {
  constexpr i64 n = 1 << 14;
  matrix<float> const x(1, n, inputs::normal(n, 5));
  auto const first = on_device<quartet2_backward>(x.device(), {.seed = 1});
  auto const second = on_device<quartet2_backward>(x.device(), {.seed = 2});
  CHECK(first.codes() == second.codes());
  CHECK(first.scales() != second.scales());
  CHECK(first.scales() == quantize<quartet2_backward>(host, x.host(), {.seed = 1}).scales());
}
