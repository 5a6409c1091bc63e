// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Host preconditions. Everything is checked before the first byte is written.

#include <stdexcept>
#include <string>

namespace quadrille {

/// What every entry point throws: "quadrille: <what is wrong>; <the rule>, <what to write>".
class error : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

namespace detail {
inline void require(bool condition, char const* sentence) {
  if (!condition) throw error(std::string("quadrille: ") + sentence);
}
inline void require_equal(long long found, long long wanted, char const* what) {
  if (found == wanted) return;
  throw error(std::string("quadrille: ") + what + " is " + std::to_string(found) + " but must be " +
              std::to_string(wanted));
}
}  // namespace detail

}  // namespace quadrille
