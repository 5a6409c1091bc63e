// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Prepacked weights are a permutation of the canonical ones: packed and unpacked, every byte is there again.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {

template <class R>
quantized<R> there_and_back(quantized_operand<R> const& q, i32 count) {
  i64 const rows = q.host.rows() / count;
  device_buffer<u8> packed(std::size_t(prepacked_bytes<R>(rows, q.host.cols(), count)));
  auto const ref = q.device.ref();
  prepacked_ref<R> const p(packed.data(), ref.outer, rows, q.host.cols(), count, seed);
  device_quantized<R> back(on(nullptr), q.host.rows(), q.host.cols(), seed);
  prepack(on(nullptr), ref, p);
  unpack(on(nullptr), p, back.ref());
  if (ref.outer != nullptr)  // stays where it is
    check_cuda(cudaMemcpy(back.ref().outer, ref.outer, sizeof(float), cudaMemcpyDeviceToDevice));
  return back.to_host(on(nullptr));
}

/// Codes and scales come back; but in a block whose scale means zero, or NaN for UE8M0, codes are zeros.
template <class R>
void check_permutation(i64 rows, i64 cols, i32 count) {
  for (values const v : {values::normal, values::wide, values::random_codes}) {
    INFO(name_of(v) << ", " << rows << " x " << cols << ", " << count << " matrices");
    quantized_operand<R> const q(v, rows * count, cols, 3);
    quantized<R> expected = q.host;
    auto const to = expected.ref();
    if constexpr (std::is_same_v<typename R::scale::format, e4m3>)
      for (i64 r = 0; r < rows * count; ++r)
        for (i64 c = 0; c < cols; ++c)
          if (to.scale(r, c / R::block::cols) == 0)
            to.codes[r * row_bytes<typename R::element>(cols) + c / 2] &=
                u8(c % 2 == 0 ? 0xf0 : 0x0f);
    quantized<R> const back = there_and_back(q, count);
    parity::check_equal("codes", back.codes(), expected.codes());
    parity::check_equal("scales", parity::bytes_of(back.scales()),
                        parity::bytes_of(expected.scales()));
  }
}

}  // namespace

TEST_CASE("prepacked weights: a permutation") {
  check_permutation<nvfp4>(64, 64, 1);
  check_permutation<nvfp4>(130, 272, 1);
  check_permutation<nvfp4>(33, 48, 3);
  check_permutation<nvfp4_weight>(80, 80, 1);
  check_permutation<mxfp4>(130, 288, 2);
  check_permutation<ufp4_two_level>(130, 272, 1);
  check_permutation<integers>(70, 96, 1);
  check_permutation<uniform_mx>(70, 96, 1);
}

TEST_CASE("prepacked weights: their product is the canonical ones'") {
  i64 const rows = 40, cols = 130, depth = 272;
  plain_operand<bf16> const a(values::normal, rows, depth, 1);
  auto const check = [&]<class R>(R) {
    for (values const v : {values::normal, values::random_codes}) {
      quantized_operand<R> const b(v, cols, depth, 2);
      packed_operand<R> const packed(b);
      prepacked_ref<R> const p = packed.ref;
      INFO(name_of(v));
      for_each_path<skinny, fused>([&]<gemm_path Path>() {
        device_buffer<float> d(std::size_t(rows * cols));
        matrix_ref<float> const to(d.data(), rows, cols);
        CHECK(explain<Path>(a.on_device(), p, to).workspace_bytes == 0);
        gemm<Path>(on(nullptr), a.on_device(), p, to);
        product const exact = gemm_test::multiply(a.exact(), b.exact(), rows, cols, depth);
        check_close(d.host(), exact, Path, depth);
      });
    }
  };
  check(nvfp4{});
  check(mxfp4{});
  check(uniform_mx{});
  check(integers{});
}

// Layers whose A is the D of the one before, which still runs when constant weights begin to be read.
TEST_CASE("prepacked weights: constant ones are read early, and what is made of them is the same") {
  constexpr i64 size = 2048, layers = 6;
  quantized_operand<nvfp4> const b(values::normal, size, size, 2);
  packed_operand<nvfp4> const packed(b);
  prepacked_ref<nvfp4> const p = packed.ref;
  device_buffer<u8> work(std::size_t(1) << 20);
  for (i64 const rows : {1, 8, 16, 40}) {
    INFO(rows << " rows");
    plain_operand<bf16> const a(values::normal, rows, size, 1);
    quantized_operand<mxfp4> const coded_a(values::normal, rows, size, 1);
    check_cuda(cudaDeviceSynchronize());  // the promise
    for_each_path<skinny, fused>([&]<gemm_path Path>() {
      auto const plain = [&](bool is_constant) {
        device_buffer<bf16> d(std::size_t(layers * rows * size));
        matrix_ref<bf16 const> from = a.on_device();
        for (i64 i = 0; i < layers; ++i) {
          device_gemm_options<bf16> const options{.alpha = 1.f / 64, .constant_b = is_constant};
          matrix_ref<bf16> const to(d.data() + i * rows * size, rows, size);
          gemm<Path>(on(nullptr), from, p, to, options);
          from = to;
        }
        return parity::bytes_of(d.host());
      };
      parity::bytes const waiting = plain(false);
      parity::check_equal("D", plain(true), waiting);
      auto const coded = [&](bool is_constant) {
        device_gemm_options<float> const options{.alpha = 1.f / 64,
                                                 .constant_b = is_constant,
                                                 .workspace = {work.data(), std::size_t(1) << 20}};
        std::vector<device_quantized<mxfp4>> d;
        for (i64 i = 0; i < layers; ++i) d.emplace_back(on(nullptr), rows, size, seed);
        for (i64 i = 0; i < layers; ++i)
          gemm<Path>(on(nullptr), i == 0 ? coded_a.device.ref() : std::as_const(d[i - 1]).ref(), p,
                     d[i].ref(), {}, options);
        return d.back().to_host(on(nullptr)).codes();
      };
      parity::check_equal("codes of D", coded(true), coded(false));
    });
  }
}
