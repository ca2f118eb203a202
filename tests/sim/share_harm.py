#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Share (cc.share) where it is told wrong: no more queues and pauses than without it, nobody starves, and ECMP flows beside it lose nothing.

usage: share_harm.py HP3-SIM [SEEDS [CASE|WORLD|SECTION.KEY=VALUE...]]

hp3d the reaction point (cc = dcqcn), marks by CNPs, 250 kB in flight; beside it the same without share, and ECMP with RNICs that do DCQCN. Cases
are counts wrong by 2 and 4 either way, reports lost or old, half of the hosts without hp3d, and links that nobody counts. Workloads as `hp3-sim run`
has them with --quick (permutation, WebSearch at 80 %), and long flows that begin together: eight over one uplink, eight into one host.

A row: mean slowdown over that of share off; PFC pauses, 99th percentile of the longest queue of switches in KB: ECMP, off, on; for flows on one link
Jain's index of their rates, off and on. Fails where share on has more than 1.05 times the pauses and queues of the worse of the other two, costs more
than 2 % of time, is less fair by 0.01, or brings anything out of order.
"""
import concurrent.futures
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile

import share

COMMON = ["rnic.feedback=cnp", "rnic.window_bytes=250000"]
WITHOUT, WITH = share.REACTION_POINT + share.OFF, share.REACTION_POINT + share.ON
WRONG = {
    "as it is": [],
    "counts a quarter": ["peers.counts_percent=25"],
    "counts half": ["peers.counts_percent=50"],
    "counts double": ["peers.counts_percent=200"],
    "counts fourfold": ["peers.counts_percent=400"],
    "half of reports lost": ["peers.reports_lost_percent=50"],
    "all reports lost": ["peers.reports_lost_percent=100"],
    "reports 1 ms old": ["peers.reports_late_us=1000"],
    "half of hosts without": ["peers.hp3_percent=50"],
}
WORLDS = "permutation", "websearch", "uplink", "incast"
LEAF, SPINE = (16, 17), 18


def star(directory, world, spines=1):
    """Two racks of eight and some spines; eight flows: each host to one of the other rack, or all to one host."""
    links = [(h, LEAF[h // 8], "100Gbps") for h in range(16)]
    links += [(l, SPINE + i, f"{(200 if world == 'uplink' else 800) // spines}Gbps") for l in LEAF for i in range(spines)]
    flows = [f"{i} {i + 8 if world == 'uplink' else 8} 3 20000000 {i * 1e-6:.6f}" for i in range(8)]
    switches = *LEAF, *range(SPINE, SPINE + spines)
    text = {"topology": [f"{SPINE + spines} {len(switches)} {len(links)}", " ".join(map(str, switches))] + [f"{a} {b} {rate} 1000ns 0" for a, b, rate in links],
            "flows": ["8"] + flows}
    for name, lines in text.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def simulated(sim, world, lb, seeds, settings):
    """Results of seeds 1 to `seeds`."""
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "out")
        os.mkdir(out)
        if world in ("uplink", "incast"):
            star(directory, world)
            runs = [[sim, "trace", "--topology", os.path.join(directory, "topology"), "--flows", os.path.join(directory, "flows"),
                     "--lb", lb, "--seed", str(seed), "--json", os.path.join(out, f"{seed}.json"), "--per-flow"]
                    for seed in range(1, seeds + 1)]
        else:
            runs = [[sim, "run", world, "--quick", "--no-report", "--jobs", "1", "--lbs", lb, "--out", out,
                     "--set", f"sweep.quick_seeds={seeds}", "--set", "sweep.quick_loads=80"]]
        for words in runs:
            for setting in COMMON + settings:
                words += ["--set", setting]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        results = []
        for path in sorted(glob.glob(os.path.join(out, "*.json"))):
            with open(path, encoding="utf-8") as f:
                results.append(json.load(f))
        assert len(results) == seeds and len({r["seed"] for r in results}) == seeds
        return results


def summed(results):
    """Of several seeds: slowdown, pauses, queue, Jain's index (None: flows do not begin together), out of order."""
    queue = [sorted(map(max, r["series"]["core_max_bytes"], r["series"]["host_max_bytes"])) for r in results]
    jain = []
    for r in results:
        rates = [b / fct for _, _, b, _, fct, _ in r.get("flows", [])]
        if rates:
            jain.append(sum(rates) ** 2 / len(rates) / sum(x * x for x in rates))
    return (statistics.mean(r["slowdown"]["overall"]["avg"] for r in results), sum(r["pfc_pauses"] for r in results),
            statistics.mean(q[len(q) * 99 // 100] for q in queue) / 1000, statistics.mean(jain) if jain else None,
            sum(r["reordered"] for r in results))


def judge(world, case, ecmp, off, on):
    fair = f"; Jain {off[3]:.3f}, {on[3]:.3f}" if on[3] is not None else ""
    print(f"{world:11} {case:22} time {on[0] / off[0]:.3f}; pauses {ecmp[1]}, {off[1]}, {on[1]}; "
          f"queue {ecmp[2]:.0f}, {off[2]:.0f}, {on[2]:.0f}{fair}", flush=True)
    return [what for what, wrong in (("time", on[0] > 1.02 * off[0]), ("pauses", on[1] > 1.05 * max(ecmp[1], off[1])),
                                     ("queue", on[2] > 1.05 * max(ecmp[2], off[2])), ("order", on[4] + off[4] > 0),
                                     ("fairness", on[3] is not None and on[3] < off[3] - 0.01)) if wrong]


def main():
    sim, seeds = sys.argv[1], int((sys.argv[2:] + ["2"])[0])
    worlds, cases = ([w for w in sys.argv[3:] if w in all_of] or list(all_of) for all_of in (WORLDS, WRONG))
    tried = [w for w in sys.argv[3:] if "=" in w]
    bad = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = {}

        def begin(world, lb, *settings):
            if (world, lb, settings) not in runs:
                runs[world, lb, settings] = pool.submit(simulated, sim, world, lb, seeds, list(settings))
            return runs[world, lb, settings]

        rows = []
        for world in worlds:
            for case in cases:
                fewer = [s for s in WRONG[case] if "hp3_percent" in s]
                rows.append((world, case, begin(world, "ecmp"), begin(world, "hp3", *WITHOUT, *fewer),
                             begin(world, "hp3", *WITH, *WRONG[case], *tried)))
        for world, case, *row in rows:
            bad += [f"{world}, {case}: {what}" for what in judge(world, case, *(summed(r.result()) for r in row))]
    sys.exit("\n".join(["share does harm:"] + bad) if bad else 0)


if __name__ == "__main__":
    main()
