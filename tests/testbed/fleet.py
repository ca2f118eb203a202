#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two elephants on one spine, and hp3-fleet, which gets reports of both: each host has an hp3d and
an agent; there is a nats-server.

usage: fleet.py BUILD alone|both|dies SEED...

alone: hp3d is configured so that its own searches find no path; flows move only by advice. both:
hp3d is as shipped. dies: as alone, but broker and planner are killed before the second flow
begins; then no flow moves. Prints for each seed: moves, and the time until the flows stay on
different spines. In every run of alone and both, exactly one move separates the flows within 8
s. In no run is a packet lost, overtaken or retransmitted.
"""
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading

from bench_bed import Bed
from fleet_bed import TRACED, Fleet, settings

MEET_S, LIMIT_S = 3.0, 8.0
NOTHING_FOUND = ["ppp.improve=1"]


def play(bed, how, seed, out):
    directory = tempfile.mkdtemp(prefix="hp3-fleet-")
    fleet = Fleet(bed, directory)
    words = TRACED + ([] if how == "both" else NOTHING_FOUND)
    if how == "dies":
        killer = threading.Timer(4, lambda: (fleet.server.kill(), fleet.planner.kill()))
        killer.start()
    try:
        code, _, err = bed.run("run", "micro-collision", "--modes", "on", "--seed", str(seed), "--out", out, "--quiet",
                               *settings(words))
        assert code == 0, err
    finally:
        fleet.end()
        said = fleet.said() + fleet.planner.said()
        shutil.rmtree(directory)
    with open(os.path.join(out, "micro-collision.json"), encoding="utf-8") as f:
        report = json.load(f)
    row = report["summary"]["on"]
    assert row["out_of_seq"] == 0 and row["retransmissions"] == 0 and row["overtaken"] == 0, (row, said)
    return [e for e in report["results"][0]["decisions"] if e["type"] in ("switch", "idle_switch", "failover")], row, said


def main():
    build, how, *seeds = sys.argv[1:]
    bed, out, times = Bed(build, f"f{os.getpid() % 100000}"), tempfile.mkdtemp(prefix="hp3-fleet-out-"), []
    advised = 0
    try:
        for seed in seeds:
            moves, row, said = play(bed, how, seed, out)
            told = ", ".join(f"{e['cause']} at {e['t']:.2f} s" for e in moves)
            print(f"seed {seed}: moves: {told or 'none'}; machine stood still for {row['paused_ms']:.0f} ms", flush=True)
            if how == "dies":
                assert not moves, (moves, said)
                continue
            assert len(moves) == 1 and moves[0]["t"] - MEET_S < LIMIT_S, (moves, said)
            times.append(1000 * (moves[0]["t"] - MEET_S))
            advised += moves[0]["cause"] == "advice"
            assert how == "both" or moves[0]["cause"] == "advice", (moves, said)
    finally:
        bed.run("down")
        shutil.rmtree(out, ignore_errors=True)
    if times:
        times.sort()
        print(f"{len(times)} of {len(seeds)} with one move, {advised} by advice; apart after {statistics.median(times):.0f} ms "
              f"(median), {times[min(len(times) - 1, int(0.99 * len(times)))]:.0f} ms (99th percentile)")
    print(f"fleet {how}: holds")


main()
