# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Fails on conditional compilation outside four files, on a header over 500 lines, and on an umbrella
# that holds more than includes.
# usage: awk -v root=include/quadrille/ -f text.awk header...

function fail(line, text) {
  print name ":" line ": " text
  failed = 1
}

FNR == 1 {
  if (count > 500) fail(count, "over 500 lines; split it")
  name = FILENAME
  file = substr(FILENAME, length(root) + 1)
}
{ count = FNR }

/^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else)/ && file !~ /^(detail\/config|detail\/std|detail\/cpu|arch\/target)\.hpp$/ {
  fail(FNR, "conditional compilation; only detail/config.hpp, detail/std.hpp, detail/cpu.hpp and arch/target.hpp may decide")
}

file ~ /^quadrille\.(hpp|cuh)$/ && !/^(\/\/.*|#include <.*>.*|#pragma once)?$/ {
  fail(FNR, "an umbrella header holds includes only")
}

END {
  if (count > 500) fail(count, "over 500 lines; split it")
  exit failed
}
