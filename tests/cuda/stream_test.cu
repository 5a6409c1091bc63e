// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Graphs that are captured and replayed, and several streams at once.

#include <memory>

#include "cuda/cases.cuh"
#include "cuda/streams.cuh"

using namespace parity;

namespace {

void set(device_buffer<bf16> const& x, std::vector<float> const& values) {
  auto const rounded = rounded_to<bf16>(values);
  check_cuda(
      cudaMemcpy(x.data(), rounded.data(), rounded.size() * sizeof(bf16), cudaMemcpyHostToDevice));
}

void clear(guarded const& memory) { check_cuda(cudaMemset(memory.as<u8>(), 0xA5, memory.size())); }

/// Captures f while x is ones, clears what it writes, and replays it for eights and for noise.
template <class F, class Clear, class Check>
void check_replay(device_buffer<bf16> const& x, std::size_t n, F f, Clear clear_outputs,
                  Check check) {
  own_stream const stream;
  for (auto const mode : modes) {
    CAPTURE(int(mode));
    set(x, std::vector<float>(n, 1.f));
    graph const g(stream.get(), mode, [&] { f(on(stream.get())); });
    for (auto const& values : {std::vector<float>(n, 8.f), inputs::normal(n, 3)}) {
      set(x, values);
      clear_outputs();
      g.replay(stream.get());
      auto const rounded = rounded_to<bf16>(values);
      check(rounded);
    }
  }
}

__global__ void advance(random_key* key) { ++key->seed; }

}  // namespace

TEST_CASE("GRA-01 a captured quantization reads its input when it is replayed") {
  constexpr i64 rows = 32;
  constexpr i64 cols = 64;
  device_buffer<bf16> const x(rounded_to<bf16>(std::vector<float>(rows * cols, 1.f)));
  matrix_ref<bf16 const> const view(x.data(), rows, cols);
  guarded const codes_memory(rows * cols / 2, 0xA5), scales_memory(512, 0xA5), outer(4, 0xA5),
      work(quantize_workspace<nvfp4>(rows, cols), 0xA5);

  auto const clear_all = [&] {
    clear(codes_memory);
    clear(scales_memory);
    clear(outer);
    clear(work);
  };
  quantized_ref<nvfp4> const two_level(codes_memory.as<u8>(), scales_memory.as<u8>(),
                                       outer.as<float>(), rows, cols);
  check_replay(
      x, rows * cols,
      [&](stream_policy where) {
        quantize(where, view, two_level, {.workspace = work.workspace()});
      },
      clear_all,
      [&](std::vector<bf16> const& values) {
        auto const expected =
            quantize<nvfp4>(host, matrix_ref<bf16 const>(values.data(), rows, cols));
        check_equal("codes", codes_memory.host(), bytes_of(expected.codes()));
        bytes found = scales_memory.host();
        found.resize(expected.scales().size());
        check_equal("scales", found, bytes_of(expected.scales()));
        check_equal("outer scale", outer.host(), bytes_of(expected.outer()));
        if (static_cast<float>(values[0]) == 8.f) {
          check_equal("codes of eights", codes_memory.host(), bytes(rows * cols / 2, 0x77));
          check_equal("scales of eights", found, bytes(rows * cols / 16, 0x7E));
          check_equal("amax", work.host(), bytes_of(std::vector<float>(work.size() / 4, 8.f)));
        }
      });
  quantized_ref<nvfp4_one_level> const one_level(codes_memory.as<u8>(), scales_memory.as<u8>(),
                                                 nullptr, rows, cols);
  check_replay(
      x, rows * cols, [&](stream_policy where) { quantize(where, view, one_level); }, clear_all,
      [&](std::vector<bf16> const& values) {
        auto const expected =
            quantize<nvfp4_one_level>(host, matrix_ref<bf16 const>(values.data(), rows, cols));
        check_equal("codes", codes_memory.host(), bytes_of(expected.codes()));
        bytes found = scales_memory.host();
        found.resize(expected.scales().size());
        check_equal("scales", found, bytes_of(expected.scales()));
        if (static_cast<float>(values[0]) == 8.f)
          check_equal("scales", found, bytes(rows * cols / 16, 0x3B));
      });
}

