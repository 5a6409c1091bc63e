#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# README.md's code is the examples' code. A block that follows `<!-- snippet: FILE REGION -->` must equal
# the lines of FILE between `// [REGION]` and `// [REGION end]`. With --write the README is brought up to
# date, otherwise a difference is a failure.
set -eu
cd "$(dirname "$0")/../.."
new=$(mktemp)
trap 'rm -f "$new"' EXIT

awk '
  function copy_region(file, region,    line, inside, found) {
    while ((getline line < file) > 0) {
      if (line ~ "// \\[" region " end\\]") inside = 0
      if (inside) print line
      if (line ~ "// \\[" region "\\]") inside = found = 1
    }
    close(file)
    if (!found) { print "quadrille: " file " has no region " region > "/dev/stderr"; failed = 1 }
  }
  /^```$/ && skipping { skipping = 0 }
  !skipping { print }
  /^<!-- snippet: / { file = $3; region = $4 }
  /^```cpp$/ && file != "" { copy_region(file, region); file = ""; skipping = 1 }
  END { exit failed }
' README.md >"$new"

if [ "${1:-}" = --write ]; then
  cat "$new" >README.md
elif ! diff README.md "$new"; then
  echo "quadrille: README.md differs from the examples; run sh tests/structure/snippets.sh --write" >&2
  exit 1
fi
