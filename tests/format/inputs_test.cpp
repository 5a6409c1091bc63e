// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Casts of whole input sets: all 16-bit values, and random bit patterns of float and double.

#include "formats.hpp"
#include "support/catch.hpp"

using namespace formats;

TEMPLATE_TEST_CASE("Format/Inputs.AllBf16", "", QUADRILLE_ALL_FORMATS) {
  CHECK(casts_that_differ<TestType>(inputs::all_bf16()) == "");
}

TEMPLATE_TEST_CASE("Format/Inputs.AllFp16", "", QUADRILLE_ALL_FORMATS) {
  CHECK(casts_that_differ<TestType>(all_fp16()) == "");
}

TEMPLATE_TEST_CASE("Format/Inputs.RandomFloatBits", "", QUADRILLE_ALL_FORMATS) {
  CHECK(casts_that_differ<TestType>(inputs::bit_patterns(100000, 1)) == "");
  CHECK(casts_that_differ<TestType>(inputs::subnormal(10000, 2)) == "");
}

TEMPLATE_TEST_CASE("Format/Inputs.RandomFloatsInRange", "", QUADRILLE_ALL_FORMATS) {
  float const scale = static_cast<float>(twin<TestType>().max()) / 4;
  CHECK(casts_that_differ<TestType>(inputs::normal(100000, 3, scale)) == "");
}

TEMPLATE_TEST_CASE("Format/Inputs.RandomDoubles", "", QUADRILLE_ALL_FORMATS) {
  if constexpr (takes_double<TestType>) {
    CHECK(casts_that_differ<TestType>(double_patterns(100000, 4)) == "");
    CHECK(casts_that_differ<TestType>(doubles_in_range(100000, 5)) == "");
  }
}
