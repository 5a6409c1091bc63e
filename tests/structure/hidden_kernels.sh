#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# usage: hidden_kernels.sh LIBRARY: fails if it exports a kernel, or a function that is
# given one or launches one.
set -eu
exported=$(nm -D --defined-only "$1" | c++filt)
echo "$exported" | grep -q quantize_and_back || { echo "no symbols were read"; exit 1; }
if echo "$exported" | grep -E '_kernel|::kernel<|launch_|void \(\*\)|quadrille::(quantize|dequantize|quantize_both|gemm|explain|prepack)<'; then
  echo "these must not be exported: two libraries would share them"
  exit 1
fi
