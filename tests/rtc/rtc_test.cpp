// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Headers that NVRTC must compile, with no host include path: run-time compilation is how a program
// takes a recipe that is only known when it runs. Compiles only, so no GPU is needed.

#include "support/catch.hpp"

#include <nvrtc.h>

#include <string>

namespace {

constexpr char const* headers[] = {
    "block.hpp",    "format.hpp",       "random.hpp",  "recipe.hpp",      "recipes.hpp",
    "rotation.hpp", "rounding.hpp",     "scale.hpp",   "scale_rules.hpp", "scale_search.hpp",
    "codec.hpp",    "scale_layout.hpp", "storage.hpp", "quadrille.cuh",
};

constexpr char const* architectures[] = {"compute_80", "compute_90a", "compute_100a",
                                         "compute_120a"};

/// What NVRTC says about `source`; empty when it compiles without a warning.
std::string complaints(std::string const& source, std::string const& architecture) {
  nvrtcProgram program = nullptr;
  REQUIRE(nvrtcCreateProgram(&program, source.c_str(), "source.cu", 0, nullptr, nullptr) ==
          NVRTC_SUCCESS);
  std::string const include = "-I" QUADRILLE_SOURCE_DIR "/include";
  std::string const target = "--gpu-architecture=" + architecture;
  char const* const options[] = {"--std=c++20", include.c_str(), target.c_str()};
  nvrtcResult const status = nvrtcCompileProgram(program, 3, options);
  std::size_t size = 0;
  REQUIRE(nvrtcGetProgramLogSize(program, &size) == NVRTC_SUCCESS);
  std::string log(size, '\0');
  REQUIRE(nvrtcGetProgramLog(program, log.data()) == NVRTC_SUCCESS);
  REQUIRE(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS);
  log.resize(log.find_last_not_of('\0') + 1);  // the size counts the terminator
  return status == NVRTC_SUCCESS || !log.empty() ? log : nvrtcGetErrorString(status);
}

}  // namespace

TEST_CASE("NVRTC compiles each device header alone (BLD-04)") {
  for (char const* header : headers) {
    INFO(header);
    CHECK(complaints(std::string("#include <quadrille/") + header + ">\n", "compute_80") == "");
  }
}

TEST_CASE("NVRTC compiles a kernel over a user's recipe given as text") {
  std::string const source = R"(
#include <quadrille/recipes.hpp>

struct mine : quadrille::nvfp4 {
  using block = quadrille::shape<1, 32>;
  using scale = quadrille::one_level<quadrille::ue8m0, quadrille::ocp_ceil>;
  using rotation = quadrille::hadamard<32>;
};
static_assert(quadrille::check_recipe<mine>());

extern "C" __global__ void cast(float const* x, unsigned char* code) {
  unsigned const i = blockIdx.x * blockDim.x + threadIdx.x;
  code[i] = mine::element::encode<mine::rounding>(x[i]);
}
)";
  for (char const* architecture : architectures) {
    INFO(architecture);
    CHECK(complaints(source, architecture) == "");
  }
}

TEST_CASE("NVRTC says in one sentence what is wrong with a recipe") {
  std::string const log = complaints(R"(
#include <quadrille/recipes.hpp>
struct mine : quadrille::nvfp4 { using scale = quadrille::ue8m0; };
static_assert(quadrille::check_recipe<mine>());
)",
                                     "compute_80");
  INFO(log);
  CHECK(log.find("quadrille: recipe::scale is missing or is not a scale hierarchy") !=
        std::string::npos);
}
