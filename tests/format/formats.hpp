// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// What the tests of formats share: every format beside its oracle, and a cast compared with it
/// under every rounding.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <ios>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <quadrille/format.hpp>

#include "support/inputs.hpp"
#include "support/oracle.hpp"

namespace formats {

using namespace quadrille;
using quadrille::int4;  // and not CUDA's vector of four

/// The types of a template test case over all formats.
#define QUADRILLE_ALL_FORMATS e2m1, e1m2, int4, int4_full, e2m3, e3m2, e4m3, e5m2, ue5m3, ue8m0
/// Those that are made of exponent and mantissa.
#define QUADRILLE_MINIFLOATS e2m1, e1m2, e2m3, e3m2, e4m3, e5m2, ue5m3

inline oracle::format const& oracle_of(e2m1) { return oracle::e2m1(); }
inline oracle::format const& oracle_of(e1m2) { return oracle::e1m2(); }
inline oracle::format const& oracle_of(int4) { return oracle::int4(); }
inline oracle::format const& oracle_of(int4_full) { return oracle::int4_full(); }
inline oracle::format const& oracle_of(e2m3) { return oracle::e2m3(); }
inline oracle::format const& oracle_of(e3m2) { return oracle::e3m2(); }
inline oracle::format const& oracle_of(e4m3) { return oracle::e4m3(); }
inline oracle::format const& oracle_of(e5m2) { return oracle::e5m2(); }
inline oracle::format const& oracle_of(ue5m3) { return oracle::ue5m3(); }
inline oracle::format const& oracle_of(ue8m0) { return oracle::ue8m0(); }

/// The oracle's twin of F.
template <class F>
oracle::format const& twin() {
  return oracle_of(F{});
}

/// Whether casts to F start from double too; UE8M0 scales come from float.
template <class F>
inline constexpr bool takes_double = !std::is_same_v<F, ue8m0>;

/// Whether F lets the caller choose what overflow gives.
template <class F>
concept has_overflow_choice = requires {
  F::template encode<nearest_even, overflow::special>(1.f);
};

/// Calls f(mode, oracle's rounding, name) for every mode that uses no random bits.
template <class Function>
void for_each_rounding(Function const& f) {
  f(nearest_even{}, oracle::nearest_even, "nearest_even");
  f(ties_away{}, oracle::ties_away, "ties_away");
  f(toward_zero{}, oracle::toward_zero, "toward_zero");
  f(away_from_zero{}, oracle::away_from_zero, "away_from_zero");
}

/// Compares millions of codes under one assertion: CHECK(log.text() == "").
class difference_log {
 public:
  template <class X>
  void expect(unsigned found, unsigned expected, X x, char const* what) {
    if (found == expected) return;
    if (++count_ > 1) return;
    std::ostringstream words;
    words << "first difference: " << what << " of " << std::hexfloat << x << std::hex
          << " gives code " << found << " in place of " << expected;
    text_ = words.str();
  }
  /// Empty without a difference.
  std::string text() const {
    return count_ == 0 ? "" : std::to_string(count_) + " differences; " + text_;
  }

 private:
  long count_ = 0;
  std::string text_;
};

/// Casts x under every rounding, by every cast that F offers.
template <class F, class T>
void compare_casts(difference_log& log, oracle::format const& f, T x) {
  for_each_rounding([&]<class R>(R, oracle::rounding const& how, char const* name) {
    unsigned const saturated = oracle::encode(f, x, how);
    log.expect(F::template encode<R>(x), saturated, x, name);
    if constexpr (has_overflow_choice<F>)
      log.expect(F::template encode<R, overflow::special>(x),
                 oracle::encode(f, x, how, oracle::range::overflow), x, name);
    if constexpr (std::is_same_v<T, float>)
      if (!std::isnan(x)) log.expect(F::template encode_finite<R>(x), saturated, x, name);
  });
}

template <class F, class T>
std::string casts_that_differ(std::vector<T> const& inputs, oracle::format const& f = twin<F>()) {
  difference_log log;
  for (T const x : inputs) compare_casts<F>(log, f, x);
  return log.text();
}

/// x, its two neighbours of type T, and the negatives of the three.
template <class T>
void add_neighbourhood(std::vector<T>& list, long double value) {
  T const x = static_cast<T>(value);
  T const infinity = std::numeric_limits<T>::infinity();
  for (T const y : {x, std::nextafter(x, infinity), std::nextafter(x, T(0))}) {
    list.push_back(y);
    list.push_back(-y);
  }
}

/// Every value of the format, every midpoint between two neighbours (overflow included), and the
/// neighbours of all of them.
template <class T>
std::vector<T> critical_points(oracle::format const& f) {
  std::vector<long double> values;
  for (auto const* side : {&f.positive, &f.negative})
    for (oracle::magnitude const& m : *side) values.push_back(m.value);
  if (f.beyond != 0) values.push_back(f.beyond);
  std::sort(values.begin(), values.end());
  std::vector<T> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    add_neighbourhood(points, values[i]);
    if (i > 0) add_neighbourhood(points, (values[i - 1] + values[i]) / 2);
  }
  return points;
}

/// What lies outside every format: zeros, the ends of T's range, infinities and NaN of either sign.
template <class T>
std::vector<T> special_inputs() {
  using limits = std::numeric_limits<T>;
  std::vector<T> list;
  for (T const x : {T(0), limits::denorm_min(), limits::min(), limits::max(), limits::infinity(),
                    limits::quiet_NaN()}) {
    list.push_back(x);
    list.push_back(std::copysign(x, T(-1)));
  }
  return list;
}

/// All 65536 FP16 values, from the fields of IEEE 754 binary16.
inline std::vector<float> all_fp16() {
  std::vector<float> x;
  for (long double const value : oracle::values_by_fields(5, 10, 15, true))
    x.push_back(static_cast<float>(value));
  for (std::size_t low = 0; low < 1024; ++low)
    for (std::size_t sign : {0u, 0x8000u}) {
      float const special = low == 0 ? std::numeric_limits<float>::infinity() : oracle::float_nan;
      x[0x7C00 + low + sign] = std::copysign(special, sign == 0 ? 1.f : -1.f);
    }
  return x;
}

/// Uniform FP64 bit patterns.
inline std::vector<double> double_patterns(std::size_t n, std::uint64_t seed) {
  inputs::splitmix64 random(seed);
  std::vector<double> x(n);
  for (double& v : x) v = std::bit_cast<double>(random.next());
  return x;
}

/// Doubles with magnitudes from 2^-20 to 2^20, where the formats have their values; every second
/// one is the double next to a float.
inline std::vector<double> doubles_in_range(std::size_t n, std::uint64_t seed) {
  inputs::splitmix64 random(seed);
  std::vector<double> x(n);
  for (double& v : x) {
    double const significand = 1 + static_cast<double>(random.next() >> 12) * 0x1p-52;
    double const value = std::ldexp(significand, static_cast<int>(random.below(40)) - 20);
    double const near = std::nextafter(static_cast<double>(static_cast<float>(value)), 0);
    v = random.coin() ? near : value;
    if (random.coin()) v = -v;
  }
  return x;
}

}  // namespace formats
