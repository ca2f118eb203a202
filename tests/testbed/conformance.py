#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conformance vectors against the embedded target.

usage: conformance.py HP3_FABRIC

Packets in; port, priority, frame (marks, TTL, checksums, ICMP messages) and counters out, as stored
in vectors.json.
"""
import json
import os
import sys

from conformance_run import HERE, inject


def main():
    with open(os.path.join(HERE, "vectors.json"), encoding="utf-8") as f:
        vectors = json.load(f)
    wrong = 0
    for topology in sorted({v["topology"] for v in vectors}):
        batch = [v for v in vectors if v["topology"] == topology]
        answers = inject(sys.argv[1], topology, [{"switch": v["switch"], "port": v["port"], "depth": v["depth"],
                                                  "frame": v["frame"], "counters": True} for v in batch])
        if len(answers) != len(batch):
            sys.exit(f"{topology}: {len(batch)} packets in, {len(answers)} answers")
        for v, got in zip(batch, answers):
            got["counters"] = {k: n for k, n in got["counters"].items() if not k.startswith("port_ce_bytes")}
            if got != v["expect"]:
                wrong += 1
                print(f"{v['name']}:")
                for key in sorted(set(got) | set(v["expect"])):
                    if got.get(key) != v["expect"].get(key):
                        print(f"  {key}: expected {v['expect'].get(key)}\n  {' ' * len(key)}       got {got.get(key)}")
    if wrong:
        sys.exit(f"{wrong} of {len(vectors)} vectors differ")
    print(f"{len(vectors)} vectors hold")


main()
