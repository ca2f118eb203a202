#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Long flows that get their share back (cc.share), beside the same without it and ECMP: faster, with no more of PFC's pauses, and incast as it was.

usage: share.py HP3-SIM [SEEDS]

At --quick size, hp3d the reaction point (cc = dcqcn), marks by CNPs. Where nothing is known of long flows (peers that tell nothing) it is as if it were off.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

REACTION_POINT = ["rnic.cc=none", "rnic.window_bytes=250000", "cc.mode=dcqcn", "cc.rpg_byte_reset=0", "cc.rpg_ai_rate=40",
                  "cc.rpg_hai_rate=100", "cc.rpg_min_rate=100", "cc.dce_tcp_g=1020", "cc.initial_alpha_value=1024"]
OFF, ON = ["cc.share=off"], ["cc.share=on"]


def run(sim, scenario, lb, seeds, settings):
    """Sums over the seeds: completion time or slowdown, pauses, what came out of order, NAKs."""
    with tempfile.TemporaryDirectory() as out:
        words = [sim, "run", scenario, "--quick", "--no-report", "--jobs", "1", "--lbs", lb, "--out", out]
        for setting in ["rnic.feedback=cnp", f"sweep.quick_seeds={seeds}"] + settings:
            words += ["--set", setting]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        results = []
        for path in glob.glob(os.path.join(out, "*.json")):
            with open(path, encoding="utf-8") as f:
                results.append(json.load(f))
    assert len(results) == seeds
    time = sum(r["jobs"]["jct_avg_us"] if "jobs" in r else r["slowdown"]["overall"]["avg"] for r in results)
    return time, *(sum(r[what] for r in results) for what in ("pfc_pauses", "reordered", "naks"))


def main():
    sim, seeds = sys.argv[1], int((sys.argv[2:] + ["1"])[0])
    # rings of this size are over before the first report: no gain there, and no harm
    for scenario, most in ("permutation", 0.95), ("allreduce", 1.02), ("incast", 1.02):
        ecmp = run(sim, scenario, "ecmp", seeds, [])
        off, on = (run(sim, scenario, "hp3", seeds, REACTION_POINT + share) for share in (OFF, ON))
        print(f"{scenario}: on over off {on[0] / off[0]:.3f}; pauses: ECMP {ecmp[1]}, off {off[1]}, on {on[1]}", flush=True)
        assert on[0] <= most * off[0], "it does not pay"
        assert on[1] <= 1.05 * max(ecmp[1], off[1]), "more pauses than without it, and than ECMP"
        assert on[2] == off[2] == 0, "out of order"
    # who runs no hp3d is an ECMP flow, and who is told nothing is helped by nothing
    nobody = run(sim, "permutation", "hp3", seeds, REACTION_POINT + ON + ["peers.hp3_percent=0"])
    alone = run(sim, "permutation", "ecmp", seeds, ["rnic.ports=roce", "rnic.window_bytes=250000"])
    off, on, untold = (run(sim, "permutation", "hp3", seeds, REACTION_POINT + s)
                       for s in (OFF, ON, ON + ["peers.reports_lost_percent=100"]))
    print(f"hp3 on no host: {nobody[0]:.4f}, ECMP {alone[0]:.4f}; over off: told {on[0] / off[0]:.3f}, untold {untold[0] / off[0]:.3f}")
    assert nobody == alone
    assert on[0] / off[0] < 0.95 < untold[0] / off[0] < 1.05


if __name__ == "__main__":
    main()
