// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Device memory that a kernel writes: filled before, with guard bytes behind, compared byte by byte.

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <quadrille/cuda/device_quantized.cuh>

#include "cuda/device_buffer.cuh"
#include "support/catch.hpp"

namespace parity {

using bytes = std::vector<quadrille::u8>;

template <class T>
bytes bytes_of(std::vector<T> const& values) {
  bytes result(values.size() * sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), values.data(), result.size());
  return result;
}

/// Fails the test, with the first difference, unless both are equal.
inline void check_equal(char const* what, bytes const& device, bytes const& expected) {
  if (device == expected) {
    SUCCEED();
    return;
  }
  std::size_t first = device.size();
  std::size_t count = 0;
  for (std::size_t i = device.size(); i-- > 0;)
    if (i >= expected.size() || device[i] != expected[i]) {
      first = i;
      ++count;
    }
  char text[200] = "";
  if (first < device.size() && first < expected.size())
    std::snprintf(text, sizeof text, ", first at byte %zu: device %02X, expected %02X", first,
                  device[first], expected[first]);
  FAIL_CHECK(what << ": " << count << " of " << device.size() << " bytes differ ("
                  << expected.size() << " expected)" << text);
}

/// n bytes of device memory, each `fill`, and 64 guard bytes 5A behind them.
class guarded {
 public:
  static constexpr std::size_t guard = 64;
  explicit guarded(std::size_t n, quadrille::u8 fill) : size_(n), memory_(filled(n, fill)) {}
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(memory_.data());
  }
  std::size_t size() const { return size_; }
  quadrille::workspace workspace() const { return {memory_.data(), size_}; }
  /// The n bytes, after all work on the device; the test fails if the guard was written.
  bytes host() const {
    bytes all = memory_.host();
    check_equal("guard", bytes(all.begin() + std::ptrdiff_t(size_), all.end()), bytes(guard, 0x5A));
    all.resize(size_);
    return all;
  }

 private:
  static bytes filled(std::size_t n, quadrille::u8 fill) {
    bytes all(n + guard, 0x5A);
    for (std::size_t i = 0; i < n; ++i) all[i] = fill;
    return all;
  }
  std::size_t size_;
  device_buffer<quadrille::u8> memory_;
};

/// Where a matrix of recipe R is quantized to. Codes start as A5, scales as 7F.
template <class R, class Layout = quadrille::row_major_scales>
class target {
  using i64 = quadrille::i64;
  using stored = typename R::scale::stored;
  using element = typename R::element;
  static constexpr auto scope = R::scale::scope;

 public:
  target(i64 rows, i64 cols, quadrille::u64 rotation_seed = 0)
      : shape_(nullptr, nullptr, nullptr, rows, cols, rotation_seed),
        codes_(std::size_t(rows * quadrille::row_bytes<element>(cols)), 0xA5),
        scales_(std::size_t(shape_.scale_count()) * sizeof(stored), 0x7F),
        outer_(sizeof(float) * std::size_t(scope == quadrille::outer_scope::none     ? 0
                                           : scope == quadrille::outer_scope::tensor ? 1
                                                                                     : rows),
               0xA5) {}

  quadrille::quantized_ref<R, quadrille::u8, Layout> ref() const {
    return {codes_.as<quadrille::u8>(),
            scales_.as<stored>(),
            outer_.as<float>(),
            shape_.rows,
            shape_.cols,
            shape_.rotation_seed};
  }
  bytes codes() const { return codes_.host(); }
  bytes scales() const { return scales_.host(); }
  bytes outer() const { return outer_.host(); }

  /// Fails the test unless every byte is `expected`'s, and padding of the scales is zero.
  void check(quadrille::quantized<R> const& expected) const {
    check_equal("codes", codes(), bytes_of(expected.codes()));
    check_equal("scales", scales(), laid_out(expected.scales()));
    check_equal("outer scales", outer(), bytes_of(expected.outer()));
  }
  /// Fails the test if anything was written.
  void check_untouched() const {
    check_equal("codes", codes(), bytes(codes_.size(), 0xA5));
    check_equal("scales", scales(), bytes(scales_.size(), 0x7F));
    check_equal("outer scales", outer(), bytes(outer_.size(), 0xA5));
  }

 private:
  bytes laid_out(std::vector<stored> const& scales) const {
    std::vector<stored> result(std::size_t(shape_.scale_count()));
    i64 const cols = shape_.scale_cols();
    if constexpr (quadrille::detail::is_same_v<Layout, quadrille::row_major_scales>)
      return bytes_of(scales);
    else if constexpr (sizeof(stored) == 1)
      quadrille::tile_scales(scales.data(), shape_.rows, cols, result.data());
    else
      for (i64 i = 0; i < shape_.rows * cols; ++i)
        result[std::size_t(Layout::offset(i / cols, i % cols, cols))] = scales[std::size_t(i)];
    return bytes_of(result);
  }

  quadrille::quantized_ref<R, quadrille::u8, Layout> shape_;
  guarded codes_;
  guarded scales_;
  guarded outer_;
};

}  // namespace parity
