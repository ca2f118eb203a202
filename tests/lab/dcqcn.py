#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges runs of the scenario dcqcn.

usage: dcqcn.py told PCAP SOURCE SINCE   packets of SOURCE since then (seconds), CNPs among them, and others with BECN
       dcqcn.py judge DIRECTORY CASE...
"""
import collections
import json
import os
import sys

import rnic
import wire

MANY = 100  # packets
TOLD = 10  # CNPs or marked acknowledgements


def told(path, source, since):
    n = collections.Counter()
    for p in wire.packets(path):
        if p.src == source and p.t > since:
            n["packets"] += 1
            n["cnps"] += p.opcode == wire.CNP
            n["becn"] += p.becn and p.opcode != wire.CNP
    return {k: n[k] for k in ("packets", "cnps", "becn")}


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def lane(fabric, link):
    start, end = link.split("-")
    return next(x for x in fabric["lanes"] if x["from"] == start and x["to"] == end)


def load(directory, case):
    """What happened in a case."""
    at = os.path.join(directory, case)
    end, samples = read(at + ".end")[0], read(at + ".samples")
    row = {"wire": read(at + ".wire")[0], "rnic": read(at + ".rnic")[0], "before": end["before"], "after": end["after"]}
    for phase in ("wide", "narrow", "again"):
        row[phase] = [s["kbps"] for s in samples if s["phase"] == phase]
    narrow = [(s["fabric"]["t_ns"], lane(s["fabric"], end["link"])) for s in samples if s["phase"] == "narrow"]
    (t0, first), (t1, last) = narrow[0], narrow[-1]
    row["mbps"] = (last["bytes"] - first["bytes"]) * 8e3 / (t1 - t0)
    late = [x["peak"] for _, x in narrow[len(narrow) // 2:]]
    row["queue"] = sum(late) / len(late)
    row["errors"] = {(g, k): v for g, c in end["rnic"].items() for k, v in c.items() if k in rnic.ZERO}
    return row


def counted(row, guest, name):
    was, now = (row[k][guest - 1]["rail"]["rail0"][name] for k in ("before", "after"))
    return now - was


def wrong(case, row, off):
    """What is not as it should be."""
    line, said = row["wide"][0], row["wire"]["cnps" if case == "cnp" else "becn"]
    checks = {
        "packets came marked": counted(row, 2, "ce_seen") >= MANY,
        "the receiver's hp3d told": said >= TOLD and row["wire"]["becn" if case == "cnp" else "cnps"] <= row["wire"]["cnps"],
        "CNPs are counted by who makes and who takes them":
            case == "becn" or counted(row, 1, "cnps") == counted(row, 2, "cnps_made") == row["wire"]["cnps"],
        "nothing of it came to the RNIC": row["rnic"]["packets"] >= MANY and row["rnic"]["cnps"] == row["rnic"]["becn"] == 0,
        "packets were paced": counted(row, 1, "paced") >= MANY and counted(row, 1, "unpaced") == 0,
        "the rate fell": max(row["wide"]) == line and min(row["narrow"]) < line / 3,
        "the rate came back": row["again"][-1] > 0.9 * line,
        "the RNICs counted nothing but what they count with off":
            all(v <= off["errors"][k] for k, v in row["errors"].items()),
    }
    return [what for what, holds in checks.items() if not holds]


def judge(directory, cases):
    rows, bad = {case: load(directory, case) for case in cases}, []
    for case, row in rows.items():
        print(f"{case}: {counted(row, 2, 'ce_seen')} packets came marked, {row['wire']['becn']} acknowledgements and "
              f"{row['wire']['cnps']} CNPs said so, {row['rnic']['becn'] + row['rnic']['cnps']} came to the RNIC; "
              f"{counted(row, 1, 'paced')} packets paced; rate {' '.join(f'{k / 1e3:.1f}' for k in row['narrow'] + row['again'])} "
              f"Mb/s; queue {row['queue'] / 1e3:.0f} KB, {row['mbps']:.1f} Mb/s over the narrow link; errors "
              f"{ {f'guest {g} {k}': v for (g, k), v in row['errors'].items() if v} or 'none'}", flush=True)
        bad += [] if case == "off" else [f"{case}: not so: {what}" for what in wrong(case, row, rows["off"])]
    off = rows["off"]
    if counted(off, 1, "paced") or off["rnic"]["becn"] or off["rnic"]["cnps"]:
        bad.append("off: somebody paced, or told an RNIC")
    bad += [f"{case}: the queue is no shorter than with off" for case in rows if case != "off" and rows[case]["queue"] > 0.9 * off["queue"]]
    if bad:
        sys.exit("\n".join(bad))


def main():
    if sys.argv[1:2] == ["told"] and len(sys.argv) == 5:
        print(json.dumps(told(sys.argv[2], sys.argv[3], float(sys.argv[4]))))
    elif sys.argv[1:2] == ["judge"] and "off" in sys.argv[3:]:
        judge(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(__doc__)


main()
