// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A progress bar on standard error, where that is a terminal and the work takes long.

#include <chrono>
#include <mutex>
#include <string>

namespace comparison {

class progress {
 public:
  /// `total` is in any unit, as long as advance() counts in it too.
  explicit progress(double total);
  ~progress();
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;

  /// What is being worked on, from now on.
  void start(std::string what);
  /// Any thread may call it.
  void advance(double amount);

 private:
  using clock = std::chrono::steady_clock;
  void draw();

  double total_;
  double done_ = 0;
  bool is_terminal_;
  bool is_drawn_ = false;
  std::string what_;
  clock::time_point next_draw_;
  std::mutex mutex_;
};

}  // namespace comparison
