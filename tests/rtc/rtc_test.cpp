// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Headers that NVRTC must compile, with no host include path: run-time compilation is how a program
// takes a recipe that is only known when it runs. Compiles only, so no GPU is needed.

#include "support/catch.hpp"

#include <nvrtc.h>

#include <string>

namespace {

constexpr char const* headers[] = {
    "detail/config.hpp", "detail/std.hpp",   "random.hpp",   "rounding.hpp",
    "format.hpp",        "block.hpp",        "rotation.hpp", "scale_rules.hpp",
    "scale_search.hpp",  "scale.hpp",        "recipe.hpp",   "recipes.hpp",
    "storage.hpp",       "scale_layout.hpp", "codec.hpp",    "device.cuh",
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
  std::string const recipe = R"(
struct mine : quadrille::nvfp4 {
  using element = quadrille::minifloat<2, 1>;
  using block = quadrille::shape<1, 32>;
  using scale = quadrille::one_level<quadrille::ue8m0, quadrille::ocp_ceil>;
  using rounding = quadrille::stochastic<8>;
  using rotation = quadrille::random_hadamard<32, quadrille::seeded_signs>;
};
)";
  std::string const kernel = R"(
static_assert(quadrille::check_recipe<mine>());

// A thread for each block of 32: rotates, quantizes and packs it.
extern "C" __global__ void quantize(float const* x, quadrille::quantized_ref<mine> q,
                                    unsigned long long seed) {
  using codec = quadrille::block_codec<mine>;
  long long const block = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  long long const row = block / q.scale_cols();
  long long const col = block % q.scale_cols() * 32;
  float values[codec::block_size];
  unsigned codes[codec::block_size];
  codec::random_word words[codec::block_size];
  for (int i = 0; i < codec::block_size; ++i) {
    values[i] = x[row * q.cols + col + i];
    words[i] = codec::random_word(quadrille::random_bits<8>({seed, 0}, row, col + i));
  }
  mine::rotation::apply(values, mine::rotation::signs(q.rotation_seed));
  quadrille::outer_scale const outer = mine::scale::outer<mine::element>(0);
  codec::encode<1>(values, &outer, words, q.scales + block, codes, nullptr);
  for (int i = 0; i < codec::block_size; i += 2)
    q.codes[row * quadrille::row_bytes<mine::element>(q.cols) + (col + i) / 2] =
        codes[i] | codes[i + 1] << 4;
}

extern "C" __global__ void dequantize(quadrille::quantized_ref<mine, unsigned char const> q,
                                      float* x) {
  using codec = quadrille::block_codec<mine>;
  unsigned codes[codec::block_size];
  long long const block = threadIdx.x;
  for (int i = 0; i < codec::block_size; ++i)
    codes[i] = quadrille::load_code<mine::element>(q.codes + block * codec::block_size / 2, i);
  codec::decode(q.scales[block], q.outer_decode(0), codes, x + block * codec::block_size);
}
)";
  for (char const* architecture : architectures) {
    INFO(architecture);
    CHECK(complaints("#include <quadrille/device.cuh>\n" + recipe + kernel, architecture) == "");
  }
}

TEST_CASE("NVRTC instantiates the codec of every stock recipe") {
  for (char const* recipe :
       {"nvfp4", "nvfp4_weight", "nvfp4_wgrad_gradient", "nvfp4_four_over_six", "nvfp4_fp8_exact",
        "nvfp4_per_row", "mxfp4", "mxfp4_even", "mxfp4_ceil", "mxfp4_round_up", "ufp4",
        "ufp4_two_level_gradient", "quartet_forward", "quartet_backward", "quartet2_backward",
        "mxfp4_tseng"}) {
    INFO(recipe);
    CHECK(complaints("#include <quadrille/device.cuh>\nusing mine = quadrille::" +
                         std::string(recipe) + R"(;
using codec = quadrille::block_codec<mine>;
__global__ void encode(float const* x, quadrille::outer_scale const* outer,
                       codec::random_word const* random, codec::stored* scale, unsigned* codes,
                       float* grid) {
  codec::encode<1>(x, outer, random, scale, codes, grid);
}
)",
                     "compute_90a") == "");
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
