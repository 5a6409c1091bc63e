#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Quadrille authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes the tables of README.md from bench/results and from the report of examples/compare.

A table stands between `<!-- table: NAME -->` and `<!-- end -->`. With --check nothing is written and the
exit code tells whether the README is up to date."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEVELS = {"": "no -march", "_v3": "x86-64-v3 (AVX2)", "_native": "native"}


def medians(path):
    """Elements or operations a second by benchmark name; the median over repetitions."""
    runs = json.loads(path.read_text())["benchmarks"]
    return {run["run_name"].split("/")[0]: run["items_per_second"]
            for run in runs if run.get("aggregate_name") == "median"}


def levels_of(results, bench):
    """{compiler level: medians} of the levels that were measured."""
    paths = {title: results / f"{bench}{suffix}.json" for suffix, title in LEVELS.items()}
    return {title: medians(path) for title, path in paths.items() if path.exists()}


def row(cells):
    return "| " + " | ".join(cells) + " |"


def quantize_table(results):
    """One row a benchmark, one column a compiler level: billions a second and ratio to the CUDA headers."""
    levels = levels_of(results, "quantize_bench")
    yield f"Processor: `{results.name}`."
    yield ""
    yield row(["10^9 elements/s (times the CUDA headers' loop)", *levels])
    yield row(["---"] * (1 + len(levels)))
    for name in next(iter(levels.values())):
        base = "cuda_headers_mxfp4" if "mxfp4" in name else "cuda_headers_nvfp4"
        yield row([name.replace("cuda_headers_", "CUDA headers, "),
                   *(f"{level[name] / 1e9:.2f} ({level[name] / level[base]:.1f}x)" for level in levels.values())])


def gemm_table(results):
    levels = levels_of(results, "gemm_bench")
    yield row(["GFLOP/s, 512^3, one thread", *levels])
    yield row(["---"] * (1 + len(levels)))
    for name in next(iter(levels.values())):
        yield row([name.replace("_", " "), *(f"{level[name] / 1e9:.1f}" for level in levels.values())])


def ggml_groups(path):
    """{work: {kernel: its counters}}; names are work/kernel."""
    groups = {}
    runs = json.loads(path.read_text())["benchmarks"]
    for run in sorted(runs, key=lambda run: run["family_index"]):  # as registered: they ran interleaved
        if run.get("aggregate_name") == "median":
            work, kernel = run["run_name"].removesuffix("/real_time").rsplit("/", 1)
            groups.setdefault(work, {})[kernel] = run
    return groups


def ggml_limit(kernel, limits):
    """What bounds a kernel of the GEMM in operations a second."""
    kind = "vnni" if kernel.startswith(("W4A4", "W4A8")) else "bf16" if kernel.startswith("W4A16") else "fma"
    return limits[kind]["rate"]


def ggml_table(results):
    """Rates, shares of the machine's limit and ratios to ggml's kernels for the same work and threads."""
    groups = ggml_groups(results / "ggml_bench_native.json")
    limits = groups.pop("limit")
    rates = ", ".join(f"{name} {run['rate'] / 1e9:.0f}" for name, run in limits.items())
    yield f"Processor: `{results.name}`. Limits of one thread, 10^9 operations or bytes a second: {rates}."
    for work, kernels in groups.items():
        if "threads" in work:
            continue  # the JSON has them
        peers = [name for name in kernels if name.startswith("ggml")]
        unit = "10^9 elements/s" if work.startswith("quantize") else "GFLOP/s"
        share = "share of the read" if "cold" in work else "share of the limit"
        yield ""
        yield row([f"{work}, {unit}", "rate", share, "error", *(f"times {peer}" for peer in peers)])
        yield row(["---"] * (4 + len(peers)))
        for name, run in kernels.items():
            cell = "-"
            if "bytes" in run:
                cell = f"{run['bytes'] / limits['read']['rate']:.2f}"
            elif work in ("M=512", "M=16") and name not in peers:
                cell = f"{run['rate'] / ggml_limit(name, limits):.2f}"
            error = f"{run['error']:.1e}" if "error" in run else "-"
            yield row([name, f"{run['rate'] / 1e9:.2f}", cell, error,
                       *(f"{run['rate'] / kernels[peer]['rate']:.2f}" for peer in peers)])


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


def gpu_rows(results):
    """{row: {log2 of the elements: its counters}}, in the order of the benchmark."""
    rows = {}
    for run in json.loads((results / "quantize_gpu_bench.json").read_text())["benchmarks"]:
        if not run.get("error_occurred"):
            name, size = re.match(r"(.*)/log2:(\d+)/", run["name"]).groups()
            rows.setdefault(name, {})[int(size)] = run
    return rows


