#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges a run of the scenario share.

usage: share.py DIRECTORY KBPS   KBPS: half of the host's link
"""
import json
import os
import sys

import rnic

SAMPLE_S = 5  # at most, on a busy machine


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def load(directory, case):
    at = os.path.join(directory, case)
    end, samples = read(at + ".end")[0], read(at + ".samples")
    row = {"before": end["before"], "after": end["after"]}
    for phase in ("wide", "narrow", "again"):
        row[phase] = [(s["fabric"]["t_ns"] / 1e9, s["kbps"]) for s in samples if s["phase"] == phase]
    narrow = [s["fabric"] for s in samples if s["phase"] == "narrow"]
    row["queue"] = max(lane["peak"] for fabric in narrow[len(narrow) // 2:] for lane in fabric["lanes"] if lane["from"] == "l1")
    row["errors"] = {(g, k): v for g, c in end["rnic"].items() for k, v in c.items() if k in rnic.ZERO}
    return row


def counted(row, guest, name):
    was, now = (row[k][guest - 1]["rail"]["rail0"][name] for k in ("before", "after"))
    return now - was


def back_s(row, kbps):
    """How long after links were wide again both had so much; None: never."""
    wide = row["narrow"][-1][0]
    return next((t - wide for t, rates in row["again"] if min(rates) >= kbps), None)


def show(name, row, half):
    steps = " ".join("/".join(f"{k / 1e3:.1f}" for k in rates) for _, rates in row["narrow"] + row["again"])
    back = back_s(row, half * 4 // 5)
    print(f"{name}: {steps} Mb/s; back after {'-' if back is None else f'{back:.1f} s'}; queue {row['queue'] / 1e3:.0f} KB; "
          f"lifts {counted(row, 1, 'share_lifts')}; marked {counted(row, 2, 'ce_seen')}; errors "
          f"{ {f'guest {g} {k}': v for (g, k), v in row['errors'].items() if v} or 'none'}", flush=True)


def main():
    directory, half = sys.argv[1], int(sys.argv[2])
    rows = {case: load(directory, case) for case in ("dcqcn", "share")}
    for name, row in rows.items():
        show(name, row, half)
    plain, share = rows["dcqcn"], rows["share"]
    took, took_plain = back_s(share, half * 4 // 5), back_s(plain, half * 4 // 5)
    checks = {
        "packets came marked": all(counted(r, 2, "ce_seen") >= 100 for r in rows.values()),
        "rates fell": all(min(min(k) for _, k in r["narrow"]) < half / 2 for r in rows.values()),
        "without share nothing is lifted": counted(plain, 1, "share_lifts") == 0,
        "with it rates are": counted(share, 1, "share_lifts") > 0,
        "both are back, and no later than without by a sample": took is not None and (took_plain is None or took <= took_plain + SAMPLE_S),
        "no queue is longer by a tenth": share["queue"] <= 1.1 * plain["queue"],
        "the RNICs counted nothing but what they count without":
            all(v <= plain["errors"][k] for k, v in share["errors"].items()),
    }
    wrong = [what for what, holds in checks.items() if not holds]
    if wrong:
        sys.exit("\n".join(f"not so: {w}" for w in wrong))


main()
