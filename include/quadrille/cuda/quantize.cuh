// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// quantize, dequantize, amax and clip_mask on the GPU: the host's bytes, for every recipe.
///
/// Every call only enqueues work on its stream: it allocates nothing, waits for nothing, and can be
/// captured into a graph. It throws quadrille::error before anything is enqueued if an argument is
/// wrong, and cuda_error if CUDA refuses.

#include <quadrille/cuda/dequantized.cuh>
#include <quadrille/cuda/prologue.cuh>
#include <quadrille/cuda/row_kernel.cuh>
#include <quadrille/cuda/tile_kernel.cuh>
#include <quadrille/cuda/unit_kernel.cuh>
#include <quadrille/quantize.hpp>

namespace quadrille {

/// Settings of one quantization on the GPU; all have defaults.
struct device_quantize_options {
  /// Random bits of stochastic rounding and of MS-EDEN, as in quantize_options.
  u64 seed = 0;
  u32 stream = 0;
  /// In device memory: read when the kernel runs, in place of `seed`; `stream` is added to its stream. A
  /// graph that is replayed draws fresh bits if something advances it in between.
  random_key const* device_key = nullptr;
  /// Row of the whole tensor that row 0 is, when it is quantized in pieces.
  i64 first_row = 0;
  /// In device memory, where it is known (delayed, calibrated, or found with amax() and reduced over
  /// ranks, for example by ncclAllReduce with ncclMax): one, or with a scale a row one a row. Finite and
  /// not negative; larger elements saturate. Without it, a pass over the tensor finds it.
  float const* amax = nullptr;
  /// What that pass needs: quantize_workspace<R>(rows, cols) bytes.
  quadrille::workspace workspace{};
};

/// Bytes of workspace that quantize needs when it is not given an amax.
template <class R>
constexpr std::size_t quantize_workspace(i64 rows, i64) {
  constexpr outer_scope scope = detail::checked_recipe<R>::scale::scope;
  return scope == outer_scope::none     ? 0
         : scope == outer_scope::tensor ? detail::amax_parts * sizeof(float)
                                        : std::size_t(rows) * sizeof(float);
}

namespace detail {

#pragma GCC visibility push(hidden)  // see stream.cuh
// Elements of a thread in the kernel that run() chooses.
template <recipe R, class Source>
inline constexpr int chunk_for =
    is_transposed<std::remove_const_t<Source>> ? least_chunk<R> : row_chunk<R>;

// Which kernel reads a source for one target.
template <class Source, class Target>
void run(stream_policy where, Source const& source, Target const& target, bool is_reversed) {
  if constexpr (is_transposed<Source> && !Target::is_square)
    launch_tiles(where, source.source, no_target{}, target, is_reversed);
  else
    launch_rows(where, source, target, is_reversed);
}

inline random_source random_source_of(device_quantize_options const& options) {
  return {{options.seed, options.stream},
          philox_keys<>(options.seed),
          options.device_key,
          options.first_row};
}

template <recipe R, class Layout>
unit_arguments<R, Layout> unit_arguments_of(quantized_ref<R, u8, Layout> q, float const* amax,
                                            device_quantize_options const& options) {
  return {q,       {amax, q.outer}, random_source_of(options), R::rotation::signs(q.rotation_seed),
          nullptr, nullptr};
}

template <int Chunk, recipe R, class Layout>
encode_target<R, Layout, Chunk> encode_target_of(quantized_ref<R, u8, Layout> q, float const* amax,
                                                 device_quantize_options const& options) {
  return {q,
          {amax, q.outer},
          random_source_of(options),
          R::rotation::signs(q.rotation_seed),
          u32(q.scale_cols()),
          u32(row_bytes<typename R::element>(q.cols)),
          is_aligned(q.codes, row_bytes<typename R::element>(q.cols), 8)};
}

template <recipe R, class Source>
void find_amax(stream_policy where, Source const& source, float* amax, u64 rotation_seed) {
  i64 const count = R::scale::scope == outer_scope::row ? source.rows : 1;
  check_cuda(cudaMemsetAsync(amax, 0, std::size_t(count) * sizeof(float), where.stream),
             "clearing amax");
  if (source.rows == 0 || source.cols == 0) return;
  sign_vector const signs = R::rotation::signs(rotation_seed);
  if constexpr (fits_threads<R>) {
    run(where, source, amax_target<R, chunk_for<R, Source>>{amax, signs}, false);
  } else {
    unit_arguments<R, row_major_scales> to{};
    to.signs = signs;
    to.amax = amax;
    launch_units<unit_work::amax>(where, source, to);
  }
}

template <recipe R, class Layout, class Source>
void encode(stream_policy where, Source const& source, quantized_ref<R, u8, Layout> q,
            float const* amax, device_quantize_options const& options, bool is_reversed) {
  if constexpr (fits_threads<R>)
    run(where, source, encode_target_of<chunk_for<R, Source>>(q, amax, options), is_reversed);
  else
    launch_units<unit_work::encode>(where, source, unit_arguments_of(q, amax, options));
}

// amax is given, or can be found.
template <recipe R>
void require_amax(device_scope const& device, i64 rows, i64 cols,
                  device_quantize_options const& options) {
  if constexpr (R::scale::scope != outer_scope::none) {
    device.require_reachable(options.amax, "amax");
    device.require_reachable(options.workspace.data, "the workspace");
    std::size_t const needed = quantize_workspace<R>(rows, cols);
    bool const has_space =
        needed == 0 || (options.workspace.data != nullptr && options.workspace.bytes >= needed);
    if (options.amax == nullptr && !has_space)
      throw error(
          "quadrille: the workspace has " + std::to_string(options.workspace.bytes) +
          " bytes but the pass that finds amax needs " + std::to_string(needed) +
          "; pass quantize_workspace<R>(rows, cols) bytes as options.workspace, or options.amax");
  }
}

template <recipe R, class Layout>
void require_target(device_scope const& device, i64 rows, i64 cols, quantized_ref<R, u8, Layout> q,
                    device_quantize_options const& options) {
  check_extents<R>(q.rows, q.cols);
  require_extents(q.rows, q.cols);
  require_equal(rows, q.rows, "the number of rows of the matrix");
  require_equal(cols, q.cols, "the number of columns of the matrix");
  require(rows == 0 || cols == 0 || (q.codes != nullptr && q.scales != nullptr),
          "the quantized matrix has no codes or no scales; pass both pointers, or use "
          "device_quantized<R>");
  require(
      R::scale::scope == outer_scope::none || rows == 0 || q.outer != nullptr,
      "the quantized matrix has no outer scales; the recipe keeps one for the tensor or each row, "
      "pass a pointer to them");
  device.require_reachable(q.codes, "the quantized matrix");
  device.require_reachable(q.scales, "the scales of the quantized matrix");
  device.require_reachable(q.outer, "the outer scale of the quantized matrix");
  device.require_reachable(options.device_key, "device_key");
  require(
      R::scale::scope == outer_scope::none || options.amax == nullptr || options.amax != q.outer,
      "amax and the outer scale are the same memory; one is read while the other is written, pass "
      "two");
  require_amax<R>(device, rows, cols, options);
}

// Padding of tiled scales is zero, whatever the memory held.
template <recipe R, class Layout>
void clear_padding(stream_policy where, quantized_ref<R, u8, Layout> q) {
  i64 const count = q.scale_count();
  if (count != q.rows * q.scale_cols())
    check_cuda(cudaMemsetAsync(q.scales, 0, std::size_t(count) * sizeof(*q.scales), where.stream),
               "clearing the padding of the scales");
}

template <recipe R>
float* amax_workspace(device_quantize_options const& options) {
  return static_cast<float*>(options.workspace.data);
}
/// True if a kernel can leave amax in parts, which the next puts together.
template <recipe R, class Source>
inline constexpr bool finds_parts = [] {
  if constexpr (R::scale::scope == outer_scope::tensor && fits_threads<R>)
    return !Source::has_statistic && !is_transposed<Source>;
  else
    return false;
}();
template <recipe R>
inline constexpr bool draws = block_codec<R>::is_random || block_codec<R>::is_corrected;
template <recipe R>
inline constexpr bool has_outer = R::scale::scope != outer_scope::none;

template <recipe R, class Layout, class Source>
void quantize_source(stream_policy where, Source const& source, quantized_ref<R, u8, Layout> q,
                     device_quantize_options const& options) {
  static_assert(
      fits_threads<R> || !Source::has_statistic,
      "quadrille: rms_normalized is given to a recipe whose blocks do not fit a thread; write "
      "the normalized matrix and quantize that");
  device_scope const device(q.codes, where);
  source.require_valid(device);
  require_target(device, source.rows, source.cols, q, options);
  float const* amax = options.amax;
  bool const finds_amax = has_outer<R> && amax == nullptr;
  if constexpr (finds_parts<R, Source>)
    if (finds_amax && source.rows > 0 && source.cols > 0) {
      float* const parts = amax_workspace<R>(options);
      clear_padding(where, q);
      if (launch_amax(where, source,
                      amax_target<R, least_chunk<R>>{parts, R::rotation::signs(q.rotation_seed)})) {
        auto target = encode_target_of<chunk_for<R, Source>>(q, parts, options);
        target.outer.is_in_parts = true;
        launch_rows(where, source, target, true);
        return;
      }
    }
  if constexpr (has_outer<R>)
    if (finds_amax) {
      find_amax<R>(where, source, amax_workspace<R>(options), q.rotation_seed);
      amax = amax_workspace<R>(options);
    }
  clear_padding(where, q);
  encode(where, source, q, amax, options, finds_amax);
}
}  // namespace detail

/// The largest finite magnitude of x in the basis that recipe R quantizes in, into device memory: one
/// float, or one a row where R has a scale a row. Reduce it over ranks and pass it as options.amax.
template <class R, class X>
void amax(stream_policy where, X const& x, float* to, u64 rotation_seed = 0) {
  using checked = detail::checked_recipe<R>;
  auto const source = detail::as_source(x);
  detail::device_scope const device(to, where);
  detail::check_extents<checked>(source.rows, source.cols);
  detail::require_extents(source.rows, source.cols);
  source.require_valid(device);
  detail::require(to != nullptr, "amax has nowhere to go; pass a device pointer");
  device.require_reachable(to, "amax");
  detail::find_amax<checked>(where, source, to, rotation_seed);
}

/// Quantizes x into q. x is a matrix_ref (float, fp16, bf16 or CUDA's types; any strides) in device
/// memory, or transformed(), rms_normalized(), transposed() or dequantized() of one.
/// With Layout = tiled_128x4_scales the scales go into the tiles that tensor cores read, padding zeroed.
template <class R, class Layout, class X>
void quantize(stream_policy where, X const& x, quantized_ref<R, u8, Layout> q,
              device_quantize_options const& options = {}) {
  detail::quantize_source(where, detail::as_source(x), q, options);
}

/// Quantizes x along its rows into q and along its columns into q_transposed (cols x rows), from one read
/// of x: the two operands that a training step needs of an activation or gradient. Each has its own
/// recipe and options; if both draw random bits, give them different streams.
template <class R, class Layout, class S, class LayoutS, class X>
void quantize_both(stream_policy where, X const& x, quantized_ref<R, u8, Layout> q,
                   device_quantize_options const& options,
                   quantized_ref<S, u8, LayoutS> q_transposed,
                   device_quantize_options const& options_transposed) {
  using namespace detail;
  auto const source = as_source(x);
  using source_type = std::remove_const_t<decltype(source)>;
  static_assert(
      !source_type::has_statistic,
      "quadrille: rms_normalized is quantized along columns; its rows must be complete first, "
      "write the normalized matrix and quantize that");
  require(!(draws<R> && draws<S>) || options.stream != options_transposed.stream ||
              options.device_key != options_transposed.device_key ||
              (options.device_key == nullptr && options.seed != options_transposed.seed),
          "the two copies draw the same random bits; they must be independent, give their options "
          "different streams");
  require(!has_outer<R> || !has_outer<S> || options.amax != nullptr ||
              options_transposed.amax != nullptr ||
              options.workspace.data != options_transposed.workspace.data ||
              options.workspace.data == nullptr,
          "the two copies share a workspace; each finds its own amax, pass two");
  if constexpr (fits_threads<R> && fits_threads<S> && R::block::rows == 1 && S::block::rows == 1) {
    device_scope const device(q.codes, where);
    source.require_valid(device);
    require_target(device, source.rows, source.cols, q, options);
    require_target(device, source.cols, source.rows, q_transposed, options_transposed);
    float const* amax = options.amax;
    float const* amax_transposed = options_transposed.amax;
    bool const finds = has_outer<R> && amax == nullptr;
    bool const finds_transposed = has_outer<S> && amax_transposed == nullptr;
    if (finds && finds_transposed && source.rows > 0 && source.cols > 0) {
      if constexpr (has_outer<R> && has_outer<S>) {
        amax_target<R, least_chunk<R>> const to{amax_workspace<R>(options),
                                                R::rotation::signs(q.rotation_seed)};
        amax_target<S, least_chunk<S>> const to_s{amax_workspace<S>(options_transposed),
                                                  S::rotation::signs(q_transposed.rotation_seed)};
        check_cuda(cudaMemsetAsync(to.amax, 0, quantize_workspace<R>(q.rows, q.cols), where.stream),
                   "clearing amax");
        check_cuda(
            cudaMemsetAsync(to_s.amax, 0, quantize_workspace<S>(q.cols, q.rows), where.stream),
            "clearing amax");
        launch_tiles(where, source, to, to_s, false);
      }
    } else {
      if constexpr (has_outer<R>)
        if (finds) find_amax<R>(where, source, amax_workspace<R>(options), q.rotation_seed);
      if constexpr (has_outer<S>)
        if (finds_transposed)
          find_amax<S>(where, transposed(source), amax_workspace<S>(options_transposed),
                       q_transposed.rotation_seed);
    }
    if (finds) amax = amax_workspace<R>(options);
    if (finds_transposed) amax_transposed = amax_workspace<S>(options_transposed);
    clear_padding(where, q);
    clear_padding(where, q_transposed);
    launch_tiles(
        where, source, encode_target_of<least_chunk<R>>(q, amax, options),
        encode_target_of<least_chunk<S>>(q_transposed, amax_transposed, options_transposed),
        finds || finds_transposed);
  } else {
    quantize_source(where, source, q, options);
    quantize_source(where, transposed(source), q_transposed, options_transposed);
  }
}

/// Dequantizes q into x (any strides; float, fp16, bf16 or CUDA's types), rotated back unless asked.
template <class R, class Byte, class Layout, class T>
void dequantize(stream_policy where, quantized_ref<R, Byte, Layout> q, matrix_ref<T> x,
                dequantize_options const& options = {}) {
  using namespace detail;
  check_extents<R>(q.rows, q.cols);
  require_extents(q.rows, q.cols);
  require_equal(x.rows, q.rows, "the number of rows of the matrix");
  require_equal(x.cols, q.cols, "the number of columns of the matrix");
  device_scope const device(x.data, where);
  auto source = dequantized(q);
  source.stays_rotated = options.rotated;
  source.require_valid(device);
  require(x.rows == 0 || x.cols == 0 || x.data != nullptr,
          "the matrix has no data; pass a pointer to rows x cols elements");
  device.require_reachable(x.data, "the matrix");
  if (x.rows == 0 || x.cols == 0) return;
  launch_rows(
      where, source, write_target < T,
      R::rotation::size == 1
          ? max(8, int(16 / sizeof(T)))
          : least_chunk < R >> {x, x.col_stride == 1 && is_aligned(x.data, x.row_stride, 16)},
      false);
}

/// Dequantizes `from` and quantizes the values again, in one pass: for the operands that Quartet, Quartet II
/// (arXiv 2601.22813) and TetraJet-v2 (arXiv 2510.27527) make from quantized ones. Along the other axis:
/// quantize(on(stream), transposed(dequantized(from)), to).
template <class R, class Byte, class Layout, class S, class LayoutS>
void requantize(stream_policy where, quantized_ref<R, Byte, Layout> from,
                quantized_ref<S, u8, LayoutS> to, device_quantize_options const& options = {}) {
  quantize(where, dequantized(from), to, options);
}

/// The bits of the host's clip_mask: rows x ceil(cols / 8) bytes in device memory. Options and rotation
/// seed are those that x was quantized with.
template <class R, class X>
void clip_mask(stream_policy where, X const& x, u8* mask,
               device_quantize_options const& options = {}, u64 rotation_seed = 0) {
  using namespace detail;
  using checked = checked_recipe<R>;
  static_assert(checked::block::rows == 1,
                "quadrille: clip_mask is defined for blocks of one row; write shape<1, N>");
  auto const source = as_source(x);
  device_scope const device(mask, where);
  check_extents<checked>(source.rows, source.cols);
  require_extents(source.rows, source.cols);
  source.require_valid(device);
  require(mask != nullptr, "the mask has nowhere to go; pass a device pointer");
  device.require_reachable(mask, "the mask");
  require_amax<checked>(device, source.rows, source.cols, options);
  float const* amax = options.amax;
  if constexpr (has_outer<checked>)
    if (amax == nullptr) {
      find_amax<checked>(where, source, amax_workspace<checked>(options), rotation_seed);
      amax = amax_workspace<checked>(options);
    }
  if (source.rows == 0 || source.cols == 0) return;
  sign_vector const signs = checked::rotation::signs(rotation_seed);
  if constexpr (fits_threads<checked>) {
    run(where, source,
        mask_target<checked, chunk_for<checked, decltype(source)>>{
            mask, source.rows, source.cols, {amax, nullptr}, signs},
        false);
  } else {
    unit_arguments<checked, row_major_scales> to{};
    to.outer = {amax, nullptr};
    to.signs = signs;
    to.mask = mask;
    launch_units<unit_work::mask>(where, source, to);
  }
}

#pragma GCC visibility pop

}  // namespace quadrille
