// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "options.hpp"

#include "recipe_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <algorithm>

namespace comparison {
namespace {

std::string with_dashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

/// The position of a name in a list, or a sentence with the names that there are.
template <class List>
std::size_t find_named(List const& list, std::string const& name, std::string_view noun) {
  auto const found =
      std::ranges::find(list, with_dashes(name), [](auto const& e) { return e.name; });
  if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
  if (std::filesystem::exists(name))
    throw usage_error(
        fmt::format("\"{0}\" is a file, not a {1}; write files before --{1}", name, noun));
  std::vector<std::string_view> names;
  for (auto const& known : list) names.push_back(known.name);
  throw usage_error(
      fmt::format("there is no {} \"{}\"; write one of {}", noun, name, fmt::join(names, ", ")));
}

void add_new(std::vector<std::size_t>& list, std::size_t index) {
  if (std::ranges::find(list, index) == list.end()) list.push_back(index);
}

std::vector<std::size_t> chosen_recipes(std::vector<std::string> const& names) {
  std::vector<std::size_t> chosen;
  for (auto const& name : names)
    if (name == "all")
      for (std::size_t r = 0; r < recipe_count; ++r) add_new(chosen, r);
    else
      add_new(chosen, find_named(recipes(), name, "recipe"));
  if (names.empty())
    for (std::size_t r = 0; r < recipe_count; ++r)
      if (recipes()[r].use == purpose::forward) chosen.push_back(r);
  return chosen;
}

std::vector<std::size_t> chosen_bases(std::vector<std::string> const& names) {
  std::vector<std::size_t> chosen;
  for (auto const& name : names)
    for (auto const& one : name == "both" ? std::vector<std::string>{"none", "random16"}
                                          : std::vector<std::string>{name})
      add_new(chosen, find_named(bases(), one, "rotation"));
  if (chosen.size() > 2)
    throw usage_error("--rotate takes two rotations at most; run again for more");
  return chosen;
}

std::string recipe_list() {
  std::string text = "Recipes:\n";
  for (auto const& recipe : recipes())
    text += fmt::format("  {:24} {}{}\n", recipe.name, recipe.text,
                        recipe.use == purpose::gradient ? " *" : "");
  text += "  * for gradients; run only by name, or with --recipe all\n\nRotations:\n ";
  for (auto const& basis : bases()) text += fmt::format(" {}", basis.name);
  return text + "\n  random: signs, then Hadamard. K of a tensor must be a multiple of the number.";
}

void check_outputs(options const& chosen) {
  if (!chosen.report.empty() && chosen.report == chosen.json)
    throw usage_error("--report and --json name the same file; give two");
  std::error_code ignored;
  for (auto const& file : chosen.files)
    for (auto const& output : {chosen.report, chosen.json})
      if (!output.empty() && std::filesystem::equivalent(file, output, ignored))
        throw usage_error(output.string() + " is an input too; write the output to another file");
}

}  // namespace

std::optional<options> parse_options(int argc, char** argv) {
  CLI::App app("What 4-bit recipes cost and lose, on the tensors of a model.", "compare");
  options chosen;
  std::vector<std::string> recipe_names;
  std::vector<std::string> basis_names{"both"};
  app.add_option("FILE", chosen.files, ".safetensors, .safetensors.index.json or .npy")->required();
  app.add_option("--recipe", recipe_names, "recipes to compare, or all (default: the forward ones)")
      ->delimiter(',');
  app.add_option("--rotate", basis_names,
                 "one or two rotations; both: none and random16 (default: both)")
      ->delimiter(',');
  app.add_option("--report", chosen.report, "write a page with pictures (.html)");
  app.add_option("--json", chosen.json, "write all numbers (.json)");
  app.add_option("--threads", chosen.plan.threads, "threads (default: all of the machine's)")
      ->check(CLI::Range(1, 1024));
  app.add_option("--max-rows", chosen.plan.row_limit, "read only the first rows of each tensor")
      ->check(CLI::PositiveNumber);
  app.footer(recipe_list());
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const& help) {
    app.exit(help);
    return std::nullopt;
  } catch (CLI::ParseError const& error) {
    throw usage_error(std::string(error.what()) + "; compare --help shows what can be written");
  }
  chosen.plan.recipes = chosen_recipes(recipe_names);
  chosen.plan.bases = chosen_bases(basis_names);
  check_outputs(chosen);
  return chosen;
}

}  // namespace comparison
