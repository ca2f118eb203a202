#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges a run in verbs mode, in which hp3d sees no packets.

usage: verbs.py CASE MOVES.json QPS.json COUNTERS PCAP

MOVES.json: what `hp3ctl --json move` printed; QPS.json: `hp3ctl --json qps` while it ran; COUNTERS: by how
much those of the RNICs rose.
"""
import json
import sys

import wire

ZERO = ("out_of_seq_request", "rcvd_seq_err", "retry_exceeded_err", "retry_rnr_exceeded_err", "send_err")
MIN_MOVES = 3


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.startswith("{")]


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    case, counters = dict(w.split("=") for w in sys.argv[1].split()), json.loads(sys.argv[4])
    qps, events = lines(sys.argv[3]), lines(sys.argv[2])
    moved = [e for e in events if e.get("outcome") == "moved"]
    bad = [f"guest {g}: {k} rose by {c[k]}" for g, c in counters.items() for k in ZERO if c[k]]
    repeats = sum(c["completer_retry_err"] for c in counters.values())
    duplicates = sum(c["duplicate_request"] for c in counters.values())
    if duplicates and not repeats:
        bad.append(f"{duplicates} requests came twice, and no timer had gone off")
    ports = {}
    for p in wire.packets(sys.argv[5]):
        if p.src == "10.9.0.1" and wire.is_request(p):
            ports[p.sport] = ports.get(p.sport, 0) + 1
    if len(qps) < int(case["qps"]) or any(q["method"] != "sqd" for q in qps):
        bad.append(f"queue pairs: {qps}")
    if case["kind"] == "read":
        if moved or any(not q["responds"] or q["failed"] not in ("EPERM", None) for q in qps):
            bad.append(f"who is read from was moved, or something else failed: {qps}")
    elif len(moved) < MIN_MOVES * int(case["qps"]):
        bad.append(f"{len(moved)} moves: {events[-3:]} {qps[:1]}")
    unseen = [e["to"] for e in moved[:-2 * int(case["qps"])] if not ports.get(e["to"])]
    if unseen:
        bad.append(f"no request on ports {unseen} of {len(moved)}")
    if case["kind"] != "read" and not any(ports.get(q["home"]) for q in qps):
        bad.append(f"no request on any home port of {[q['home'] for q in qps]}")
    drains = sorted(e["evidence"]["wait_ns"] for e in moved if "wait_ns" in e.get("evidence", {})) or [0]
    print(f"{len(moved)} moves of {len(events)}, drain median {drains[len(drains) // 2] / 1e6:.1f} ms, "
          f"{repeats} times the requester's timer, {duplicates} requests came again")
    if bad:
        print("verbs: " + "; ".join(bad), file=sys.stderr)
        sys.exit(3 if any(c["out_of_seq_request"] for c in counters.values()) else 1)


if __name__ == "__main__":
    main()
