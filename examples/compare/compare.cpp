// SPDX-FileCopyrightText: 2026 The Quadrille authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// What do 4-bit recipes cost and lose on the tensors of a model? Text on standard output, and on
/// request a page with pictures and a JSON file.

#include "experiment.hpp"
#include "html_report.hpp"
#include "json_report.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "text_report.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <exception>
#include <list>

namespace {

/// All outputs are written before the first one takes its place.
void write_outputs(comparison::options const& chosen, comparison::results const& found) {
  std::list<comparison::pending_file> files;
  if (!chosen.report.empty()) files.emplace_back(chosen.report, comparison::html_report(found));
  if (!chosen.json.empty()) files.emplace_back(chosen.json, comparison::json_report(found));
  for (auto& file : files) file.commit();
}

void run(comparison::options const& chosen) {
  for (auto const& output : {chosen.report, chosen.json})
    if (!output.empty()) comparison::check_writable(output);
  auto found = comparison::run(comparison::list_inputs(chosen.files), chosen.plan);
  found.files = chosen.files;
  write_outputs(chosen, found);
  fmt::print("{}", comparison::text_report(found));
  for (auto const& output : {chosen.report, chosen.json})
    if (!output.empty()) fmt::print("Wrote {}\n", output.string());
}

}  // namespace

/// 0: done. 1: bad input or output. 2: bad usage.
int main(int argc, char** argv) {
  try {
    if (auto const chosen = comparison::parse_options(argc, argv)) run(*chosen);
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (comparison::usage_error const& error) {
    fmt::print(stderr, "compare: {}\n", error.what());
    return 2;
  } catch (std::exception const& error) {
    fmt::print(stderr, "compare: {}\n", error.what());
    return 1;
  }
}
