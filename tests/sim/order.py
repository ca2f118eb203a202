#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sprayed queue pairs at full size: RNICs see their packets in order.

usage: order.py HP3-SIM [SEEDS [JOBS [NAME...]]]

Each workload of docs/results on its lossless fabric, hp3 with rfr.mode = auto, go-back-N RNICs, marks by CNPs. Per workload: NAKs, first transmissions that
arrived behind a later one, and time-outs of RNICs, summed over seeds 1 to SEEDS (3). Each must be 0, and queue pairs must have been sprayed. Two cores take
hours for all; NAMEs choose, and HP3_PART=K/N each N-th from the K-th on. Not here: workloads whose links fail or differ, where an RNIC has to see gaps.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

SETTINGS = ["rnic.feedback=cnp", "rfr.mode=auto", "rnic.payload_bytes=1024"]
WORKLOADS = {
    "permutation": ("permutation", []),
    "allreduce": ("allreduce", []),
    "alltoall": ("alltoall", []),
    "rail": ("rail", []),
    "bursty": ("bursty", []),
    "alistorage": ("alistorage", ["sweep.loads=80"]),
    "websearch": ("websearch", ["sweep.loads=80"]),
    "hadoop": ("hadoop", ["sweep.loads=80"]),
    "hadoop, no set-up time": ("hadoop", ["sweep.loads=80", "rnic.setup_us=0", "traffic.duration_us=5000"]),
    "hadoop, from 32 KiB": ("hadoop", ["sweep.loads=80", "rfr.spray_bytes=32768"]),
    "storage": ("storage", ["sweep.loads=80"]),
    "storage, no set-up time": ("storage", ["sweep.loads=80", "rnic.setup_us=0"]),
    "solar": ("solar", ["sweep.loads=80"]),
    "googlerpc": ("googlerpc", ["sweep.loads=80"]),
}
FAULTS = "naks", "reordered", "timeouts"


def run(sim, scenario, seeds, jobs, settings):
    with tempfile.TemporaryDirectory() as out:
        words = [sim, "run", scenario, "--no-report", "--jobs", str(jobs), "--lbs", "hp3", "--out", out]
        for setting in [*SETTINGS, f"sweep.seeds={seeds}", *settings]:
            words += ["--set", setting]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results = []
        for path in glob.glob(os.path.join(out, "*.json")):
            with open(path, encoding="utf-8") as f:
                results.append(json.load(f))
    assert len(results) == seeds, f"{len(results)} results of {seeds} seeds"
    return results


def main():
    sim, seeds, jobs = sys.argv[1], int((sys.argv[2:] + ["3"])[0]), int((sys.argv[3:] + ["2"])[0])
    bad = []
    part, parts = map(int, os.environ.get("HP3_PART", "1/1").split("/"))
    for name in (sys.argv[4:] or list(WORKLOADS))[part - 1::parts]:
        scenario, settings = WORKLOADS[name]
        results = run(sim, scenario, seeds, jobs, settings)
        counts = {fault: sum(r[fault] for r in results) for fault in FAULTS}
        held = sum(r["held_packets"] for r in results)
        print(f"{name:24} packets {sum(r['data_packets'] for r in results):11} resequenced {held:10} " +
              ", ".join(f"{fault} {n}" for fault, n in counts.items()), flush=True)
        if any(counts.values()):
            bad.append(f"{name}: {counts}")
        elif held == 0:
            bad.append(f"{name}: nothing was resequenced, so this proves nothing")
    assert not bad, "; ".join(bad)


if __name__ == "__main__":
    main()
