// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Host threads, each with the default floating-point environment.

#include <cfenv>
#include <system_error>
#include <thread>
#include <vector>

#include <quadrille/detail/std.hpp>

namespace quadrille {

/// Where the work runs: on the host, in up to `threads` threads (0: all of the machine's).
struct host_policy {
  int threads = 0;
};
inline constexpr host_policy host{};

namespace detail {

// Rounds to nearest and keeps subnormals while it lives: a program linked with -ffast-math flushes them.
class default_fp_environment {
 public:
  default_fp_environment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~default_fp_environment() { std::fesetenv(&saved_); }
  default_fp_environment(default_fp_environment const&) = delete;
  default_fp_environment& operator=(default_fp_environment const&) = delete;

 private:
  std::fenv_t saved_;
};

/// Calls f(begin, end) on disjoint ranges that cover [0, n), in up to `threads` threads (0: as many as
/// the machine has). Ranges start at multiples of `grain` and are not much smaller than it.
template <class F>
void parallel_for(int threads, i64 n, i64 grain, F const& f) {
  if (n <= 0) return;
  if (threads <= 0) threads = max(1, int(std::thread::hardware_concurrency()));
  i64 const grains = ceil_div(n, grain);
  i64 const workers = min(i64(threads), grains);
  auto const work = [&](i64 w) {
    default_fp_environment const environment;
    f(grains * w / workers * grain, min(n, grains * (w + 1) / workers * grain));
  };
  std::vector<std::thread> team;
  for (i64 w = 1; w < workers; ++w) {
    try {
      team.emplace_back(work, w);
    } catch (std::system_error const&) {  // no thread to be had: do its share here
      work(w);
    }
  }
  work(0);
  for (std::thread& member : team) member.join();
}

}  // namespace detail
}  // namespace quadrille
