#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges queue pairs that were sprayed.

usage: spray.py run JUDGE PCAP SOURCE SINCE PCAP SOURCE SINCE MIXED RNICS RNICS HP3DS HP3DS FABRIC FABRIC
                    PCAP: what came to the receiver's hp3d, of SOURCE, since then; likewise to the requester's; what mixed printed; what RNICs, both hp3ds and the
                    fabric counted, before and after. JUDGE: "order": no RNIC counted anything; "late": no more gaps than hp3d waited
                    for in vain; "disorder": the receiver's RNIC must have seen some
       spray.py least SHARE {off|on|spray MIXED}...
                    goodput of each; sprayed it is at least that share of the one with hp3d off
       spray.py told         a line of what RNICs counted (a delta on stdin)
       spray.py sprayed      packets that took a path of several (hp3d's stats on stdin)
"""
import collections
import json
import sys

import rnic
import wire

HALF = 1 << 23
FEWEST = 100  # packets: less says nothing


def lanes(stats):
    return {(lane["from"], lane["to"]): lane["packets"] for lane in stats["lanes"]}


def is_read_response(p):
    return 0x0d <= p.opcode <= 0x10


def arrivals(path, source, since, is_wanted):
    """(ports, packets, those that came behind a later one, the most that one was behind), of those sent for the first time."""
    newest, ports, n, behind, most, seen = {}, set(), 0, 0, 0, set()
    for p in wire.packets(path):
        if p.src != source or not is_wanted(p) or wire.is_probe(p) or p.t <= since or (p.qpn, p.psn) in seen:
            continue
        seen.add((p.qpn, p.psn))
        ports.add(p.sport)
        n += 1
        gap = (newest.get(p.qpn, p.psn) - p.psn) % (2 * HALF)
        if 0 < gap < HALF:
            behind, most = behind + 1, max(most, gap)
        else:
            newest[p.qpn] = p.psn
    return ports, n, behind, most


def counters(both):
    return [host["rail"]["rail0"] for host in json.loads(both)]


def risen(before, after, host, *names):
    a, b = counters(before)[host], counters(after)[host]
    return {name: b[name] - a[name] for name in names}


def wrong_of(delta):
    return {f"{g}:{k}": delta[g][k] for g in delta for k in rnic.ZERO if delta[g][k]}


def run(judge, path, source, since, path_back, source_back, since_back, mixed, *counted):
    before, after, said, said_after, bed, bed_after = counted
    before, after = json.loads(before), json.loads(after)
    delta = {g: {k: after[g][k] - before[g][k] for k in after[g]} for g in after}
    ports, n, behind, most = arrivals(path, source, float(since), wire.is_request)
    _, responses, responses_behind, _ = arrivals(path_back, source_back, float(since_back), is_read_response)
    sent = risen(said, said_after, 0, "sprays", "sprayed", "sprays_broken", "sprays_given_up")
    came = risen(said, said_after, 1, "resequenced", "reseq_held", "reseq_late", "reseq_given_up", "reseq_beyond", "reseq_full", "reseq_share", "evs_slow")
    back = {**risen(said, said_after, 1, "sprayed_reads"), "responses_held": risen(said, said_after, 0, "reseq_held")["reseq_held"]}
    before, after = lanes(json.loads(bed)), lanes(json.loads(bed_after))
    spines = {lane[1]: after[lane] - before[lane] for lane in after if lane[0] == "l1" and lane[1].startswith("s")}
    wrong, mixed = wrong_of(delta), json.loads(mixed)
    print(json.dumps({**mixed, "packets": n, "ports": len(ports), "overtaken": behind, "by_at_most": most, "spines": spines, **sent, **came,
                      "responses": responses, "responses_overtaken": responses_behind, **back,
                      "rnic": wrong}))
    gaps = delta["2"]["out_of_seq_request"]
    if judge == "disorder":
        if not gaps:
            sys.exit("spray: the receiver's RNIC saw no disorder: this test could not fail")
        return
    bad = [f"{k} {v}" for k, v in (("sprayed", sent["sprayed"]), ("overtaken", behind), ("responses sprayed", back["sprayed_reads"])) if v < (FEWEST if judge == "order" else 1)]
    if judge == "order" and responses_behind < FEWEST:
        bad.append(f"responses overtaken {responses_behind}")
    if len(ports) < 16 or min(spines.values()) == 0:
        bad.append(f"{len(ports)} ports, spines {spines}")
    if mixed["wrong"] or (judge == "order" and wrong) or gaps > came["reseq_late"] + came["reseq_given_up"]:
        bad.append(f"RNICs counted {wrong}, {mixed['wrong']} words or numbers are wrong")
    if bad:
        sys.exit("spray: " + "; ".join(bad))


def least(share, *words):
    rates = collections.defaultdict(list)
    for mode, text in zip(words[::2], words[1::2]):
        rates[mode].append(json.loads(text)["kbps"])
    ratio = {mode: sum(rates[mode]) / sum(rates["off"]) for mode in rates}
    print(f"kb/s {dict(rates)}: of the goodput with hp3d off " + ", ".join(f"{m} {r:.2f}" for m, r in ratio.items()))
    if ratio["spray"] < float(share):
        sys.exit(f"spray: {ratio['spray']:.3f} of the goodput with hp3d off, at least {share}")


def main():
    command, args = (sys.argv[1:2] or [""])[0], sys.argv[2:]
    if command == "run" and len(args) == 14:
        run(*args)
    elif command == "least" and len(args) >= 7:
        least(*args)
    elif command == "told" and not args:
        print(json.dumps({"rnic": wrong_of(json.load(sys.stdin))}))
    elif command == "sprayed" and not args:
        print(counters(sys.stdin.read())[0]["sprayed"])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
