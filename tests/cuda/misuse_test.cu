// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What the GPU entry points refuse: the error names the rule, and nothing has been written.

#include "cuda/cases.cuh"
#include "cuda/refused.cuh"

using namespace parity;

namespace {

struct plus {
  __device__ float operator()(float x, float y) const { return x + y; }
};

/// A 4 x 64 matrix, where it is quantized to, and options that are right.
template <class R>
struct setting {
  matrix<float> x{4, 64, inputs::normal(4 * 64, 1)};
  parity::target<R> to{4, 64};
  guarded work{quantize_workspace<R>(4, 64), 0xA5};
  device_buffer<float> given{std::vector<float>(4, 3.f)};
  device_quantize_options options{.seed = 1, .workspace = work.workspace()};

  /// quantize with changes made by `change(x, q, options)` is refused.
  template <class F>
  void require_refused(char const* rule, F change) const {
    auto view = x.device();
    auto q = to.ref();
    auto changed = options;
    change(view, q, changed);
    parity::require_refused(rule, [&] { quantize(on(nullptr), view, q, changed); });
    require_untouched();
  }
  void require_untouched() const {
    to.check_untouched();
    check_equal("workspace", work.host(), bytes(work.size(), 0xA5));
  }
};

/// The last argument of a quantize_both that is refused or not.
template <class R, class S>
struct two_copies {
  matrix<float> x{64, 128, inputs::normal(64 * 128, 1)};
  parity::target<R> to{64, 128};
  parity::target<S> to_transposed{128, 64};
  guarded work{quantize_workspace<R>(64, 128) + 4096, 0xA5};
  guarded work_transposed{quantize_workspace<S>(128, 64) + 4096, 0xA5};
  device_buffer<random_key> keys{std::vector<random_key>{{1, 2}, {3, 4}}};
  device_quantize_options options{.seed = 5, .workspace = work.workspace()};
  device_quantize_options options_transposed{.seed = 5, .workspace = work_transposed.workspace()};

  void run() const {
    quantize_both(on(nullptr), x.device(), to.ref(), options, to_transposed.ref(),
                  options_transposed);
  }
  void require_refused(char const* rule) const {
    parity::require_refused(rule, [&] { run(); });
    to.check_untouched();
    to_transposed.check_untouched();
    check_equal("workspace", work.host(), bytes(work.size(), 0xA5));
    check_equal("workspace", work_transposed.host(), bytes(work_transposed.size(), 0xA5));
  }
  void require_accepted() const {
    CHECK_NOTHROW(run());
    CHECK(to.codes() != bytes(to.codes().size(), 0xA5));
    CHECK(to_transposed.codes() != bytes(to_transposed.codes().size(), 0xA5));
  }
};

}  // namespace

TEST_CASE("quantize on the device refuses another shape") {
  setting<nvfp4> const s;
  s.require_refused("rows of the matrix is 3 but must be 4",
                    [](auto& x, auto&, auto&) { x.rows = 3; });
  s.require_refused("columns of the matrix is 80 but must be 64",
                    [](auto& x, auto&, auto&) { x.cols = 80; });
  s.require_refused("rows of the matrix is 4 but must be 5",
                    [](auto&, auto& q, auto&) { q.rows = 5; });
  s.require_refused("columns of the matrix is 4 but must be 64",
                    [](auto& x, auto&, auto&) { x = matrix_ref<float const>(x.data, 4, 4); });
  s.require_refused("negative extent", [](auto& x, auto& q, auto&) { x.rows = q.rows = -1; });
  s.require_refused("too many rows",
                    [](auto& x, auto& q, auto&) { x.rows = q.rows = i64(1) << 31; });
  require_refused("rows of the matrix is 64 but must be 4",
                  [&] { quantize(on(nullptr), transposed(s.x.device()), s.to.ref(), s.options); });
  require_refused("rows of the second source is 64 but must be 4", [&] {
    quantize(on(nullptr), transformed(plus{}, s.x.device(), s.x.device().transposed()), s.to.ref(),
             s.options);
  });
  s.require_untouched();
}

TEST_CASE("HAD-07 columns that do not fill whole rotation groups are refused on the device") {
  setting<quartet2_backward> const s;
  s.require_refused("whole rotation groups", [](auto&, auto&, auto&) {});
  require_refused("whole rotation groups",
                  [&] { device_quantized<nvfp4_wgrad>(on(nullptr), 1, 40); });
  require_refused("whole rotation groups",
                  [&] { quantize<quartet2_backward>(on(nullptr), s.x.device()); });
  require_refused("whole rotation groups",
                  [&] { amax<quartet2_backward>(on(nullptr), s.x.device(), s.given.data()); });
  require_refused("whole rotation groups", [&] {
    clip_mask<quartet2_backward>(on(nullptr), s.x.device(), s.to.ref().codes, s.options);
  });
  s.require_untouched();
  CHECK(s.given.host() == std::vector<float>(4, 3.f));
}

