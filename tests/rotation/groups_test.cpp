// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Rotating many groups at once gives the bytes of rotating each, for every size.

#include "support/catch.hpp"
#include "support/inputs.hpp"

#include <quadrille/detail/cpu.hpp>
#include <quadrille/detail/rotate_groups.hpp>
#include <quadrille/rotation.hpp>

#include <cstring>
#include <vector>

namespace {

using namespace quadrille;

template <class R>
void require_same_groups() {
  CAPTURE(R::size);
  constexpr i64 n = 5 * R::size;
  sign_vector const signs = R::signs(11);
  std::vector<float> const x = inputs::normal(std::size_t(n), 7);
  std::vector<float> one_by_one = x;
  std::vector<float> at_once = x;
  auto const require_same = [&] {
    REQUIRE(std::memcmp(one_by_one.data(), at_once.data(), std::size_t(n) * 4) == 0);
  };
  for (i64 i = 0; i < n; i += R::size) R::apply(one_by_one.data() + i, signs);
  detail::group_rotation<R>::apply(at_once.data(), n, signs);
  require_same();
  for (i64 i = 0; i < n; i += R::size) R::invert(one_by_one.data() + i, signs);
  detail::group_rotation<R>::invert(at_once.data(), n, signs);
  require_same();
}

template <int N>
void require_all_kinds() {
  require_same_groups<hadamard<N>>();
  require_same_groups<random_hadamard<N>>();
  require_same_groups<random_hadamard<N, seeded_signs>>();
  require_same_groups<bf16_rounded<random_hadamard<N>>>();
}

}  // namespace

TEST_CASE("Rotation/Groups.ManyAtOnceAreEachByItself") {
  require_all_kinds<2>();
  require_all_kinds<4>();
  require_all_kinds<8>();
  require_all_kinds<16>();
  require_all_kinds<32>();
  require_all_kinds<64>();
  require_all_kinds<128>();
  require_same_groups<identity>();
}
