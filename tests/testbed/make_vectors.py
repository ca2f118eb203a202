#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the conformance vectors: packets in, and what the reference says comes of them.

usage: make_vectors.py HP3_FABRIC >vectors.json

Run once; the result is data of the repository. Answers come from reference.py alone; HP3_FABRIC is
asked for the plan (names, addresses, seeds) of the topologies.
"""
import json
import os
import subprocess
import sys

import reference as ref

HERE = os.path.dirname(os.path.realpath(__file__))
KMIN, KMAX = 15000, 60000


def load(fabric, topology):
    path = os.path.join(HERE, "topo", topology + ".ini")
    return json.loads(subprocess.run([fabric, "plan", path], capture_output=True, text=True, check=True).stdout)


def roce4(plan, src, dst, sport, qpn=17, n=64, **kw):
    h = {x["name"]: x for x in plan["hosts"]}
    return ref.ethernet(h[src]["leaf_mac"], h[src]["mac"], 0x0800,
                        ref.ipv4(h[src]["ip4"], h[dst]["ip4"], 17, ref.udp(sport, 4791, ref.bth(qpn, bytes(n))), **kw))


def roce6(plan, src, dst, sport, qpn=17, n=64, **kw):
    h = {x["name"]: x for x in plan["hosts"]}
    return ref.ethernet(h[src]["leaf_mac"], h[src]["mac"], 0x86dd,
                        ref.ipv6(h[src]["ip6"], h[dst]["ip6"], 17, ref.udp(sport, 4791, ref.bth(qpn, bytes(n))), **kw))


def packets(plan):
    """(name, switch, port, frame, depth, marking)"""
    h = {x["name"]: x for x in plan["hosts"]}
    a, b = h["h1"], h["h3"]

    def eth4(payload):
        return ref.ethernet(a["leaf_mac"], a["mac"], 0x0800, payload)

    def eth6(payload):
        return ref.ethernet(a["leaf_mac"], a["mac"], 0x86dd, payload)

    for i, sport in enumerate((49152, 50000, 51113, 57000, 65535)):
        yield f"ecmp-v4-{sport}", "l1", 0, roce4(plan, "h1", "h3", sport, qpn=100 + i), 0, None
        yield f"ecmp-v6-{sport}", "l1", 0, roce6(plan, "h1", "h3", sport, qpn=100 + i), 0, None
    for qpn in (1, 2, 0xffffff):
        yield f"qpn-{qpn}", "l1", 1, roce4(plan, "h2", "h4", 50000, qpn=qpn), 0, None
    yield "same-leaf", "l1", 0, roce4(plan, "h1", "h2", 50000), 0, None
    yield "spine-down", "s2", 0, roce4(plan, "h1", "h3", 50000, ttl=63), 0, None
    yield "spine-back-v6", "s3", 1, roce6(plan, "h3", "h1", 50000, ttl=63), 0, None
    yield "last-hop", "l2", 2, roce4(plan, "h1", "h3", 50000, ttl=62), 0, None
    yield "dscp", "l1", 0, roce4(plan, "h1", "h3", 50000, tos=26 << 2), 0, None
    yield "dscp-v6", "l1", 0, roce6(plan, "h1", "h3", 50000, tc=48 << 2), 0, None
    for ecn, name in ((0, "not-ect"), (1, "ect1"), (2, "ect0"), (3, "ce")):
        yield f"kmax-{name}", "l1", 0, roce4(plan, "h1", "h3", 50000, tos=26 << 2 | ecn), KMAX + 1, "always"
        yield f"kmax-{name}-v6", "l1", 0, roce6(plan, "h1", "h3", 50000, tc=26 << 2 | ecn), KMAX + 1, "always"
        yield f"kmin-{name}", "l1", 0, roce4(plan, "h1", "h3", 50000, tos=26 << 2 | ecn), KMIN, "never"
    yield "tcp", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 6, ref.struct.pack("!HHIIHHHH", 4000, 80, 1, 2, 0x5010, 9, 0, 0))), 0, None
    yield "udp-other", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 17, ref.udp(4000, 53, bytes(20)))), 0, None
    yield "ping", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 1, bytes([8, 0, 1, 2, 3, 4, 5, 6]))), 0, None
    yield "ping-v6", "l1", 0, eth6(ref.ipv6(a["ip6"], b["ip6"], 58, bytes([128, 0, 1, 2, 3, 4, 5, 6]))), 0, None
    yield "gre", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 47, bytes(40))), 0, None
    yield "fragment-first", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 17, ref.udp(5, 4791, bytes(64)), frag=0x2000)), 0, None
    yield "fragment-later", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 17, bytes(64), frag=0x0010)), 0, None
    yield "padding-goes", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 17, ref.udp(1, 2, b""))) + bytes(18), 0, None
    yield "hop-by-hop-v6", "l1", 0, eth6(ref.ipv6(a["ip6"], b["ip6"], 0, bytes(40))), 0, None
    yield "ttl-v4", "l1", 0, roce4(plan, "h1", "h3", 50000, ttl=1), 0, None
    yield "ttl-0", "l1", 0, roce4(plan, "h1", "h3", 50000, ttl=0), 0, None
    yield "ttl-2", "l1", 0, roce4(plan, "h1", "h3", 50000, ttl=2), 0, None
    yield "ttl-spine", "s1", 0, roce4(plan, "h1", "h3", 50000, ttl=1), 0, None
    yield "ttl-v6", "l1", 0, roce6(plan, "h1", "h3", 50000, ttl=1), 0, None
    yield "ttl-spine-v6", "s4", 0, roce6(plan, "h1", "h3", 50000, ttl=1), 0, None
    yield "ttl-large", "l1", 0, roce4(plan, "h1", "h3", 50000, n=1024, ttl=1, tos=0x6a), 0, None
    yield "ttl-ping", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 1, bytes([8, 0, 1, 2, 3, 4, 5, 6]), ttl=1)), 0, None
    yield "ttl-of-error", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 1, bytes([11, 0]) + bytes(34), ttl=1)), 0, None
    yield "ttl-of-error-v6", "l1", 0, eth6(ref.ipv6(a["ip6"], b["ip6"], 58, bytes([3, 0]) + bytes(54), ttl=1)), 0, None
    yield "ttl-of-fragment", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 17, bytes(64), frag=0x0010, ttl=1)), 0, None
    yield "no-route", "l1", 0, eth4(ref.ipv4(a["ip4"], "10.9.77.1", 17, ref.udp(1, 2, bytes(30)))), 0, None
    yield "no-route-host", "l1", 0, eth4(ref.ipv4(a["ip4"], "10.9.1.77", 17, ref.udp(1, 2, bytes(30)))), 0, None
    yield "no-route-v6", "l1", 0, eth6(ref.ipv6(a["ip6"], "ff02::1", 17, ref.udp(1, 2, bytes(30)))), 0, None
    yield "arp", "l1", 0, ref.ethernet("ff:ff:ff:ff:ff:ff", a["mac"], 0x0806, bytes(46)), 0, None
    yield "options", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 17, ref.udp(1, 2, bytes(30)), ihl=6)), 0, None
    good = ref.ipv4(a["ip4"], b["ip4"], 17, ref.udp(1, 2, bytes(30)))
    yield "bad-checksum", "l1", 0, eth4(good[:10] + bytes([good[10] ^ 1]) + good[11:]), 0, None
    yield "version-5-in-v6", "l1", 0, eth6(ref.ipv6(a["ip6"], b["ip6"], 17, ref.udp(1, 2, bytes(30)), version=5)), 0, None
    ident = next(i for i in range(65536) if ref.ipv4(a["ip4"], b["ip4"], 17, ref.udp(1, 2, bytes(30)), ident=i)[10:12] == b"\0\0")
    yield "checksum-0", "l1", 0, eth4(ref.ipv4(a["ip4"], b["ip4"], 17, ref.udp(1, 2, bytes(30)), ident=ident)), 0, None
    yield "resv8a-kept", "s1", 0, roce4(plan, "h1", "h3", 50000)[:54] + b"\xc5" + roce4(plan, "h1", "h3", 50000)[55:], 0, None


def main():
    vectors = []
    for topology, args in (("crc32", {}), ("crc16-qpn-pathid", {"hash_kind": "crc16", "qpn": True, "path_id": True}),
                           ("crc32-qpn", {"qpn": True}), ("crc16", {"hash_kind": "crc16"})):
        plan = load(sys.argv[1], topology)
        for name, switch, port, frame, depth, marking in packets(plan):
            if topology in ("crc32-qpn", "crc16") and not name.startswith(("ecmp", "qpn", "spine")):
                continue
            to, priority, out, counters = ref.Switch(plan, switch, **args).forward(frame, port, depth, marking)
            expect = {"drop": True} if to is None else {"port": to, "priority": priority, "frame": out.hex()}
            vectors.append({"name": f"{topology}/{name}", "topology": topology, "switch": switch, "port": port,
                            "depth": depth, "frame": frame.hex(), "expect": {**expect, "counters": counters}})
    print("[\n" + ",\n".join(json.dumps(v) for v in vectors) + "\n]")


main()