TEST_CASE("quantize on the device refuses missing pointers") {
  setting<nvfp4> const s;
  s.require_refused("the matrix has no data", [](auto& x, auto&, auto&) { x.data = nullptr; });
  s.require_refused("no codes or no scales", [](auto&, auto& q, auto&) { q.codes = nullptr; });
  s.require_refused("no codes or no scales", [](auto&, auto& q, auto&) { q.scales = nullptr; });
  s.require_refused("no outer scales", [](auto&, auto& q, auto&) { q.outer = nullptr; });
  require_refused("no weight", [&] {
    quantize(on(nullptr), rms_normalized(s.x.device(), static_cast<float const*>(nullptr)),
             s.to.ref(), s.options);
  });
  require_refused("nowhere to go", [&] { amax<nvfp4>(on(nullptr), s.x.device(), nullptr); });
  require_refused("nowhere to go",
                  [&] { clip_mask<nvfp4>(on(nullptr), s.x.device(), nullptr, s.options); });
  s.require_untouched();
}

TEST_CASE(
    "quantize on the device refuses a missing or small workspace, and amax that is overwritten") {
  setting<nvfp4> const s;
  s.require_refused("quantize_workspace<R>", [](auto&, auto&, auto& o) { o.workspace = {}; });
  s.require_refused("3 bytes", [](auto&, auto&, auto& o) { o.workspace.bytes = 3; });
  s.require_refused("quantize_workspace<R>",
                    [](auto&, auto&, auto& o) { o.workspace.data = nullptr; });
  s.require_refused("same memory", [](auto&, auto& q, auto& o) { o.amax = q.outer; });
  setting<nvfp4_per_row> const by_row;
  by_row.require_refused("needs 16", [](auto&, auto&, auto& o) { o.workspace.bytes = 15; });
  by_row.require_refused("same memory", [](auto&, auto& q, auto& o) { o.amax = q.outer; });

  device_buffer<u8> const mask(4 * 8);
  require_refused("quantize_workspace<R>",
                  [&] { clip_mask<nvfp4>(on(nullptr), s.x.device(), mask.data()); });
  require_refused("quantize_workspace<R>", [&] {
    clip_mask<nvfp4>(on(nullptr), s.x.device(), mask.data(), {.workspace = {s.work.as<u8>(), 3}});
  });
  s.require_untouched();
  CHECK(mask.host() == bytes(4 * 8, 0xA5));
}

TEST_CASE("dequantize and requantize refuse what quantize refuses") {
  setting<nvfp4> const s;
  guarded const out(4 * 64 * sizeof(float), 0xA5);
  matrix_ref<float> const x(out.as<float>(), 4, 64);
  auto const refused = [&](char const* rule, auto change) {
    auto q = s.to.ref();
    auto to = x;
    change(q, to);
    require_refused(rule, [&] { dequantize(on(nullptr), q, to); });
  };
  refused("no outer scales", [](auto& q, auto&) { q.outer = nullptr; });
  refused("no codes or no scales", [](auto& q, auto&) { q.scales = nullptr; });
  refused("no data", [](auto&, auto& to) { to.data = nullptr; });
  refused("rows of the matrix is 3 but must be 4", [](auto&, auto& to) { to.rows = 3; });
  refused("columns of the matrix is 64 but must be 63", [](auto& q, auto&) { q.cols = 63; });
  check_equal("values", out.host(), bytes(out.size(), 0xA5));

  setting<mxfp4> const again;
  auto from = s.to.ref();
  from.outer = nullptr;
  require_refused("no outer scales", [&] { requantize(on(nullptr), from, again.to.ref()); });
  from = s.to.ref();
  from.rows = 3;
  require_refused("rows of the matrix is 3 but must be 4",
                  [&] { requantize(on(nullptr), from, again.to.ref()); });
  again.require_untouched();
}

