#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One program, two architectures, the same bytes.

usage: same.py BUILD CROSS_BUILD EMULATOR

Captures that are replayed with every stream moved, and runs of the simulator, under equal seeds: the
builds for this machine and for another one must write the same. What a run costs, and the commit
that a build was configured at, may differ. HP3_PART: as for scripts/run-tests.py, of the captures.
"""
import glob
import json
import os
import shlex
import subprocess
import sys
import tempfile

if len(sys.argv) != 4:
    sys.exit(__doc__)
BUILD, CROSS_BUILD = sys.argv[1:3]
EMULATOR = shlex.split(sys.argv[3])
PCAPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "pcap", "*.pcap")
# Microseconds of traffic. The link fails after 3 ms.
SCENARIOS = {"websearch": 2000, "link-failure": 3600}
PART, PARTS = map(int, os.environ.get("HP3_PART", "1/1").split("/"))
MAY_DIFFER = ("cpu_s", "peak_bytes", "commit", "command")


def both(program, out, *args):
    """Runs `program` of each build; what {out} stands for, and what was printed, by build."""
    results = []
    for name, command in (("here", []), ("there", EMULATOR)):
        build = CROSS_BUILD if command else BUILD
        path = os.path.join(out, name)
        run = subprocess.run([*command, os.path.join(build, program), *(a.format(out=path) for a in args)],
                             capture_output=True, text=True, timeout=1800)
        if run.returncode != 0:
            sys.exit(f"{name}: {shlex.join(run.args)}: exit code {run.returncode}\n{run.stderr}")
        results.append((path, run.stdout))
    return results


def replays(out):
    names = sorted(glob.glob(PCAPS))[PART - 1::PARTS]
    for pcap in names:
        here, there = both("app/hp3d/hp3d", out, "--replay", pcap, "--out", "{out}.pcap", "--move", "50000", "--json")
        with open(here[0] + ".pcap", "rb") as a, open(there[0] + ".pcap", "rb") as b:
            if a.read() != b.read():
                sys.exit(f"{pcap}: other packets")
        if here[1].replace("/here.pcap", "") != there[1].replace("/there.pcap", ""):
            sys.exit(f"{pcap}: another summary:\n{here[1]}{there[1]}")
    return len(names)


def result(path):
    with open(path, encoding="utf-8") as f:
        values = json.load(f)
    for key in MAY_DIFFER:
        del values[key]
    return values


def simulations(out):
    for scenario, us in SCENARIOS.items():
        (here, _), (there, _) = both("sim/hp3-sim", out, "run", scenario, "--jobs", "1", "--no-report", "--lbs", "ecmp,hp3",
                                     "--set", "sweep.loads=60", "--set", "sweep.seeds=1",
                                     "--set", f"traffic.duration_us={us}", "--out", "{out}")
    names = sorted(os.path.basename(p) for p in glob.glob(os.path.join(here, "*.json")))
    for name in names:
        if result(os.path.join(here, name)) != result(os.path.join(there, name)):
            sys.exit(f"{name}: another result")
    return len(names)


def main():
    with tempfile.TemporaryDirectory(prefix="hp3-aarch64-") as out:
        captures, runs = replays(out), simulations(out)
    if captures < 19 // PARTS or runs < 2 * len(SCENARIOS):
        sys.exit(f"only {captures} captures and {runs} simulations were found")
    print(f"the same on both: {captures} captures, {runs} simulations")


main()
