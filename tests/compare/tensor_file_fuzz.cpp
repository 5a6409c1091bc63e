// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// libFuzzer target. The first byte chooses what the rest is: a file of one of the three formats, or
/// only its header, to which a true length and some data are added. Nothing touches the disk.
/// Whatever the bytes, a reader either lists tensors that lie in the file, or throws one sentence.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "formats.hpp"
#include "tensor_file_bytes.hpp"

namespace {

void require(bool holds, char const* law) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", law);
  std::abort();
}

void check(tensor_file::tensor const& t, std::uint64_t size) {
  require(t.bytes > 0, "a tensor has elements");
  require(t.offset <= size && t.bytes <= size - t.offset, "a tensor lies in the file");
  require(t.rows() * t.cols() * tensor_file::size_of(t.type) == t.bytes, "shape gives the bytes");
}

/// Tensors of a .safetensors file follow each other to the end of the file.
void check_safetensors(tensor_file::source& in) {
  auto const tensors = tensor_file::list_safetensors(in);
  auto end = tensors.at(0).offset;
  for (auto const& t : tensors) {
    check(t, in.size());
    require(t.offset == end, "no overlap and no hole");
    end += t.bytes;
  }
  require(end == in.size(), "the data ends with the file");
}

void check_index(tensor_file::source& in) {
  for (auto const& [shard, tensors] : tensor_file::read_index(in)) {
    require(!tensors.empty(), "a shard has tensors");
    require(std::filesystem::path(shard).filename() == shard, "a shard lies beside its index");
    require(shard.find('\0') == std::string::npos, "a shard has a name that the system can open");
  }
}

void check_npy(tensor_file::source& in) { check(tensor_file::list_npy(in), in.size()); }

void check_file(int kind, std::string const& text) {
  using namespace tensor_file_test;
  std::string const files[] = {text, text, text, safetensors(text, data(12)),
                               npy(text, data(8), 2)};
  constexpr void (*checks[])(tensor_file::source&) = {check_safetensors, check_npy, check_index,
                                                      check_safetensors, check_npy};
  tensor_file::source in("name", files[kind]);
  checks[kind](in);
}

void check_sentence(std::string const& text) {
  require(text.starts_with("name: "), "a sentence starts with the file");
  require(text.size() < 400, "a sentence is short");
  for (char const c : text) require(c >= 0x20 && c < 0x7f, "a sentence is printable ASCII");
}

}  // namespace

// The name is the one that libFuzzer calls. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* bytes, std::size_t count) {
  if (count == 0) return 0;
  try {
    check_file(bytes[0] % 5, std::string(bytes + 1, bytes + count));
  } catch (tensor_file::error const& caught) {
    check_sentence(caught.what());
  }
  return 0;
}
