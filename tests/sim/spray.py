#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Queue pairs on several paths (rfr.mode = spray, auto), beside the same that take one: faster where paths are alike, incast as it was, and hardly slower
where links are slow; what is read, too.

usage: spray.py HP3-SIM [SEEDS]

At --quick size, all keys but the mode as they ship; RNICs go back N. Nothing is lost and no link is slow: the RNICs see one order. Where nobody's peer puts
packets in order it is as if the mode were move.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile


def simulated(sim, scenario, lb, seeds, *settings):
    """Sums over the seeds: completion time or slowdown, NAKs, what the RNICs saw out of order."""
    with tempfile.TemporaryDirectory() as out:
        words = [sim, "run", scenario, "--quick", "--no-report", "--jobs", "1", "--lbs", lb, "--out", out]
        for setting in ("rnic.feedback=cnp", "rnic.payload_bytes=1024", f"sweep.quick_seeds={seeds}", *settings):
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results = []
        for path in glob.glob(os.path.join(out, "*.json")):
            with open(path, encoding="utf-8") as f:
                results.append(json.load(f))
    assert len(results) == seeds
    time = sum(r["jobs"]["jct_avg_us"] if "jobs" in r else r["slowdown"]["overall"]["avg"] for r in results)
    return time, sum(r["naks"] for r in results), sum(r["reordered"] for r in results)


def run(sim, scenario, seeds, mode, *settings):
    return simulated(sim, scenario, "hp3", seeds, f"rfr.mode={mode}", *settings)


def main():
    sim, seeds = sys.argv[1], int((sys.argv[2:] + ["1"])[0])
    # each message of the ring is a queue pair of its own: only what set-up agreed on is in time
    for scenario, modes, most, settings in (("permutation", ("spray", "auto"), 0.85, []), ("allreduce", ("spray", "auto"), 0.87, []),
                                            ("incast", ("spray",), 1.03, []),
                                            ("asymmetric", ("spray", "auto"), 1.1, ["sweep.quick_loads=30"])):
        off = run(sim, scenario, seeds, "move", *settings)
        for mode in modes:
            on = run(sim, scenario, seeds, mode, *settings)
            print(f"{scenario}, {mode}: over move {on[0] / off[0]:.3f}; NAKs {off[1]} and {on[1]}", flush=True)
            assert on[0] <= most * off[0], "it does not pay"
            assert scenario == "asymmetric" or on[1] == on[2] == 0, "the RNICs saw another order"
    for scenario in "permutation", "storage":
        reads = "traffic.read_percent=100"
        off, on = (run(sim, scenario, seeds, "spray", reads, f"rfr.spray_reads={key}") for key in ("off", "on"))
        print(f"{scenario}, READs: over one path {on[0] / off[0]:.3f}; NAKs {off[1]} and {on[1]}", flush=True)
        assert on[0] <= 0.85 * off[0] and on[1] == on[2] == 0
    late = run(sim, "allreduce", seeds, "spray", "rfr.spray_setup=off")
    ring = run(sim, "allreduce", seeds, "move")
    print(f"allreduce, not asked at set-up: over move {late[0] / ring[0]:.3f}")
    assert late[0] > 0.95 * ring[0] and late[1] == late[2] == 0
    # who runs no hp3d is an ECMP flow
    ecmp = simulated(sim, "permutation", "ecmp", seeds, "rnic.ports=roce")
    assert run(sim, "permutation", seeds, "spray", "peers.hp3_percent=0") == run(sim, "permutation", seeds, "move", "peers.hp3_percent=0") == ecmp


if __name__ == "__main__":
    main()
