// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recipe_table.hpp"

#include <algorithm>

namespace comparison {
namespace {

template <class Row>
recipe_info describe(Row const& row) {
  using recipe = typename Row::recipe;
  using element = typename recipe::element;
  std::vector<float> grid;
  for (unsigned code = 0; code < (1u << element::bits); ++code)
    if (float const value = element::decode(code); value >= 0) grid.push_back(value / element::max);
  std::ranges::sort(grid);
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  int const group = quadrille::correction_group<typename recipe::scale>;
  return {row.name,
          row.text,
          row.use,
          quadrille::bits_per_element<recipe>,
          static_cast<std::size_t>(std::max(group, 1)),
          grid};
}

}  // namespace

std::array<recipe_info, recipe_count> const& recipes() {
  static auto const all = for_every_recipe([](auto const& row) { return describe(row); });
  return all;
}

}  // namespace comparison