def gpu_cell(run):
    if run is None:
        return "-"
    ratio = f" ({run['time_over_plain']:.2f}x)" if "time_over_plain" in run else ""
    return f"{run['share_of_copy']:.2f}{ratio}"


def largest(sizes):
    return sizes[max(sizes)]


def quantize_gpu_table(results):
    """Shares of the copy by size, and rates at the largest one; then what finding amax costs."""
    rows = gpu_rows(results)
    plain = {name: sizes for name, sizes in rows.items() if "time_over_known" not in largest(sizes)}
    measured = {name: sizes for name, sizes in rows.items() if name not in plain}
    context = json.loads((results / "quantize_gpu_bench.json").read_text())["context"]
    copies = sorted(run["copy_bytes_per_second"] for sizes in rows.values() for run in sizes.values())
    yield f"{context['gpu']}; the copy moves {copies[len(copies) // 2] / 1e12:.2f} TB/s."
    yield ""
    yield row(["share of the copy (time over the same, not rotated)", "2^26", "2^28", "2^30", "GB/s", "10^9 elements/s"])
    yield row(["---"] * 6)
    for name, sizes in plain.items():
        rates = [f"{largest(sizes)[rate] / 1e9:.0f}" for rate in ("bytes_per_second", "elements_per_second")]
        yield row([name, *(gpu_cell(sizes.get(size)) for size in (26, 28, 30)), *rates])
    yield ""
    yield row(["time over the same with a known amax", "2^24", "2^28"])
    yield row(["---"] * 3)
    for name, sizes in measured.items():
        yield row([name, *(f"{sizes[size]['time_over_known']:.2f}x" if size in sizes else "-" for size in (24, 28))])


def gemm_rows(results):
    """Runs by name, in the order of the benchmark; the shape is the last part of the name."""
    runs = json.loads((results / "gemm_gpu_bench.json").read_text())["benchmarks"]
    return [(*re.match(r"(.*)/([^/]*)/iterations", run["name"]).groups(), run)
            for run in runs if not run.get("error_occurred")]


def gemm_gpu_table(results):
    """Time, rate and speed beside cuBLAS in the same run; then the same for products bound by reading weights."""
    context = json.loads((results / "gemm_gpu_bench.json").read_text())["context"]
    rows = gemm_rows(results)
    yield f"{context['gpu']}; speeds are the peer's time over ours, in turns in one run."
    yield ""
    yield row(["operands", "M x N x K", "path", "us", "TFLOP/s", "cuBLAS BF16", "cuBLASLt FP8"])
    yield row(["---"] * 7)
    for name, shape, run in rows:
        if "share_of_read" not in run:
            yield row([name, shape, run["label"], f"{run['seconds'] * 1e6:.0f}", f"{run['flops'] / 1e12:.0f}",
                       f"{run['speed_over_bf16']:.2f}x",
                       f"{run['speed_over_fp8']:.2f}x" if "speed_over_fp8" in run else "-"])
    yield ""
    yield row(["few rows of A", "M x N x K", "path", "us", "of the read stream", "cuBLAS BF16", "cuBLASLt FP8"])
    yield row(["---"] * 7)
    for name, shape, run in rows:
        if "share_of_read" in run:
            yield row([name, shape, run["label"], f"{run['seconds'] * 1e6:.1f}", f"{run['share_of_read']:.2f}",
                       f"{run['speed_over_bf16']:.2f}x",
                       f"{run['speed_over_fp8']:.2f}x" if "speed_over_fp8" in run else "-"])


ROOFLINE = """
set terminal svg noenhanced size 900,560 font "sans-serif,12" background "#ffffff"
set output "{output}"
set title "{title}" textcolor "#222222"
set logscale xy
set xlabel "operations a byte of operands and D, as stored" textcolor "#444444"
set ylabel "TFLOP/s" textcolor "#444444"
set grid linecolor "#dddddd" linetype 1
set border 3 linecolor "#888888"
set tics nomirror textcolor "#444444"
set key bottom right textcolor "#222222"
set xrange [{first}:{last}]
set yrange [1:3000]
read_rate = {read_rate}
plot "-" using 1:2 with points pointtype 7 pointsize 0.8 linecolor "#3f6e9e" title "Quadrille", \\
     "-" using 1:2 with points pointtype 6 pointsize 0.8 linecolor "#b05030" title "cuBLAS BF16", \\
     (x * read_rate < {bf16} ? x * read_rate : {bf16}) with lines linecolor "#222222" dashtype 2 \\
       title "read stream, then cuBLAS BF16 at its best"
{ours}e
{peer}e
"""


