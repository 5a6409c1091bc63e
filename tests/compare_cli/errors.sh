#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Bad usage ends with 2, bad input or output with 1; each with one sentence. usage: errors.sh PROGRAM DATA_FOLDER
. "$(dirname "$0")/support.sh"
npy in/x.npy '2, 16' "$(repeated 16 $one$two)"

# ---- Usage.
expect 2
says stderr 'FILE is required'
expect 2 in/x.npy --recipe nvfp5
says stderr 'there is no recipe "nvfp5"; write one of nvfp4, nvfp4-16x16,'
expect 2 in/x.npy --recipe nvfp4 in/x.npy
says stderr '"in/x.npy" is a file, not a recipe; write files before --recipe'
expect 2 in/x.npy --rotate hadamard24
says stderr 'there is no rotation "hadamard24"; write one of none, hadamard16,'
expect 2 in/x.npy --rotate none,hadamard16,random16
says stderr 'two rotations at most'
expect 2 in/x.npy --threads 0
expect 2 in/x.npy --threads many
expect 2 in/x.npy --max-rows -1
expect 2 in/x.npy --rep
expect 2 in/x.npy --report out/same --json out/same
says stderr 'name the same file'
expect 2 in/x.npy --json in/x.npy
says stderr 'in/x.npy is an input too'

# ---- Input.
expect 1 in/missing.npy
says stderr 'in/missing.npy: does not exist'
expect 1 in
says stderr 'is a directory'
echo text >in/model.txt
expect 1 in/model.txt
says stderr 'has an unknown ending'
expect 1 in/x.npy in/x.npy
says stderr 'tensor "x" is in in/x.npy too'
head -c 150 in/x.npy >in/cut.npy
expect 1 in/cut.npy

# The first number that is not finite is named; nothing is written, and what was there stays.
echo old >out/old.html
npy in/nan.npy '2, 16' "$(repeated 19 $one)$nan$(repeated 12 $infinity)"
expect 1 in/nan.npy --report out/old.html --json out/new.json
says stderr 'in/nan.npy: tensor "nan" holds NaN at row 1, column 3;'
says out/old.html 'old'
[ ! -e out/new.json ] || fail 'a file was written'
npy in/infinity.npy '2, 16' "$(repeated 31 $one)$infinity"
expect 1 in/infinity.npy
says stderr 'holds infinity at row 1, column 15;'

# ---- Output; noticed before the input is read.
expect 1 in/nan.npy --report out/missing/a.html
says stderr 'out/missing/a.html: cannot be written'
expect 1 in/nan.npy --json out
says stderr 'out: is a directory'
expect 1 in/nan.npy --json /dev/null
says stderr '/dev/null: is a pipe or a device'
