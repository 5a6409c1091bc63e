// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Matrices of F32, F16 and BF16 in .safetensors and .npy files: headers first, data in streams.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensor_file {

/// Element types that are read. All are little-endian, and each value is a float exactly.
enum class dtype { f32, f16, bf16 };

/// Bytes of one element.
constexpr std::uint64_t size_of(dtype type) { return type == dtype::f32 ? 4 : 2; }

/// Where one tensor lies. It is seen as a matrix: its last dimension is a row, the others count
/// rows; n numbers are 1 x n, and a scalar (only .safetensors has them) is 1 x 1.
struct tensor {
  std::string name;
  dtype type;
  std::vector<std::uint64_t> shape;
  std::filesystem::path file;
  std::uint64_t offset;  ///< of the first element, in bytes from the start of `file`
  std::uint64_t bytes;   ///< rows() * cols() * size_of(type), never 0

  std::uint64_t cols() const { return shape.empty() ? 1 : shape.back(); }
  std::uint64_t rows() const {
    std::uint64_t rows = 1;
    for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    return rows;
  }
};

/// One sentence: the file, what is wrong with it, the rule, and what to do.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Lists the tensors of a .safetensors file (in the order of their data), of a sharded model (give
/// its .safetensors.index.json; the shards lie beside it), or of a .npy file. Reads headers only,
/// and leaves nothing out: throws `error` on a bad file, and on one tensor that cannot be read.
/// Formats: https://github.com/huggingface/safetensors#format and
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::vector<tensor> list(std::filesystem::path const& file);

/// Streams the rows of one tensor; holds one open file and a small buffer, never the whole tensor.
class reader {
 public:
  /// Throws `error` where the file cannot be opened or `source` contradicts itself.
  explicit reader(tensor const& source);

  /// Writes rows [first, first + count) to `out`, which has count * cols() floats. The values are
  /// exact; NaN and infinity pass. Throws `error` where rows do not exist or the file ends early.
  void read_rows(std::uint64_t first, std::uint64_t count, float* out);

 private:
  tensor tensor_;
  std::ifstream stream_;
  std::vector<char> buffer_;
};

}  // namespace tensor_file
