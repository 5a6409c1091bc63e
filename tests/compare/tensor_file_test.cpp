// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Good files: every dtype, every code, any way of cutting rows, and shards.

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "tensor_file_check.hpp"

using namespace tensor_file_test;
using tensor_file::dtype;

namespace {

std::vector<float> read_all(tensor_file::tensor const& t) {
  std::vector<float> values(t.rows() * t.cols());
  tensor_file::reader(t).read_rows(0, t.rows(), values.data());
  return values;
}

std::vector<std::uint32_t> bits(std::vector<float> const& values) {
  std::vector<std::uint32_t> result(values.size());
  std::ranges::transform(values, result.begin(),
                         [](float value) { return std::bit_cast<std::uint32_t>(value); });
  return result;
}

/// All 65536 codes of 16 bits, in order.
std::string all_codes() {
  std::string text;
  for (std::uint64_t code = 0; code < 65536; ++code) text += little(code, 2);
  return text;
}

/// IEEE 754 by its definition: sign, `exponent_bits`, and the rest is fraction.
double value_of(unsigned code, int exponent_bits) {
  int const fraction_bits = 15 - exponent_bits;
  int const top = (1 << exponent_bits) - 1;
  int const exponent = static_cast<int>(code >> fraction_bits) & top;
  int const fraction = static_cast<int>(code) & ((1 << fraction_bits) - 1);
  int const bias = top / 2;
  double magnitude = std::ldexp(fraction, 1 - bias - fraction_bits);
  if (exponent > 0)
    magnitude = std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  if (exponent == top)
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  return std::copysign(magnitude, code >> 15 != 0 ? -1.0 : 1.0);
}

void check_all_codes(std::string const& dtype, int exponent_bits) {
  folder const here;
  auto const text = one(entry(dtype, "[256,256]", "[0,131072]"), all_codes());
  auto const values = read_all(tensor_file::list(here.write("m.safetensors", text)).at(0));
  unsigned wrong = 0;
  for (unsigned code = 0; code < 65536; ++code) {
    double const expected = value_of(code, exponent_bits);
    double const got = values[code];
    bool const same = std::isnan(expected) ? std::isnan(got) : expected == got;
    if (!same || std::signbit(expected) != std::signbit(got)) ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("tensor_file/all codes of F16 decode exactly") { check_all_codes(R"("F16")", 5); }

TEST_CASE("tensor_file/all codes of BF16 decode exactly") { check_all_codes(R"("BF16")", 8); }

TEST_CASE("tensor_file/F32 keeps every bit") {
  folder const here;
  std::vector<std::uint32_t> const codes = {0x00000000, 0x80000000, 0x00000001, 0x7f7fffff,
                                            0x7f800000, 0xff800000, 0x7fc12345, 0xff812345};
  std::string text;
  for (auto const code : codes) text += little(code, 4);
  auto const file = here.write("m.safetensors", one(entry(R"("F32")", "[2,4]", "[0,32]"), text));
  CHECK(bits(read_all(tensor_file::list(file).at(0))) == codes);
  auto const array = here.write("m.npy", npy(npy_dict("'<f4'", "(8,)"), text));
  CHECK(bits(read_all(tensor_file::list(array).at(0))) == codes);
}

TEST_CASE("tensor_file/safetensors lists tensors in the order of their data") {
  folder const here;
  auto const header = R"({"__metadata__":{"format":"pt"},"a":)" +
                      entry(R"("BF16")", "[2,3,4]", "[8,56]") + R"(,"b":)" +
                      entry(R"("F32")", "[2]", "[0,8]") + R"(,"c":)" +
                      entry(R"("F16")", "[]", "[56,58]") + "}   ";
  auto const file = here.write("m.safetensors", safetensors(header, data(58)));
  auto const tensors = tensor_file::list(file);
  REQUIRE(tensors.size() == 3);
  CHECK((tensors[0].name == "b" && tensors[0].rows() == 1 && tensors[0].cols() == 2));
  CHECK((tensors[1].name == "a" && tensors[1].rows() == 6 && tensors[1].cols() == 4));
  CHECK((tensors[2].name == "c" && tensors[2].rows() == 1 && tensors[2].cols() == 1));
  CHECK((tensors[1].type == dtype::bf16 && tensors[1].bytes == 48 && tensors[1].file == file));
  CHECK(tensors[1].offset == 8 + header.size() + 8);
}

TEST_CASE("tensor_file/npy is read in all three versions") {
  folder const here;
  for (int const version : {1, 2, 3}) {
    auto const file = here.write(
        "array.npy", npy(npy_dict("'<f2'", "(2, 2)"), little(0xc000'4000'3c00'0001, 8), version));
    auto const tensors = tensor_file::list(file);
    REQUIRE(tensors.size() == 1);
    CHECK((tensors[0].name == "array" && tensors[0].type == dtype::f16));
    CHECK(read_all(tensors[0]) == std::vector<float>{0x1p-24f, 1.0f, 2.0f, -2.0f});
  }
}

TEST_CASE("tensor_file/any cut into rows gives the same values") {
  folder const here;
  std::uint64_t const rows = 10007, cols = 37;  // several buffers, and rows across their edges
  auto const size = rows * cols * 2;
  auto const text =
      one(entry(R"("BF16")", "[10007,37]", "[0," + std::to_string(size) + "]"), data(size));
  auto const tensor = tensor_file::list(here.write("m.safetensors", text)).at(0);
  auto const whole = bits(read_all(tensor));
  for (std::uint64_t const step : {1u, 3u, 7u, 1000u, 9973u}) {
    std::vector<float> parts(rows * cols);
    tensor_file::reader reader(tensor);
    for (std::uint64_t row = 0; row < rows; row += step)
      reader.read_rows(row, std::min(step, rows - row), parts.data() + row * cols);
    CHECK((bits(parts) == whole));
  }
}

TEST_CASE("tensor_file/rows are read in any order, and none is fine") {
  folder const here;
  auto const file = here.write("a.npy", npy(npy_dict("'<f4'", "(2, 1)"), little(0x40000000, 8)));
  tensor_file::reader reader(tensor_file::list(file).at(0));
  float value = 5;
  reader.read_rows(2, 0, &value);
  CHECK(value == 5);
  reader.read_rows(1, 1, &value);
  CHECK(value == 0);
  reader.read_rows(0, 1, &value);
  CHECK(value == 2);
}

TEST_CASE("tensor_file/an index lists the tensors of all shards") {
  folder const here;
  here.write("m-1.safetensors", one(entry(R"("F32")", "[1]", "[0,4]")));
  here.write("m-2.safetensors",
             safetensors(R"({"b":)" + entry(R"("F16")", "[1,2]", "[0,4]") + "}", data(4)));
  auto const file = here.write("m.safetensors.index.json",
                               index(R"({"a":"m-1.safetensors","b":"m-2.safetensors"})"));
  auto const tensors = tensor_file::list(file);
  REQUIRE(tensors.size() == 2);
  CHECK((tensors[0].name == "a" && tensors[0].file == here.path() / "m-1.safetensors"));
  CHECK((tensors[1].name == "b" && tensors[1].type == dtype::f16));
  CHECK(read_all(tensors[1]).size() == 2);
}

TEST_CASE("tensor_file/many tensors are listed in good time") {
  folder const here;
  std::string header = R"({"__metadata__":{})";
  for (int i = 0; i < 20000; ++i) {
    std::string offsets = "[";
    offsets.append(std::to_string(2 * i)).append(",").append(std::to_string(2 * i + 2)) += ']';
    header.append(",\"").append(std::to_string(i)).append("\":");
    header += entry(R"("F16")", "[1]", offsets);
  }
  auto const file = here.write("m.safetensors", safetensors(header + "}", data(40000)));
  CHECK(tensor_file::list(file).size() == 20000);
}

/// Not run by default: writes the seed corpus of tensor_file_fuzz.cpp into ./tensor_file_seeds.
TEST_CASE("tensor_file/write the seed corpus", "[.seeds]") {
  std::filesystem::create_directories("tensor_file_seeds");
  int number = 0;
  for (auto const& seed : seeds())
    std::ofstream("tensor_file_seeds/" + std::to_string(number++), std::ios::binary) << seed;
}
