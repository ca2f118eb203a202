#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates captures and counters of runs with paths that lose packets.

usage: grey.py watched PCAP SOURCE SINCE RNICS RNICS STATS STATS
                                          what SOURCE sent since then, what RNICs and fabric counted, before and after, as JSON
       grey.py left PCAP SOURCE SINCE PORT
                                          seconds from SINCE to the first data from PORT
       grey.py overtaken SENT CAME SOURCE no first transmission came behind a later one
       grey.py falls OFF ON               of two things watched: the receiver misses nothing any more, what is repeated falls to a tenth
                                          (acknowledgements may still take the spine, and a lost one may cost a window), goodput does not fall
       grey.py least SHARE {off|on WATCHED}...
                                          goodput with `on` is at least that share of the one with `off`
Exit code 1: no.
"""
import collections
import json
import sys

import wire

WRAP = 1 << 24


def data(path, source):
    return (p for p in wire.packets(path) if p.src == source and wire.is_data(p))


def is_newer(psn, newest):
    return newest is None or 0 < (psn - newest) % WRAP < WRAP // 2


def sent(path, source, since):
    """(new, again, seconds): the RNIC's packets since then."""
    newest, new, again, first, last = {}, 0, 0, None, since
    for p in data(path, source):
        fresh = is_newer(p.psn, newest.get(p.qpn))
        if fresh:
            newest[p.qpn] = p.psn
        if p.t < since:
            continue
        first, last = first or p.t, p.t
        new, again = new + fresh, again + (not fresh)
    return new, again, last - (first or since)


def lost(stats):
    return sum(lane["drops"].get("random-loss", 0) for lane in stats["lanes"])


def watched(path, source, since, *counted):
    before, after, stats, stats_after = map(json.loads, counted)
    new, again, seconds = sent(path, source, float(since))
    if new < 100:
        sys.exit(f"grey: only {new} new packets")
    gone = lost(stats_after) - lost(stats)
    gaps, naks = (after[g][c] - before[g][c] for g, c in (("2", "out_of_seq_request"), ("1", "rcvd_seq_err")))
    print(json.dumps({"new_per_s": round(new / seconds, 1), "again": again, "lost": gone, "out_of_seq": gaps, "naks": naks,
                      "retries": after["1"]["completer_retry_err"] - before["1"]["completer_retry_err"]}))
    if gaps > gone:
        sys.exit(f"grey: the receiver's RNIC counted {gaps} gaps, the fabric lost {gone} packets")


def left(path, source, since, port):
    times = [p.t for p in data(path, source) if p.t > float(since) and p.sport == int(port)]
    if not times:
        sys.exit(f"grey: no data from port {port}")
    print(round(times[0] - float(since), 2))


def overtaken(out, came, source):
    """A packet that comes late for the first time is a repeated one if a copy of it was lost."""
    emitted = collections.Counter((p.qpn, p.psn) for p in data(out, source))
    arrivals = [(p.qpn, p.psn) for p in data(came, source)]
    arrived, seen, newest, late, wrong = collections.Counter(arrivals), set(), {}, 0, []
    for qpn, psn in arrivals:
        if is_newer(psn, newest.get(qpn)):
            newest[qpn] = psn
        elif (qpn, psn) not in seen:
            late += 1
            if emitted[qpn, psn] <= arrived[qpn, psn]:
                wrong.append(f"{qpn}/{psn}")
        seen.add((qpn, psn))
    if wrong:
        sys.exit(f"grey: {len(wrong)} first transmissions were overtaken: {wrong[:5]}")
    if not seen:
        sys.exit("grey: no data")
    print(f"{len(seen)} packets, {late} of them came repeated because they had been lost, none was overtaken")


def falls(off, on):
    off, on = json.loads(off), json.loads(on)
    if not off["again"] or not off["out_of_seq"]:
        sys.exit("grey: with hp3d off nothing was repeated: nothing was tested")
    bad = [f"{c} {on[c]}" for c in ("out_of_seq", "naks") if on[c]]
    if on["again"] * 10 > off["again"]:
        bad.append(f"{on['again']} repeated, with hp3d off {off['again']}")
    if on["new_per_s"] < off["new_per_s"]:
        bad.append(f"goodput fell from {off['new_per_s']} to {on['new_per_s']}")
    if bad:
        sys.exit("grey: after the move: " + "; ".join(bad))


def least(share, *words):
    rates = collections.defaultdict(list)
    for mode, text in zip(words[::2], words[1::2]):
        rates[mode].append(json.loads(text)["new_per_s"])
    ratio = sum(rates["on"]) / sum(rates["off"])
    print(f"off {rates['off']}, on {rates['on']} packets/s: {ratio:.3f}")
    if ratio < float(share):
        sys.exit(f"grey: {ratio:.3f} of the goodput with hp3d off, at least {share}")


def main():
    command, args = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    commands = {"watched": (watched, (7,)), "left": (left, (4,)), "overtaken": (overtaken, (3,)), "falls": (falls, (2,)),
                "least": (least, range(5, 100, 2))}
    if command not in commands or len(args) not in commands[command][1]:
        sys.exit(__doc__)
    commands[command][0](*args)


if __name__ == "__main__":
    main()
