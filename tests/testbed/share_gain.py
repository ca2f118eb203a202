#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The gain of shares ([cc] share): a load with hp3d off, on, and on with shares, the same seeds.

usage: share_gain.py BUILD LOAD LEAST SEED...

LOAD: a scenario, or websearch-PERCENT: sizes of WebSearch, an eighth of them, each host to both hosts of the other leaf, so many
percent of its link. CC: native (RNICs react to congestion), dcqcn (RNICs that do not; hp3d does).

Prints the results of each seed and setting. With shares, goodput must be at least LEAST of that
of hp3d without them (geometric mean over the seeds). Compared with runs without hp3d, no
additional packet may be lost, overtaken or retransmitted.
"""
import json
import math
import os
import re
import shutil
import sys
import tempfile

from bench_bed import REPO, Bed
from testbed import load as hosts, tools  # found by bench_bed

SHARE = {"cc.share": "on"}
SETTINGS = {"off": ("off", {}), "on": ("on", {}), "share": ("on", SHARE)}
SHRINK, QPS, RATE_MBPS, SECONDS = 8, 2, 20, 20
LONG = 1 << 20
PAYLOAD = 1024 / (1024 + 58 + 16 + 24)


def react(topology):
    """DCQCN with steps and periods of the testbed's hosts that do it themselves. Bytes and steps of what ships are those of links that are 200 times as
    fast and more; time-outs go by powers of two."""
    with open(topology, encoding="ascii") as f:
        slow = tools.slowness(int(re.search(r"\[host_link\]\nrate_mbps = (\d+)", f.read())[1]))
    return {"cc.mode": "dcqcn", "cc.rto_us": min(round(4.096 * 2 ** (14 + round(math.log2(slow)))), 60000000),
            "cc.burst_bytes": 4400, **{f"cc.{key}": value for key, value in hosts.STEPS.items()},
            **{f"cc.{key}": round(value * slow) for key, value in hosts.PERIODS.items()}}


def websearch(directory, percent):
    """A load, on the topology micro with links of 20 Mb/s: two cores carry four hosts of them."""
    sizes, topo = os.path.join(directory, "sizes"), os.path.join(directory, "micro20.ini")
    with open(os.path.join(REPO, "sim/data/cdf/WebSearch.txt"), encoding="ascii") as f, open(sizes, "w", encoding="ascii") as to:
        for size, share in (line.split() for line in f if not line.startswith("#")):
            to.write(f"{int(float(size)) // SHRINK} {share}\n")
    with open(os.path.join(REPO, "p4-testbed/topo/micro.ini"), encoding="ascii") as f, open(topo, "w", encoding="ascii") as to:
        to.write(f.read().replace("rate_mbps = 50", f"rate_mbps = {RATE_MBPS}").replace("delay_us = 250", "delay_us = 625"))
    load = round(RATE_MBPS * PAYLOAD * percent / 100 / 2)
    flows = [f"[flow.{a}{b}]\nsrc = {a}\ndst = {b}\nload = poisson\nload_mbps = {load}\ncdf = {sizes}\nqps = {QPS}\n"
             for x, y in (("12", "34"), ("34", "12")) for a in ("h" + i for i in x) for b in ("h" + i for i in y)]
    return f"[scenario]\ntitle = WebSearch\ntopology = {topo}\ntext = Sizes of WebSearch.\nseconds = {SECONDS}\nseed = 7\n" + "".join(flows)


def scenario(directory, load):
    """Its file, and hp3d's part in congestion control."""
    name = re.fullmatch(r"websearch-(\d+)", load)
    if name:
        text = websearch(directory, int(name[1]))
    else:
        with open(os.path.join(REPO, "p4-testbed/scenarios", load + ".ini"), encoding="ascii") as f:
            text = f.read()
        if "size_bytes" not in text:  # 64 KiB are no long message
            text = re.sub(r"(dst = \S+)", rf"\1\nsize_bytes = {LONG}", text)
    path = os.path.join(directory, load + ".ini")
    with open(path, "w", encoding="ascii") as f:
        f.write(text + "[rc]\ndcqcn = off\n")
    topology = re.search(r"topology = (\S+)", text)[1]
    return path, react(os.path.join(REPO, "p4-testbed/topo", topology + ".ini" * (topology[0] != "/")))


def play(bed, path, keys, setting, seed, out):
    mode, more = SETTINGS[setting]
    keys = {**keys, **more}
    words = [w for key, value in keys.items() for w in ("--set", f"{key}={value}")]
    code, _, err = bed.run("run", path, "--modes", mode, "--seed", seed, "--out", out, "--quiet", *words)
    assert code == 0, err
    with open(os.path.join(out, os.path.basename(path)[:-4] + ".json"), encoding="utf-8") as f:
        report = json.load(f)
    row, counters = report["summary"][mode], report["results"][0]["counters"].values()
    told = {k: sum(c[k] for c in counters) for k in ("share_lifts", "messages_bad_form")}
    assert row["overtaken"] == 0 and row["out_of_seq"] == 0 and row["wrong_content"] == 0, (seed, setting, row)
    assert told["messages_bad_form"] == 0, told
    row["total"] = sum(row["goodput"].values())
    print(f"{load_name(path)} seed {seed} {setting}: {row['total']:.1f} Mb/s; {row['fct']['n']} messages, ms {row['fct']['mean']:.0f} / "
          f"{row['fct']['p99']:.0f}; CE {100 * row['ce_share']:.2f} %; {row['pauses']} pauses; {row['moves']} moves; "
          f"{told['share_lifts']} lifts; again {row['retransmissions']}; "
          f"machine stood still for {row['paused_ms']:.0f} ms", flush=True)
    return row


def load_name(path):
    return os.path.basename(path)[:-4]


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    build, load, least, *seeds = sys.argv[1:]
    bed, out = Bed(build, f"s{os.getpid() % 100000}"), tempfile.mkdtemp(prefix="hp3-share-")
    rows = {setting: [] for setting in SETTINGS}
    try:
        path, keys = scenario(out, load)
        for seed in seeds:
            for setting, found in rows.items():
                found.append(play(bed, path, keys, setting, seed, out))
    finally:
        bed.run("down")
        shutil.rmtree(out, ignore_errors=True)
    for setting, found in rows.items():
        print(f"{load} {setting}: goodput {mean([r['total'] for r in found]):.1f} Mb/s, completion "
              f"{mean([r['fct']['mean'] for r in found]):.0f} / {mean([r['fct']['p99'] for r in found]):.0f} ms, CE "
              f"{100 * sum(r['ce_share'] for r in found) / len(found):.2f} %, pauses {[r['pauses'] for r in found]}, "
              f"moves {[r['moves'] for r in found]}", flush=True)
    ratio = mean([r["total"] / was["total"] for r, was in zip(rows["share"], rows["on"])])
    assert ratio >= float(least), f"share has {ratio:.3f} of the goodput without, {least} asked for"
    assert not bed.left(), bed.left()


main()
