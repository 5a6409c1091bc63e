// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Independent tasks on a few threads.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace comparison {

/// The number of threads that `wanted` means; 0 stands for all of the machine's.
inline int thread_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Calls task(0) ... task(n - 1) on up to `threads` threads; throws the first exception afterwards.
template <class Task>
void run_tasks(int threads, std::size_t n, Task const& task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failing;
  auto const work = [&] {
    try {
      for (std::size_t i = next++; i < n; i = next++) task(i);
    } catch (...) {
      std::lock_guard const lock(failing);
      if (!failure) failure = std::current_exception();
      next = n;
    }
  };
  {
    std::vector<std::jthread> team;
    auto const workers = std::min(n, static_cast<std::size_t>(thread_count(threads)));
    for (std::size_t i = 1; i < workers; ++i) team.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace comparison