TEST_CASE(
    "GRA-01 sibling: both copies, tiled scales, a 2D block, requantize, dequantize and a mask") {
  constexpr i64 rows = 80;
  constexpr i64 cols = 144;
  device_buffer<bf16> const x(rounded_to<bf16>(std::vector<float>(rows * cols, 1.f)));
  matrix_ref<bf16 const> const view(x.data(), rows, cols);
  parity::target<nvfp4, tiled_128x4_scales> const along_rows(rows, cols);
  parity::target<nvfp4_wgrad, tiled_128x4_scales> const along_cols(cols, rows);
  parity::target<nvfp4_weight> const square(rows, cols);
  parity::target<mxfp4> const again(rows, cols);
  guarded const values_memory(rows * cols * 4, 0xA5), mask(rows * cols / 8, 0xA5);
  constexpr std::size_t space = quantize_workspace<nvfp4>(rows, cols);
  guarded const work(space, 0xA5), work_cols(space, 0xA5), work_square(space, 0xA5),
      work_mask(space, 0xA5);
  auto const clear_target = [](auto const& to) {
    auto const q = to.ref();
    check_cuda(cudaMemset(q.codes, 0xA5, to.codes().size()));
    check_cuda(cudaMemset(q.scales, 0x7F, to.scales().size()));
    if (q.outer != nullptr) check_cuda(cudaMemset(q.outer, 0xA5, to.outer().size()));
  };
  check_replay(
      x, rows * cols,
      [&](stream_policy where) {
        quantize_both(where, view, along_rows.ref(), {.workspace = work.workspace()},
                      along_cols.ref(), {.workspace = work_cols.workspace()});
        quantize(where, view, square.ref(), {.workspace = work_square.workspace()});
        requantize(where, along_rows.ref(), again.ref());
        dequantize(where, along_rows.ref(),
                   matrix_ref<float>(values_memory.as<float>(), rows, cols));
        clip_mask<nvfp4>(where, view, mask.as<u8>(), {.workspace = work_mask.workspace()});
      },
      [&] {
        clear_target(along_rows);
        clear_target(along_cols);
        clear_target(square);
        clear_target(again);
        for (auto const* memory :
             {&values_memory, &mask, &work, &work_cols, &work_square, &work_mask})
          clear(*memory);
      },
      [&](std::vector<bf16> const& values) {
        matrix_ref<bf16 const> const on_host(values.data(), rows, cols);
        auto const expected = quantize<nvfp4>(host, on_host);
        along_rows.check(expected);
        along_cols.check(quantize<nvfp4_wgrad>(host, on_host.transposed()));
        square.check(quantize<nvfp4_weight>(host, on_host));
        std::vector<float> decoded(rows * cols);
        dequantize(host, expected, matrix_ref<float>(decoded.data(), rows, cols));
        check_equal("values", values_memory.host(), bytes_of(decoded));
        again.check(quantize<mxfp4>(host, matrix_ref<float const>(decoded.data(), rows, cols)));
        bytes expected_mask;
        clip_mask(host, on_host, expected, expected_mask);
        check_equal("mask", mask.host(), expected_mask);
      });
}

TEST_CASE(
    "GRA-01 sibling: a replayed graph draws fresh bits from device_key, those of the host for it") {
  constexpr i64 n = 1 << 14;
  matrix<float> const x(1, n, std::vector<float>(n, 2.5f));
  device_buffer<random_key> const device_key(std::vector<random_key>{{41, 7}});
  parity::target<unscaled_stochastic> const to(1, n);
  own_stream const stream;
  graph const g(stream.get(), cudaStreamCaptureModeGlobal, [&] {
    quantize(on(stream.get()), x.device(), to.ref(),
             {.seed = 999, .stream = 3, .device_key = device_key.data()});
    advance<<<1, 1, 0, stream.get()>>>(device_key.data());
  });
  bytes before;
  for (u64 seed = 41; seed < 45; ++seed) {
    CAPTURE(seed);
    g.replay(stream.get());
    bytes const drawn = to.codes();
    to.check(quantize<unscaled_stochastic>(host, x.host(), {.seed = seed, .stream = 7 + 3}));
    CHECK(drawn != before);
    before = drawn;
  }
  random_key const other{u64(1) << 40, 100};
  check_cuda(cudaMemcpy(device_key.data(), &other, sizeof other, cudaMemcpyHostToDevice));
  g.replay(stream.get());
  to.check(quantize<unscaled_stochastic>(host, x.host(), {.seed = other.seed, .stream = 103}));
}

TEST_CASE("corrected scales read device_key too") {
  matrix<float> const x(8, 256, inputs::normal(8 * 256, 2));
  device_buffer<random_key> const device_key(std::vector<random_key>{{41, 7}});
  auto const q =
      on_device<quartet2_backward>(x.device(), {.stream = 3, .device_key = device_key.data()});
  auto const expected = quantize<quartet2_backward>(host, x.host(), {.seed = 41, .stream = 10});
  CHECK(q.codes() == expected.codes());
  CHECK(q.scales() == expected.scales());
  CHECK(q.scales() != quantize<quartet2_backward>(host, x.host(), {.stream = 3}).scales());
}

TEST_CASE("several streams at once write what each writes alone") {
  constexpr i64 rows = 512;
  constexpr i64 cols = 1024;
  struct lane {
    matrix<bf16> x;
    own_stream stream;
    device_quantized<nvfp4_wgrad_gradient> q;
    device_quantized<nvfp4, tiled_128x4_scales> q_transposed;
    explicit lane(u64 seed)
        : x(rows, cols, rounded_to<bf16>(inputs::student_t3(rows * cols, seed))),
          q(on(stream.get()), rows, cols),
          q_transposed(on(stream.get()), cols, rows) {}
  };
  std::vector<std::unique_ptr<lane>> lanes;
  for (u64 i = 0; i < 4; ++i) lanes.push_back(std::make_unique<lane>(i));
  check_cuda(cudaDeviceSynchronize());
  for (int round = 0; round < 50; ++round)
    for (u64 i = 0; i < lanes.size(); ++i) {
      lane& l = *lanes[i];
      if (round % 2 == 0)
        quantize(on(l.stream.get()), l.x.device(), l.q, {.seed = i});
      else
        quantize_both(on(l.stream.get()), l.x.device(), l.q, {.seed = i}, l.q_transposed, {});
    }
  for (u64 i = 0; i < lanes.size(); ++i) {
    CAPTURE(i);
    lane const& l = *lanes[i];
    auto const q = l.q.to_host(on(l.stream.get()));
    auto const expected = quantize<nvfp4_wgrad_gradient>(host, l.x.host(), {.seed = i});
    CHECK(q.codes() == expected.codes());
    CHECK(q.scales() == expected.scales());
    CHECK(q.outer() == expected.outer());
    auto const other = l.q_transposed.to_host(on(l.stream.get()));
    auto const expected_other = quantize<nvfp4>(host, l.x.host().transposed());
    CHECK(other.codes() == expected_other.codes());
    CHECK(other.scales() == expected_other.scales());
    CHECK(other.outer() == expected_other.outer());
  }
}
