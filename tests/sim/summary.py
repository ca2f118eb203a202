#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The end of hp3-sim run: a table and a sentence that agree with the results; colours on a terminal.

usage: summary.py HP3-SIM
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from terminal import on_terminal, report

T95 = {2: 12.706, 3: 4.303}  # of Student's t, 0.975, by number of values
GREEN, RED = "\033[32m", "\033[31m"


def interval(values):
    n, middle = len(values), sum(values) / len(values)
    half = T95[n] * math.sqrt(sum((v - middle) ** 2 for v in values) / (n - 1) / n)
    return middle, middle - half, middle + half


def metrics(out, scenario, lb, seeds):
    values = []
    for seed in range(1, seeds + 1):
        with open(os.path.join(out, f"{scenario}-{lb}-50-{seed}.json"), encoding="utf-8") as f:
            r = json.load(f)
        values.append(r["jobs"]["jct_avg_us"] / 1e3 if "jobs" in r else r["slowdown"]["overall"]["avg"])
    return values


def run(args):
    done = subprocess.run(args, capture_output=True, check=False, encoding="utf-8", timeout=250)
    return done.returncode, done.stdout, done.stderr


def table_agrees(sim, out, bad):
    scenarios, lbs = ("micro-collision", "allreduce"), ("ecmp", "letflow", "hp3")
    args = [sim, "run", *scenarios, "--quick", "--lbs", ",".join(lbs), "--set", "sweep.quick_seeds=3", "--set", "traffic.bytes=1000000", "--no-report", "--out", out]
    code, text, _ = run(args)
    _, coloured = on_terminal(args, "stdout", {"TERM": "xterm", "NO_COLOR": ""})
    if code or "\033" in text or re.sub("\033\\[[0-9]*m", "", coloured) != text:
        bad.append(f"exit code {code}, {text!r}, on a terminal {coloured!r}")
    for environment in {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb", "NO_COLOR": ""}:
        if on_terminal(args, "stdout", environment) != (0, text):
            bad.append(f"{environment}: colours")
    rows, plain = iter(coloured.splitlines()[1:]), iter(text.splitlines()[1:])
    for scenario in scenarios:
        base = metrics(out, scenario, "ecmp", 3)
        for lb in lbs:
            row, cells = next(rows), next(plain).split()
            values = metrics(out, scenario, lb, 3)
            expected = [lb, "3", f"{sum(values) / 3:.3f}"]
            at = cells.index(lb)
            if cells[at:at + 3] != expected or (lb == "ecmp") != (cells[0] == scenario):
                bad.append(f"{scenario}, {lb}: {cells} instead of {expected}")
            if lb == "ecmp":
                continue
            ratio = interval([v / b for v, b in zip(values, base)])
            colour = GREEN if ratio[2] < 1 else RED if ratio[1] > 1 else ""
            if " ".join(cells[-4:]) != f"{ratio[0]:.3f} {ratio[1]:.3f} to {ratio[2]:.3f}" or (GREEN in row, RED in row) != (colour == GREEN, colour == RED):
                bad.append(f"{scenario}, {lb}: {row!r} instead of {ratio}")
            if lb == "hp3":
                percent = f"{abs(ratio[0] - 1) * 100:.0f}"
                word = "as fast as" if percent == "0" else f"{percent} % {'faster' if ratio[0] < 1 else 'slower'} than"
                sentence = f"{scenario}: hp3 is {word} ECMP: mean of 3 seeds, 95 % interval {ratio[1]:.2f} to {ratio[2]:.2f}"
                if sentence not in text:
                    bad.append(f"no {sentence!r} in {text!r}")


def sentences(sim, out, bad):
    """The end of the output with one scenario, by balancers and seeds."""
    for lbs, seeds, words in (("ecmp,hp3", 1, r"\nhp3 is [0-9]+ % faster than ECMP: one seed, which gives no interval \(sweep.seeds\)\n$"),
                              ("ecmp,hp3", 2, r"\nhp3 is [0-9]+ % faster than ECMP: mean of 2 seeds, 95 % interval -?[0-9.]+ to [0-9.]+(, which includes 1)?\n$"),
                              ("ecmp,letflow", 2, r"\nletflow is (as fast as|[0-9]+ % (slower|faster) than) ECMP: mean of 2 seeds"),
                              ("ecmp", 1, r"\nno ratio to ECMP: run ecmp and another balancer, as with --lbs ecmp,hp3\n$"),
                              ("hp3", 1, r"\nno ratio to ECMP: run ecmp and another balancer, as with --lbs ecmp,hp3\n$")):
        code, text, _ = run([sim, "run", "micro-collision", "--quick", "--lbs", lbs, "--set", f"sweep.quick_seeds={seeds}", "--set", "traffic.bytes=1000000",
                             "--no-report", "--out", out])
        if code or not re.search(words, text):
            bad.append(f"{lbs}, {seeds} seeds: exit code {code}, {text!r}")


def names(sim, tmp, bad):
    out = os.path.join(tmp, "none")
    code, _, text = run([sim, "run", "micro-colision", "--out", out])
    if code != 1 or "micro-colision: no such scenario or file" not in text or "micro-collision" not in text or "websearch" not in text or os.path.exists(out):
        bad.append(f"unknown scenario: exit code {code}, {text!r}")
    lines = run([sim, "list"])[1].split("scenarios:")[0].splitlines()[1:]
    if len(lines) < 20 or any(not re.fullmatch(r"  [a-z0-9-]+ +\S.{20,}", line) for line in lines):
        bad.append(f"list: {lines}")


def main():
    sim, bad = sys.argv[1], []
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        table_agrees(sim, os.path.join(tmp, "table"), bad)
        sentences(sim, os.path.join(tmp, "one"), bad)
        names(sim, tmp, bad)
    return report("summary", bad)


sys.exit(main())
