#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates captures, events and counters of a run in which routes change.

usage: reroute.py port PCAP SOURCE data|ack          latest source port of SOURCE's data or ACKs
       reroute.py mark PCAP                          time of the latest packet
       reroute.py pause PCAP SOURCE SINCE            longest time without new data of SOURCE, in ms
       reroute.py resend PCAP SOURCE SINCE           ms from the last new data to the first repeated
       reroute.py probes PCAP SOURCE SINCE           how many probes for a peer's hp3d came from SOURCE
       reroute.py await EVENTS SECONDS SEQ KEY=VALUE[|VALUE]...
                                                     first event beyond number SEQ that has all these
       reroute.py seq EVENTS                         number of the latest event
       reroute.py counters BEFORE AFTER [GUEST:NAME=MIN..MAX]...
                                                     of the RNICs: whatever else counts errors is 0
SOURCE is an IPv4 address. Exit code 1: no.
"""
import json
import sys
import time

import rnic
import wire


def ports(path, source, what):
    wanted = wire.is_data if what == "data" else (lambda p: p.opcode == wire.ACK)
    found = [p.sport for p in wire.packets(path) if p.src == source and wanted(p)]
    if not found:
        sys.exit(f"reroute: no {what} of {source} in {path}")
    print(found[-1])


def arrivals(path, source, since):
    """(time, new) of the data of SOURCE: new data, or sent again. One queue pair is enough here."""
    newest = {}
    for p in wire.packets(path):
        if p.src != source or not wire.is_data(p):
            continue
        before = newest.get(p.qpn)
        new = before is None or 0 < (p.psn - before & 0xFFFFFF) < 1 << 23
        if new:
            newest[p.qpn] = p.psn
        if p.t >= since:
            yield p.t, new


def pause(path, source, since):
    times = [since] + [t for t, new in arrivals(path, source, since) if new]
    if len(times) < 3:
        sys.exit("reroute: hardly any new data came")
    print(round(max(b - a for a, b in zip(times, times[1:])) * 1e3))


def resend(path, source, since):
    last = None
    for t, new in arrivals(path, source, since):
        if new:
            last = t
        elif last is not None:
            print(round((t - last) * 1e3))
            return
    sys.exit("reroute: nothing was sent again")


def probes(path, source, since):
    print(sum(p.t > since and p.src == source and wire.is_peer_probe(p) for p in wire.packets(path)))


def events(path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("{") and line.endswith("}\n"):
                yield json.loads(line)


def wait(path, seconds, seq, words):
    wanted = [w.split("=", 1) for w in words]
    end = time.monotonic() + float(seconds)
    while True:
        for e in events(path):
            if e["seq"] > int(seq) and all(str(e.get(k)) in v.split("|") for k, v in wanted):
                print(json.dumps(e))
                return
        if time.monotonic() > end:
            sys.exit(f"reroute: no event {' '.join(words)} within {seconds} s")
        time.sleep(0.1)


def counters(before, after, words):
    before, after = json.loads(before), json.loads(after)
    allowed = {}
    for w in words:
        where, between = w.split("=")
        low, high = (int(n) for n in between.split(".."))
        guest, name = where.split(":")
        allowed[guest, name] = (low, high)
    wrong, seen = [], []
    for g in after:
        for name in after[g]:
            n = after[g][name] - before[g][name]
            low, high = allowed.get((g, name), (0, 0 if name in rnic.ZERO else n))
            if not low <= n <= high:
                wrong.append(f"guest {g}: {name} rose by {n}, not {low} to {high}")
            if n and name in rnic.ZERO:
                seen.append(f"guest {g} {name} {n}")
    if wrong:
        sys.exit("reroute: " + "; ".join(wrong))
    print("; ".join(seen) or "no error counted")


def main():
    command, args = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if command == "port" and len(args) == 3:
        ports(*args)
    elif command == "mark" and len(args) == 1:
        print(max((t for t, _, _ in wire.records(args[0])), default=0))
    elif command in ("pause", "resend", "probes") and len(args) == 3:
        {"pause": pause, "resend": resend, "probes": probes}[command](args[0], args[1], float(args[2]))
    elif command == "await" and len(args) > 3:
        wait(args[0], args[1], args[2], args[3:])
    elif command == "seq" and len(args) == 1:
        print(max((e["seq"] for e in events(args[0])), default=0))
    elif command == "counters" and len(args) >= 2:
        counters(args[0], args[1], args[2:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
