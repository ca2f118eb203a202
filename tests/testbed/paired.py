#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two modes of a scenario over several seeds: the ratio of their goodputs.

usage: paired.py BUILD SCENARIO MODE AGAINST LEAST SEED...

For each seed, both modes run one after the other, in alternating order. Prints goodput, moves and probes of each pair;
the mean ratio of goodputs must be at least LEAST. A pair during which this machine stalled for more than 1 % of the
time is repeated, up to three times; the best of them counts.
"""
import json
import os
import shutil
import sys
import tempfile

from bench_bed import Bed


def pair(bed, scenario, modes, seed, out):
    code, _, err = bed.run("run", scenario, "--modes", ",".join(modes), "--seed", str(seed), "--out", out, "--quiet")
    assert code == 0, err
    with open(os.path.join(out, scenario + ".json"), encoding="utf-8") as f:
        report = json.load(f)
    rows = report["summary"]
    for mode, row in rows.items():
        assert row["overtaken"] == 0 and row["wrong_content"] == 0 and row["open"] == 0, f"{mode}: {row}"
    return report["scenario"]["scenario"]["seconds"], rows


def undisturbed_pair(bed, scenario, modes, seed, out):
    tries = []
    while len(tries) < 3:
        seconds, rows = pair(bed, scenario, modes, seed, out)
        tries.append((max(row["paused_ms"] for row in rows.values()), rows))
        if tries[-1][0] < 10 * seconds:
            break
    return min(tries, key=lambda t: t[0])


def main():
    build, scenario, mode, against, least = sys.argv[1:6]
    bed, ratios = Bed(build, f"p{os.getpid() % 100000}"), []
    out = tempfile.mkdtemp(prefix="hp3-paired-")
    print(f"{'seed':>4}  {against + ', Mb/s':>14}  {mode + ', Mb/s':>10}  {'ratio':>6}  {'moves':>5}  {'rounds':>6}  {'probes':>6}  {'machine paused, ms':>18}")
    try:
        for i, seed in enumerate(int(s) for s in sys.argv[6:]):
            modes = (against, mode) if i % 2 == 0 else (mode, against)
            paused, rows = undisturbed_pair(bed, scenario, modes, seed, out)
            was, now = (sum(rows[m]["goodput"].values()) for m in (against, mode))
            ratios.append(now / was)
            row = rows[mode]
            print(f"{seed:4}  {was:14.1f}  {now:10.1f}  {now / was:6.3f}  {row['moves']:5}  {row['rounds']:6}  {row['probes']:6}  {paused:18.0f}", flush=True)
    finally:
        bed.run("down")
        shutil.rmtree(out)
    mean = sum(ratios) / len(ratios)
    spread = (sum((r - mean) ** 2 for r in ratios) / max(len(ratios) - 1, 1)) ** 0.5
    print(f"mean ratio {mean:.3f}, standard error {spread / len(ratios) ** 0.5:.3f}, {len(ratios)} pairs")
    assert mean >= float(least), f"{mode} has {mean:.3f} of {against}'s goodput, {least} asked for"


main()