TEST_CASE("host memory is refused wherever a kernel would touch it") {
  if (reaches_host_memory()) return;
  setting<nvfp4> const s;
  std::vector<float> memory(4 * 64, 1.f);
  float* const p = memory.data();
  u8* const b = reinterpret_cast<u8*>(p);
  s.require_refused("the matrix is host memory", [&](auto& x, auto&, auto&) { x.data = p; });
  s.require_refused("the quantized matrix is host memory",
                    [&](auto&, auto& q, auto&) { q.codes = b; });
  s.require_refused("the scales of the quantized matrix is host memory",
                    [&](auto&, auto& q, auto&) { q.scales = b; });
  s.require_refused("the outer scale of the quantized matrix is host memory",
                    [&](auto&, auto& q, auto&) { q.outer = p; });
  s.require_refused("amax is host memory", [&](auto&, auto&, auto& o) { o.amax = p; });
  s.require_refused("the workspace is host memory",
                    [&](auto&, auto&, auto& o) { o.workspace.data = p; });
  random_key const on_stack{1, 2};
  s.require_refused("device_key is host memory",
                    [&](auto&, auto&, auto& o) { o.device_key = &on_stack; });
  require_refused("the weight of rms_normalized is host memory", [&] {
    quantize(on(nullptr), rms_normalized(s.x.device(), static_cast<float const*>(p)), s.to.ref(),
             s.options);
  });
  require_refused("amax is host memory", [&] { amax<nvfp4>(on(nullptr), s.x.device(), p); });
  require_refused("the mask is host memory",
                  [&] { clip_mask<nvfp4>(on(nullptr), s.x.device(), b, s.options); });
  require_refused("the workspace is host memory", [&] {
    device_buffer<u8> const mask(4 * 8);
    clip_mask<nvfp4>(on(nullptr), s.x.device(), mask.data(), {.workspace = {p, 4}});
  });
  require_refused("the matrix is host memory",
                  [&] { dequantize(on(nullptr), s.to.ref(), matrix_ref<float>(p, 4, 64)); });
  s.require_untouched();
  CHECK(memory == std::vector<float>(4 * 64, 1.f));
}

TEST_CASE("pinned and managed memory are read and written by kernels, so they are accepted") {
  auto const values = inputs::normal(4 * 64, 1);
  float* pinned = nullptr;
  float* managed = nullptr;
  check_cuda(cudaMallocHost(&pinned, 4 * 64 * sizeof(float)));
  check_cuda(cudaMallocManaged(&managed, 4 * 64 * sizeof(float)));
  std::copy(values.begin(), values.end(), pinned);
  std::copy(values.begin(), values.end(), managed);
  matrix_ref<float const> const view(values.data(), 4, 64);
  auto const expected = quantize<nvfp4>(host, view, {.seed = key.seed, .stream = key.stream});
  for (float const* p : {pinned, managed})
    parity::check(matrix_ref<float const>(p, 4, 64), expected);
  check_cuda(cudaFreeHost(pinned));
  check_cuda(cudaFree(managed));
}

TEST_CASE("quantize_both refuses to draw the same random bits for both copies") {
  two_copies<nvfp4_gradient, ufp4_two_level_gradient> s;
  s.require_refused("same random bits");
  s.options.device_key = s.options_transposed.device_key = s.keys.data();
  s.require_refused("same random bits");
  s.options.seed = 6;  // not read: both keys come from device memory
  s.require_refused("same random bits");
  two_copies<quartet2_backward, nvfp4_wgrad_gradient>().require_refused("same random bits");
}

TEST_CASE("quantize_both accepts bits that differ in stream, in device_key or in seed") {
  two_copies<nvfp4_gradient, ufp4_two_level_gradient> streams;
  streams.options.stream = 1;
  streams.require_accepted();
  two_copies<nvfp4_gradient, ufp4_two_level_gradient> seeds;
  seeds.options.seed = 6;
  seeds.require_accepted();
  two_copies<nvfp4_gradient, ufp4_two_level_gradient> keys;
  keys.options.device_key = keys.keys.data();
  keys.options_transposed.device_key = keys.keys.data() + 1;
  keys.require_accepted();
  two_copies<nvfp4, ufp4_two_level_gradient>().require_accepted();  // only one draws
}

TEST_CASE(
    "quantize_both refuses one workspace for both copies, and what quantize refuses of either") {
  two_copies<nvfp4, ufp4_two_level> s;
  s.options_transposed.workspace = s.options.workspace;
  s.require_refused("workspace");
  s.options_transposed.workspace = {};
  s.require_refused("quantize_workspace<R>");
  s.options_transposed = s.options;
  s.options_transposed.amax = s.to_transposed.ref().outer;
  s.require_refused("same memory");
  two_copies<mxfp4, ufp4_two_level> wrong;
  wrong.options_transposed.workspace.bytes = 3;
  wrong.require_refused("3 bytes");
}
