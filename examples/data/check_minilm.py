"""Checks make_minilm.py against the transformers implementation of the model, and
prints a table of the tensors on disk.

Requirements: those of make_minilm.py, and
    pip install torch transformers
"""
import json
import tempfile

import numpy as np
import torch
from all_minilm_l6_v2 import extract_model
from safetensors.torch import load_file
from transformers import AutoModel

from make_minilm import HERE, run


def check_reference():
    _, tokens, states = run()
    with tempfile.TemporaryDirectory() as folder:
        reference = AutoModel.from_pretrained(extract_model(folder)).eval()
    with torch.no_grad():
        diff = max(np.abs(reference(torch.tensor([ids])).last_hidden_state[0].numpy() - s).max()
                   for ids, s in zip(tokens, states))
    print(f"largest difference from transformers: {diff:.1e}")
    assert diff < 1e-4


def print_table():
    weight_map = json.loads((HERE / "minilm.safetensors.index.json").read_text())["weight_map"]
    print(f"{'name':32}{'dtype':10}{'shape':13}{'amax':>8}{'std':>8}{'kurtosis':>9}")
    for name, file in weight_map.items():
        t = load_file(HERE / file)[name]
        x = t.double().numpy()
        kurtosis = ((x - x.mean()) ** 4).mean() / x.var() ** 2  # 3 for a normal distribution
        dtype, shape = str(t.dtype).removeprefix("torch."), "x".join(map(str, x.shape))
        print(f"{name:32}{dtype:10}{shape:13}{np.abs(x).max():8.4f}{x.std():8.4f}{kurtosis:9.1f}")


if __name__ == "__main__":
    check_reference()
    print_table()
