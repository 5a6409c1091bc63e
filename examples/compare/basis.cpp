// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "basis.hpp"

#include <array>
#include <quadrille/rotation.hpp>

namespace comparison {
namespace {

template <class Rotation>
void rotate(std::span<float> values) {
  auto const signs = Rotation::signs(0);
  for (std::size_t i = 0; i < values.size(); i += Rotation::size)
    Rotation::apply(values.data() + i, signs);
}

template <class Rotation>
constexpr basis make(std::string_view name) {
  return {name, Rotation::size, &rotate<Rotation>};
}

constexpr std::array all{
    make<quadrille::identity>("none"),
    make<quadrille::hadamard<16>>("hadamard16"),
    make<quadrille::hadamard<32>>("hadamard32"),
    make<quadrille::hadamard<64>>("hadamard64"),
    make<quadrille::hadamard<128>>("hadamard128"),
    make<quadrille::random_hadamard<16>>("random16"),
    make<quadrille::random_hadamard<32>>("random32"),
    make<quadrille::random_hadamard<64>>("random64"),
    make<quadrille::random_hadamard<128>>("random128"),
};

}  // namespace

std::span<basis const> bases() { return all; }

matrix rotated(matrix const& in, basis const& to) {
  matrix out = in;
  to.rotate(out.values);
  return out;
}

}  // namespace comparison
