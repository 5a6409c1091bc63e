// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// Every tile that the fused path chooses among, whatever it would choose: each makes a product of any shape.

#include "cuda/gemm.cuh"

using namespace gemm_cuda;

namespace {

struct mxfp4_blocks_of_16 : mxfp4 {
  using block = shape<1, 16>;
};

template <class R>
void check_tiles(values v) {
  constexpr i64 cols = 300, depth = 1040;
  quantized_operand<R> const b(v, cols, depth, 2);
  packed_operand<R> const packed(b);
  prepacked_ref<R> const p = packed.ref;
  for (i64 const rows : {1, 12, 20, 51, 72, 97, 133}) {
    plain_operand<bf16> const a(values::normal, rows, depth, 1);
    product const exact = gemm_test::multiply(a.exact(), b.exact(), rows, cols, depth);
    auto const check = [&](int tokens, char const* kind, int parts, auto const& launch) {
      INFO(name_of(v) << ", " << rows << " rows, " << tokens << " tokens, " << kind << " "
                      << parts);
      device_buffer<float> d(std::size_t(rows * cols));
      detail::gemm_segments const work{rows, cols, depth, 1, rows, nullptr};
      launch(work, epilogue_of(a.on_device(), p, {d.data(), rows, cols}));
      check_close(d.host(), exact, fused, depth);
    };
    auto const split = [&]<int Tokens> {
      for (int parts = 1; parts <= (Tokens <= 128 ? detail::fused::most_split : 1); ++parts)
        check(Tokens, "K in parts:", parts, [&](auto const& work, auto const& epilogue) {
          detail::launch_fused_tiles<Tokens>(on(nullptr), work, prepacked_ref<R, u8 const>(p),
                                             a.device.data(), depth, epilogue, parts, 4);
        });
    };
    auto const wide = [&]<int Tokens> {
      for (int slabs = 1; slabs <= detail::wide::most_slabs; ++slabs)
        check(Tokens, "slabs of a pair:", slabs, [&](auto const& work, auto const& epilogue) {
          detail::launch_wide_tiles<Tokens>(on(nullptr), work, prepacked_ref<R, u8 const>(p),
                                            a.device.data(), depth, (rows + slabs) % 2 == 0,
                                            epilogue, slabs, 4);
        });
    };
    split.template operator()<64>();
    split.template operator()<128>();
    split.template operator()<256>();
    wide.template operator()<16>();
    wide.template operator()<32>();
    wide.template operator()<64>();
  }
}

}  // namespace

TEST_CASE("gemm on the GPU: all tiles of the fused path") {
  if (!runs(fused)) return;
  check_tiles<nvfp4>(values::normal);
  check_tiles<mxfp4>(values::wide);
  // Scales up to 1 are decoded another way where a stage has no larger one.
  check_tiles<mxfp4>(values::stages);
  check_tiles<mxfp4_blocks_of_16>(values::stages);
}