def stored_bytes(name, shape):
    """Bytes of A, B and a BF16 D as they lie in memory, for us and for the BF16 peer."""
    sizes = [int(n) for n in re.findall(r"\d+", shape)]
    m, n, k = sizes[:3]
    groups = sizes[3] if len(sizes) > 3 else 1
    kinds = {"nvfp4": 9 / 16, "ufp4": 3 / 4 if "fp32 scales" in name else 9 / 16, "mxfp4": 17 / 32, "bf16": 2, "e4m3": 1}
    a, b = (next(size for kind, size in kinds.items() if kind in side) for side in name.split(",")[0].split(" x ")) \
        if "same" not in name else (9 / 16, 9 / 16)
    if "folded" in name:
        b = 1
    return groups * (a * m * k + b * n * k + 2 * m * n), groups * 2 * (m * k + n * k + m * n)


def draw_roofline(results):
    """gemm_gpu.svg: rates over operations a byte, ours and cuBLAS's."""
    if shutil.which("gnuplot") is None:
        return print("quadrille: gemm_gpu.svg is not drawn; it needs gnuplot, apt-get install gnuplot-nox")
    ours, peer = [], []
    rows = gemm_rows(results)
    for name, shape, run in rows:
        flops = run["flops"] * run["seconds"]
        mine, theirs = stored_bytes(name, shape)
        ours.append((flops / mine, run["flops"] / 1e12))
        peer.append((flops / theirs, flops / run["cublas_bf16_seconds"] / 1e12))
    reads = sorted(run["read_bytes_per_second"] for _, _, run in rows if "read_bytes_per_second" in run)
    points = [x for x, _ in ours + peer]
    script = ROOFLINE.format(
        output=results / "gemm_gpu.svg", title=f"GEMM on {results.name.upper()}", first=min(points) / 2, last=max(points) * 2,
        read_rate=reads[len(reads) // 2] / 1e12, bf16=max(y for _, y in peer),
        ours="".join(f"{x} {y}\n" for x, y in ours), peer="".join(f"{x} {y}\n" for x, y in peer))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


GNUPLOT = """
set terminal svg noenhanced size 900,{height} font "sans-serif,12" background "#ffffff"
set output "{output}"
set title "{title}" textcolor "#222222"
set border 0
set lmargin screen 0.42
set grid xtics linecolor "#dddddd" linetype 1
set xrange [0:{end}]
set yrange [{last}.6:-0.6]
set xtics nomirror scale 0 0.2 textcolor "#444444"
set ytics scale 0 textcolor "#222222" ({labels})
set arrow from 1, graph 0 to 1, graph 1 nohead front linecolor "#222222" dashtype 2
set style fill solid
plot "-" using ($1/2):0:(0):1:($0-0.38):($0+0.38) with boxxyerror linecolor "#3f6e9e" notitle, \\
     "-" using (0.01):0:(sprintf("%.2f", $1)) with labels left textcolor "#ffffff" notitle
{data}e
{data}e
"""


def draw_gpu_chart(results):
    """quantize_gpu.svg: a bar for each row at its largest size; the dashed line is the copy."""
    if shutil.which("gnuplot") is None:
        return print("quadrille: quantize_gpu.svg is not drawn; it needs gnuplot, apt-get install gnuplot-nox")
    shares = {name: largest(sizes)["share_of_copy"] for name, sizes in gpu_rows(results).items()
              if "time_over_known" not in largest(sizes)}
    title = f"Share of a copy's bytes a second: {results.name.upper()}, 2^30 elements"
    script = GNUPLOT.format(
        height=80 + 24 * len(shares), output=results / "quantize_gpu.svg", title=title,
        end=max(1.2, max(shares.values()) + 0.15), last=len(shares) - 1,
        labels=", ".join(f'"{name}" {i}' for i, name in enumerate(shares)),
        data="".join(f"{share}\n" for share in shares.values()))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


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
        if (results / "ggml_bench_native.json").exists():
            text = replace(text, "ggml", ggml_table(results))
        if (results / "quantize_gpu_bench.json").exists():
            text = replace(text, "quantize_gpu", quantize_gpu_table(results))
            if "--check" not in sys.argv:
                draw_gpu_chart(results)
        if (results / "gemm_gpu_bench.json").exists():
            text = replace(text, "gemm_gpu", gemm_gpu_table(results))
            if "--check" not in sys.argv:
                draw_roofline(results)
    report = ROOT / "build/compare.json"  # written by sh examples/run.sh
    if report.exists():
        text = replace(text, "compare", compare_table(json.loads(report.read_text())))
    if "--check" in sys.argv:
        sys.exit(text != old and "quadrille: README.md is out of date; run python3 bench/tables.py")
    readme.write_text(text)


main()
