#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges a run of two hosts whose hp3.ini has only a rail.

usage: shipped.py write|read SENDER PEER PEER IDENTITIES PCAP SINCE FABRIC FABRIC RNICS RNICS

SENDER: the guest whose data are counted. PEER: what hp3ctl peers said at the
sender, and at the receiver, when they had agreed. IDENTITIES: what each guest's hp3d calls its own. PCAP: what came to the receiver's
hp3d since SINCE. FABRIC, RNICS: counters before and after. Exit code 1: not as promised, and why.
"""
import collections
import json
import re
import sys

import spray
import wire

FEWEST = 4000  # packets of data
FAIR = 0.25  # of an equal share: what each spine carries at least, and each of MOST entropy values
EVS, MOST = 64, 48  # [rfr] spray_evs, as shipped
FINGERPRINT = re.compile("(?:[0-9a-f]{4}-){3}[0-9a-f]{4}")


def of_peer(peer, identities, guest, is_sender, reads):
    """What is wrong with the line of the one peer that a guest has."""
    told = {k: peer[k] for k in ("key", "agreement", "hp3d", "probes", "reports", "doubted")}
    wanted = {"key": "auto", "agreement": "keyed", "hp3d": "hp3d", "probes": True, "reports": True, "doubted": False}
    told["identity"], wanted["identity"] = peer["identity"], identities[2 - guest]
    role = "sprayed" if is_sender else "resequenced"
    told |= {role: peer[role], role + "_reads": peer[role + "_reads"]}
    wanted |= {role: 1, role + "_reads": int(reads)}
    if told != wanted or not FINGERPRINT.fullmatch(peer["identity"] or "") or not peer["keyed_ns"]:
        yield f"guest {guest}: hp3ctl peers: {peer}; due is {wanted}"


def ports(path, source, since, is_wanted):
    """Packets of each source port, those that were sent for the first time."""
    seen, counted = set(), collections.Counter()
    for p in wire.packets(path):
        if p.src == source and p.t > since and is_wanted(p) and not wire.is_probe(p) and not wire.is_peer_probe(p) and (p.qpn, p.psn) not in seen:
            seen.add((p.qpn, p.psn))
            counted[p.sport] += 1
    return counted


def main():
    if len(sys.argv) != 12:
        sys.exit(__doc__)
    kind, sender, at_sender, at_receiver, identities, path, since, bed, bed_after, before, after = sys.argv[1:]
    sender, bed, bed_after, before, after = int(sender), *map(json.loads, (bed, bed_after, before, after))
    counted = ports(path, f"10.9.{sender}.1", float(since), wire.is_request if kind == "write" else spray.is_read_response)
    n = sum(counted.values())
    fair_ports = sum(c >= FAIR * n / EVS for c in counted.values())
    leaf, lanes, lanes_after = f"l{sender}", spray.lanes(bed), spray.lanes(bed_after)
    spines = {lane[1]: lanes_after[lane] - lanes[lane] for lane in sorted(lanes) if lane[0] == leaf and lane[1][0] == "s"}
    share = {spine: round(count / max(sum(spines.values()), 1), 3) for spine, count in spines.items()}
    delta = {g: {k: after[g][k] - before[g][k] for k in after[g]} for g in after}
    wrong = spray.wrong_of(delta)
    print(json.dumps({"run": kind, "packets": n, "ports": len(counted), "ports_with_a_share": fair_ports,
                      "most": max(counted.values(), default=0), "spines": spines, "share": share, "rnic": wrong, "identities": identities}))
    bad = [] if n >= FEWEST else [f"only {n} packets of data"]
    if fair_ports < MOST:
        bad.append(f"{fair_ports} source ports with {FAIR} of an equal share, {MOST} are due")
    if len(share) != 4 or min(share.values()) < FAIR / 4:
        bad.append(f"spines: {spines}")
    if wrong:
        bad.append(f"RNICs counted {wrong}")
    if len(set(identities.split())) != 2:
        bad.append(f"identities: {identities}")
    for guest, text in ((sender, at_sender), (3 - sender, at_receiver)):
        bad += of_peer(json.loads(text), identities.split(), guest, guest == sender, kind == "read")
    if bad:
        sys.exit("shipped: " + "; ".join(bad))


if __name__ == "__main__":
    main()
