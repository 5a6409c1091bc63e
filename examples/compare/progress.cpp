// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "progress.hpp"

#include "words.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>

namespace comparison {
namespace {

using namespace std::chrono_literals;
constexpr auto patience = 700ms;  // shorter work shows no bar
constexpr auto interval = 100ms;
constexpr std::size_t bar_width = 30;
constexpr std::size_t what_width = 48;

}  // namespace

progress::progress(double total)
    : total_(total),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      next_draw_(clock::now() + patience) {}

progress::~progress() {
  if (is_drawn_) fmt::print(stderr, "\r\033[K");
}

void progress::start(std::string what) {
  std::lock_guard const lock(mutex_);
  what_ = std::move(what);
}

void progress::advance(double amount) {
  std::lock_guard const lock(mutex_);
  done_ += amount;
  if (!is_terminal_ || clock::now() < next_draw_) return;
  next_draw_ = clock::now() + interval;
  draw();
}

void progress::draw() {
  double const share = std::clamp(done_ / total_, 0.0, 1.0);
  auto const filled = static_cast<std::size_t>(share * double(bar_width));
  fmt::print(stderr, "\r[{}{}] {:3.0f} %  {}\033[K", std::string(filled, '#'),
             std::string(bar_width - filled, '.'), 100 * share, shortened(what_, what_width));
  std::fflush(stderr);
  is_drawn_ = true;
}

}  // namespace comparison
