#!/bin/sh
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Good inputs. usage: good.sh PROGRAM DATA_FOLDER
. "$(dirname "$0")/support.sh"
model=$data/minilm.safetensors.index.json

# The shipped model, its first rows: all parts of the text, both files, any number of threads.
expect 0 "$model" --max-rows 40 --report out/a.html --json out/a.json --threads 1
says stdout '8 tensors and 4 layers, 12 recipes.'
says stdout 'layer3.ffn.up.weight  F16 1536 x 384, max |x| 0.'
says stdout ', first 40 rows'
says stdout 'W4A16'
says stdout 'Best of at most 4.5 bits'
says stdout 'Wrote out/a.html'
[ -z "$(awk 'length > 100' stdout)" ] || fail 'a line is over 100 columns'
says out/a.html '</html>'
for forbidden in '<script' 'http:' 'https:' 'src=' 'href=' '@import' 'url('; do
  lacks out/a.html "$forbidden"
done
says out/a.json '"recipe": "nvfp4-four-over-six"'
cp stdout first
expect 0 "$model" --max-rows 40 --report out/b.html --json out/b.json --threads 3
cmp -s out/a.html out/b.html || fail 'threads change the report'
cmp -s out/a.json out/b.json || fail 'threads change the JSON'

# Names of recipes and rotations; gradient recipes only when asked for.
lacks first 'nvfp4-gradient'
expect 0 "$model" --max-rows 16 --recipe nvfp4_four_over_six,mxfp4-tseng nvfp4 --rotate hadamard32
says stdout '3 recipes.'
says stdout 'hadamard32'
lacks stdout 'none'
expect 0 "$model" --max-rows 16 --recipe all --rotate none
says stdout '17 recipes.'
expect 0 --max-rows 16 --recipe nvfp4 "$model"
expect 0 --help
says stdout 'quartet2-backward'

# 24 columns are no multiple of 16: no number, a footnote, no error.
npy in/odd.npy '2, 24' "$(repeated 24 $one$two)"
expect 0 in/odd.npy --recipe nvfp4
says stdout '-  The columns are no multiple'
says stdout 'exact'
expect 0 in/odd.npy --recipe nvfp4 --rotate random16 --report out/odd.html
says stdout 'nvfp4                   4.50       -'

# One-dimensional tensors are skipped, unless there are no others.
npy in/bias.npy '16,' "$(repeated 16 $one)"
expect 0 in/odd.npy in/bias.npy --recipe nvfp4
says stdout 'Note: 1 one-dimensional tensor skipped.'
lacks stdout 'bias'
expect 0 in/bias.npy --recipe nvfp4
says stdout 'bias  F32 16,'

# Zeros, and one element.
npy in/zeros.npy '16, 32' "$(repeated 512 '\000\000\000\000')"
expect 0 in/zeros.npy --recipe all --report out/zeros.html --json out/zeros.json
npy in/single.npy '1, 1' "$one"
expect 0 in/single.npy --report out/single.html

# A layer from .npy files, and one that does not fit.
npy in/l.input.npy '2, 16' "$(repeated 16 $one$two)"
npy in/l.weight.npy '4, 16' "$(repeated 32 $two$one)"
expect 0 in/l.input.npy in/l.weight.npy --recipe nvfp4
says stdout 'l  2 x 16 by 4 x 16'
npy in/l.weight.npy '2, 32' "$(repeated 32 $two$one)"
expect 0 in/l.input.npy in/l.weight.npy --recipe nvfp4
says stdout 'Note: l is not multiplied: its input has 16 columns, its weight 32.'

# A name cannot break the page or the terminal.
safetensors in/name.safetensors \
  '{"<script>&\u001b[2J\"":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}' "$one$two"
expect 0 in/name.safetensors --recipe nvfp4 --rotate none --report out/name.html
lacks out/name.html '<script'
says out/name.html '&lt;script&gt;&amp;?[2J&quot;'
lacks stdout "$(printf '\033')"

# A file is replaced; a link stays a link.
echo old >out/real.json
ln -s real.json out/link.json
expect 0 in/odd.npy --recipe nvfp4 --json out/link.json
[ -L out/link.json ] || fail 'the link was replaced'
says out/real.json '"tensors"'
