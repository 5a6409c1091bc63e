// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Bad files: each gives one sentence that starts with the file's name, here of .safetensors.

#include "tensor_file_check.hpp"

using namespace tensor_file_test;

namespace {

auto const f32 = R"("F32")";
auto const good = entry(f32, "[1]", "[0,4]");

std::string two(std::string const& first, std::string const& second, std::size_t bytes) {
  return safetensors(
      R"({"a":)" + entry(f32, "[1]", first) + R"(,"b":)" + entry(f32, "[1]", second) + "}",
      data(bytes));
}

}  // namespace

TEST_CASE("tensor_file/safetensors with a bad header") {
  std::string const nul("{\0}", 3);
  std::string deep = R"({"a":)";
  deep.append(100000, '[');
  std::string wide = R"({"a":[true)";
  for (int i = 0; i < 1 << 21; ++i) wide += ",0";
  check_all(
      "m.safetensors",
      {{"empty", "", "is 0 bytes long"},
       {"no length", little(16, 7), "is 7 bytes long; a .safetensors file starts with 8"},
       {"length 0", little(0, 8), "header has 0 bytes"},
       {"length past the end", little(3, 8) + "{}", "only 2 follow"},
       {"length of 100 MB and one", little(100'000'001, 8) + "{}", "100000000 are allowed"},
       {"length 2^64 - 1", little(UINT64_MAX, 8) + "{}", "18446744073709551615 bytes"},
       {"a Git LFS pointer", "version https://git-lfs", "the file is damaged or not"},
       {"a list", safetensors("[]"), "does not start with {"},
       {"a string", safetensors("\"a\""), "does not start with {"},
       {"byte order mark", safetensors("\xef\xbb\xbf{}"), "does not start with {"},
       {"cut JSON", safetensors(R"({"a":)"), "is not JSON in UTF-8 near its byte 6"},
       {"text after the object", safetensors("{} x"), "is not JSON"},
       {"two objects", safetensors("{}{}"), "is not JSON"},
       {"zero byte", safetensors(nul), "has a zero byte at 1"},
       {"bad UTF-8 in a name", safetensors("{\"\xff\":0}"), "is not JSON in UTF-8 near"},
       {"bad UTF-8 outside", safetensors("{\xc3\xa9}"), "is not JSON in UTF-8 near"},
       {"half a surrogate", safetensors(R"({"\ud800":0})"), "is not JSON"},
       {"number out of range", safetensors(R"({"a":1e999})"), "is not JSON"},
       {"comment", safetensors("{/**/}"), "is not JSON"},
       {"deep nesting", safetensors(deep), "nests JSON more than 16 levels deep"},
       {"too many values", safetensors(wide), "has more than 2097152 JSON values"},
       {"same name twice", safetensors(R"({"a":)" + good + R"(,"a":)" + good + "}", data(4)),
        "key \"a\" twice"},
       {"same field twice", one(R"({"dtype":"F32","dtype":"F16"})"), "key \"dtype\" twice"},
       {"metadata is a list", safetensors(R"({"__metadata__":[]})"), "has a __metadata__ that"},
       {"metadata of numbers", safetensors(R"({"__metadata__":{"a":1}})"), "object of strings"},
       {"no tensors", safetensors(R"({"__metadata__":{"a":"b"}})"), "holds no tensor"}});
}

