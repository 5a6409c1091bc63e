// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "formats.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace tensor_file {
namespace {

using json = nlohmann::json;

/// A shard lies beside its index, so that an index from elsewhere cannot point at other files.
bool is_shard_name(std::string const& name) {
  constexpr char forbidden[] = {'/', '\\', ':'};
  bool const plain = std::ranges::none_of(name, [&](char c) {
    auto const code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7f || std::ranges::find(forbidden, c) != std::end(forbidden);
  });
  return plain && name.ends_with(".safetensors") && name.find("..") == std::string::npos;
}

std::string shard_name(std::filesystem::path const& index, std::string const& tensor,
                       json const& value) {
  bool const good = value.is_string() && is_shard_name(value.get_ref<std::string const&>());
  if (!good)
    fail(index, "puts tensor " + in_quotes(tensor) + " in " + shown(value) +
                    "; a shard is a .safetensors file beside its index, without a folder");
  return value.get<std::string>();
}

/// The shard must hold what the index says, all of it and no more.
void check_shard(std::filesystem::path const& index, std::string const& shard,
                 std::set<std::string> expected, std::vector<tensor> const& found) {
  for (auto const& each : found)
    if (expected.erase(each.name) == 0)
      fail(index, "does not put tensor " + in_quotes(each.name) + " in " + in_quotes(shard) +
                      ", where it is; index and shards must agree, or give the shard itself");
  if (!expected.empty())
    fail(index, "puts tensor " + in_quotes(*expected.begin()) + " in " + in_quotes(shard) +
                    ", where it is not; index and shards must agree, fetch both again");
}

}  // namespace

shard_map read_index(source& in) {
  if (in.size() > longest_json)
    fail(in.file(), "is " + std::to_string(in.size()) + " bytes long; an index may have 100000000");
  auto const index = parse_object(in.file(), "index", in.read(0, in.size()));
  auto const places = index.find("weight_map");
  if (places == index.end() || !places->is_object() || places->empty())
    fail(in.file(), "has no weight_map; it maps tensor names to shards, fetch the index again");
  shard_map shards;
  for (auto const& [name, shard] : places->items())
    shards[shard_name(in.file(), name, shard)].insert(name);
  return shards;
}

std::vector<tensor> list_shards(source& index) {
  std::vector<tensor> tensors;
  for (auto& [shard, expected] : read_index(index)) {
    source in(index.file().parent_path() / shard);
    auto found = list_safetensors(in);
    check_shard(index.file(), shard, expected, found);
    std::ranges::move(found, std::back_inserter(tensors));
  }
  return tensors;
}

}  // namespace tensor_file
