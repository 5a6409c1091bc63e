#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes the tables of README.md from bench/results and from the report of examples/compare.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. With --check nothing is written and the
exit code tells whether the README is up to date."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEVELS = {"quantize_bench": "no -march", "quantize_bench_v3": "x86-64-v3 (AVX2)", "quantize_bench_native": "native"}


def medians(path):
    """Elements or operations a second by benchmark name; the median over repetitions."""
    runs = json.loads(path.read_text())["benchmarks"]
    return {run["run_name"].split("/")[0]: run["items_per_second"]
            for run in runs if run.get("aggregate_name") == "median"}


def row(cells):
    return "| " + " | ".join(cells) + " |"


def quantize_table(results):
    """One row a benchmark, one column a compiler level: billions a second and ratio to the CUDA headers."""
    levels = {title: medians(results / f"{name}.json") for name, title in LEVELS.items()
              if (results / f"{name}.json").exists()}
    yield f"Processor: `{results.name}`."
    yield ""
    yield row(["10^9 elements/s (times the CUDA headers' loop)", *levels])
    yield row(["---"] * (1 + len(levels)))
    for name in next(iter(levels.values())):
        base = "cuda_headers_mxfp4" if "mxfp4" in name else "cuda_headers_nvfp4"
        yield row([name.replace("cuda_headers_", "CUDA headers, "),
                   *(f"{level[name] / 1e9:.2f} ({level[name] / level[base]:.1f}x)" for level in levels.values())])


def gemm_table(results):
    rates = medians(results / "gemm_bench.json")
    yield row(["host GEMM, 512^3, one thread, no -march", "GFLOP/s"])
    yield row(["---", "---"])
    for name, rate in rates.items():
        yield row([name.replace("_", " "), f"{rate / 1e9:.1f}"])


def compare_table(report):
    """Mean SQNR in dB over the tensors and over the layers' outputs, by recipe and rotation."""
    def mean(items, recipe, rotation, measure):
        values = [measure(cell)["sqnr_db"] for item in items for cell in item["cells"]
                  if cell["recipe"] == recipe and cell["rotation"] == rotation]
        return f"{sum(values) / len(values):.2f}" if len(values) == len(items) else "-"

    yield row(["recipe", "bits", "tensors", "rotated", "layer outputs (W4A4)", "rotated", "weights only (W4A16)", "rotated"])
    yield row(["---"] * 8)
    columns = [(report["tensors"], lambda cell: cell), (report["layers"], lambda cell: cell["w4a4"]),
               (report["layers"], lambda cell: cell["w4a16"])]
    for recipe in report["recipes"]:
        yield row([recipe["name"], f"{recipe['bits_per_element']:g}",
                   *(mean(items, recipe["name"], rotation, measure)
                     for items, measure in columns for rotation in ("none", "random16"))])


def replace(text, name, lines):
    body = "\n".join(lines)
    pattern = rf"(<!-- table: {name} -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda m: f"{m[1]}{body}\n{m[2]}", text, flags=re.S)


def main():
    readme = ROOT / "README.md"
    old = text = readme.read_text()
    for results in sorted((ROOT / "bench").glob("results/*")):
        if (results / "quantize_bench.json").exists():
            text = replace(text, "quantize", quantize_table(results))
        if (results / "gemm_bench.json").exists():
            text = replace(text, "gemm", gemm_table(results))
    report = ROOT / "build/compare.json"  # written by sh examples/run.sh
    if report.exists():
        text = replace(text, "compare", compare_table(json.loads(report.read_text())))
    if "--check" in sys.argv:
        sys.exit(text != old and "quadrille: README.md is out of date; run python3 bench/tables.py")
    readme.write_text(text)


main()
