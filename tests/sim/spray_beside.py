#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sprayed queue pairs (rfr.mode = spray) beside flows of hosts without hp3d: these are not slower than where nobody has it.

usage: spray_beside.py HP3-SIM [SEEDS]

Two racks, eight flows of 20 MB from one to the other, over uplinks that have room for two of them; half of the hosts run hp3d (peers.hp3_percent), all
keys but the mode as they ship, marks by CNPs. One spine: every path of a sprayed queue pair is the same link, full of queues, and it must slow down as one
on one path does. Four: it has all of them, the others one each. Beside it the same with mode move, and without hp3d. Times are means in ms, over all seeds;
Jain's index is of the rates of all eight flows.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import share_harm  # noqa: E402 (where it lies comes first)

SETTINGS = ["rnic.feedback=cnp", "rnic.payload_bytes=1024"]


def times(sim, spines, seed, mode, percent):
    """Completion times of the eight flows, by host; those of odd ones are hp3d's, if half of all run it."""
    with tempfile.TemporaryDirectory() as directory:
        share_harm.star(directory, "uplink", spines)
        out = os.path.join(directory, "out.json")
        words = [sim, "trace", "--topology", os.path.join(directory, "topology"), "--flows", os.path.join(directory, "flows"), "--lb", "hp3",
                 "--seed", str(seed), "--json", out, "--per-flow"]
        for setting in SETTINGS + [f"rfr.mode={mode}", f"peers.hp3_percent={percent}"]:
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with open(out, encoding="utf-8") as f:
            result = json.load(f)
        # where links are paused a packet may be later than the window is wide, or than it is waited for
        assert result["pfc_pauses"] or result["reordered"] == result["naks"] == 0
        return {flow[0]: flow[4] / 1e9 for flow in result["flows"]}


def summed(sim, spines, seeds, mode, percent):
    """Mean time of flows of even hosts, and of odd ones; Jain's index."""
    even, odd, jain = [], [], []
    for seed in range(1, seeds + 1):
        fct = times(sim, spines, seed, mode, percent)
        rates = [1 / t for t in fct.values()]
        jain.append(sum(rates) ** 2 / len(rates) / sum(r * r for r in rates))
        even += [t for host, t in fct.items() if host % 2 == 0]
        odd += [t for host, t in fct.items() if host % 2 == 1]
    return statistics.mean(even), statistics.mean(odd), statistics.mean(jain)


def main():
    sim, seeds = sys.argv[1], int((sys.argv[2:] + ["8"])[0])
    for spines in 1, 4:
        off, move, spray = (summed(sim, spines, seeds, mode, percent) for mode, percent in (("move", 0), ("move", 50), ("spray", 50)))
        print(f"spines {spines}, seeds 1 to {seeds}, nobody has hp3d, move, spray: hosts without {off[0]:.2f} {move[0]:.2f} {spray[0]:.2f}, "
              f"with {off[1]:.2f} {move[1]:.2f} {spray[1]:.2f}; Jain {off[2]:.3f} {move[2]:.3f} {spray[2]:.3f}", flush=True)
        assert spray[0] <= 1.02 * off[0], "flows beside it starve"
        assert spray[1] <= 1.02 * off[1], "it does not pay"
        assert spray[2] >= max(off[2], move[2]) - 0.01, "less fair"


if __name__ == "__main__":
    main()
