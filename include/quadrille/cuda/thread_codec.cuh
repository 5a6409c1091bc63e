// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// The block codec for threads that own 16 or 32 consecutive elements in registers: same bytes as
/// block_codec, for every recipe that fits.
///
/// Four things are done otherwise than in block_codec, none of which changes a byte: codes are rounded
/// and packed eight at a time; a Hadamard norm that is a power of two joins the scale factor; a rotation
/// that is larger than a thread's elements is shared by neighbouring lanes; blocks that nothing is unusual
/// about go a way of their own, so that the others cost them no instruction but one branch. A block of 16 rows is shared by
/// threads 16 apart, which call encode together with the whole thread block.

#include <quadrille/codec.hpp>
#include <quadrille/cuda/contest.cuh>
#include <quadrille/cuda/packer.cuh>
#include <quadrille/random.hpp>

namespace quadrille::detail {

/// Consecutive elements that a thread owns: at least these, where several threads share a row of a tile.
template <class R>
inline constexpr int least_chunk = R::block::cols <= 16 ? 16 : 32;
/// Where threads walk along rows: more, if there is much to do for each chunk.
template <class R>
inline constexpr int row_chunk = R::block::rows == 1 &&
                                         (R::rounding::random_bits > 0 || R::rotation::size > 32)
                                     ? 32
                                     : least_chunk<R>;

template <class Rotation>
inline constexpr bool is_hadamard = false;
template <int N, class Signs>
inline constexpr bool is_hadamard<random_hadamard<N, Signs>> = true;

/// True for rotations whose signs are the same for every seed.
template <class Rotation>
inline constexpr bool has_fixed_signs = false;
template <>
inline constexpr bool has_fixed_signs<identity> = true;
template <int N, class Signs>
  requires requires { Signs::is_seeded; }
inline constexpr bool has_fixed_signs<random_hadamard<N, Signs>> = !Signs::is_seeded;

template <class R>
inline constexpr bool fits_threads = [] {
  using block = typename R::block;
  constexpr int chunk = least_chunk<R>;
  constexpr int correction = correction_group<typename R::scale>;
  constexpr bool is_square = block::rows == 16 && block::cols == 16 && !R::scale::reads_values &&
                             R::rotation::size <= chunk && correction == 0;
  return R::element::bits <= 4 && (block::rows == 1 || is_square) && chunk % block::cols == 0 &&
         chunk % max(correction, 1) == 0 &&
         (R::rotation::size <= chunk || is_hadamard<typename R::rotation>);
}();

/// Random bits by value, or from device memory so that a replayed graph can draw fresh ones.
struct random_source {
  random_key key;
  philox_keys<> keys;  // of key.seed: made on the host, they are operands from constant memory
  random_key const* device;
  i64 first_row;
  __device__ random_key read() const {
    if (device == nullptr) return key;
    return {device->seed, device->stream + key.stream};
  }
};

/// The largest magnitude of each block of a chunk.
template <int Blocks>
struct block_amaxes {
  float at[Blocks];
};

/// True if factor_of_code() is the factor of a block's stored scale: if the rule chooses as amax_rule does,
/// whatever parameters it redeclares but the order, or between such scales.
template <class S, class E>
consteval bool has_factor_of_code() {
  if constexpr (requires {
                  typename S::rule;
                  typename S::format;
                }) {
    using rule = typename S::rule;
    using format = typename S::format;
    if constexpr (sizeof(typename S::stored) == 1 && __is_base_of(amax_rule, rule)) {
      if constexpr (!is_same_v<typename rule::order, te_order>) return false;
      if constexpr (is_contested_scale<S, E>()) return true;
      return chooses_as<amax_rule, rule, E, format>();
    }
  }
  return false;
}

template <recipe R, int Chunk = least_chunk<R>>
struct thread_codec {
  static_assert(fits_threads<R>);
  using element = typename R::element;
  using scale = typename R::scale;
  using rounding = typename R::rounding;
  using rotation = typename R::rotation;
  using stored = typename scale::stored;
  using map = decltype(scale::template choose<element>(block_values{}, outer_scale{}).to_grid);

  static constexpr int chunk = Chunk;
  static constexpr int lanes = max(1, rotation::size / chunk);  // neighbours that share a rotation
  static constexpr int block_cols = R::block::cols;
  static constexpr int blocks = chunk / block_cols;
  static constexpr bool is_square = R::block::rows > 1;
  static constexpr bool is_random = rounding::random_bits > 0;
  static constexpr bool is_corrected = correction_group<scale> > 0;
  static constexpr bool is_factor = is_same_v<map, multiply_by>;
  static constexpr bool is_direct = is_factor && has_factor_of_code<scale, element>();
  /// Whether some elements may well exceed the largest one; otherwise only where the scale is subnormal, or
  /// the tensor's amax was given and is too small.
  static constexpr bool clips_often = !is_direct && !is_same_v<stored, float>;
  static constexpr int random_words =
      is_random ? chunk * random_width<rounding::random_bits> / 32 : 1;

