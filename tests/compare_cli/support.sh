# shellcheck shell=sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sourced by the tests: a folder of their own, small input files, and expectations.

set -eu
compare=$1
data=$2
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
mkdir in out

fail() {
  echo "FAILED: $*" >&2
  sed 's/^/  /' "$here/stdout" "$here/stderr" >&2
  exit 1
}

# expect CODE ARGUMENTS...: runs the program; its output is in stdout and stderr.
expect() {
  wanted=$1
  shift
  code=0
  "$compare" "$@" >"$here/stdout" 2>"$here/stderr" || code=$?
  [ "$code" = "$wanted" ] || fail "exit code $code in place of $wanted: compare $*"
  if [ "$code" = 0 ]; then
    [ ! -s "$here/stderr" ] || fail "text on standard error: compare $*"
  else
    [ ! -s "$here/stdout" ] || fail "text on standard output: compare $*"
    [ "$(wc -l <"$here/stderr")" = 1 ] || fail "not one line: compare $*"
    grep -q '^compare: ' "$here/stderr" || fail "no prefix: compare $*"
  fi
  [ -z "$(find . -name '*.tmp')" ] || fail "a temporary file is left: compare $*"
}

# says FILE TEXT: the file holds that text.
says() { grep -qF -e "$2" "$1" || fail "$1 does not say: $2"; }
lacks() { ! grep -qF -e "$2" "$1" || fail "$1 says: $2"; }

# npy FILE SHAPE BYTES...: an array of F32; a value is four bytes in octal, as printf takes them.
npy() {
  file=$1
  shape=$2
  shift 2
  {
    printf '\223NUMPY\001\000\166\000'
    printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': ($shape), }"
    printf "$@"
  } >"$file"
}
one='\000\000\200\077'
two='\000\000\000\100'
nan='\000\000\300\177'
infinity='\000\000\200\377'

# repeated N VALUE
repeated() {
  i=0
  while [ $i -lt "$1" ]; do
    printf '%s' "$2"
    i=$((i + 1))
  done
}

# safetensors FILE HEADER BYTES: a header of at most 400 bytes, and the data.
safetensors() {
  {
    printf '\220\001\000\000\000\000\000\000'
    printf '%-400s' "$2"
    printf "$3"
  } >"$1"
}
