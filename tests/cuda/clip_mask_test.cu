// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// clip_mask on the device: the bits of the host, and nothing beyond them.

#include "cuda/cases.cuh"

using namespace parity;

namespace {

struct unit_by_unit : nvfp4 {
  using block = shape<1, 12>;
};

bool has_bit(bytes const& mask, bool wanted) {
  for (u8 const b : mask)
    if (b != (wanted ? 0x00 : 0xFF)) return true;
  return false;
}

template <class R, class T>
void check_mask(matrix<T> const& x, bool is_given) {
  CAPTURE(is_given);
  i64 const rows = x.host().rows;
  i64 const cols = x.host().cols;
  auto given = amaxes<R>(x.host());
  for (float& a : given) a /= 2;
  device_buffer<float> const device_given(given);
  guarded const work(quantize_workspace<R>(rows, cols), 0xA5);
  quantize_options host_options;
  device_quantize_options options{.workspace = work.workspace()};
  if (is_given) {
    options = {.amax = device_given.data()};
    host_options.amax = given[0];
    host_options.row_amax = given.data();
  }
  auto const q = quantize<R>(host, x.host(), host_options, rotation_seed);
  bytes expected;
  clip_mask(host, x.host(), q, expected, host_options);
  std::size_t const size = std::size_t(rows * detail::ceil_div(cols, i64(8)));

  guarded const mask(size, 0xA5);
  clip_mask<R>(on(nullptr), x.device(), mask.as<u8>(), options, rotation_seed);
  check_equal("mask", mask.host(), expected);
  if (rows * cols > 1000) CHECK((has_bit(expected, true) && has_bit(expected, false)));

  guarded const by_tiles(size, 0xA5);
  clip_mask<R>(on(nullptr), transposed(x.device().transposed()), by_tiles.as<u8>(), options,
               rotation_seed);
  check_equal("mask by tiles", by_tiles.host(), expected);
}

template <class R, class T = bf16>
void check_all() {
  for (kind const k : {kind::normal, kind::zeros, kind::non_finite, kind::outliers})
    for (extents const& shape : shapes) {
      i64 const cols = whole_groups<R>(shape.cols);
      INFO(shape.rows << " x " << cols << ", " << name_of(k));
      matrix<T> const x(shape.rows, cols, values<R, T>(k, shape.rows, cols));
      check_mask<R>(x, false);
      if (R::scale::scope != outer_scope::none) check_mask<R>(x, true);
    }
}

}  // namespace

TEST_CASE("clip_mask: Quartet's, in a Hadamard basis") {
  check_all<quartet_forward>();
  check_all<quartet_forward, float>();
}
TEST_CASE("clip_mask: no rotation and any number of columns") {
  check_all<nvfp4>();
  check_all<nvfp4_per_row>();
  check_all<mxfp4>();
}
TEST_CASE("clip_mask: a recipe that is quantized unit by unit") { check_all<unit_by_unit>(); }
