// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor_file.hpp"

#include "decode.hpp"
#include "formats.hpp"

#include <algorithm>

namespace tensor_file {
namespace {

constexpr std::uint64_t buffer_bytes = 1 << 18;

void check_rows(tensor const& source, std::uint64_t first, std::uint64_t count) {
  if (first <= source.rows() && count <= source.rows() - first) return;
  fail(source.file, "was asked for " + std::to_string(count) + " rows from row " +
                        std::to_string(first) + " of tensor " + in_quotes(source.name) +
                        "; it has " + std::to_string(source.rows()) + ", ask for fewer");
}

}  // namespace

std::vector<tensor> list(std::filesystem::path const& file) {
  auto const name = file.filename().string();
  source in(file);
  if (name.ends_with(".safetensors")) return list_safetensors(in);
  if (name.ends_with(".safetensors.index.json")) return list_shards(in);
  if (name.ends_with(".npy")) return {list_npy(in)};
  fail(file, "has an unknown ending; give a .safetensors, .safetensors.index.json or .npy file");
}

reader::reader(tensor const& source)
    : tensor_(source), stream_(open_file(source.file)), buffer_(buffer_bytes) {
  auto const what = "tensor " + in_quotes(source.name);
  if (byte_count(source.file, what, source.type, source.shape) != source.bytes)
    fail(source.file, what + " has another size than its shape; take tensors from list()");
}

void reader::read_rows(std::uint64_t first, std::uint64_t count, float* out) {
  check_rows(tensor_, first, count);
  auto const size = size_of(tensor_.type);
  auto offset = tensor_.offset + first * tensor_.cols() * size;
  for (auto left = count * tensor_.cols(); left > 0;) {
    auto const part = std::min(left, buffer_bytes / size);
    read_bytes(tensor_.file, stream_, offset, part * size, buffer_.data());
    decode(tensor_.type, buffer_.data(), part, out);
    offset += part * size;
    out += part;
    left -= part;
  }
}

}  // namespace tensor_file
