// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Deterministic test inputs. The same arguments give the same bytes on every machine: samples come
/// from integer arithmetic and comparisons, or from single correctly rounded operations; neither
/// the distributions of <random> nor the functions of libm are used.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace inputs {

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class splitmix64 {
 public:
  explicit splitmix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// 32 uniform bits, read as a fraction of 2^32.
  std::uint64_t fraction() { return next() >> 32; }
  /// A number below `n`, for small n.
  std::size_t below(std::size_t n) {
    return static_cast<std::size_t>((fraction() * static_cast<std::uint64_t>(n)) >> 32);
  }
  bool coin() { return next() >> 63 != 0; }

 private:
  std::uint64_t state_;
};

/// 2^32 stands for 1 in fractions.
inline constexpr std::uint64_t one = std::uint64_t{1} << 32;

/// True with probability exp(-x), x in [0, 1): whether a falling run x > u1 > u2 > ... has even
/// length (von Neumann 1951).
inline bool exp_minus(splitmix64& random, std::uint64_t x) {
  bool even = true;
  for (std::uint64_t last = x, u = random.fraction(); u < last; u = random.fraction()) {
    last = u;
    even = !even;
  }
  return even;
}

/// True with probability exp(-x (2k + x) / (2k + 2)), x in [0, 1) as a fraction.
inline bool exp_minus_quadratic(splitmix64& random, std::uint64_t k, std::uint64_t x) {
  bool even = true;
  for (std::uint64_t last = x;;) {
    std::uint64_t const u = random.fraction();
    if (u >= last || random.fraction() * (2 * k + 2) >= 2 * k * one + x) return even;
    last = u;
    even = !even;
  }
}

/// The integer part of a half normal: k with probability proportional to exp(-k*k/2).
inline std::uint64_t half_normal_whole(splitmix64& random) {
  for (;;) {
    std::uint64_t k = 0;
    while (exp_minus(random, one / 2)) ++k;
    bool accepted = true;
    for (std::uint64_t i = 0; accepted && k > 1 && i < k * (k - 1); ++i)
      accepted = exp_minus(random, one / 2);
    if (accepted) return k;
  }
}

/// |z| of a standard normal, in units of 2^-32 (Karney, "Sampling exactly from the normal
/// distribution", 2016).
inline std::uint64_t half_normal_units(splitmix64& random) {
  for (;;) {
    std::uint64_t const k = half_normal_whole(random);
    std::uint64_t const x = random.fraction();
    bool accepted = true;
    for (std::uint64_t i = 0; accepted && i <= k; ++i) accepted = exp_minus_quadratic(random, k, x);
    if (accepted) return k * one + x;
  }
}

/// A standard exponential, in units of 2^-32.
inline std::uint64_t exponential_units(splitmix64& random) {
  for (std::uint64_t whole = 0;; ++whole) {
    std::uint64_t const x = random.fraction();
    if (exp_minus(random, x)) return whole * one + x;
  }
}

/// Units of 2^-32 with a random sign, as a double without rounding.
inline double with_sign(splitmix64& random, std::uint64_t units) {
  double const value = static_cast<double>(units) * 0x1p-32;
  return random.coin() ? -value : value;
}

/// Student's t with three degrees of freedom: z0 sqrt(3) / sqrt(z1^2 + z2^2 + z3^2).
inline double student_t3_sample(splitmix64& random) {
  double const numerator = with_sign(random, half_normal_units(random));
  std::uint64_t squares = 0;  // in units of 2^-40, exact
  for (int i = 0; i < 3; ++i) {
    std::uint64_t const z = half_normal_units(random) >> 12;
    squares += z * z;
  }
  if (squares == 0) squares = 1;
  double const root = std::sqrt(static_cast<double>(squares)) * 0x1p-20;
  return numerator * 1.7320508075688772 / root;
}

/// `n` values of `sample(random)`, each times `scale`.
template <class Sample>
std::vector<float> draw(std::size_t n, std::uint64_t seed, float scale, Sample sample) {
  splitmix64 random(seed);
  std::vector<float> x(n);
  for (float& v : x) v = static_cast<float>(sample(random)) * scale;
  return x;
}

