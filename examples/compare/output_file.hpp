// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Files that appear whole or not at all.

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace comparison {

/// A file that cannot be written, in one sentence.
class output_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws output_error if `file` could not be written. To call before long work; leaves nothing.
void check_writable(std::filesystem::path const& file);

/// A file that is written already but not visible: beside its place, under another name. Unless it is
/// committed, its destructor removes it. Throws output_error.
class pending_file {
 public:
  pending_file(std::filesystem::path const& file, std::string_view text);
  ~pending_file();
  pending_file(pending_file const&) = delete;
  pending_file& operator=(pending_file const&) = delete;

  /// Puts it in its place; who reads sees the old file or the new one.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
};

}  // namespace comparison
