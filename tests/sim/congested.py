#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every path is congested for good: four long flows, two paths of a single flow's rate. What hp3 makes of it.

usage: congested.py HP3-SIM [SEEDS [MBYTES [SECTION.KEY=VALUE...]]]

Modes observe and on, RNICs with DCQCN and CNPs; in mode observe flows stay where their first data went. Where they start two and two
nothing can be gained, and congestion control takes long to mend what is spoilt: it must cost next to nothing. Where three or four start on
one path, moves gain, and so do several paths at once (rfr.mode = auto, the default): four flows share both paths, so all of them see the
marks of both. Slowdown of the flows, on over observe, for both modes.
"""
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import tempfile

BOUNDS = {"move": (1.02, 1.0), "auto": (1.1, 1.0)}  # most that is allowed: of worlds that begin two and two, and of all
LEAF, SPINE, HOSTS = (8, 9), (10, 11), 8


def files(directory, mbytes):
    links = [(h, LEAF[h // 4]) for h in range(HOSTS)] + [(l, s) for l in LEAF for s in SPINE]
    topology = [f"{HOSTS + 4} 4 {len(links)}", " ".join(map(str, LEAF + SPINE))] + [f"{a} {b} 100Gbps 1000ns 0" for a, b in links]
    flows = ["4"] + [f"{i} {i + 4} 3 {mbytes}000000 {2 + i * 1e-5:.5f}" for i in range(4)]
    for name, lines in ("topology", topology), ("flows", flows):
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def run(sim, directory, mode, seed, settings):
    words = [sim, "trace", "--topology", os.path.join(directory, "topology"), "--flows", os.path.join(directory, "flows"),
             "--lb", "hp3", "--seed", str(seed), "--json", "-"]
    for setting in ["rnic.feedback=cnp", f"policy.mode={mode}", "policy.observe_probes=on"] + settings:
        words += ["--set", setting]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    return result["slowdown"]["overall"]["avg"], result["moves"]


def judge(name, results):
    """Prints the ratios; says whether they are within the bounds."""
    ratios, even = [], []
    for seed, ((was, _), (now, moved)) in enumerate(results, 1):
        ratios.append(now / was)
        if was < 2.15:
            even.append(now / was)
        print(f"{name}, seed {seed:3}: slowdown {was:.3f} -> {now:.3f}, ratio {now / was:.3f}, {moved} moves", flush=True)
    error = statistics.stdev(ratios) / len(ratios) ** 0.5
    print(f"{name}: mean ratio {statistics.mean(ratios):.3f}, standard error {error:.3f}; of {len(even)} that begin two and two "
          f"{statistics.mean(even):.3f}, at most {max(even):.3f}")
    return statistics.mean(even) <= BOUNDS[name][0] and statistics.mean(ratios) <= BOUNDS[name][1]


def main():
    sim, seeds, mbytes = sys.argv[1], int((sys.argv[2:] + ["8"])[0]), int((sys.argv[3:] + ["300"])[0])
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
        files(directory, mbytes)
        runs = {(name, mode, seed): pool.submit(run, sim, directory, mode, seed, [f"rfr.mode={name}"] + sys.argv[4:])
                for name in BOUNDS for seed in range(1, seeds + 1) for mode in ("observe", "on")}
        good = [judge(name, [[runs[name, mode, seed].result() for mode in ("observe", "on")] for seed in range(1, seeds + 1)])
                for name in BOUNDS]
    assert all(good), "hp3 costs more than it may"


main()