  /// False for roundings that move a value however small, as away_from_zero does.
  static constexpr u32 all_random = u32((u64(1) << rounding::random_bits) - 1);
  static constexpr bool ignores_tiny = !rounding::take_upper(0x1p-100f, true, all_random) &&
                                       !rounding::take_upper(0x1p-100f, false, all_random);
  /// log2 of 1/sqrt(N), where rotate() leaves this factor to encode(); otherwise 0.
  static constexpr int deferred_norm_log2 = [] {
    if constexpr (is_hadamard<rotation> && is_factor && ignores_tiny && !scale::reads_values &&
                  !is_corrected)
      if constexpr (log2_of(rotation::size) % 2 == 0) return -log2_of(rotation::size) / 2;
    return 0;
  }();

  /// Whether scales compete, and threads can tell the errors and the codes at once.
  static constexpr bool is_contested = [] {
    if constexpr (is_same_v<element, e2m1> && is_same_v<rounding, nearest_even> && is_direct &&
                  deferred_norm_log2 == 0)
      return packer<e2m1, nearest_even>::uses_fp8 && is_contested_scale<scale, element>();
    else
      return false;
  }();

  /// Rotates x, apart from the deferred norm. All lanes of a rotation call it together.
  __device__ static void rotate(float (&x)[chunk], sign_vector const& drawn) {
    if constexpr (rotation::size == 1) return;
    sign_vector const signs = has_fixed_signs<rotation> ? rotation::signs(0) : drawn;
    if constexpr (lanes > 1) {
      rotate_across(x, signs);
    } else if constexpr (deferred_norm_log2 != 0) {
#pragma unroll
      for (int i = 0; i < chunk; ++i) {
        int const at = i % rotation::size;
        if constexpr (has_fixed_signs<rotation>) {  // becomes the sign of an addend
          if (signs.word[at / 32] >> (at % 32) & 1) x[i] = negated(x[i]);
        } else {
          x[i] = signs.flip(x[i], at);
        }
      }
#pragma unroll
      for (int i = 0; i < chunk; i += rotation::size) hadamard_stages<rotation::size>(x + i);
    } else {
#pragma unroll
      for (int i = 0; i < chunk; i += rotation::size) rotation::apply(x + i, signs);
    }
  }

  /// The largest finite magnitude after rotate(), in true units.
  __device__ static float finite_amax(float const (&x)[chunk]) {
    float largest = 0;
#pragma unroll
    for (int i = 0; i < chunk; ++i) largest = larger_magnitude(largest, x[i]);
    if (!is_finite(largest)) {
      largest = 0;
#pragma unroll
      for (int i = 0; i < chunk; ++i)
        if (is_finite(x[i])) largest = larger_magnitude(largest, x[i]);
    }
    return times<deferred_norm_log2>(largest);
  }

  /// The random words of chunk number `index` of a row. A key that is a kernel argument is not mixed with
  /// one from memory: only then does its schedule cost no instruction.
  __device__ static void draw(random_source const& from, i64 row, u32 index,
                              u32 (&random)[random_words]) {
    if constexpr (is_random) {
      if (from.device == nullptr) {
        draw(from.key, from.keys, row, index, random);
      } else {
        random_key const key = from.read();
        draw(key, philox_keys<>(key.seed), row, index, random);
      }
    }
  }
  __device__ static void draw(random_key key, philox_keys<> const& keys, i64 row, u32 index,
                              u32 (&random)[random_words]) {
    constexpr int group = random_group<rounding::random_bits>;
#pragma unroll
    for (int g = 0; g < chunk / group; ++g) {
      philox_block const drawn =
          random_block<rounding::random_bits>(key, keys, row, i64(u64(index) * chunk + g * group));
#pragma unroll
      for (int w = 0; w < 4; ++w) random[4 * g + w] = drawn.word[w];
    }
  }

  /// Largest magnitude of each block, in the units of x; not finite if an element is not.
  using amaxes = block_amaxes<blocks>;
  __device__ static amaxes amax_of_blocks(float const (&x)[chunk]) {
    amaxes result;
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      float const* const block = x + b * block_cols;
      float amax = larger_magnitude(block[0], block[block_cols - 1]);
#pragma unroll
      for (int i = 1; i + 1 < block_cols; i += 2)
        amax = larger_magnitude(amax, larger_magnitude(block[i], block[i + 1]));
      result.at[b] = amax;
    }
    return result;
  }

