#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The gain of a fleet: a scenario with hp3d alone, and with hp3-fleet and its agents, the same seeds.

usage: fleet_gain.py BUILD SCENARIO LEAST SEED...

Prints the goodput of all flows with hp3d off, with hp3d alone and with a fleet, and moves with their causes. Goodput with hp3-fleet must be at least LEAST of that with hp3d
alone (geometric mean over the seeds). Compared with runs without hp3d, no additional packet may
be lost, overtaken or retransmitted.
"""
import json
import math
import os
import shutil
import sys
import tempfile
from collections import Counter

from bench_bed import Bed
from fleet_bed import TRACED, Fleet, settings


def play(bed, scenario, modes, seed, out):
    code, _, err = bed.run("run", scenario, "--modes", modes, "--seed", seed, "--out", out, "--quiet", *settings(TRACED))
    assert code == 0, err
    with open(os.path.join(out, scenario + ".json"), encoding="utf-8") as f:
        return json.load(f)


def with_fleet(bed, scenario, seed, out, shape):
    directory = tempfile.mkdtemp(prefix="hp3-fleet-")
    fleet = Fleet(bed, directory, shape)
    try:
        return play(bed, scenario, "on", seed, out)
    finally:
        fleet.end()
        shutil.rmtree(directory)


def judge(report, mode, seed, what):
    row = report["summary"][mode]
    assert row["overtaken"] == 0 and row["out_of_seq"] == 0, (seed, what, row)
    result = next(r for r in report["results"] if r["mode"] == mode)
    moves = Counter(e["cause"] for e in result["decisions"] if e["type"] in ("switch", "idle_switch", "failover"))
    goodput = sum(row["goodput"].values())
    print(f"seed {seed}: {what}: {goodput:.1f} Mb/s; moves: {', '.join(f'{n} {c}' for c, n in moves.items()) or 'none'}; "
          f"machine stood still for {row['paused_ms']:.0f} ms; lost by the kernel: {row['kernel_lost']}", flush=True)
    return goodput


def off_and_alone(bed, scenario, seed, out):
    """The scenario's topology, and goodput with hp3d alone."""
    report = play(bed, scenario, "off,on", seed, out)
    judge(report, "off", seed, "hp3d off")
    return report["scenario"]["scenario"]["topology"], judge(report, "on", seed, "hp3d alone")


def conclude(bed, what, ratios, least):
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{what} over hp3d alone: {mean:.3f} (least {min(ratios):.3f}), bound {least}")
    assert mean >= float(least), ratios
    assert not bed.left(), bed.left()


def main():
    build, scenario, least, *seeds = sys.argv[1:]
    bed, out, ratios = Bed(build, f"f{os.getpid() % 100000}"), tempfile.mkdtemp(prefix="hp3-fleet-out-"), []
    try:
        for seed in seeds:
            shape, alone = off_and_alone(bed, scenario, seed, out)
            ratios.append(judge(with_fleet(bed, scenario, seed, out, shape), "on", seed, "with a fleet") / alone)
    finally:
        bed.run("down")
        shutil.rmtree(out, ignore_errors=True)
    conclude(bed, f"{scenario}: a fleet", ratios, least)


if __name__ == "__main__":
    main()
