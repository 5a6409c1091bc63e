// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Casts from the 16-bit types are casts from the float that they stand for: exact, then one rounding.

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

namespace {

template <class F, class Half>
bool all_codes_agree() {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    Half half;
    half.bits = u16(bits);
    if (F::encode(half) != F::encode(float(half))) return false;
    if (F::template encode<toward_zero>(half) != F::template encode<toward_zero>(float(half)))
      return false;
  }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("Format/Cast.FromHalfTypes", "", e2m1, e1m2, quadrille::int4, e4m3, e5m2, ue8m0) {
  CHECK(all_codes_agree<TestType, fp16>());
  CHECK(all_codes_agree<TestType, bf16>());
}

static_assert(e2m1(bf16(2.5f)).code() == 4 && e2m1(fp16(-6.f)).code() == 0xF);
static_assert(quadrille::int4(fp16(3.5f)).code() == 4);