TEST_CASE("tensor_file/safetensors with a bad entry") {
  auto const huge = "[4294967296,4294967296,4294967296]";
  check_all(
      "m.safetensors",
      {{"a number", one("7"), "tensor \"a\" is not a JSON object"},
       {"null", one("null"), "tensor \"a\" is not a JSON object"},
       {"no dtype", one("{}"), "tensor \"a\" has no d"},
       {"no shape", one(R"({"dtype":"F32","data_offsets":[0,4]})"), "has no shape"},
       {"no offsets", one(R"({"dtype":"F32","shape":[1]})"), "has no data_offsets"},
       {"dtype a number", one(entry("3", "[1]", "[0,4]")), "has a dtype that is not a string"},
       {"dtype unknown", one(entry(R"("F33")", "[1]", "[0,4]")), "the unknown dtype \"F33\""},
       {"dtype I64", one(entry(R"("I64")", "[1]", "[0,8]")), "\"a\" has dtype \"I64\"; only"},
       {"dtype BOOL", one(entry(R"("BOOL")", "[4]", "[0,4]")), "has dtype \"BOOL\"; only"},
       {"dtype F8", one(entry(R"("F8_E4M3")", "[4]", "[0,4]")), "has dtype \"F8_E4M3\"; only"},
       {"dtype f32", one(entry(R"("f32")", "[1]", "[0,4]")), "the unknown dtype \"f32\""},
       {"shape a number", one(entry(f32, "1", "[0,4]")), "has a shape that is not a list"},
       {"shape an object", one(entry(f32, "{}", "[0,4]")), "has a shape that is not a list"},
       {"negative extent", one(entry(f32, "[-1]", "[0,4]")), "has \"-1\" in its shape"},
       {"fraction", one(entry(f32, "[1.5]", "[0,4]")), "has \"1.5\" in its shape"},
       {"whole float", one(entry(f32, "[1.0]", "[0,4]")), "has \"1.0\" in its shape"},
       {"2^64", one(entry(f32, "[18446744073709551616]", "[0,4]")), "in its shape"},
       {"string in shape", one(entry(f32, R"(["1"])", "[0,4]")), "has \"1\" in its shape"},
       {"list in shape", one(entry(f32, "[[1]]", "[0,4]")), "has \"[1]\" in its shape"},
       {"product overflow", one(entry(f32, huge, "[0,4]")), "does not fit in 64 bits"},
       {"bytes overflow", one(entry(f32, "[4611686018427387904]", "[0,0]")), "not fit in 64"},
       {"zero extent", one(entry(f32, "[3,0]", "[0,0]"), ""), "\"a\" has no elements; there"},
       {"zero hides overflow", one(entry(f32, "[4294967296,4294967296,0]", "[0,0]"), ""),
        "has no elements"},
       {"one offset", one(entry(f32, "[1]", "[4]")), "not exactly two data_offsets"},
       {"three offsets", one(entry(f32, "[1]", "[0,4,8]")), "not exactly two data_offsets"},
       {"offsets an object", one(entry(f32, "[1]", "{}")), "has a data_offsets that is not"},
       {"negative offset", one(entry(f32, "[1]", "[-4,0]")), "has \"-4\" in its data_offsets"},
       {"end before begin", one(entry(f32, "[1]", "[4,0]")), "end before they begin"},
       {"too few bytes", one(entry(f32, "[2]", "[0,4]")), "has 4 bytes of data; its dtype and"},
       {"too many bytes", one(entry(f32, "[1]", "[0,8]"), data(8)), "shape need 4, the file"},
       {"control characters in a name", safetensors(R"({"\u001b[31m\n":1})"),
        R"(tensor "\u001b[31m\n" is)"},
       {"long name", safetensors("{\"" + std::string(5000, 'x') + "\":1}"), "xxx...\" is not"}});
}

TEST_CASE("tensor_file/safetensors whose tensors do not cover the data") {
  check_all(
      "m.safetensors",
      {{"past the end", one(entry(f32, "[1]", "[4,8]")), "\"a\" ends past the 4 bytes of data"},
       {"far past the end", one(entry(f32, "[1]", "[18446744073709551611,18446744073709551615]")),
        "ends past the 4 bytes"},
       {"data cut short", one(good, data(3)), "ends past the 3 bytes of data"},
       {"overlap", two("[0,4]", "[2,6]", 6), "tensor \"b\" overlaps another tensor"},
       {"same place", two("[0,4]", "[0,4]", 4), "overlaps another tensor"},
       {"hole at the start", one(entry(f32, "[1]", "[4,8]"), data(8)), "4 bytes before tensor"},
       {"hole between", two("[0,4]", "[5,9]", 9), "1 bytes before tensor \"b\" belong to no"},
       {"bytes at the end", one(good, data(6)), "2 bytes after the last tensor belong to no"}});
}
