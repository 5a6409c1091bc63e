// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Bad .npy files, shards, paths and reads: each gives one sentence that starts with its file.

#include "tensor_file_check.hpp"

using namespace tensor_file_test;

namespace {

std::string array(std::string const& descr, std::string const& shape, std::size_t bytes) {
  return npy(npy_dict(descr, shape), data(bytes));
}

/// A .npy file with a shape, and everything else good.
std::string shaped(std::string const& shape) { return array("'<f4'", shape, 4); }

auto const good_shard = one(entry(R"("F32")", "[1]", "[0,4]"));

/// What an index with that weight_map causes, beside the shard m.safetensors that holds "a".
void check_index(std::string const& weight_map, std::string const& part) {
  folder const here;
  here.write("m.safetensors", good_shard);
  auto const file = here.write("m.safetensors.index.json", index(weight_map));
  check_list(file, file, part);
}

}  // namespace

TEST_CASE("tensor_file/npy with a bad header") {
  auto const dict = npy_dict("'<f4'", "(1,)");
  check_all(
      "a.npy",
      {{"empty", "", "is 0 bytes long; a .npy file has at least 12"},
       {"cut magic", "\x93NUM", "is 4 bytes long"},
       {"other format", "PK\3\4 and more bytes", "does not start with \\x93NUMPY"},
       {"version 4.0", npy(dict, data(4), 4), "has .npy version 4.0; only 1.0"},
       {"version 0.0", npy(dict, data(4), 0), "has .npy version 0.0; only 1.0"},
       {"header past the end", npy(dict).substr(0, 30), "bytes; only 20 follow"},
       {"header of 4 GB", npy("", {}, 2).replace(8, 4, "\xff\xff\xff\xff"), "4294967295 bytes"},
       {"empty header", npy("", data(4)), "header that np.save does not write, at its character 0"},
       {"no dict", npy("[1, 2]", data(4)), "np.save does not write, at its character 0"},
       {"empty dict", npy("{}", data(4)), "without descr, fortran_order or shape"},
       {"no shape", npy("{'descr': '<f4', 'fortran_order': False}", data(4)), "needs all three"},
       {"cut dict", npy(dict.substr(0, 40), data(4)), "np.save does not write, at its character"},
       {"open string", npy("{'descr", data(4)), "np.save does not write, at its character 2"},
       {"comma alone", npy("{,}", data(4)), "np.save does not write"},
       {"text behind", npy(dict + "x", data(4)), "np.save does not write"},
       {"zero behind", npy(dict + std::string(1, '\0'), data(4)), "np.save does not write"},
       {"unknown key", npy("{'d\xff': 1}", data(4)), R"(unknown header key "d\ufffd")"},
       {"key of escapes", npy("{'" + std::string(99, '\x9b') + "': 1}"), "ufffd\\uff...\"; only"},
       {"key twice", npy("{'descr': '<f4', 'descr': '<f4'}", data(4)), "has a header key twice"},
       {"order not a bool", npy(npy_dict("'<f4'", "(1,)", "0"), data(4)), "does not write"},
       {"columns", npy(npy_dict("'<f4'", "(1,)", "True"), data(4)), "np.ascontiguousarray(a)"}});
}

TEST_CASE("tensor_file/npy with a bad dtype or shape") {
  check_all(
      "a.npy",
      {{"f8", array("'<f8'", "(1,)", 8), "has dtype \"<f8\"; only <f4 and <f2 (little-endian"},
       {"big-endian", array("'>f4'", "(1,)", 4), "has dtype \">f4\", which is big-endian; only"},
       {"integers", array("'<i4'", "(1,)", 4), "has dtype \"<i4\"; only <f4 and <f2"},
       {"empty dtype", array("''", "(1,)", 4), "has dtype \"\"; only"},
       {"records", array("[('a', '<f4')]", "(1,)", 4), "records of several fields; only plain"},
       {"dtype a number", array("4", "(1,)", 4), "np.save does not write"},
       {"0 dimensions", shaped("()"), "single number (0 dimensions); a matrix is needed"},
       {"a number", shaped("(1)"), "has a shape that is no tuple of whole numbers"},
       {"a list", shaped("[1]"), "has a shape that is no tuple"},
       {"negative", shaped("(-1,)"), "has a shape that is no tuple"},
       {"fraction", shaped("(1.0,)"), "has a shape that is no tuple"},
       {"2^64", shaped("(18446744073709551616,)"), "has a shape that is no tuple"},
       {"comma alone", shaped("(,)"), "has a shape that is no tuple"},
       {"two commas", shaped("(1,,1)"), "has a shape that is no tuple"},
       {"no comma", shaped("(1 1)"), "has a shape that is no tuple"},
       {"never closed", npy("{'shape': (1, ", data(4)), "has a shape that is no tuple"},
       {"zero extent", array("'<f4'", "(0, 4)", 0), "the array has no elements; there is nothing"},
       {"product overflow", shaped("(4294967296, 4294967296, 2)"), "does not fit in 64 bits"},
       {"bytes overflow", shaped("(4611686018427387904,)"), "does not fit in 64 bits"},
       {"data cut short", array("'<f4'", "(2, 3)", 23), "has 23 bytes of data; its dtype and"},
       {"bytes behind", array("'<f2'", "(2, 3)", 13), "shape need 12, save the array again"}});
}

