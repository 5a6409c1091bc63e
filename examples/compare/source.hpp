// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What every format shares: a file's bytes, its error sentences, and the size of a tensor.

#include "tensor_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tensor_file {

/// Throws `error` with "file: sentence".
[[noreturn]] void fail(std::filesystem::path const& file, std::string const& sentence);

/// Text found in a file, fit for a sentence: in double quotes, ASCII, escaped, cut where long.
std::string in_quotes(std::string_view text);

/// Opens a regular file; fails on a missing one, a directory, a pipe or a device.
std::ifstream open_file(std::filesystem::path const& file);

/// Reads `count` bytes from `offset`; fails where the file is shorter by now.
void read_bytes(std::filesystem::path const& file, std::istream& stream, std::uint64_t offset,
                std::uint64_t count, char* out);

/// Bytes of a tensor of that shape. Fails where it has no elements, or where 64 bits are too few;
/// `what` names the tensor.
std::uint64_t byte_count(std::filesystem::path const& file, std::string const& what, dtype type,
                         std::vector<std::uint64_t> const& shape);

/// A file that is being listed: on disk, or in memory under a name.
class source {
 public:
  explicit source(std::filesystem::path file);
  source(std::filesystem::path file, std::string bytes);

  std::filesystem::path const& file() const { return file_; }
  std::uint64_t size() const { return size_; }

  /// Bytes [offset, offset + count). Compare with size() first: `count` bytes are allocated.
  std::string read(std::uint64_t offset, std::uint64_t count);

  /// A little-endian number of 1 to 8 bytes.
  std::uint64_t read_number(std::uint64_t offset, int bytes);

 private:
  std::filesystem::path file_;
  std::unique_ptr<std::istream> stream_;
  std::uint64_t size_;
};

}  // namespace tensor_file
