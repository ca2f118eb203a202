#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conformance vectors against the embedded target.

usage: conformance.py HP3_FABRIC

Sends the packets of vectors.json, and compares port, priority, frame (marks, TTL, checksums,
ICMP messages) and counters. Then sends changed, truncated and padded packets: each must be
answered, and the next valid packet must be handled correctly.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

from conformance_run import HERE, inject, judge


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


def requests_of(v):
    if "routes" in v:
        return [{"switch": v["switch"], "route": prefix, "group": group} for prefix, group in v["routes"]]
    return [{**{k: v[k] for k in ("switch", "port", "depth", "frame")}, "counters": True}] * v.get("repeat", 1)


def embedded(fabric, topology, batch):
    """Answers of the embedded target, one for each vector."""
    requests = [requests_of(v) for v in batch]
    answers = iter(inject(fabric, topology, [r for rs in requests for r in rs]))
    out = []
    for v, rs in zip(batch, requests):
        got = [next(answers) for _ in rs]
        for a in got:
            a["counters"] = {k: n for k, n in a.get("counters", {}).items() if not k.startswith("port_ce_bytes")}
        out.append(got if "repeat" in v or "routes" in v else got[0])
    return out


def names(fabric):
    """Words and lines of any kind in messages: they stay plain lines, and JSON stays ASCII."""
    evil = b"x\x1b]0;x\x07\nhp3-fabric: done \xff\xc2\x9b2J"
    topology = os.path.join(HERE, "topo", "crc32.ini")
    with tempfile.TemporaryDirectory() as tmp:
        scenario = os.path.join(tmp, "x.ini")
        with open(scenario, "w", encoding="utf-8") as f:
            f.write("[scenario]\ntitle = \"a\x9b2J\"\ntopology = x\n[flow.a]\nsrc = h1\ndst = h2\n")
        out = subprocess.run([fabric, "scenario", scenario], capture_output=True, check=True, timeout=60).stdout
        assert out.isascii() and json.loads(out)["scenario"]["title"] == "a\x9b2J", out
    for words in (["plan", evil], ["scenario", evil], ["path", topology, evil, "h1", "1"], ["path", topology, "h1", "h2", evil],
                  ["entries", topology, evil], ["entries", topology, "l1", "--target", evil], ["plan", topology, "--qpn", evil],
                  ["plan", topology, b"--" + evil], ["inject", topology]):
        done = subprocess.run([fabric, *words], capture_output=True, check=False, timeout=60, input=b'{"switch":"' + evil.partition(b"\n")[0] + b"\n")
        assert done.returncode in (1, 2), (words, done)
        lines = done.stderr.split(b"\n")
        assert all(0x20 <= c <= 0x7e or c == 0x0a for c in done.stderr + done.stdout) and not any(x.startswith(b"hp3-fabric: done") for x in lines), done


def main():
    names(sys.argv[1])
    with open(os.path.join(HERE, "vectors.json"), encoding="utf-8") as f:
        vectors = json.load(f)
    wrong = 0
    for topology in sorted({v["topology"] for v in vectors}):
        batch = [v for v in vectors if v["topology"] == topology]
        for v, got in zip(batch, embedded(sys.argv[1], topology, batch)):
            for key, expected, found in judge(v, got):
                print(f"{v['name']}: {key}: expected {expected}\n{' ' * len(v['name'])}  {' ' * len(key)}       got {found}")
                wrong += 1
    if wrong:
        sys.exit(f"{len(vectors)} vectors, {wrong} differences")
    mutated(sys.argv[1], [v for v in vectors if v["topology"] == "crc32" and "expect" in v])
    print(f"{len(vectors)} vectors hold")


main()
