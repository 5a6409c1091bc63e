// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "formats.hpp"
#include "npy_dict.hpp"

#include <string_view>
#include <utility>

namespace tensor_file {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Far more than an array of one element type needs (64 dimensions of 20 digits).
constexpr std::uint64_t longest_header = 65'535;

dtype type_of(std::filesystem::path const& file, std::string const& descr) {
  if (descr == "<f4") return dtype::f32;
  if (descr == "<f2") return dtype::f16;
  std::string const order = descr.starts_with('>') ? ", which is big-endian" : "";
  fail(file, "has dtype " + in_quotes(descr) + order +
                 "; only <f4 and <f2 (little-endian float32 and float16) are read, save "
                 "a.astype('<f4')");
}

/// The header's text and the offset of the data.
std::pair<std::string, std::uint64_t> header_of(source& in) {
  if (in.size() < 12)
    fail(in.file(), "is " + std::to_string(in.size()) +
                        " bytes long; a .npy file has at least 12, save the array again");
  if (in.read(0, magic.size()) != magic)
    fail(in.file(), "does not start with \\x93NUMPY as .npy files do; save the array with np.save");
  auto const major = in.read_number(6, 1);
  auto const minor = in.read_number(7, 1);
  if (major < 1 || major > 3 || minor != 0)
    fail(in.file(), "has .npy version " + std::to_string(major) + "." + std::to_string(minor) +
                        "; only 1.0, 2.0 and 3.0 are read, save it with np.save");
  int const length_bytes = major == 1 ? 2 : 4;
  auto const length = in.read_number(8, length_bytes);
  auto const begin = 8 + static_cast<std::uint64_t>(length_bytes);
  auto const says = "says that its header has " + std::to_string(length) + " bytes; ";
  if (length > longest_header)
    fail(in.file(), says + "an array of f4 or f2 needs less than 65536, the file is damaged");
  if (length > in.size() - begin)
    fail(in.file(), says + "only " + std::to_string(in.size() - begin) + " follow, save it again");
  return {in.read(begin, length), begin + length};
}

void check_complete(std::filesystem::path const& file, npy_dict const& header) {
  if (!header.descr_ || !header.fortran_order_ || !header.shape_)
    fail(file,
         "has a header without descr, fortran_order or shape; it needs all three, save the "
         "array again");
  if (*header.fortran_order_)
    fail(file,
         "is stored by columns (fortran_order); only rows are read, save "
         "np.ascontiguousarray(a)");
  if (header.shape_->empty())
    fail(file, "holds a single number (0 dimensions); a matrix is needed, save a.reshape(1, 1)");
}

}  // namespace

tensor list_npy(source& in) {
  auto const [text, data] = header_of(in);
  auto header = parse_npy_dict(in.file(), text);
  check_complete(in.file(), header);
  tensor result{.name = in.file().stem().string(),
                .type = type_of(in.file(), *header.descr_),
                .shape = std::move(*header.shape_),
                .file = in.file(),
                .offset = data,
                .bytes = in.size() - data};
  auto const needed = byte_count(in.file(), "the array", result.type, result.shape);
  if (needed != result.bytes)
    fail(in.file(), "has " + std::to_string(result.bytes) + " bytes of data; its dtype and shape " +
                        "need " + std::to_string(needed) + ", save the array again");
  return result;
}

}  // namespace tensor_file
