// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// One function per file format. They take a `source`, so that tests need no disk.

#include "source.hpp"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace tensor_file {

/// The length of a JSON text that is still read; the safetensors reference has the same limit.
inline constexpr std::uint64_t longest_json = 100'000'000;

/// Parses a JSON object in which no key comes twice. Its nesting and its number of values are
/// bounded, so that a hostile text costs neither stack nor memory. `what` names it: "header".
nlohmann::json parse_object(std::filesystem::path const& file, std::string const& what,
                            std::string const& text);

/// A JSON value fit for a sentence: see in_quotes().
std::string shown(nlohmann::json const& value);

/// The tensors of one .safetensors file, by offset.
std::vector<tensor> list_safetensors(source& in);

/// Which tensors an index expects in which shard: file names without a folder to tensor names.
using shard_map = std::map<std::string, std::set<std::string>>;
shard_map read_index(source& in);

/// The tensors of all shards that an index names, shard by shard.
std::vector<tensor> list_shards(source& index);

/// The one array of a .npy file, under the file's name without its ending.
tensor list_npy(source& in);

}  // namespace tensor_file
