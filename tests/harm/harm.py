#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d as it is shipped leaves a healthy network alone: the loads of shapes.py with hp3d off and on.

README.md in this directory describes what is compared, judge.py how. Exit codes: 0 no harm, 1
harm (or too many rows without a valid sample), 2 usage; with --expect red, 0 and 1 are
exchanged.
"""
import argparse
import json
import os
import signal
import sys

import judge
import measure
import network
from shapes import LONG_S, SHAPES
from testbed.tools import Problem

COLUMNS = (("time-outs", "timeouts"), ("again", "retransmissions"), ("out of seq", "out_of_seq"),
           ("duplicates", "duplicates"), ("p99 us", "p99_us"))
DEEDS = ("moves", "given_up", "replies_moved", "failovers", "ack_solicitations", "dead_rounds", "rounds", "probes")


def parser():
    p = argparse.ArgumentParser(prog="harm", description=__doc__.split("\n")[0])
    p.add_argument("--build", default=os.path.join(os.path.dirname(network.HERE), "..", "build"), help="meson build directory")
    p.add_argument("--list", action="store_true", help="the rows, and no run")
    p.add_argument("--quick", action="store_true", help="the rows of make test, each on one path")
    p.add_argument("--rows", help="only these, by commas")
    p.add_argument("--paths", help=f"only these, by commas: {', '.join(network.PATHS)}")
    p.add_argument("--part", default="1/1", metavar="K/N", help="of these, each N-th only, from the K-th one on")
    p.add_argument("--seed", type=int, default=1, help="of the first sample (default 1)")
    p.add_argument("--samples", type=int, default=1, help="of each row, with consecutive seeds (default 1)")
    p.add_argument("--seconds", type=int, help=f"of load (default {LONG_S}; with --quick what the row says)")
    p.add_argument("--hp3d", help="another hp3d than the build's")
    p.add_argument("--expect", metavar="WHAT", default="green",
                   help="red: harm is what is to be seen; COUNTER=N: at least so much of it, with hp3d on (default green)")
    p.add_argument("--json", metavar="FILE", help="all figures of all runs")
    return p


def chosen(a):
    """[(shape, path, seconds)]"""
    names = a.rows.split(",") if a.rows else [s.name for s in SHAPES]
    paths = a.paths.split(",") if a.paths else list(network.PATHS)
    unknown = sorted(set(names) - {s.name for s in SHAPES}) + sorted(set(paths) - set(network.PATHS))
    if unknown:
        raise Problem(f"'{unknown[0]}' is no row and no path: --list shows them")
    found = []
    for shape in (s for s in SHAPES if s.name in names):
        for path in shape.paths:
            if path in paths and (not a.quick or shape.quick == path):
                found.append((shape, path, a.seconds or (shape.seconds if a.quick else LONG_S)))
    part, parts = map(int, a.part.split("/"))
    return found[part - 1::parts]


def sample(a, shape, path, seconds, seed):
    """Off, on, and off once more unless the first two leave nothing to ask; again if the machine stood still."""
    def once(mode):
        return measure.once(path, a.build, shape, mode, seed, seconds, a.hp3d)

    for _ in range(judge.TRIES):
        taken = {"seed": seed, "lossy": shape.lossy, "off": [once("off")], "on": once("on")}
        if judge.clean(taken):
            break
        taken["off"].append(once("off"))
        if judge.void(taken) is None:
            break
    return taken


def row(a, shape, path, seconds):
    samples = [sample(a, shape, path, seconds, a.seed + i) for i in range(a.samples)]
    if judge.wants_more(samples):
        samples += [sample(a, shape, path, seconds, a.seed + a.samples + i) for i in range(judge.MORE_SAMPLES)]
    colour, reasons = judge.verdict(samples)
    return {"row": shape.name, "path": path, "seconds": seconds, "verdict": colour, "reasons": reasons, "samples": samples}


def head():
    print(f"{'row':12}{'path':6}{'seed':>5}" + "".join(f"{title:>21}" for title, _ in COLUMNS) + "  ratio  hp3d")


def show(result):
    for s in result["samples"]:
        cells = []
        for _, key in COLUMNS:
            off = max(run[key] for run in s["off"])
            cells.append(f"{off:,.0f} -> {s['on'][key]:,.0f}")
        rounds = ", ".join(f"{n} {cause}" for cause, n in s["on"]["fruitless"].items())
        deeds = ", ".join(f"{key.replace('_', ' ')} {s['on'][key]}" for key in DEEDS if s["on"][key])
        print(f"{result['row']:12}{result['path']:6}{s['seed']:5}" + "".join(f"{c:>21}" for c in cells) +
              f"  {judge.ratio(s):5.3f}  {deeds or '-'}" + (f"; fruitless: {rounds}" if rounds else ""))
    print(f"  {result['verdict'].upper()}" + "".join(f"\n    {text}" for text in result["reasons"]), flush=True)


def run(a):
    rows = chosen(a)
    if a.list:
        for shape, path, seconds in rows:
            print(f"{shape.name:12}{path:6}{seconds:3} s  {shape.what}, {shape.mbps} Mb/s")
        return 0
    network.sweep(a.build)
    results = []
    head()
    for shape, path, seconds in rows:
        results.append(row(a, shape, path, seconds))
        show(results[-1])
    if a.json:
        with open(a.json, "w", encoding="utf-8") as f:
            json.dump(results, f, indent=1)
    colours = [r["verdict"] for r in results]
    count = {c: colours.count(c) for c in ("green", "red", "void")}
    print(f"rows: {count['green']} green, {count['red']} red, {count['void']} void")
    seen = "red" if count["red"] or judge.too_many_void(colours) else "green"
    if "=" in a.expect:
        key, least = a.expect.split("=")
        most = max(s["on"][key] for r in results for s in r["samples"])
        print(f"{key}: {most}, and {least} expected")
        return 0 if count["red"] and most >= int(least) else 1
    return 0 if seen == a.expect else 1


def main():
    a = parser().parse_args()
    a.build = os.path.realpath(a.build)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return run(a)
    except Problem as e:
        print(f"harm: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
