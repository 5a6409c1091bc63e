// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output_file.hpp"

#include <unistd.h>
#include <fstream>
#include <string>

namespace comparison {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(fs::path const& file, std::string const& sentence) {
  throw output_error(file.string() + ": " + sentence);
}

/// Where a link leads: it is the file that is replaced, not the link.
fs::path target_of(fs::path const& file) {
  std::error_code code;
  auto const target = fs::weakly_canonical(file, code);
  return code ? file : target;
}

}  // namespace

pending_file::pending_file(fs::path const& file, std::string_view text)
    : target_(target_of(file)), path_(target_.string() + "." + std::to_string(getpid()) + ".tmp") {
  std::ofstream stream(path_, std::ios::binary);
  if (!stream)
    fail(file, "cannot be written; choose a folder that exists and that you may write to");
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (stream) return;
  std::error_code ignored;
  fs::remove(path_, ignored);
  fail(file, "could not be written whole; make room on the disk");
}

pending_file::~pending_file() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

void pending_file::commit() {
  std::error_code code;
  fs::rename(path_, target_, code);
  if (code) fail(target_, "cannot be replaced (" + code.message() + "); choose another name");
}

void check_writable(fs::path const& file) {
  std::error_code ignored;
  auto const status = fs::status(file, ignored);
  if (fs::is_directory(status)) fail(file, "is a directory; give the name of a file in it");
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail(file, "is a pipe or a device; give the name of a regular file");
  pending_file const probe(file, "");
}

}  // namespace comparison