TEST_CASE("tensor_file/a bad index") {
  auto const outside = "a shard is a .safetensors file beside its index, without a folder";
  for (std::string const name :
       {"../m.safetensors", "/etc/m.safetensors", "x/m.safetensors", "..", "", "m.bin",
        "..\\\\m.safetensors", "c:m.safetensors", "m.safetensors\\u0000", "m\\u0000.safetensors"})
    check_index(R"({"a":")" + name + "\"}", outside);
  check_index(R"({"a":1})", R"(puts tensor "a" in "1"; a shard is)");
  check_index(R"({"a":"../m.safetensors"})", R"(puts tensor "a" in "../m.safetensors"; a shard)");
  check_index("{}", "has no weight_map");
  check_index("[]", "has no weight_map");
  check_index(R"({"a":"m.safetensors","a":"m.safetensors"})", "has the key \"a\" twice");
  check_index(R"({"a":"m.safetensors","b":"m.safetensors"})",
              R"(puts tensor "b" in "m.safetensors", where it is not)");
  check_index(R"({"b":"m.safetensors"})", R"(does not put tensor "a" in "m.safetensors", where)");
  check_all("m.safetensors.index.json", {{"empty", "", "index does not start with {"},
                                         {"no map", "{}", "has no weight_map"},
                                         {"cut", R"({"weight_map":{)", "index is not JSON"}});
}

TEST_CASE("tensor_file/an index without end") {
  folder const here;
  auto const file = here.write("m.safetensors.index.json", "{");
  std::filesystem::resize_file(file, 100'000'001);  // a hole, which takes no space
  check_list(file, file, "is 100000001 bytes long; an index may have 100000000");
}

TEST_CASE("tensor_file/a bad shard") {
  folder const here;
  auto const file =
      here.write("m.safetensors.index.json", index(R"({"a":"1.safetensors","b":"2.safetensors"})"));
  check_list(file, here.path() / "1.safetensors", "does not exist");
  here.write("1.safetensors", good_shard);
  auto const second = here.write("2.safetensors", good_shard);
  check_list(file, file, R"(does not put tensor "a" in "2.safetensors")");
  here.write("2.safetensors", "");
  check_list(file, second, "is 0 bytes long");
  std::filesystem::remove(second);
  std::filesystem::create_directory(second);
  check_list(file, second, "is a directory");
}

TEST_CASE("tensor_file/a path that is no tensor file") {
  folder const here;
  check_list(here.path(), here.path(), "is a directory; give the path of one file in it");
  check_list(here.path() / "x.npy", here.path() / "x.npy", "does not exist; give the path");
  auto const text = here.write("m.txt", "text");
  check_list(text, text, "has an unknown ending; give a .safetensors");
  check_list(text / "x.npy", text / "x.npy", "");
  auto const long_name = sentence_of([] { tensor_file::list(std::string(5000, 'x')); });
  CHECK(long_name.find("xxx: cannot be opened (") != std::string::npos);
  if (std::filesystem::exists("/dev/zero"))
    check_list("/dev/zero", "/dev/zero", "is a pipe or a device; tensors are read from regular");
}

TEST_CASE("tensor_file/reads that cannot be served") {
  folder const here;
  auto const file = here.write("a.npy", array("'<f4'", "(4, 2)", 32));
  auto tensor = tensor_file::list(file).at(0);
  std::vector<float> out(8);
  tensor_file::reader reader(tensor);
  auto const said = [&](std::uint64_t first, std::uint64_t count) {
    return sentence_of([&] { reader.read_rows(first, count, out.data()); });
  };
  CHECK(said(3, 2) == file.string() +
                          ": was asked for 2 rows from row 3 of tensor \"a\"; it has 4"
                          ", ask for fewer");
  CHECK(said(5, 0) != "no error");
  CHECK(said(2, UINT64_MAX) != "no error");
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  CHECK(said(0, 3) == "no error");
  CHECK(said(2, 2).find("it was cut short or changed while it was read") != std::string::npos);
  CHECK(said(0, 1) == "no error");
  std::filesystem::remove(file);
  CHECK(sentence_of([&] { tensor_file::reader{tensor}; }).find("not exist") != std::string::npos);
  here.write("a.npy", "");
  tensor.shape = {UINT64_MAX, UINT64_MAX};
  CHECK(sentence_of([&] { tensor_file::reader{tensor}; }).find("64 bits") != std::string::npos);
  tensor.shape = {4, 3};
  CHECK(sentence_of([&] { tensor_file::reader{tensor}; }).find("than its shape") !=
        std::string::npos);
}
