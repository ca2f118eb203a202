#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench/evaluate: what it runs is there, is not run again, and its tables say what the runs say.

usage: evaluate.py HP3-SIM EVALUATE
"""
import glob
import json
import os
import subprocess
import sys
import tempfile


def output(args):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, encoding="utf-8",
                          timeout=100).stdout


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def main():
    sim, evaluate = sys.argv[1:3]
    bad = []
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        run = [evaluate, "run", "--sim", sim, "--out", tmp, "--only", "incast", "--seeds", "2",
               "--lbs", "ecmp,hp3"]
        output(run)
        files = sorted(glob.glob(os.path.join(tmp, "incast", "*.json")))
        if len(files) != 4:
            bad.append(f"four runs expected: {files}")
        times = [os.stat(f).st_mtime_ns for f in files]
        output(run)
        if [os.stat(f).st_mtime_ns for f in files] != times:
            bad.append("a second run repeats what is there")
        text = output([evaluate, "tables", "--out", tmp])
        avg = {os.path.basename(f): load(f)["slowdown"]["overall"]["avg"] for f in files}
    ecmp, hp3 = ([avg[f"incast-{lb}-50-{seed}.json"] for seed in (1, 2)] for lb in ("ecmp", "hp3"))
    for lb, values in ("ecmp", ecmp), ("hp3", hp3):
        # Two values: half of their distance is the error of the mean, 12.706 the quantile of t.
        cell = f"{sum(values) / 2:.2f} ± {12.706 * abs(values[0] - values[1]) / 2:.2f}"
        if not any(line.startswith(f"| {lb} |") and cell in line for line in text.splitlines()):
            bad.append(f"no {cell} of {lb} in the tables:\n{text}")
    ratio = sum(h / e for h, e in zip(hp3, ecmp)) / 2
    if f"| incast |  | 2 | {ratio:.3f} (" not in text:
        bad.append(f"no ratio {ratio:.3f} in the tables:\n{text}")
    for line in bad:
        print("evaluate:", line)
    return 1 if bad else 0


sys.exit(main())
