#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the first data of new queue pairs leave on the port that hp3d chose for them.

usage: setup.py PCAP SINCE EVENTS.json SOURCE MIN_QPS

PCAP: of the sender's uplink; packets before SINCE (seconds) are not looked at. EVENTS.json: what
hp3ctl --json events printed there. Fails unless at least MIN_QPS queue pairs of SOURCE sent data
since, and each one's first data packet bears the port of its event, on which the rest follows.
"""
import json
import sys

import wire


def first_data(path, since, source):
    """First packet, all ports in order of their first use, number of packets, by QPN."""
    seen = {}
    for p in wire.packets(path):
        if p.t <= since or p.src != source or not wire.is_data(p):
            continue
        first, ports, n = seen.setdefault(p.qpn, (p, [], [0]))
        n[0] += 1
        if p.sport not in ports:
            ports.append(p.sport)
    return seen


def chosen(path):
    """Port that hp3d chose at set-up, and those that it asked for, by QPN. Every event of a flow names it."""
    found, asked = {}, {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            e = json.loads(line)
            if e["type"] in ("mode", "bypass", "link"):  # of hp3d itself
                continue
            if "0.0.0.0" in e["flow"]:
                sys.exit(f"setup: an event of nobody: {line}")
            if e.get("cause") != "setup":
                continue
            qpn = int(e["flow"].rsplit("/", 1)[1], 16)
            if e["type"] == "round":
                asked[qpn] = [p["port"] for p in e["evidence"]["probes"]]
            elif e["type"] == "idle_switch":
                found[qpn] = e["to"], asked.pop(qpn, [])
    return found


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    pcap, since, events, source, least = sys.argv[1:]
    seen, ports = first_data(pcap, float(since), source), chosen(events)
    wrong = []
    for qpn, (first, used, n) in sorted(seen.items()):
        port, asked = ports.get(qpn, (None, []))
        print(f"queue pair 0x{qpn:06x}: its first data (PSN {first.psn}) left on port {first.sport}, as {n[0] - 1} "
              f"packets after it; asked for: {' '.join(str(p) for p in asked)}")
        if port is None:
            wrong.append(f"0x{qpn:06x}: no port was chosen before its first data, which left on {first.sport}")
        elif used != [port]:
            wrong.append(f"0x{qpn:06x}: {port} was chosen, data left on {used}")
    if len(seen) < int(least):
        wrong.append(f"only {len(seen)} of {least} queue pairs sent data")
    if wrong:
        print("setup: " + "; ".join(wrong))
        sys.exit(1)


if __name__ == "__main__":
    main()
