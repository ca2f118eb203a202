#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the conformance vectors: input packets, and the results of the reference program.

usage: make_vectors.py HP3_FABRIC >vectors.json

It was run once; the repository has the result (format: vectors.md). Expected results are
computed only by reference.py. HP3_FABRIC is used only to get names, addresses and seeds of the
topologies.
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


def malformed(plan):
    """(name, frame): what is cut short, or lies about its length."""
    h = {x["name"]: x for x in plan["hosts"]}
    a, b = h["h1"], h["h3"]
    v4, v6 = roce4(plan, "h1", "h3", 50000), roce6(plan, "h1", "h3", 50000)

    def eth4(total, payload, proto=17):
        good = ref.ipv4(a["ip4"], b["ip4"], proto, payload)
        head = good[:2] + ref.struct.pack("!H", total) + good[4:10] + b"\0\0" + good[12:20]
        head = head[:10] + ref.struct.pack("!H", ref.checksum(head)) + head[12:]
        return ref.ethernet(a["leaf_mac"], a["mac"], 0x0800, head + payload)

    for n in (14, 15, 33, 34, 41, 42, 53):
        yield f"cut-v4-{n}", v4[:n]
    for n in (14, 53, 54, 61, 62, 73):
        yield f"cut-v6-{n}", v6[:n]
    yield "whole-v4-less-1", v4[:-1]
    yield "whole-v6-less-1", v6[:-1]
    yield "total-len-0", eth4(0, ref.udp(1, 2, bytes(30)))
    yield "total-len-19", eth4(19, ref.udp(1, 2, bytes(30)))
    yield "total-len-20", eth4(20, ref.udp(1, 2, bytes(30)))
    yield "total-len-65535", eth4(65535, ref.udp(1, 2, bytes(30)))
    yield "bth-in-padding", eth4(28, ref.udp(50000, 4791, bytes(30)))
    yield "bth-missing", eth4(30, ref.udp(50000, 4791, bytes(2)))
    yield "transport-missing", eth4(24, bytes(4), proto=47)
    yield "payload-0-v6", ref.ethernet(a["leaf_mac"], a["mac"], 0x86dd, ref.ipv6(a["ip6"], b["ip6"], 59, b""))
    yield "ihl-4", v4[:14] + b"\x44" + v4[15:]
    yield "ihl-15", v4[:14] + b"\x4f" + v4[15:]
    yield "version-6-in-v4", v4[:14] + b"\x65" + v4[15:]
    yield "vlan", v4[:12] + b"\x81\x00\x00\x05" + v4[12:]
    yield "length-for-type", v4[:12] + b"\x00\x40" + v4[14:]


ROUTES = [("10.20.0.0/16", 2), ("10.20.64.0/18", 3), ("10.20.64.128/25", 2), ("10.20.64.129/32", 1), ("0.0.0.0/0", 1),
          ("fd00:20::/32", 2), ("fd00:20:0:8000::/49", 3), ("fd00:20:0:8000::1/128", 1), ("::/0", 1)]
TARGETS = ["10.20.0.1", "10.20.63.255", "10.20.64.0", "10.20.64.127", "10.20.64.128", "10.20.64.129", "10.20.64.130",
           "10.20.127.255", "10.20.128.0", "10.21.0.0", "10.9.2.0", "10.9.2.255", "10.9.3.0", "10.9.1.2", "192.0.2.1",
           "fd00:20::1", "fd00:20:0:7fff::", "fd00:20:0:8000::", "fd00:20:0:8000::1", "fd00:20:0:8000::2", "fd00:20:0:ffff::",
           "fd00:20:1::", "fd00:21::1", "fd00:9:0:2::", "fd00:9:0:2:ffff:ffff:ffff:ffff", "fd00:9:0:3::", "fd00:9:0:1::2", "2001:db8::1"]


def prefixes(plan):
    h = {x["name"]: x for x in plan["hosts"]}["h1"]
    for target in TARGETS:
        head = (0x86dd, ref.ipv6, "ip6") if ":" in target else (0x0800, ref.ipv4, "ip4")
        yield f"to-{target}", ref.ethernet(h["leaf_mac"], h["mac"], head[0], head[1](
            h[head[2]], target, 17, ref.udp(50000, 4791, ref.bth(17, bytes(8)))))


def lpm(plan):
    """Longest prefixes; switches that stay silent; the limit of ICMP messages (1 a second, 10 at once)."""
    name = "lpm/"
    yield {"name": name + "routes", "topology": "lpm", "switch": "l1", "routes": ROUTES}
    leaf = ref.Switch(plan, "l1")
    for route in ROUTES:
        leaf.add_route(*route)
    for what, frame in prefixes(plan):
        yield vector(name + what, leaf, 0, frame)
    for sw in ("l2", "s2"):
        for what, frame in (("ttl", roce4(plan, "h1", "h3", 50000, ttl=1)), ("ttl-v6", roce6(plan, "h1", "h3", 50000, ttl=1))):
            yield vector(f"{name}silent-{sw}-{what}", ref.Switch(plan, sw), 2 if sw == "l2" else 0, frame, silent=True)
    for sw, frame in (("s1", roce4(plan, "h1", "h3", 50000, ttl=1)), ("s3", roce6(plan, "h1", "h3", 50000, ttl=1))):
        yield {**vector(f"{name}rate-{sw}", ref.Switch(plan, sw), 0, frame), "repeat": 40, "answered": [10, 14]}


def vector(name, switch, port, frame, depth=0, marking=None, silent=False):
    to, priority, out, counters = switch.forward(frame, port, marking, silent)
    expect = {"drop": True} if to is None else {"port": to, "priority": priority, "frame": out.hex()}
    return {"name": name, "topology": name.split("/")[0], "switch": switch.me["name"], "port": port, "depth": depth,
            "frame": frame.hex(), "expect": {**expect, "counters": counters}}


def main():
    vectors = []
    for topology, args in (("crc32", {}), ("crc16-qpn-pathid", {"hash_kind": "crc16", "qpn": True, "path_id": True}),
                           ("crc32-qpn", {"qpn": True}), ("crc16", {"hash_kind": "crc16"})):
        plan = load(sys.argv[1], topology)
        for name, switch, port, frame, depth, marking in packets(plan):
            if topology in ("crc32-qpn", "crc16") and not name.startswith(("ecmp", "qpn", "spine")):
                continue
            vectors.append(vector(f"{topology}/{name}", ref.Switch(plan, switch, **args), port, frame, depth, marking))
    plan = load(sys.argv[1], "crc32")
    vectors += [vector(f"crc32/malformed-{name}", ref.Switch(plan, "l1"), 0, frame) for name, frame in malformed(plan)]
    vectors += lpm(load(sys.argv[1], "lpm"))
    print("[\n" + ",\n".join(json.dumps(v) for v in vectors) + "\n]")


main()
