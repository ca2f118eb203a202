#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges the moves of one run.

usage: moves.py MOVES.json MIN_MOVES PCAP...

MOVES.json holds what `hp3ctl --json move` printed, one object per line. Fails unless at least
MIN_MOVES switched behind a drain, packets were held, none of them for long, and RoCE packets are in
the captures of the wire for every new source port that held packets left on. Exit code 3: there were
fewer moves, or no packet was held.
"""
import json
import sys

import wire

MAX_DRAIN_NS = 1e9  # four times max_hold_us of lab.ini


def source_ports(path):
    """Counts RoCEv2 packets by UDP source port."""
    seen = {}
    for p in wire.packets(path):
        seen[p.sport] = seen.get(p.sport, 0) + 1
    return seen


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    events = []
    with open(sys.argv[1], encoding="utf-8") as f:
        for line in f:
            line = line.strip()
            if line.startswith("{"):
                events.append(json.loads(line))
    done = [e for e in events if e.get("type") in ("switch", "idle_switch")]
    drained = [e for e in done if e["type"] == "switch"]
    recovered = [e for e in events if e.get("type") == "recover"]
    held = sum(e["evidence"]["held_pkts"] for e in drained)
    wire = {}
    for path in sys.argv[3:]:
        for port, n in source_ports(path).items():
            wire[port] = wire.get(port, 0) + n
    used = [e["to"] for e in drained if e["evidence"]["held_pkts"] > 0]
    unseen = [port for port in used if wire.get(port, 0) == 0]
    drains = sorted(e["evidence"]["drain_ns"] for e in drained) or [0]
    print(
        f"{len(drained)} moves, {len(done) - len(drained)} idle, {len(recovered)} recovered, "
        f"{held} packets held, drain median {drains[len(drains) // 2] / 1e6:.1f} ms, "
        f"max {drains[-1] / 1e6:.1f} ms"
    )
    if len(drained) < int(sys.argv[2]) or held == 0:
        print(f"moves: {len(drained)} of {sys.argv[2]} moves behind a drain, {held} packets held")
        sys.exit(3)
    if drains[-1] > MAX_DRAIN_NS:
        sys.exit("moves: packets were held for too long")
    # What was held left on the new port: it must be on the wire.
    if unseen:
        sys.exit(f"moves: no packet on the wire on {len(unseen)} of {len(used)} new ports: {unseen[:5]}")


if __name__ == "__main__":
    main()