/// Normal with standard deviation `sigma`.
inline std::vector<float> normal(std::size_t n, std::uint64_t seed, float sigma = 1.0f) {
  return draw(n, seed, sigma, [](splitmix64& r) { return with_sign(r, half_normal_units(r)); });
}

/// Laplace with mean magnitude `scale`.
inline std::vector<float> laplace(std::size_t n, std::uint64_t seed, float scale = 1.0f) {
  return draw(n, seed, scale, [](splitmix64& r) { return with_sign(r, exponential_units(r)); });
}

/// Student's t with three degrees of freedom times `scale`: heavy tails.
inline std::vector<float> student_t3(std::size_t n, std::uint64_t seed, float scale = 1.0f) {
  return draw(n, seed, scale, student_t3_sample);
}

/// A normal rows x cols matrix in which every `stride`-th column is `factor` times larger.
inline std::vector<float> outlier_channels(std::size_t rows, std::size_t cols, std::uint64_t seed,
                                           std::size_t stride = 64, float factor = 100.0f) {
  std::vector<float> x = normal(rows * cols, seed);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i % cols % stride == stride - 1) x[i] *= factor;
  return x;
}

/// Midpoints of adjacent magnitudes of `grid` (ascending, at least two) times `scale`, of either
/// sign. One third is moved to the next float up, one third down. The first value of every 16 is
/// the grid's largest, so that an amax rule gives blocks of 16 or more `scale` back.
inline std::vector<float> tie_aligned(std::size_t n, std::uint64_t seed,
                                      std::vector<float> const& grid, float scale = 1.0f) {
  splitmix64 random(seed);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t const low = random.below(grid.size() - 1);
    std::size_t const move = random.below(3);
    float const middle = (grid[low] + grid[low + 1]) * 0.5f * scale;
    float const limit = std::numeric_limits<float>::max();
    float const moved = move == 0 ? middle : std::nextafter(middle, move == 1 ? limit : 0.0f);
    float const magnitude = i % 16 == 0 ? grid.back() * scale : moved;
    x[i] = random.coin() ? -magnitude : magnitude;
  }
  return x;
}

/// Subnormal floats of either sign, with magnitudes of every length.
inline std::vector<float> subnormal(std::size_t n, std::uint64_t seed) {
  splitmix64 random(seed);
  std::vector<float> x(n);
  for (float& v : x) {
    std::uint64_t const bits = (random.fraction() & 0x7FFFFFu) >> random.below(23);
    v = std::bit_cast<float>(static_cast<std::uint32_t>(bits | (random.coin() ? 0x80000000u : 0u)));
  }
  return x;
}

/// About half of the blocks of `block` values become zeros, some of them negative.
inline std::vector<float> zero_blocks(std::vector<float> x, std::size_t block, std::uint64_t seed) {
  splitmix64 random(seed);
  for (std::size_t start = 0; start < x.size(); start += block) {
    if (random.coin()) continue;
    for (std::size_t i = start; i < x.size() && i < start + block; ++i)
      x[i] = random.below(4) == 0 ? -0.0f : 0.0f;
  }
  return x;
}

/// About one value in `every` becomes NaN or infinite, of either sign.
inline std::vector<float> sprinkle_non_finite(std::vector<float> x, std::uint64_t seed,
                                              std::size_t every = 50) {
  std::uint32_t const specials[] = {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0xFFC00001u};
  splitmix64 random(seed);
  for (float& v : x)
    if (random.below(every) == 0) v = std::bit_cast<float>(specials[random.below(4)]);
  return x;
}

/// Uniform FP32 bit patterns: every exponent, NaN and infinity included.
inline std::vector<float> bit_patterns(std::size_t n, std::uint64_t seed) {
  splitmix64 random(seed);
  std::vector<float> x(n);
  for (float& v : x) v = std::bit_cast<float>(static_cast<std::uint32_t>(random.fraction()));
  return x;
}

/// All 65536 BF16 values, in order of their bits.
inline std::vector<float> all_bf16() {
  std::vector<float> x;
  for (std::uint32_t high = 0; high < 65536; ++high) x.push_back(std::bit_cast<float>(high << 16));
  return x;
}

}  // namespace inputs
