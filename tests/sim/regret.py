#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small fabrics, where many queue pairs are set up at once and few paths are there to choose from: hp3 costs nothing beside ECMP.

usage: regret.py HP3-SIM BENCH [SEEDS]

Cells of `bench/evaluate regret`, the same traffic, source ports and seeds with ECMP. Seeds are fixed; there are as many as it takes
that another draw of ports stays within the bounds.
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
BENCH = sys.argv[2]
sys.path[1:1] = [BENCH, os.path.join(os.path.dirname(BENCH), "sim", "report")]
from study import regret, runs  # noqa: E402 (where they lie comes first)

# fabric, traffic, queue pairs, set-up us, marks, mode, times the seeds
CELLS = [
    # all begin at one moment: a path that is drawn anew is no better than the RNIC's
    (0, "permutation", "fresh", 20, "on ACKs", "move", 1),
    (0, "AllToAll", "fresh", 20, "on ACKs", "move", 1),
    (0, "permutation", "fresh", 20, "by CNPs", "move", 1),
    # the next message of a queue pair's host comes soon: it does not stay where its last one met others
    (1, "rings", "fresh", 20, "on ACKs", "move", 2),
    (1, "rings", "fresh", 20, "by CNPs", "auto", 1),
    (1, "rings", "fresh", 0, "on ACKs", "auto", 1),
]


def main():
    seeds = int((sys.argv[3:] + ["16"])[0])
    bad = 0
    with tempfile.TemporaryDirectory() as out:
        for fabric, traffic, qps, setup_us, marks, mode, times in CELLS:
            cell = regret.Cell(regret.World(regret.FABRICS[fabric], traffic, qps, setup_us, marks), "all", mode)
            found = regret.measure(runs.How(sys.argv[1], out, 1, seeds * times, None), [cell])
            print(regret.line_of(cell, found[cell]), flush=True)
            bad += not regret.is_within(cell, found[cell])
    assert bad == 0, f"{bad} cells beyond a mean of {regret.MEAN}, an upper end of {regret.UPPER}, or {regret.GAIN} where it gains"


main()
