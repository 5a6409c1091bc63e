// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// A recipe a second time, as data for the oracle: how a matrix is cut, rotated and handed to it
/// block by block. Nothing is derived from the library's recipe; of the library only random_bits is
/// used.

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include <quadrille/random.hpp>

#include "quantize/image.hpp"
#include "quantize/matrix.hpp"
#include "support/oracle.hpp"

namespace test {

enum class shared_by { block, tensor, row };
enum class sign_source { none, published, seeded };

/// What a block rule may know beside the elements.
struct block_site {
  float amax = 0;  ///< of the tensor or row
  oracle::element_rounding how;
  u32 scale_word = 0;  ///< the draw of a corrected scale
};
using block_rule = std::function<oracle::block(floats const&, block_site const&)>;

struct plan {
  block_rule encode;  ///< of a block of finite values
  std::size_t block_rows = 1;
  std::size_t block_cols = 16;
  shared_by outer = shared_by::block;
  std::function<float(float)> outer_decode = nullptr;
  u32 poison = 0x7F;
  bool has_float_scale = false;
  int random_bits = 0;
  std::size_t rotation = 1;
  sign_source signs = sign_source::none;
  bool rotates_to_bf16 = false;
  int element_bits = 4;
};

/// What the caller of quantize says.
struct call {
  u64 seed = 0;
  u32 stream = 0;
  u64 first_row = 0;
  u64 rotation_seed = 0;
};

inline std::vector<int> signs_of(plan const& p, u64 rotation_seed) {
  std::vector<int> signs(p.rotation, 1);
  oracle::philox_key const key{u32(rotation_seed & 0xFFFFFFFFu), u32(rotation_seed >> 32)};
  auto const words = oracle::philox4x32({0, 0, 0, 0x7369676Eu}, key);
  for (std::size_t i = 0; i < p.rotation; ++i) {
    if (p.signs == sign_source::published) signs[i] = oracle::published_signs()[i % 16];
    if (p.signs == sign_source::seeded) signs[i] = (words[i / 32] >> (i % 32)) % 2 == 1 ? -1 : 1;
  }
  return signs;
}

/// x diag(signs) H / sqrt(n) in FP32: stages of stride 1, 2, 4, ..., each a sum and a difference.
inline floats butterfly(floats x, std::vector<int> const& signs) {
  std::size_t const n = x.size();
  for (std::size_t i = 0; i < n; ++i) x[i] = signs[i] < 0 ? -x[i] : x[i];
  for (std::size_t stride = 1; stride < n; stride *= 2) {
    floats next(n);
    for (std::size_t i = 0; i < n; ++i) {
      bool const is_upper = i / stride % 2 == 1;
      next[i] = is_upper ? x[i - stride] - x[i] : x[i] + x[i + stride];
    }
    x = next;
  }
  float const norm = static_cast<float>(1.0 / std::sqrt(static_cast<double>(n)));
  for (float& v : x) v = v * norm;
  return x;
}

inline matrix<> rotate(plan const& p, matrix<> x, u64 rotation_seed) {
  if (p.rotation == 1) return x;
  auto const signs = signs_of(p, rotation_seed);
  for (std::size_t start = 0; start < x.values.size(); start += p.rotation) {
    auto const first = x.values.begin() + std::ptrdiff_t(start);
    floats y = butterfly(floats(first, first + std::ptrdiff_t(p.rotation)), signs);
    for (float& v : y) v = p.rotates_to_bf16 ? oracle::to_bf16(v) : v;
    std::copy(y.begin(), y.end(), first);
  }
  return x;
}

/// The random word of an element, in as many bits as the rounding uses.
inline u32 element_word(plan const& p, call const& c, std::size_t row, std::size_t col) {
  quadrille::random_key const key{c.seed, c.stream};
  i64 const r = i64(c.first_row + row);
  u32 const word = p.random_bits <= 8    ? quadrille::random_bits<8>(key, r, i64(col))
                   : p.random_bits <= 16 ? quadrille::random_bits<16>(key, r, i64(col))
                                         : quadrille::random_bits<24>(key, r, i64(col));
  return word & ((1u << p.random_bits) - 1);
}

/// Cuts one matrix into blocks and collects what the block rule says of each.
class reference {
 public:
  reference(plan const& p, matrix<> const& x, call const& c)
      : p_(p), c_(c), x_(rotate(p, x, c.rotation_seed)), codes_(x.rows, x.cols) {
    scale_cols_ = (x.cols + p.block_cols - 1) / p.block_cols;
    result_.decoded.resize(x.values.size());
    result_.scales.resize(x.rows * scale_cols_);
    find_outer();
    for (std::size_t row = 0; row < x.rows; row += p.block_rows)
      for (std::size_t col = 0; col < x.cols; col += p.block_cols) encode_block(row, col);
    pack();
  }
  image const& result() const { return result_; }

