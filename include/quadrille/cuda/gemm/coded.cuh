// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// Few rows of 4-bit activations to BF16: by chunks, for kernels that decode them themselves, or before a kernel that
/// reads BF16.

#include <quadrille/cuda/dequantized.cuh>
#include <quadrille/cuda/gemm/ampere.cuh>
#include <quadrille/cuda/gemm/prepacked_layout.cuh>

namespace quadrille::detail {

/// Eight codes times a scale, which is in both halves of a word, as BF16 numbers: exact.
template <class R>
__device__ __forceinline__ void decode_eight(u32 codes, u32 scale, u32 (&out)[4]) {
  using code = fragment_code<typename R::element>;
  constexpr int up = min(-code::raw_exponent, 126);
  constexpr int rest = -code::raw_exponent - up;
  u32 const even = codes & 0x0f0f0f0fu;
  u32 const odd = codes >> 4 & 0x0f0f0f0fu;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    u32 two;  // byte i of each, with their signs, zeros, between them
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(two) : "r"(even), "r"(odd), "r"(0xc480 + 0x1111 * i));
    u32 const raw = code::raw(two);
    out[i] = fma_bf16x2<0>(raw, twice_bf16(exp2i(up)), twice_bf16(-code::offset * exp2i(-rest)));
    if constexpr (rest != 0) out[i] = multiply_bf16x2(out[i], twice_bf16(exp2i(rest)));
    out[i] = multiply_bf16x2(out[i], scale);
  }
}

/// Element x block scale of a matrix whose recipe is_prepackable and whose rows are whole chunks.
template <class R, class Layout>
struct coded_matrix {
  static constexpr int chunk = 16;  // elements that share a scale
  using source_type = dequantized_source<R, Layout, decoding::operand>;
  using raw = typename source_type::template raw<chunk>;
  source_type source;

  explicit coded_matrix(quantized_ref<R, u8 const, Layout> const& q) : source(q) {}
  bool is_whole() const { return source.is_whole(chunk); }

  __device__ __forceinline__ raw fetch(u32 row, u32 col) const {
    return source.template fetch<chunk, true>(row, col);
  }
  /// Asks the L2 for what is fetched, which earlier work may still write.
  __device__ __forceinline__ void prefetch(u32 row, u32 col) const {
    auto const& q = source.q;
    ampere::prefetch(q.codes + u64(row) * u64(q.cols / 2) + col / 2);
    ampere::prefetch(&q.scale(row, col / u32(R::block::cols)));
  }
  /// Of raw{}: zeros.
  __device__ __forceinline__ static void decode(raw const& from, u32 (&words)[chunk / 8][4]) {
    u32 const scale = twice_bf16(R::scale::decoder(from.scale[0], 1.f).factor);
#pragma unroll
    for (int i = 0; i < chunk / 8; ++i) decode_eight<R>(from.codes[i], scale, words[i]);
  }
};

inline constexpr int coded_threads = 128;
inline constexpr int coded_chunks = 2;  // of a thread
/// So small that a block of it fits beside one of the wide kernel: it waits there for earlier work, and the next
/// product's blocks can start, and ask for weights, while it decodes.
template <class R, class Layout>
static __global__ void __launch_bounds__(coded_threads, target::has_wgmma ? 16 : 1)
    decode_coded_kernel(coded_matrix<R, Layout> const from, matrix_ref<bf16> const to, u32 chunks) {
  constexpr int chunk = coded_matrix<R, Layout>::chunk;
  u32 const count = u32(to.rows) * chunks;
  u32 const step = gridDim.x * coded_threads;
  u32 const first = blockIdx.x * coded_threads + threadIdx.x;
  wait_for_earlier_work();
  typename coded_matrix<R, Layout>::raw parts[coded_chunks];
#pragma unroll
  for (int i = 0; i < coded_chunks; ++i) {
    u32 const index = min(first + i * step, count - 1);
    parts[i] = from.fetch(index / chunks, index % chunks * chunk);
  }
#pragma unroll
  for (int i = 0; i < coded_chunks; ++i) {
    u32 const index = first + i * step;
    if (index >= count) return;
    u32 words[chunk / 8][4];
    from.decode(parts[i], words);
    auto* const out = reinterpret_cast<uint4*>(to.data + u64(index / chunks) * u64(to.row_stride) +
                                               index % chunks * chunk);
#pragma unroll
    for (int j = 0; j < chunk / 8; ++j)
      out[j] = uint4{words[j][0], words[j][1], words[j][2], words[j][3]};
  }
}

#pragma GCC visibility push(hidden)  // see stream.cuh
/// Decodes a matrix of few chunks, into rows aligned to 16 bytes; false, and nothing done, if it has many.
template <class R, class Layout>
bool launch_decode_coded(stream_policy where, coded_matrix<R, Layout> const& from,
                         matrix_ref<bf16> const& to) {
  i64 const chunks = to.cols / from.chunk;
  i64 const processors = device_attribute(cudaDevAttrMultiProcessorCount);
  i64 const blocks = ceil_div(to.rows * chunks, i64(coded_threads));
  if (!from.is_whole() || blocks > coded_chunks * processors) return false;
  auto const kernel = decode_coded_kernel<R, Layout>;
  // As the kernels beside it ask for all shared memory that there is.
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100),
             "asking for shared memory");
  launch_early(where, kernel, dim3(unsigned(min(blocks, processors))), coded_threads, 0, from, to,
               u32(chunks));
  return true;
}
#pragma GCC visibility pop

}  // namespace quadrille::detail
