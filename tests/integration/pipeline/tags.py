#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two VLAN tags: both name a flow, and both stay on its packets (rule 17).

usage: tags.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import struct
from cases import Wired, run
from harness import RawPort, wait_for

OUTER, TENANTS = 100, (20, 21)


class Tags(Wired):
    def tenants(self, **tags):
        """Pairs of endpoints that differ in their inner tag alone: addresses, queue pairs and PSNs are equal."""
        return {inner: self.endpoints(vlan=OUTER, inner=inner, **tags) for inner in TENANTS}

    def move_each(self, d, tenants, name):
        """Each flow moves by itself; packets of the other one change neither its order nor its port."""
        for a, b in tenants.values():
            a.tell("send 1000000")
            b.tell("send 1000000")
        wait_for("both flows", lambda: len([f for f in d.flows() if f["paired"]]) == len(TENANTS))
        flows = {inner: f"rail0.{name}.{inner}/10.9.0.1-10.9.0.2/0x000200" for inner in TENANTS}
        self.assertEqual({f["flow"] for f in d.flows()}, set(flows.values()))
        wanted = {inner: [] for inner in TENANTS}
        for i in range(4):
            inner = TENANTS[i % 2]
            wanted[inner].append(self.port(i // 2 % 2))
            self.move(d, flows[inner], wanted[inner][-1])
            self.seen(tenants[inner][1], 1 + len(wanted[inner]))  # else the next move may find nothing in flight
        for inner, (a, b) in tenants.items():
            self.settle(a, b)
            rb = self.whole(a, b)[1]
            self.assertEqual([port for port, _ in rb["qps"][0]["ports"]], [0xc001] + wanted[inner])

    def test_by_af_packet(self):
        """The driver has the outer tag beside the frame, the inner one is in it."""
        d = self.start()
        self.move_each(d, self.tenants(), str(OUTER))
        self.stop(d)

    def test_by_af_xdp(self):
        """All tags are in the frame, an 802.1ad tag among them."""
        d = self.daemon({"rail0": (self.rnic.xdp_devargs(0), self.net.xdp_devargs(1))}).up()
        self.move_each(d, self.tenants(ad=1), f"s{OUTER}")
        self.stop(d)

    def test_three_tags(self):
        """They pass as they are. Where the kernel does not forward them past hp3d, it counts them."""
        d = self.start(bypass={"fail_open": "off"})
        ends = RawPort(self.rnic.far), RawPort(self.net.far)
        for end in ends:
            self.addCleanup(end.close)
        tags = b"".join(b"\x81\x00" + struct.pack(">H", vid) for vid in (100, 20, 3))
        frame = bytes.fromhex("020000000002020000000001") + tags + b"\x08\x00\x45" + bytes(59)
        for source, sink in (ends, ends[::-1]):
            source.send(frame)
            self.assertEqual(sink.receive(), frame)
        self.assertEqual(d.counters()["reason_too-many-tags"], 2)
        self.stop(d)


if __name__ == "__main__":
    run()
