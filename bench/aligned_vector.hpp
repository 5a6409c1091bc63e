// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Vectors that start at a cache line, as the tensors of the common frameworks do. A large std::vector starts 16
/// bytes into one, so that every vector load of 64 bytes crosses two lines.

#include <cstddef>
#include <new>
#include <vector>

template <class T>
struct line_allocator {
  using value_type = T;
  static constexpr std::align_val_t line{64};

  line_allocator() = default;
  template <class U>
  line_allocator(line_allocator<U> const&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), line)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, line); }
  bool operator==(line_allocator const&) const { return true; }
};

template <class T>
using aligned_vector = std::vector<T, line_allocator<T>>;
