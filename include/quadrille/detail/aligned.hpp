// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Scratch memory at the start of a cache line, so that no vector load crosses one.

#include <memory>
#include <new>

#include <quadrille/detail/std.hpp>

namespace quadrille::detail {

/// n uninitialised words.
template <class Word>
class aligned_array {
  static constexpr std::align_val_t line{64};
  struct release {
    void operator()(Word* p) const { ::operator delete(p, line); }
  };

 public:
  aligned_array() = default;
  explicit aligned_array(i64 n)
      : words_(static_cast<Word*>(::operator new(std::size_t(n) * sizeof(Word), line))) {}
  Word* data() const { return words_.get(); }

 private:
  std::unique_ptr<Word, release> words_;
};

}  // namespace quadrille::detail
