#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conformance vectors against the embedded target.

usage: conformance.py HP3_FABRIC

Packets in; port, priority, frame (marks, TTL, checksums, ICMP messages) and counters out, as stored
in vectors.json. Then mutated, cut and padded ones: each is answered, and the next good one rightly.
"""
import json
import os
import random
import sys

from conformance_run import HERE, inject


def mutated(fabric, vectors, n=3000, seed=20261121):
    print(f"seed {seed}")
    rng, requests = random.Random(seed), []
    for _ in range(n):
        v = rng.choice(vectors)
        frame = bytearray.fromhex(v["frame"])
        for _ in range(rng.randrange(6)):
            frame[rng.randrange(len(frame))] = rng.randrange(256)
        frame = frame[:rng.randrange(14, len(frame) + 1)] + bytes(rng.choice([0, 0, 18, 1400]))
        requests.append({"switch": v["switch"], "port": v["port"], "depth": rng.choice([0, 20000, 10 ** 7]),
                         "frame": bytes(frame).hex()})
    good = [v for v in vectors if v["name"] == "crc32/last-hop"][0]
    requests += [{k: good[k] for k in ("switch", "port", "depth", "frame")}] * 20  # every thread of every switch
    answers = inject(fabric, "crc32", requests)
    if len(answers) != len(requests) or any(a["frame"] != good["expect"]["frame"] for a in answers[n:]):
        sys.exit("mutated packets left the switch in a bad state")


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
    mutated(sys.argv[1], [v for v in vectors if v["topology"] == "crc32"])
    print(f"{len(vectors)} vectors hold")


main()
