// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "source.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>
#include <utility>

namespace tensor_file {
namespace {

/// Why `file` cannot be read, or nothing.
std::string trouble(std::filesystem::path const& file) {
  std::error_code code;
  auto const status = std::filesystem::status(file, code);
  if (status.type() == std::filesystem::file_type::not_found)
    return "does not exist; give the path of a .safetensors, .safetensors.index.json or .npy file";
  if (code) return "cannot be opened (" + code.message() + "); check the path and its permissions";
  if (std::filesystem::is_directory(status))
    return "is a directory; give the path of one file in it";
  if (!std::filesystem::is_regular_file(status))
    return "is a pipe or a device; tensors are read from regular files, copy it to one";
  return {};
}

bool multiply(std::uint64_t& product, std::uint64_t factor) {
  if (factor != 0 && product > UINT64_MAX / factor) return false;
  product *= factor;
  return true;
}

}  // namespace

void fail(std::filesystem::path const& file, std::string const& sentence) {
  throw error(file.string() + ": " + sentence);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 100;
  nlohmann::json const start(text.substr(0, longest + 1));
  auto shown = start.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (shown.size() <= longest + 2) return shown;  // an escape is never shorter than its text
  return shown.substr(0, longest + 1) + "...\"";
}

std::ifstream open_file(std::filesystem::path const& file) {
  if (auto const why = trouble(file); !why.empty()) fail(file, why);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file, "cannot be opened; it must be readable, check its permissions");
  return stream;
}

void read_bytes(std::filesystem::path const& file, std::istream& stream, std::uint64_t offset,
                std::uint64_t count, char* out) {
  stream.clear();
  stream.seekg(static_cast<std::streamoff>(offset));
  stream.read(out, static_cast<std::streamsize>(count));
  if (stream && static_cast<std::uint64_t>(stream.gcount()) == count) return;
  fail(file, "ends inside bytes " + std::to_string(offset) + " to " +
                 std::to_string(offset + count) +
                 "; it was cut short or changed while it was read, fetch it again");
}

std::uint64_t byte_count(std::filesystem::path const& file, std::string const& what, dtype type,
                         std::vector<std::uint64_t> const& shape) {
  for (auto const extent : shape)
    if (extent == 0) fail(file, what + " has no elements; there is nothing to quantize, remove it");
  std::uint64_t bytes = size_of(type);
  for (auto const extent : shape)
    if (!multiply(bytes, extent))
      fail(file, what + " has a shape whose size does not fit in 64 bits; the file is damaged");
  return bytes;
}

source::source(std::filesystem::path file)
    : file_(std::move(file)), stream_(std::make_unique<std::ifstream>(open_file(file_))), size_(0) {
  std::error_code code;
  size_ = std::filesystem::file_size(file_, code);
  if (code) fail(file_, "has no size that can be read (" + code.message() + "); try again");
}

source::source(std::filesystem::path file, std::string bytes)
    : file_(std::move(file)), size_(bytes.size()) {
  stream_ = std::make_unique<std::istringstream>(std::move(bytes));
}

std::string source::read(std::uint64_t offset, std::uint64_t count) {
  std::string bytes(count, '\0');
  read_bytes(file_, *stream_, offset, count, bytes.data());
  return bytes;
}

std::uint64_t source::read_number(std::uint64_t offset, int bytes) {
  auto const text = read(offset, static_cast<std::uint64_t>(bytes));
  std::uint64_t number = 0;
  for (std::size_t i = text.size(); i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(text[i]);
  return number;
}

}  // namespace tensor_file
