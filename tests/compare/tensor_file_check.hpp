// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Checks of error sentences, and Catch2 in version 2 or 3.

#include <string>
#include <utility>
#include <vector>

#include "tensor_file.hpp"
#include "tensor_file_bytes.hpp"
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace tensor_file_test {

template <class F>
std::string sentence_of(F&& action) {
  try {
    std::forward<F>(action)();
  } catch (tensor_file::error const& caught) {
    return caught.what();
  }
  return "no error";
}

/// What list(file) says: it must be one line that starts with the name of the file `blamed`, and
/// has `part` in it.
inline void check_list(std::filesystem::path const& file, std::filesystem::path const& blamed,
                       std::string const& part) {
  auto const text = sentence_of([&] { tensor_file::list(file); });
  INFO("expected: " << part << "\nsaid: " << text);
  CHECK(text.starts_with(blamed.string() + ": "));
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.size() < blamed.string().size() + 300);
  CHECK(text.find(part) != std::string::npos);
}

/// One bad file: what is bad, its bytes, and a piece of the sentence that it must cause.
struct bad_file {
  char const* what;
  std::string bytes;
  char const* sentence;
};

inline void check_all(std::string const& name, std::vector<bad_file> const& rows) {
  folder const here;
  for (auto const& row : rows) {
    INFO(row.what);
    auto const file = here.write(name, row.bytes);
    check_list(file, file, row.sentence);
  }
}

}  // namespace tensor_file_test
