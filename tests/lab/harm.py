#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the counters of the RNICs and of hp3d with hp3d off and on.

usage: harm.py NAME DIRECTORY

DIRECTORY has MODE.before and MODE.after (counters of Soft-RoCE and of both hp3d), MODE.events (of both) and MODE.report
(roce-gen's), for the modes off and on. Exit code 1: hp3d did harm.
"""
import json
import os
import sys

from rnic import ZERO

GEN = ("timeouts", "retransmissions", "out_of_seq_request", "duplicate_request", "overtaken", "late_duplicates")
DEEDS = ("moves_switched", "replies_moved", "failovers", "ack_solicitations", "naks_made")
SHOWN = ("rounds", "probes", "moves_recovered", "searches_fruitless", "placed")


def read(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8") as f:
        return json.load(f)


def of_mode(directory, mode):
    before, after, report = (read(directory, f"{mode}.{what}") for what in ("before", "after", "report"))
    rnic = {k: after["rnic"]["2"][k] - before["rnic"]["2"][k] for k in after["rnic"]["2"]}
    hp3d = {k: sum(a["rail"]["rail0"][k] - b["rail"]["rail0"][k] for a, b in zip(after["hp3d"], before["hp3d"]))
            for k in (*DEEDS, *SHOWN)}
    with open(os.path.join(directory, f"{mode}.events"), encoding="utf-8") as f:
        moves = [e for e in map(json.loads, f) if e["type"] == "idle_switch"]
    # A queue pair that is placed before its first data harms nobody.
    hp3d["moves_idle"] = sum(e["cause"] != "setup" for e in moves)
    assert hp3d["placed"] >= len(moves) - hp3d["moves_idle"], (hp3d, moves)
    gen = {k: report["sum"][k] for k in GEN}
    gen["wrong"] = report["content"]["wrong"]
    return rnic, gen, hp3d


def main():
    name, directory = sys.argv[1:3]
    (rnic_off, gen_off, _), (rnic_on, gen_on, hp3d) = (of_mode(directory, mode) for mode in ("off", "on"))
    wrong = [f"Soft-RoCE: {k} {rnic_off[k]} -> {rnic_on[k]}" for k in ZERO if rnic_on[k] > rnic_off[k]]
    wrong += [f"roce-gen: {k} {gen_off[k]} -> {gen_on[k]}" for k in gen_on if gen_on[k] > gen_off[k]]
    wrong += [f"hp3d: {k} {hp3d[k]}" for k in (*DEEDS, "moves_idle") if hp3d[k]]
    print(f"{name}: Soft-RoCE had {rnic_off['rcvd_pkts']} -> {rnic_on['rcvd_pkts']} packets; hp3d: " +
          ", ".join(f"{k} {hp3d[k]}" for k in SHOWN))
    for line in wrong:
        print(f"{name}: {line}")
    if min(rnic_off["rcvd_pkts"], rnic_on["rcvd_pkts"]) < 50:
        sys.exit(f"{name}: too little was sent to say anything")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