 private:
  void find_outer() {
    if (p_.outer == shared_by::tensor) amax_.assign(x_.rows, oracle::amax_finite(x_.values));
    if (p_.outer == shared_by::row)
      for (std::size_t r = 0; r < x_.rows; ++r) {
        auto const first = x_.values.begin() + std::ptrdiff_t(r * x_.cols);
        amax_.push_back(oracle::amax_finite(floats(first, first + std::ptrdiff_t(x_.cols))));
      }
    std::size_t const stored = p_.outer == shared_by::row      ? x_.rows
                               : p_.outer == shared_by::tensor ? 1
                                                               : 0;
    for (std::size_t i = 0; i < stored; ++i)
      result_.outer.push_back(p_.outer_decode(amax_.empty() ? 0.0f : amax_[i]));
    amax_.resize(x_.rows, 0.0f);
  }

  floats gather(std::size_t row, std::size_t col) const {
    floats block;
    for (std::size_t r = row; r < row + p_.block_rows; ++r)
      for (std::size_t c = col; c < col + p_.block_cols; ++c)
        block.push_back(r < x_.rows && c < x_.cols ? x_.at(r, c) : 0.0f);
    return block;
  }

  oracle::block quantized(floats const& block, std::size_t row, std::size_t col) const {
    if (!oracle::all_finite(block)) {
      oracle::block b;
      b.scale_code = p_.poison;
      b.scale = oracle::float_nan;
      b.codes.assign(block.size(), 0);
      b.decoded.assign(block.size(), oracle::float_nan);
      return b;
    }
    auto const how = [&](std::size_t i) {
      if (p_.random_bits == 0) return oracle::nearest_even;
      return oracle::stochastic(
          p_.random_bits, element_word(p_, c_, row + i / p_.block_cols, col + i % p_.block_cols));
    };
    quadrille::random_key const key{c_.seed, c_.stream ^ 0x80000000u};
    u32 const word = quadrille::random_bits<24>(key, i64(c_.first_row + row), i64(col));
    return p_.encode(block, {amax_[row], how, word & 0xFFFFFFu});
  }

  void encode_block(std::size_t row, std::size_t col) {
    oracle::block const b = quantized(gather(row, col), row, col);
    for (std::size_t i = 0; i < b.codes.size(); ++i) {
      std::size_t const r = row + i / p_.block_cols;
      std::size_t const c = col + i % p_.block_cols;
      if (r >= x_.rows || c >= x_.cols) continue;
      codes_.at(r, c) = b.codes[i];
      result_.decoded[r * x_.cols + c] = b.decoded[i];
      result_.scales[r * scale_cols_ + col / p_.block_cols] =
          p_.has_float_scale ? bits_of(b.scale) : b.scale_code;
    }
  }

  void pack() {
    for (std::size_t r = 0; r < x_.rows; ++r) {
      auto const first = codes_.values.begin() + std::ptrdiff_t(r * x_.cols);
      std::vector<unsigned> const row(first, first + std::ptrdiff_t(x_.cols));
      std::vector<u8> const bytes =
          p_.element_bits <= 4 ? oracle::pack(row) : std::vector<u8>(row.begin(), row.end());
      result_.codes.insert(result_.codes.end(), bytes.begin(), bytes.end());
    }
  }

  plan p_;
  call c_;
  matrix<> x_;
  matrix<unsigned> codes_;
  std::size_t scale_cols_ = 0;
  floats amax_;
  image result_;
};

inline image expected(plan const& p, matrix<> const& x, call const& c = {}) {
  return reference(p, x, c).result();
}

/// The library's bytes and decoded values against the oracle's.
template <class R>
void check_against(plan const& p, matrix<> const& x, call const& c = {}) {
  quadrille::quantize_options options;
  options.seed = c.seed;
  options.stream = c.stream;
  options.first_row = i64(c.first_row);
  check_same(image_of(quantized<R>(x, options, c.rotation_seed)), expected(p, x, c));
}

/// Every generator on small shapes, odd ones where columns need not fill `granularity`, and a few
/// generators on large ones.
template <class R>
void sweep(plan const& p, std::size_t granularity = 1, bool takes_any_bits = true) {
  u64 seed = 1;
  for (generator const& g : generators())
    for (extents const e : {extents{1, 16},
                            {1, 5},
                            {3, 48},
                            {16, 17},
                            {1, 128},
                            {33, 130},
                            {5, 384},
                            {64, 256},
                            {129, 512}}) {
      ++seed;
      bool const is_large = e.rows * e.cols > 10000;
      bool const is_chosen = g.name == generators()[0].name || g.name == generators()[8].name;
      if (e.cols % granularity != 0 || (is_large && !is_chosen)) continue;
      if (!takes_any_bits && g.name == generators()[9].name) continue;
      INFO(g.name << ", " << e.rows << " x " << e.cols);
      check_against<R>(p, {e.rows, e.cols, g.make(e.rows, e.cols, seed)}, {seed, 3, 0, seed});
    }
}

}  // namespace test
