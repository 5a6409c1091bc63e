#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# usage: native_e2m1.sh NVCC INCLUDE_DIR SOURCE: on Blackwell rounding to nearest even is the hardware's
# conversion, on Hopper it cannot be, and stochastic rounding is the library's own arithmetic everywhere.
set -eu

# conversions ARCH: how many E2M1 conversions its PTX has.
conversions() {
  "$1" -std=c++20 -arch="compute_$4" -ptx -I"$2" -x cu "$3" -o - | grep -c "cvt\.$5\.satfinite\.e2m1" || true
}
for arch in 100a 120a; do
  [ "$(conversions "$@" $arch rn)" -gt 0 ] || { echo "no cvt.rn.satfinite.e2m1x2 for sm_$arch"; exit 1; }
  [ "$(conversions "$@" $arch rs)" -eq 0 ] || { echo "cvt.rs for sm_$arch"; exit 1; }
done
[ "$(conversions "$@" 90a rn)" -eq 0 ] || { echo "cvt.rn.satfinite.e2m1x2 for sm_90a"; exit 1; }
