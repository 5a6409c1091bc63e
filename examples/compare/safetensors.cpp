// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "formats.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace tensor_file {
namespace {

using json = nlohmann::json;

constexpr std::uint64_t length_bytes = 8;

constexpr std::array supported = {std::pair{std::string_view("F32"), dtype::f32},
                                  std::pair{std::string_view("F16"), dtype::f16},
                                  std::pair{std::string_view("BF16"), dtype::bf16}};

/// Everything else that the reference implementation knows.
constexpr std::array<std::string_view, 19> unsupported = {
    "BOOL",    "F4",      "F6_E2M3",     "F6_E3M2",     "U8",  "I8",  "F8_E5M2",
    "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16", "U16", "I32",
    "U32",     "C64",     "F64",         "I64",         "U64"};

/// The entry of one tensor in the header.
class entry {
 public:
  entry(std::filesystem::path const& file, std::string const& name, json const& value)
      : file_(file), name_(name), what_("tensor " + in_quotes(name)), value_(value) {
    if (!value.is_object()) complain("is not a JSON object; give it dtype, shape and data_offsets");
  }

  /// The tensor, with its offset counted from the end of the header.
  tensor read() const {
    auto const [begin, end] = range();
    tensor result{.name = name_,
                  .type = type(),
                  .shape = numbers("shape"),
                  .file = file_,
                  .offset = begin,
                  .bytes = end - begin};
    auto const needed = byte_count(file_, what_, result.type, result.shape);
    if (needed != result.bytes)
      complain("has " + std::to_string(result.bytes) + " bytes of data; its dtype and shape need " +
               std::to_string(needed) + ", the file is damaged");
    return result;
  }

 private:
  [[noreturn]] void complain(std::string const& sentence) const {
    fail(file_, what_ + " " + sentence);
  }

  json const& field(char const* key) const {
    auto const found = value_.find(key);
    if (found == value_.end())
      complain(std::string("has no ") + key + "; every tensor needs dtype, shape and data_offsets");
    return *found;
  }

  dtype type() const {
    auto const& text = field("dtype");
    if (!text.is_string()) complain("has a dtype that is not a string; write F32, F16 or BF16");
    auto const& name = text.get_ref<std::string const&>();
    for (auto const& [known, type] : supported)
      if (known == name) return type;
    bool const standard = std::ranges::find(unsupported, name) != unsupported.end();
    complain((standard ? "has dtype " : "has the unknown dtype ") + in_quotes(name) +
             "; only F32, F16 and BF16 are read, convert the tensor or save it apart");
  }

  std::vector<std::uint64_t> numbers(char const* key) const {
    auto const& list = field(key);
    if (!list.is_array()) complain(std::string("has a ") + key + " that is not a list of numbers");
    std::vector<std::uint64_t> result;
    for (auto const& number : list) result.push_back(whole(key, number));
    return result;
  }

  std::uint64_t whole(char const* key, json const& number) const {
    if (number.is_number_unsigned()) return number.get<std::uint64_t>();
    complain("has " + shown(number) + " in its " + key +
             "; only whole numbers from 0 to 2^64 - 1 may stand there");
  }

  std::pair<std::uint64_t, std::uint64_t> range() const {
    auto const offsets = numbers("data_offsets");
    if (offsets.size() != 2) complain("has not exactly two data_offsets; write [begin, end]");
    if (offsets[1] < offsets[0])
      complain("has data_offsets that end before they begin; write [begin, end]");
    return {offsets[0], offsets[1]};
  }

  std::filesystem::path const& file_;
  std::string const& name_;
  std::string what_;
  json const& value_;
};

std::string header_text(source& in) {
  if (in.size() < length_bytes)
    fail(in.file(), "is " + std::to_string(in.size()) +
                        " bytes long; a .safetensors file starts with 8 bytes, fetch it again");
  auto const length = in.read_number(0, length_bytes);
  auto const header = "says that its header has " + std::to_string(length) + " bytes; ";
  if (length == 0) fail(in.file(), header + "it must be a JSON object, fetch the file again");
  if (length > longest_json)
    fail(in.file(), header + "100000000 are allowed, the file is damaged or not .safetensors");
  if (length > in.size() - length_bytes)
    fail(in.file(), header + "only " + std::to_string(in.size() - length_bytes) +
                        " follow, fetch the file again");
  return in.read(length_bytes, length);
}

void check_metadata(std::filesystem::path const& file, json const& metadata) {
  bool const good = metadata.is_object() &&
                    std::ranges::all_of(metadata, [](json const& v) { return v.is_string(); });
  if (!good) fail(file, "has a __metadata__ that is not a JSON object of strings; write strings");
}

std::vector<tensor> read_entries(std::filesystem::path const& file, json const& header) {
  std::vector<tensor> tensors;
  for (auto const& [name, value] : header.items())
    if (name == "__metadata__")
      check_metadata(file, value);
    else
      tensors.push_back(entry(file, name, value).read());
  if (tensors.empty()) fail(file, "holds no tensor; there is nothing to quantize");
  return tensors;
}

/// The format wants the tensors, in some order, to cover the data without overlaps and holes.
void check_cover(std::filesystem::path const& file, std::uint64_t size,
                 std::vector<tensor> const& sorted) {
  std::uint64_t end = 0;
  for (auto const& next : sorted) {
    auto const what = "tensor " + in_quotes(next.name);
    if (next.bytes > size || next.offset > size - next.bytes)
      fail(file, what + " ends past the " + std::to_string(size) +
                     " bytes of data; the file was cut short, fetch it again");
    if (next.offset < end) fail(file, what + " overlaps another tensor; the file is damaged");
    if (next.offset > end)
      fail(file, std::to_string(next.offset - end) + " bytes before " + what +
                     " belong to no tensor; the format allows no holes, save the file again");
    end = next.offset + next.bytes;
  }
  if (end != size)
    fail(file, std::to_string(size - end) + " bytes after the last tensor belong to no tensor; " +
                   "the format allows no holes, save the file again");
}

}  // namespace

std::vector<tensor> list_safetensors(source& in) {
  auto const text = header_text(in);
  auto tensors = read_entries(in.file(), parse_object(in.file(), "header", text));
  std::ranges::sort(tensors, {}, &tensor::offset);
  auto const data = length_bytes + text.size();
  check_cover(in.file(), in.size() - data, tensors);
  for (auto& each : tensors) each.offset += data;
  return tensors;
}

}  // namespace tensor_file
