#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cc = dcqcn on the testbed: hp3d is the reaction point for RNICs without congestion control.

usage: dcqcn.py BUILD

Four hosts without congestion control send to one host (scenario incast), twice. In the first
run, no host reacts to marks, so only PFC limits the queue. In the second run, hp3d reacts to
marks. Then all packets are delivered in order, without retransmissions; packets wait in hp3d's
pacers; the receiver's link stays full, except for DCQCN's oscillation; marks limit the queue, so
that there are few pauses.
"""
import json
import os
import shutil
import sys
import tempfile

from bench_bed import Bed
from testbed import load, tools  # found by bench_bed

LINK = 40 * 1024 / (1024 + 58 + 16 + 24)  # Mb/s of payload on the receiver's link
# DCQCN with steps and periods of the testbed's hosts that do it themselves; the RNIC's time-out is 1.07 s.
SLOW = tools.slowness(40)
REACT = {"cc.mode": "dcqcn", "cc.rpg_max_rate": 39, "cc.rto_us": 1073742, "cc.burst_bytes": 4400,
         "rfr.max_hold_us": 200000, **{f"cc.{key}": value for key, value in load.STEPS.items()},
         **{f"cc.{key}": round(value * SLOW) for key, value in load.PERIODS.items()}}


def play(bed, out, settings):
    words = [w for key, value in settings.items() for w in ("--set", f"{key}={value}")]
    code, _, err = bed.run("run", "incast", "--modes", "on", "--out", out, "--quiet", *words)
    assert code == 0, err
    with open(os.path.join(out, "incast.json"), encoding="utf-8") as f:
        report = json.load(f)
    row = report["summary"]["on"]
    counters = report["results"][0]["counters"].values()
    row.update({k: sum(c[k] for c in counters) for k in ("paced", "unpaced", "cnps")})
    row["total"] = sum(row["goodput"].values())
    print(", ".join(f"{k} {row[k]}" for k in ("total", "pauses", "retransmissions", "overtaken", "ce_share", "paced",
                                              "unpaced", "cnps")), flush=True)
    assert row["wrong_content"] == 0 and row["open"] == 0 and row["overtaken"] == 0, row
    assert row["retransmissions"] == 0 and row["out_of_seq"] == 0 and row["fabric_drops"] == 0, row
    return row


def main():
    bed, out = Bed(sys.argv[1], f"d{os.getpid() % 100000}"), tempfile.mkdtemp(prefix="hp3-dcqcn-")
    try:
        alone, reacts = play(bed, out, {}), play(bed, out, REACT)
    finally:
        bed.run("down")
        shutil.rmtree(out, ignore_errors=True)
    assert alone["paced"] == 0 and alone["pauses"] > 10, alone
    assert reacts["cnps"] > 100 and reacts["paced"] > 1000 and reacts["unpaced"] == 0, reacts
    assert reacts["pauses"] < alone["pauses"] / 2, "the queue still ends on PFC"
    assert reacts["total"] > 0.75 * LINK and reacts["total"] > 0.8 * alone["total"], "hp3d sends too slowly"


main()
