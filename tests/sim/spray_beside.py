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

SETTINGS = ["rnic.feedback=cnp", "rnic.payload_bytes=1024"]
LEAF, SPINE = (16, 17), 18


def two_racks(directory, spines):
    """Two racks of eight and some spines, 200 Gb/s between a leaf and all spines; eight flows: each host of a rack to one of the other."""
    links = [(h, LEAF[h // 8], "100Gbps") for h in range(16)]
    links += [(l, SPINE + i, f"{200 // spines}Gbps") for l in LEAF for i in range(spines)]
    flows = [f"{i} {i + 8} 3 20000000 {i * 1e-6:.6f}" for i in range(8)]
    switches = *LEAF, *range(SPINE, SPINE + spines)
    text = {"topology": [f"{SPINE + spines} {len(switches)} {len(links)}", " ".join(map(str, switches))] + [f"{a} {b} {rate} 1000ns 0" for a, b, rate in links],
            "flows": ["8"] + flows}
    for name, lines in text.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def times(sim, spines, seed, mode, percent):
    """Completion times of the eight flows, by host; those of odd ones are hp3d's, if half of all run it."""
    with tempfile.TemporaryDirectory() as directory:
        two_racks(directory, spines)
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
