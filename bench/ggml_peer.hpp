// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// ggml as a peer: weights of one type in one of its buffers, multiplied through its graph interface as
/// its users do. Compiled against a ggml that was built elsewhere; nothing of it is kept here.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

namespace peer {

/// Which of ggml's ways to the product: its dot kernels, those with repacked weights, or BLAS.
enum class path { plain, repacked, blas };

inline ggml_backend_t start(path way, int threads) {
  ggml_backend_dev_t const device = way == path::blas
                                        ? ggml_backend_dev_by_name("BLAS")
                                        : ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (device == nullptr) throw std::runtime_error("this ggml has no such device");
  ggml_backend_t const backend = ggml_backend_dev_init(device, nullptr);
  auto const set_threads =
      reinterpret_cast<ggml_backend_set_n_threads_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_dev_backend_reg(device), "ggml_backend_set_n_threads"));
  if (set_threads != nullptr) set_threads(backend, threads);
  return backend;
}

inline ggml_backend_buffer_type_t weights_buffer(ggml_backend_t backend, path way) {
  if (way != path::repacked) return ggml_backend_get_default_buffer_type(backend);
  ggml_backend_dev_t const device = ggml_backend_get_device(backend);
  auto const extra =
      reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_dev_backend_reg(device), "ggml_backend_dev_get_extra_bufts"));
  if (extra != nullptr)
    for (ggml_backend_buffer_type_t* type = extra(device); type != nullptr && *type; ++type)
      if (std::string(ggml_backend_buft_name(*type)) == "CPU_REPACK") return *type;
  throw std::runtime_error("this ggml does not repack");
}

/// D = X W^T for `copies` equal weight tensors; run(i) multiplies with the i-th.
class product {
 public:
  product(path way, int threads, ggml_type type, std::span<float const> w, std::int64_t n,
          std::int64_t k, std::span<float const> x, std::int64_t m, int copies = 1)
      : backend_(start(way, threads)) {
    std::vector<char> codes(ggml_row_size(type, k) * std::size_t(n));
    ggml_quantize_chunk(type, w.data(), codes.data(), 0, n, k, nullptr);
    weights_.resize(w.size());
    ggml_get_type_traits(type)->to_float(codes.data(), weights_.data(), n * k);

    ggml_context* const stored = context();
    std::vector<ggml_tensor*> tensors;
    for (int i = 0; i < copies; ++i) tensors.push_back(ggml_new_tensor_2d(stored, type, k, n));
    if (!ggml_backend_alloc_ctx_tensors_from_buft(stored, weights_buffer(backend_, way)))
      throw std::runtime_error("ggml did not allocate the weights");
    for (ggml_tensor* const t : tensors) ggml_backend_tensor_set(t, codes.data(), 0, codes.size());

    ggml_context* const computed = context();
    ggml_tensor* const input = ggml_new_tensor_2d(computed, GGML_TYPE_F32, k, m);
    for (ggml_tensor* const t : tensors) {
      outputs_.push_back(ggml_mul_mat(computed, t, input));
      graphs_.push_back(ggml_new_graph(computed));
      ggml_build_forward_expand(graphs_.back(), outputs_.back());
    }
    if (!ggml_backend_alloc_ctx_tensors(computed, backend_))
      throw std::runtime_error("ggml did not allocate the product");
    ggml_backend_tensor_set(input, x.data(), 0, std::size_t(m * k) * sizeof(float));
  }

  void run(int i = 0) { ggml_backend_graph_compute(backend_, graphs_[std::size_t(i)]); }

  std::vector<float> result() const {
    std::vector<float> d(std::size_t(ggml_nelements(outputs_[0])));
    ggml_backend_tensor_get(outputs_[0], d.data(), 0, d.size() * sizeof(float));
    return d;
  }
  /// The values that its codes stand for.
  std::vector<float> const& weights() const { return weights_; }

 private:
  static ggml_context* context() {  // never freed: the program ends with it
    return ggml_init({ggml_tensor_overhead() * 256 + ggml_graph_overhead() * 64, nullptr, true});
  }

  ggml_backend_t backend_;
  std::vector<float> weights_;
  std::vector<ggml_tensor*> outputs_;
  std::vector<ggml_cgraph*> graphs_;
};

}  // namespace peer
