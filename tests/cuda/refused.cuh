// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What a call refuses.

#include <exception>
#include <string>

#include <cuda_runtime.h>

#include <quadrille/detail/check.hpp>

#include "support/catch.hpp"

namespace parity {

/// f() throws quadrille::error whose text contains `rule`.
template <class F>
void require_refused(char const* rule, F f) {
  INFO("expected: " << rule);
  try {
    f();
    FAIL_CHECK("not refused");
  } catch (quadrille::error const& e) {
    INFO(e.what());
    CHECK(std::string(e.what()).find("quadrille: ") == 0);
    CHECK(std::string(e.what()).find(rule) != std::string::npos);
  } catch (std::exception const& e) {
    FAIL_CHECK("another exception: " << e.what());
    cudaGetLastError();
  }
  CHECK(cudaGetLastError() == cudaSuccess);
}

}  // namespace parity
