# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Fails when a header includes a file that layers.txt does not place above it.
# usage: awk -v root=include/quadrille/ -f layers.awk layers.txt header...

function fail(text) {
  print FILENAME ":" FNR ": " text
  failed = 1
}

# A core file knows nothing of arch/ and cuda/; the layers above the host verbs may.
function is_core(name) { return layer[name] <= 6 && name !~ /^(arch|cuda)\// }

FNR == NR {
  if ($0 !~ /^#/ && NF == 2) {
    layer[$2] = $1
    place[$2] = FNR
  }
  next
}

FNR == 1 {
  file = substr(FILENAME, length(root) + 1)
  if (!(file in layer)) fail(file " is not in tests/structure/layers.txt; add it where it belongs")
}

!(file in layer) { next }

/^[ \t]*#[ \t]*include[ \t]*"/ { fail("included with quotes; write <quadrille/...>") }

/^[ \t]*#[ \t]*include[ \t]*<quadrille\// {
  target = $0
  sub(/^[^<]*<quadrille\//, "", target)
  sub(/>.*/, "", target)
  if (!(target in layer))
    fail(target " is not in tests/structure/layers.txt; add it where it belongs")
  else if (layer[target] > layer[file])
    fail("layer " layer[file] " includes " target " of layer " layer[target])
  else if (place[target] >= place[file])
    fail(target " does not stand above " file " in tests/structure/layers.txt")
  if (is_core(file) && target ~ /^(arch|cuda)\//) fail("the core includes " target)
  if (file ~ /\.hpp$/ && target ~ /\.cuh$/) fail("a .hpp, for any compiler, includes a .cuh, for nvcc")
}

END { exit failed }
