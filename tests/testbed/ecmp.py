#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ECMP spreads and ECN marks as they should, by statistics over many packets.

usage: ecmp.py HP3_FABRIC

- 10,000 random 5-tuples over four spines: chi-square below the 99.9 % point of 3 degrees of freedom,
  and the predicted next hop (hp3-fabric path) is the one taken, for IPv4 and IPv6.
- Only the UDP source port changes: all spines are used; the same chi-square test.
- ECN: no packet is marked at Kmin, all are above Kmax, and RED's share between (5 sigma).
"""
import json
import os
import random
import subprocess
import sys

import reference as ref
from conformance_run import inject, HERE

SEED = 20261121
CHI2_3_999 = 16.27
N = 10000


def chi_square(counts):
    expected = sum(counts) / len(counts)
    return sum((c - expected) ** 2 / expected for c in counts)


def frame4(src, dst, sport, dport, tos=0):
    return ref.ethernet("02:08:00:00:01:01", "02:09:00:00:01:01", 0x0800,
                        ref.ipv4(src, dst, 17, ref.udp(sport, dport, bytes(20)), tos=tos)).hex()


def spread(fabric, rng):
    """Random hosts' addresses: the destination prefix is the other leaf's, the rest is free."""
    ask = [{"switch": "l1", "port": 0, "frame": frame4(f"10.9.1.{rng.randrange(1, 255)}", f"10.9.2.{rng.randrange(1, 255)}",
                                                     rng.randrange(1024, 65536), rng.randrange(1024, 65536))}
           for _ in range(N)]
    counts = [0] * 4
    for a in inject(fabric, "crc32", ask):
        counts[a["port"] - 2] += 1
    x = chi_square(counts)
    print(f"random 5-tuples: {counts}, chi-square {x:.2f}")
    return x < CHI2_3_999


def by_port(fabric, rng):
    ports = rng.sample(range(49152, 65536), N)
    counts = [0] * 4
    for a in inject(fabric, "crc32", [{"switch": "l1", "port": 0, "frame": frame4("10.9.1.1", "10.9.2.1", p, 4791)}
                                      for p in ports]):
        counts[a["port"] - 2] += 1
    x = chi_square(counts)
    print(f"source ports alone: {counts}, chi-square {x:.2f}")
    return x < CHI2_3_999


def predicted(fabric, rng):
    wrong = 0
    plan = json.loads(subprocess.run([fabric, "plan", os.path.join(HERE, "topo", "crc32.ini")], capture_output=True,
                                     text=True, check=True).stdout)
    h = {x["name"]: x for x in plan["hosts"]}
    for v6 in (False, True):
        ports = rng.sample(range(49152, 65536), 40)
        ask = []
        for p in ports:
            frame = frame4("10.9.1.2", "10.9.2.2", p, 4791) if not v6 else ref.ethernet(
                h["h2"]["leaf_mac"], h["h2"]["mac"], 0x86dd,
                ref.ipv6(h["h2"]["ip6"], h["h4"]["ip6"], 17, ref.udp(p, 4791, bytes(20)))).hex()
            ask.append({"switch": "l1", "port": 1, "frame": frame})
        for p, a in zip(ports, inject(fabric, "crc32", ask)):
            words = [fabric, "path", os.path.join(HERE, "topo", "crc32.ini"), "h2", "h4", str(p)] + (["--ipv6"] if v6 else [])
            path = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)["path"]
            wrong += path[1] != f"s{a['port'] - 1}"
    print(f"predicted next hop: {wrong} of 80 wrong")
    return wrong == 0


def marks(fabric):
    """Kmin 15,000, Kmax 60,000, Pmax 20 %."""
    good, n = True, 4000
    for depth, share in ((0, 0), (15000, 0), (26250, 0.05), (37500, 0.1), (60000, 0.2), (60001, 1), (10 ** 6, 1)):
        frame = frame4("10.9.1.1", "10.9.2.1", 50000, 4791, tos=2)
        out = inject(fabric, "crc32", [{"switch": "l1", "port": 0, "frame": frame, "depth": depth}] * n)
        ce = sum(int(a["frame"][30:32], 16) & 3 == 3 for a in out)
        sigma = (n * share * (1 - share)) ** 0.5
        print(f"depth {depth}: {ce / n:.4f} marked, {share} due")
        good = good and abs(ce - n * share) <= 5 * sigma
    return good


def main():
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    results = [spread(sys.argv[1], rng), by_port(sys.argv[1], rng), predicted(sys.argv[1], rng), marks(sys.argv[1])]
    sys.exit(0 if all(results) else "statistics are off")


main()
