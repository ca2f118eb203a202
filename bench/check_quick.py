#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs bench/run with tiny sizes: every row is there, in the table, the JSON and the picture.

usage: check_quick.py BUILD

It checks no times. hp3-bench itself fails when a packet left the steady path, was lost or overtaken.
"""
import json
import os
import subprocess
import sys
import tempfile

CPUS = len(os.sched_getaffinity(0))
LCORES = ("1 lcore", "2 lcores, own ports", "1 lcore, its loop", "2 lcores, software")
ROWS = {("bare", "ACK", False): 2, ("bare", "WRITE", False): 2,
        ("parse", "ACK", False): 2, ("parse", "WRITE", False): 2,
        ("pipeline", "ACK", False): 4, ("pipeline", "WRITE", False): 4,
        ("pipeline", "WRITE", True): 4,
        ("pipeline", "ACK, 1 % in a drain", False): 1,
        ("pipeline", "WRITE, 1 % in a drain", False): 1,
        ("pipeline", "ACK, dcqcn", False): 1, ("pipeline", "WRITE, dcqcn", False): 1,
        **{("pipeline", f"{packet}, {how}", False): 1 for packet in ("WRITE", "READ response") for how in ("sprayed", "resequenced")},
        ("pipeline", "ACK, net_null", False): 1, ("pipeline", "WRITE, net_null", False): 1,
        ("engine", "ACK", False): 2, ("engine", "WRITE", False): 2,
        **{(stage, packet, False): 1 for packet in ("ACK", "WRITE") for stage in LCORES if CPUS > 1},
        ("testpmd macswap", "net_ring", False): 1, ("testpmd macswap", "net_null", False): 1,
        ("testpmd 5tswap", "net_ring", False): 1, ("testpmd 5tswap", "net_null", False): 1}


def main():
    run = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "bench.json")
        done = subprocess.run([run, "--build", sys.argv[1], "--rounds", "1", "--flows", "64,500",
                               "--packets", "4096", "--sample-s", "0.1", "--json", out,
                               "--history", os.path.join(tmp, "history.jsonl")],
                              stdout=subprocess.PIPE, check=False, encoding="utf-8")
        print(done.stdout)
        if done.returncode != 0:
            sys.exit(f"bench/run ended with {done.returncode}")
        with open(out, encoding="utf-8") as f:
            data = json.load(f)
        table = subprocess.run([run.replace("bench/run", "bench/table"), out], stdout=subprocess.PIPE,
                               check=True, encoding="utf-8").stdout
        with open(os.path.join(tmp, "bench-pipeline.svg"), encoding="utf-8") as f:
            svg = f.read()
        with open(os.path.join(tmp, "history.jsonl"), encoding="utf-8") as f:
            history = json.loads(f.readline())
    seen = {}
    for r in data["rows"]:
        row = r["stage"], r["packet"], r["moved"]
        seen[row] = seen.get(row, 0) + 1
        if not 0 < r["low"] <= r["median"] <= r["high"] or "x_floor" not in r:
            sys.exit(f"not a measurement: {r}")
        if (r["stage"] == "pipeline" and "WRITE, 1 %" not in r["packet"]) != ("burst_p999" in r) or \
                r.get("burst_p999", 1) < r.get("burst_p50", 0):
            sys.exit(f"no percentiles: {r}")
        if f"{r['median']:.1f}" not in done.stdout or f"| {r['median']:.1f} |" not in table:
            sys.exit(f"not in the table: {r}")
        if (r["stage"] in LCORES) != (r.get("mpps", 0) > 0 and r.get("speedup", 0) > 0):
            sys.exit(f"no rate: {r}")
    if len(history["cycles"]) != len(data["rows"]) or history["commit"] != data["commit"]:
        sys.exit(f"not a line of history: {history}")
    if seen != ROWS:
        sys.exit(f"rows differ: {set(seen.items()) ^ set(ROWS.items())}")
    missing = [k for k in ("commit", "cpu", "dpdk", "tsc_hz", "seeds") if not data.get(k)]
    if missing or "</svg>" not in svg or "pipeline, WRITE 1024 B, moved" not in svg:
        sys.exit(f"incomplete: {missing}, picture of {len(svg)} bytes")


if __name__ == "__main__":
    main()
