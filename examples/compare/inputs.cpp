// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inputs.hpp"

#include "words.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <map>

namespace comparison {
namespace {

using tensor_file::tensor;

std::vector<tensor> list_all(std::vector<std::filesystem::path> const& files) {
  std::vector<tensor> all;
  std::map<std::string, std::filesystem::path> seen;
  for (auto const& file : files)
    for (auto& found : tensor_file::list(file)) {
      auto const [first, is_new] = seen.emplace(found.name, found.file);
      if (!is_new)
        throw tensor_file::error(
            fmt::format("{}: tensor \"{}\" is in {} too; names must differ, give one file a run",
                        found.file.string(), printable(found.name), first->second.string()));
      all.push_back(std::move(found));
    }
  return all;
}

/// Digits compare as numbers: block2 comes before block10.
bool comes_before(tensor const& a, tensor const& b) {
  auto const key = [](std::string const& name) {
    std::string result;
    for (std::size_t i = 0; i < name.size();) {
      auto const end = std::min(name.find_first_not_of("0123456789", i), name.size());
      if (end - i < 20 && end > i) result += std::string(20 - (end - i), '0');
      auto const taken = std::max<std::size_t>(1, end - i);
      result += name.substr(i, taken);
      i += taken;
    }
    return result;
  };
  return key(a.name) < key(b.name);
}

bool is_vector(tensor const& t) { return t.shape.size() < 2; }

void leave_out_vectors(inputs& in) {
  auto const vectors = static_cast<std::size_t>(std::ranges::count_if(in.tensors, is_vector));
  if (vectors == 0 || vectors == in.tensors.size()) return;
  std::erase_if(in.tensors, is_vector);
  in.notes.push_back(counted(vectors, "one-dimensional tensor") + " skipped");
}

void find_layers(inputs& in) {
  std::map<std::string, std::size_t> index_of;
  for (std::size_t i = 0; i < in.tensors.size(); ++i) index_of[in.tensors[i].name] = i;
  for (std::size_t i = 0; i < in.tensors.size(); ++i) {
    auto const& name = in.tensors[i].name;
    if (!name.ends_with(".input")) continue;
    auto const stem = name.substr(0, name.size() - std::string_view(".input").size());
    auto const weight = index_of.find(stem + ".weight");
    if (weight == index_of.end()) continue;
    if (in.tensors[i].cols() == in.tensors[weight->second].cols())
      in.layers.push_back({stem, i, weight->second});
    else
      in.notes.push_back(
          fmt::format("{} is not multiplied: its input has {} columns, its weight {}",
                      printable(stem), in.tensors[i].cols(), in.tensors[weight->second].cols()));
  }
}

}  // namespace

inputs list_inputs(std::vector<std::filesystem::path> const& files) {
  inputs in;
  in.tensors = list_all(files);
  std::ranges::stable_sort(in.tensors, comes_before);
  leave_out_vectors(in);
  find_layers(in);
  return in;
}

}  // namespace comparison