  /// Codes and scales of x after rotate(), `amax` being amax_of_blocks(x); random bits are those of chunk
  /// `index` of a row.
  __device__ static void encode(float (&x)[chunk], amaxes const& amax, outer_scale const& outer,
                                random_source const& from, u32 row_here, u32 index,
                                u32 (&codes)[chunk / 8], stored (&scales)[blocks]) {
    u32 random[random_words];
    i64 const row = from.first_row + row_here;
    draw(from, row, index, random);
    if constexpr (is_contested)
      encode_contested(x, amax, outer, codes, scales);
    else if constexpr (is_corrected)
      encode_corrected(x, outer, from.read(), row, i64(u64(index) * chunk), random, codes, scales);
    else
      encode_plain(x, amax, outer, random, codes, scales);
  }

  /// Bit i: whether element i is inside (-max, max) on the grid, as clip_mask defines it.
  __device__ static u32 unclipped(float (&x)[chunk], outer_scale const& outer) {
    u32 mask = 0;
    amaxes const amax = amax_of_blocks(x);
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      float* const block = x + b * block_cols;
      auto const chosen = scale::template choose<element>(
          {block, block_cols, times<deferred_norm_log2>(amax.at[b])}, outer);
#pragma unroll
      for (int i = 0; i < block_cols; ++i) {
        float const y = chosen.to_grid(times<deferred_norm_log2>(block[i]), i);
        mask |= u32(magnitude(y) < element::max) << (b * block_cols + i);
      }
    }
    return mask;
  }

 private:
  using pack = packer<element, rounding>;

  // Whether all lanes of a rotation have the same signs, known here: they become signs of addends.
  static constexpr bool repeats_signs = [] {
    if constexpr (has_fixed_signs<rotation> && chunk == 32) {
      sign_vector const s = rotation::signs(0);
      return s.word[0] == s.word[1] && s.word[0] == s.word[2] && s.word[0] == s.word[3];
    }
    return false;
  }();

  __device__ static void rotate_across(float (&x)[chunk], sign_vector const& signs) {
    u32 const lane = threadIdx.x % lanes;
    if constexpr (repeats_signs) {
#pragma unroll
      for (int i = 0; i < chunk; ++i)
        if (signs.word[0] >> i & 1) x[i] = negated(x[i]);
    } else {
      u32 const at = lane * chunk;
      u32 const word = (at & 64 ? (at & 32 ? signs.word[3] : signs.word[2])
                                : (at & 32 ? signs.word[1] : signs.word[0])) >>
                       (at & 31);
#pragma unroll
      for (int i = 0; i < chunk; ++i)
        x[i] = as_float(bits_of(x[i]) ^ ((word << (31 - i)) & 0x80000000u));
    }
    hadamard_stages<chunk>(x);
#pragma unroll
    for (u32 s = 1; s < lanes; s *= 2) {
      float const sign = lane & s ? -1.f : 1.f;
#pragma unroll
      for (int i = 0; i < chunk; ++i)  // lower lane: x + other; upper lane: other - x
        x[i] = fma_even(x[i], sign, __shfl_xor_sync(0xffffffffu, x[i], s));
    }
    if constexpr (deferred_norm_log2 == 0) {
      constexpr float norm = inverse_sqrt_exp2(log2_of(rotation::size));
#pragma unroll
      for (int i = 0; i < chunk; ++i) x[i] = mul(x[i], norm);
    }
  }

  template <int Log2>
  __device__ static float times(float x) {
    if constexpr (Log2 == 0) return x;
    return mul(x, exp2i(Log2));
  }

  // Over the threads of a block of 16 rows: those of one column of 16 x 16 threads.
  __device__ static float largest_of_rows(float amax) {
    __shared__ u32 columns[16];
    if (threadIdx.x < 16) columns[threadIdx.x] = 0;
    __syncthreads();
    atomicMax(columns + threadIdx.x % 16, bits_of(amax));  // magnitudes, NaN above infinity
    __syncthreads();
    float const result = as_float(columns[threadIdx.x % 16]);
    __syncthreads();
    return result;
  }

  // What a block's elements are multiplied by, or, where that will not do, its map to the grid.
  struct block_scale {
    float amax;
    float factor;
    map exact;
    __device__ float top() const { return mul(amax, factor); }
  };

  __device__ static void encode_plain(float (&x)[chunk], amaxes const& largest,
                                      outer_scale const& outer, u32 const* random,
                                      u32 (&codes)[chunk / 8], stored (&scales)[blocks]) {
    block_scale of[blocks];
    bool is_plain = is_factor;
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      float amax = largest.at[b];
      if constexpr (is_square) amax = largest_of_rows(amax);
      amax = times<deferred_norm_log2>(amax);
      auto const chosen = scale::template choose<element>(
          {scale::reads_values ? x + b * block_cols : nullptr, block_cols, amax}, outer);
      scales[b] = stored(chosen.stored);
      of[b] = {amax, 0, chosen.to_grid};
      if constexpr (is_direct)
        of[b].factor = factor_of_code<typename scale::format>(chosen.stored, outer);
      else if constexpr (is_factor)
        of[b].factor =
            is_usual(chosen.to_grid.factor) ? chosen.to_grid.factor : as_float(infinity_bits);
      is_plain = is_plain && of[b].top() < (clips_often ? 0x1p30f : min(pack::limit, 0x1p30f));
    }
    if (is_plain && block_cols >= 8) {
      plain_scaling by[blocks];
#pragma unroll
      for (int b = 0; b < blocks; ++b) by[b] = plain(of[b].factor);
      pack_all(x, by, random, codes);
    } else {
      no_scaling const on_grid[blocks]{};
#pragma unroll
      for (int b = 0; b < blocks; ++b) {
        if constexpr (is_direct && !scale::reads_values)  // made here, where it is needed
          of[b].exact =
              scale::template choose<element>({nullptr, block_cols, of[b].amax}, outer).to_grid;
        to_grid(x + b * block_cols, of[b], scales[b]);
      }
      pack_all(x, on_grid, random, codes);
    }
  }
  template <class Scaling>
  __device__ static void pack_all(float const (&x)[chunk], Scaling const (&by)[blocks],
                                  u32 const* random, u32 (&codes)[chunk / 8]) {
#pragma unroll
    for (int k = 0; k < chunk / 8; ++k)
      codes[k] = pack::pack(x + 8 * k, by[8 * k / block_cols],
                            random + (is_random ? k * random_words * 8 / chunk : 0));
  }

  using plain_scaling = select_t<clips_often, clipped_scaling, scaling>;
  __device__ static plain_scaling plain(float factor) {
    float const all = times<deferred_norm_log2>(factor);
    if constexpr (clips_often)
      return {all, element::max};
    else
      return {all};
  }
  // The same for any block. The top of one that is poisoned or whose factor is not usual is not finite.
  __device__ static void to_grid(float* x, block_scale const& by, stored& s) {
    if (is_factor && by.top() < 0x1p30f) {
      clipped_scaling const clipped{times<deferred_norm_log2>(by.factor), element::max};
#pragma unroll
      for (int i = 0; i < block_cols; ++i) x[i] = clipped.of(x[i]);
      return;
    }
    bool const is_poisoned = !is_finite(by.amax);
    if (is_poisoned) s = scale::poison;
#pragma unroll
    for (int i = 0; i < block_cols; ++i) {
      float y = by.exact(times<deferred_norm_log2>(x[i]), i);
      if constexpr (pack::limit < float_max) y = clamped(y, element::max);
      x[i] = is_poisoned ? 0.f : y;
    }
  }

  __device__ static void encode_contested(float (&x)[chunk], amaxes const& largest,
                                          outer_scale const& outer, u32 (&codes)[chunk / 8],
                                          stored (&scales)[blocks]) {
    bool is_plain = true;
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
      packing_contest<scale, block_cols> all{x + b * block_cols, largest.at[b], outer};
      all.enter_all();
      scales[b] = stored(all.best);
      is_plain = is_plain && all.is_plain;
#pragma unroll
      for (int k = 0; k < block_cols / 8; ++k)
        codes[b * block_cols / 8 + k] = pack::add_signs(all.codes[k], x + b * block_cols + 8 * k);
    }
    if (!is_plain) encode_plain(x, largest, outer, nullptr, codes, scales);
  }

  // Through block_codec, which gives the grid coordinates that a correction needs.
  __device__ static void encode_corrected(float (&x)[chunk], outer_scale const& outer,
                                          random_key key, i64 row, i64 col, u32 const* random,
                                          u32 (&codes)[chunk / 8], stored (&scales)[blocks]) {
    using codec = block_codec<R>;
    constexpr int group = correction_group<scale>;
    constexpr int width = random_width<rounding::random_bits>;
    typename codec::random_word words[chunk];
    u32 wide[chunk];
    float grid[chunk];
#pragma unroll
    for (int i = 0; i < chunk; ++i)
      words[i] =
          is_random ? typename codec::random_word(random[i * width / 32] >> (i * width % 32)) : 0;
    outer_scale of_block[blocks];
#pragma unroll
    for (int b = 0; b < blocks; ++b) of_block[b] = outer;
    codec::template encode<blocks>(x, of_block, words, scales, wide, grid);
#pragma unroll
    for (int i = 0; i < chunk; i += group)
      scale::template correct<element>({grid + i, wide + i, group, group / block_cols},
                                       scales + i / block_cols, {key, row, col + i, block_cols});
#pragma unroll
    for (int k = 0; k < chunk / 8; ++k) {
      codes[k] = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) codes[k] |= wide[8 * k + i] << (4 * i);
    }
  }
};

}  // namespace quadrille::detail
