// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Files for the tests of the readers, built byte by byte.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace tensor_file_test {

/// A little-endian number of that many bytes.
inline std::string little(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 255);
  return text;
}

/// The bytes `count`, `count` - 1, ... 1.
inline std::string data(std::size_t count) {
  std::string text;
  for (std::size_t i = count; i > 0; --i) text += static_cast<char>(i & 255);
  return text;
}

inline std::string safetensors(std::string const& header, std::string const& bytes = {}) {
  return little(header.size(), 8) + header + bytes;
}

inline std::string entry(std::string const& dtype, std::string const& shape,
                         std::string const& offsets) {
  return R"({"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

/// One tensor "a" as the whole file.
inline std::string one(std::string const& entry, std::string const& bytes = data(4)) {
  return safetensors(R"({"a":)" + entry + "}", bytes);
}

inline std::string npy(std::string const& dict, std::string const& bytes = {}, int major = 1) {
  return "\x93NUMPY" + little(static_cast<unsigned>(major), 1) + little(0, 1) +
         little(dict.size(), major == 1 ? 2 : 4) + dict + bytes;
}

inline std::string npy_dict(std::string const& descr, std::string const& shape,
                            std::string const& fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape +
         ", }        \n";
}

inline std::string index(std::string const& weight_map) {
  return R"({"metadata":{"total_size":8.5},"weight_map":)" + weight_map + "}";
}

/// A folder of its own that goes away with the object.
class folder {
 public:
  folder() : path_(std::filesystem::temp_directory_path()) {
    path_ /= "tensor_file_" + std::to_string(std::random_device()());
    std::filesystem::create_directories(path_);
  }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }

  std::filesystem::path write(std::string const& name, std::string const& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }
  std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Small good files and headers, each after the byte that tells the fuzz target what it is.
inline std::vector<std::string> seeds() {
  auto const two = R"({"__metadata__":{"format":"pt"},"a":)" + entry(R"("F32")", "[1,2]", "[0,8]") +
                   R"(,"b":)" + entry(R"("BF16")", "[2]", "[8,12]") + "}";
  return {'\0' + safetensors(two, data(12)),
          '\0' + one(entry(R"("F16")", "[]", "[0,2]"), data(2)),
          '\3' + two,
          '\4' + npy_dict("'<f4'", "(2, 1)"),
          '\1' + npy(npy_dict("'<f4'", "(2, 1)"), data(8)),
          '\1' + npy(npy_dict("'<f2'", "(3,)"), data(6), 2),
          '\1' + npy(npy_dict("\"<f4\"", "(1, 1, 1)"), data(4), 3),
          '\2' + index(R"({"a":"m-1.safetensors","b":"m-2.safetensors"})")};
}

}  // namespace tensor_file_test
