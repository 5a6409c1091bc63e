# shellcheck shell=sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Sourced by tests/run.sh and examples/run.sh: finds out which Debian packages are missing and installs them.
#   needs PACKAGE TEST...   the build cannot do without it
#   wants PACKAGE TEST...   something is left out without it
#   install_missing         does nothing when nothing is missing

required=
wanted=

needs() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || required="$required $package"
}

wants() {
  package=$1
  shift
  "$@" >/dev/null 2>&1 || wanted="$wanted $package"
}

has() { command -v "$1"; }

has_either() { has "$1" || has "$2"; }

# Asks the compiler, so a header in an unusual place counts.
has_header() {
  for header; do
    echo "#include <$header>" | "${CXX:-c++}" -std=c++20 -E -x c++ - && return 0
  done
  return 1
}

install_missing() {
  [ -n "$required$wanted" ] || return 0
  as_root=
  [ "$(id -u)" = 0 ] || as_root=sudo
  if ! has apt-get >/dev/null || { [ -n "$as_root" ] && ! has sudo >/dev/null; }; then
    [ -z "$wanted" ] || echo "quadrille: left out without these packages:$wanted"
    [ -z "$required" ] || { echo "quadrille: install these packages first:$required" >&2; exit 1; }
    return 0
  fi
  apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }
  apt update
  # shellcheck disable=SC2086  # the lists are meant to split
  {
    [ -z "$required" ] || apt install -y --no-install-recommends $required
    for package in $wanted; do
      apt install -y --no-install-recommends $package || echo "quadrille: left out: $package"
    done
  }
}
