// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The owning matrix: sizes of its three parts, and what it refuses.

#include <string>

#include <quadrille/quantize.hpp>
#include <quadrille/quantized.hpp>
#include <quadrille/recipes.hpp>

#include "support/catch.hpp"

namespace {

using namespace quadrille;

struct wide_element : mxfp4 {
  using element = e2m3;
};

struct sizes {
  std::size_t codes;
  std::size_t scales;
  std::size_t outer;
  bool operator==(sizes const&) const = default;
};

template <class R>
sizes sizes_of(i64 rows, i64 cols) {
  quantized<R> const q(rows, cols);
  return {q.codes().size(), q.scales().size(), q.outer().size()};
}

/// What the constructor says; empty if it succeeds.
template <class R>
std::string complaint(i64 rows, i64 cols) {
  try {
    quantized<R> const q(rows, cols);
    return "";
  } catch (error const& e) {
    return e.what();
  }
}

std::string const negative =
    "quadrille: a matrix has a negative extent; rows and columns are at least 0";
std::string const ragged =
    "quadrille: the columns do not fill whole rotation groups; a rotation acts on whole groups, "
    "make "
    "cols a multiple of rotation::size or pad both operands with zeros";

}  // namespace

TEST_CASE("Storage/Quantized.Sizes") {
  CHECK(sizes_of<nvfp4>(3, 64) == sizes{3 * 32, 3 * 4, 1});
  CHECK(sizes_of<nvfp4>(3, 65) == sizes{3 * 33, 3 * 5, 1});
  CHECK(sizes_of<mxfp4>(3, 65) == sizes{3 * 33, 3 * 3, 0});
  CHECK(sizes_of<ufp4>(5, 32) == sizes{5 * 16, 5 * 2, 0});
  CHECK(sizes_of<nvfp4_per_row>(7, 16) == sizes{7 * 8, 7, 7});
  CHECK(sizes_of<nvfp4_weight>(17, 33) == sizes{17 * 17, 17 * 3, 1});
  CHECK(sizes_of<wide_element>(2, 33) == sizes{2 * 33, 2 * 2, 0});
  CHECK(sizes_of<quartet2_backward>(2, 256) == sizes{2 * 128, 2 * 16, 1});
}

TEST_CASE("Storage/Quantized.EmptyOnesKeepTheirShape") {
  CHECK(sizes_of<nvfp4>(0, 32) == sizes{0, 0, 1});
  CHECK(sizes_of<nvfp4>(5, 0) == sizes{0, 0, 1});
  CHECK(sizes_of<mxfp4>(5, 0) == sizes{0, 0, 0});
  CHECK(sizes_of<nvfp4_per_row>(5, 0) == sizes{0, 0, 5});
  CHECK(sizes_of<ufp4>(0, 0) == sizes{0, 0, 0});
  quantized<nvfp4> const none;
  CHECK(none.rows() == 0);
  CHECK(none.cols() == 0);
  CHECK(none.codes().empty());
}

TEST_CASE("Storage/Quantized.StartsAsZeros") {
  quantized<nvfp4> const q(2, 16);
  CHECK(q.codes() == std::vector<u8>(16));
  CHECK(q.scales() == std::vector<u8>(2));
}

TEST_CASE("Storage/Quantized.RefusesNegativeExtents") {
  CHECK(complaint<nvfp4>(-1, 16) == negative);
  CHECK(complaint<nvfp4>(1, -16) == negative);
  CHECK(complaint<ufp4>(-3, 5) == negative);
}

TEST_CASE("Storage/Quantized.RefusesColumnsThatCutARotation") {
  CHECK(complaint<ufp4>(1, 40) == ragged);
  CHECK(complaint<ufp4>(1, 48) == "");
  CHECK(complaint<mxfp4_tseng>(1, 96) == ragged);
  CHECK(complaint<mxfp4_tseng>(1, 128) == "");
  CHECK(complaint<quartet2_backward>(1, 64) == ragged);
  CHECK(complaint<mxfp4>(1, 33) == "");
}

TEST_CASE("Storage/Quantized.ErrorsAreInvalidArguments") {
  CHECK_THROWS_AS(quantized<ufp4>(1, 40), error);
  CHECK_THROWS_AS(quantized<ufp4>(1, 40), std::invalid_argument);
}

TEST_CASE("Storage/Quantized.ReferencesSeeItsParts") {
  quantized<nvfp4> q(2, 16, 77);
  quantized_ref<nvfp4> const r = q.ref();
  CHECK(r.codes == q.codes().data());
  CHECK(r.scales == q.scales().data());
  CHECK(r.outer == q.outer().data());
  CHECK(r.rows == 2);
  CHECK(r.cols == 16);
  CHECK(r.rotation_seed == 77);
  CHECK(q.rotation_seed() == 77);
  quantized_ref<nvfp4, u8 const> const c = static_cast<quantized<nvfp4> const&>(q).ref();
  CHECK(c.codes == r.codes);
  CHECK(c.rotation_seed == 77);
}

TEST_CASE("Storage/Quantized.CopiesAreIndependent") {
  float const x[] = {6, -6};
  quantized<mxfp4> q(1, 2);
  quantized<mxfp4> const before = q;
  quantize(host, matrix_ref<float const>(x, 1, 2), q);
  CHECK(before.codes() == std::vector<u8>{0x00});
  CHECK(q.codes() == std::vector<u8>{0xF7});
}
