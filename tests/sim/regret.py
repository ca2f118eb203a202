#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small fabrics, hp3 as it ships: it costs nothing compared with ECMP, and two elephants that meet part.

usage: regret.py HP3-SIM BENCH some|all [SECTION.KEY=VALUE...]

Cells of `bench/evaluate regret` (some: the first four), 16 seeds each: hp3 over ECMP on the same traffic, source ports and seeds. The elephants
(micro-collision) have no time to set up. They send 100 MB each, 8.4 ms at 100 Gb/s: if they part after 1 ms, each
loses 0.5 ms. That is judged without congestion control in the RNIC: DCQCN answers the first mark with half of the rate,
and takes 0.6 ms to raise it again. With DCQCN a looser bound holds. Settings are for hp3 alone: with rfr.mode=move the
test fails.
"""
import glob
import os
import sys
import tempfile

sys.dont_write_bytecode = True
SIM, BENCH, WHICH, MORE = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
sys.path[1:1] = [BENCH, os.path.join(os.path.dirname(BENCH), "sim", "report")]
from stats import mean  # noqa: E402 (where they lie comes first)
from study import regret, runs, tables  # noqa: E402

# fabric, traffic, queue pairs, set-up us, marks, hosts with hp3d: upper bound of the mean ratio
CELLS = {
    (0, "rings", "fresh", 0, "by CNPs", "all"): regret.MEAN,
    (0, "AllToAll", "kept", 20, "on ACKs", "all"): regret.MEAN,
    (0, "incast", "fresh", 20, "on ACKs", "all"): regret.MEAN,
    (1, "permutation", "fresh", 20, "by CNPs", "all"): 0.72,
    (1, "rings", "fresh", 20, "by CNPs", "all"): regret.GAIN,
    (0, "WebSearch", "fresh", 20, "by CNPs", "half"): regret.MEAN,
    (1, "rings", "fresh", 0, "on ACKs", "half"): regret.MEAN,
    (1, "AllToAll", "fresh", 0, "on ACKs", "all"): regret.MEAN,
    (1, "permutation", "fresh", 0, "by CNPs", "all"): 0.76,
    (1, "incast", "kept", 0, "by CNPs", "half"): regret.MEAN,
}
SOME = 4
# Of the elephants: congestion control, settings, most slowdown. 1.06: they share a link for 1 ms of 8.4. With DCQCN, 1.02 was the most of 16 seeds.
ELEPHANTS = [("no congestion control", ["rnic.cc=none", "rnic.window_bytes=250000"], 1.06), ("DCQCN", [], 1.05)]


def elephants(settings):
    """Average slowdown of the two, for each seed."""
    with tempfile.TemporaryDirectory() as out:
        how = runs.How(SIM, out, 1, regret.SEEDS, None)
        runs.simulate(how, "micro-collision", out, "hp3",
                      ["rnic.setup_us=0", f"sweep.seeds={regret.SEEDS}", *settings, *MORE])
        return [tables.average(runs.load_one(path)) for path in glob.glob(os.path.join(out, "*.json"))]


def main():
    beyond = []
    with tempfile.TemporaryDirectory() as out:
        how = runs.How(SIM, out, 2, regret.SEEDS, None)
        some = list(CELLS.items())[:SOME if WHICH == "some" else None]
        cells = {regret.Cell(regret.World(regret.FABRICS[cell[0]], *cell[1:5]), cell[5]): most for cell, most in some}
        for cell, ratios in regret.measure(how, list(cells), more=MORE).items():
            print(regret.line_of(cell, ratios), flush=True)
            if not regret.is_within(cell, ratios) or mean(ratios) > cells[cell]:
                beyond.append(f"{regret.title_of(cell)}: at most {cells[cell]}")
    for name, settings, most in ELEPHANTS:
        slowdowns = elephants(settings)
        print(f"two elephants that meet, {name}: slowdown {sum(slowdowns) / len(slowdowns):.3f}, at most {max(slowdowns):.3f}")
        if len(slowdowns) != regret.SEEDS or max(slowdowns) > most:
            beyond.append(f"two elephants that meet, {name}: at most {most}")
    sys.exit("\n".join(["beyond its bounds:"] + beyond) if beyond else 0)


if __name__ == "__main__":
    main()
