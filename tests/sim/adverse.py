#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adverse networks: what hp3 makes of losses, and of marks that say nothing.

usage: adverse.py HP3-SIM [SEEDS [MBYTES [NAME...]]]

Eight hosts of one leaf send MBYTES each to eight of another, by four spines; RNICs go back N, with DCQCN and CNPs. hp3 off, and on with one path per queue pair
(rfr.mode = move) and as it ships (auto), same seeds. Printed is the mean completion time, on over off: geometric mean over the seeds, and the worst of them. The mean may
not be above the network's bound, nor any first transmission arrive behind a later one.
"""
import concurrent.futures
import json
import math
import os
import subprocess
import sys
import tempfile

LEAF, SPINE, HOSTS = (16, 17), (18, 19, 20, 21), 16
DEAR = 1.02  # most that hp3 may cost where it can mend nothing
# name: loss of links of one spine, of all spines, of hosts; settings; bound
NETWORKS = {
    "clean": (0, 0, 0, [], DEAR),
    "loss 0.01 % everywhere": (0, 1e-4, 0, [], DEAR),
    "loss 0.1 % everywhere": (0, 1e-3, 0, [], DEAR),
    "loss 1 % everywhere": (0, 0.01, 0, [], 1.05),
    "loss 5 % everywhere": (0, 0.05, 0, [], 1.05),
    "loss 1 % at the hosts": (0, 0, 0.01, [], 1.05),
    "grey: one spine loses 0.1 %": (1e-3, 0, 0, [], DEAR),
    "grey: one spine loses 1 %": (0.01, 0, 0, [], 0.8),
    "grey: one spine loses 2 %": (0.02, 0, 0, [], 0.6),
    "grey: one spine loses 5 %": (0.05, 0, 0, [], 0.6),
    "grey 2 %, selective repeat": (0.02, 0, 0, ["rnic.recovery=irn", "fabric.pfc=off"], 0.6),
    "marks everything": (0, 0, 0, ["fabric.kmin_bytes=1", "fabric.kmax_bytes=2", "fabric.pmax_percent=100"], 1.05),
    "marks bleached": (0, 0, 0, ["fabric.kmax_bytes=0"], 1.5),
    "marks bleached, rtt_factor 1000": (0, 0, 0, ["fabric.kmax_bytes=0", "ppp.rtt_factor=1000"], DEAR),
}

# Bounds of rfr.mode = auto where they differ. Queue pairs on all paths share all queues: where every queue marks, all of them are marked.
AUTO = {"marks everything": 1.7}


def files(directory, grey, everywhere, hosts, mbytes):
    links = [(h, LEAF[h // 8], hosts) for h in range(HOSTS)] + [(l, s, grey if s == SPINE[0] else everywhere) for l in LEAF for s in SPINE]
    topology = [f"{HOSTS + 6} 6 {len(links)}", " ".join(map(str, LEAF + SPINE))] + [f"{a} {b} 100Gbps 1000ns {loss}" for a, b, loss in links]
    flows = ["8"] + [f"{i} {i + 8} 3 {mbytes}000000 {2 + i * 1e-5:.5f}" for i in range(8)]
    os.mkdir(directory)
    for name, lines in ("topology", topology), ("flows", flows):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def run(sim, directory, mode, seed, settings):
    words = [sim, "trace", "--topology", os.path.join(directory, "topology"), "--flows", os.path.join(directory, "flows"),
             "--lb", "hp3", "--seed", str(seed), "--json", "-"]
    for setting in ["rnic.feedback=cnp", f"policy.mode={mode}"] + settings:
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    result = json.loads(done.stdout)
    return result["slowdown"]["overall"]["avg"], result


def judge(name, mode, seeds, off, on):
    """Prints the row; what is wrong with it, or nothing."""
    bound = AUTO.get(name, NETWORKS[name][4]) if mode == "auto" else NETWORKS[name][4]
    ratios = [b[0] / a[0] for a, b in zip(off, on)]
    mean = math.exp(sum(map(math.log, ratios)) / seeds)
    again = [100 * sum(r["retransmitted_packets"] for _, r in rows) / sum(r["data_packets"] for _, r in rows) for rows in (off, on)]
    reordered = sum(r["reordered"] for _, r in on)
    print(f"{name:32} {mode:5} {sum(x for x, _ in off) / seeds:7.2f} {sum(x for x, _ in on) / seeds:7.2f} {mean:6.3f} {max(ratios):6.3f} "
          f"{sum(r['moves'] for _, r in on) / seeds:6.1f} {again[0]:6.2f} -> {again[1]:5.2f} {reordered:9}", flush=True)
    if mean > bound or reordered:
        return [f"{name}, {mode}: {mean:.3f}, at most {bound}; {reordered} reordered"]
    return []


def main():
    sim, seeds, mbytes = sys.argv[1], int((sys.argv[2:] + ["4"])[0]), int((sys.argv[3:] + ["10"])[0])
    chosen, bad = sys.argv[4:] or list(NETWORKS), []
    print(f"{'network':32} {'mode':5} {'off':>7} {'on':>7} {'ratio':>6} {'worst':>6} {'moves':>6} {'sent again, %':>15} {'reordered':>9}")
    with tempfile.TemporaryDirectory() as top, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number, name in enumerate(chosen):
            grey, everywhere, hosts, settings, _ = NETWORKS[name]
            directory = os.path.join(top, str(number))
            files(directory, grey or everywhere, everywhere, hosts, mbytes)
            runs = [[pool.submit(run, sim, directory, mode, seed, settings + more) for seed in range(1, seeds + 1)]
                    for mode, more in (("off", []), ("on", ["rfr.mode=move"]), ("on", ["rfr.mode=auto"]))]
            off, move, auto = ([r.result() for r in row] for row in runs)
            bad += judge(name, "move", seeds, off, move) + judge(name, "auto", seeds, off, auto)
    assert not bad, "; ".join(bad)


if __name__ == "__main__":
    main()
