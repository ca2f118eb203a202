#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A hold ends in time, and releasing the maximum number of held packets loses none.

usage: bounds.py HP3D HP3CTL [unittest arguments]
"""
import socket
import statistics
import struct
import sys
import unittest
from frames import ACK, LAST, roce
from harness import TWO_LCORES, Daemon, Link, RawPort, own_namespace, wait_for

HP3D, HP3CTL = sys.argv[1:3]
LQPN, RQPN, HOME, PORT = 0x11, 0x1C, 49152, 50123
MIDDLE = 7


class Peers:
    """Two RNICs by hand: the left one sends, the right one answers when it is told to."""

    def __init__(self, left, right, number):
        self.left, self.right = left, right
        self.a = socket.inet_aton("10.9.0.1")
        self.b = socket.inet_aton(f"10.9.1.{number}")
        self.flow = f"rail0/10.9.0.1-10.9.1.{number}/{RQPN:#08x}"
        self.psn = 1000

    def send(self, opcode=MIDDLE, ackreq=0):
        self.left.send(roce(self.a, self.b, HOME, opcode, RQPN, self.psn, ackreq, bytes(64)))
        self.psn += 1

    def ack(self, psn):
        aeth = struct.pack(">I", 0x1F << 24)
        self.right.send(roce(self.b, self.a, HOME, ACK, LQPN, psn, 0, aeth))

    def received(self):
        """(source port, PSN) of the next packet of ours at the right."""
        while True:
            frame = self.right.receive()
            if frame is None:
                raise AssertionError("a packet is missing")
            if frame[26:30] == self.a and frame[36:38] == b"\x12\xb7":
                port, = struct.unpack_from(">H", frame, 34)
                return port, int.from_bytes(frame[51:54], "big")

    def exchange(self):
        self.send(LAST, 1)
        self.received()
        self.ack(self.psn - 1)
        self.left.receive()

    def pair(self, d):
        """Three answered challenges, from 0.2 s after the first packet on; hp3d does not count an answer that comes late."""
        def paired():
            self.exchange()
            return self.flow in [f["flow"] for f in d.flows() if f["paired"]]
        for _ in range(2):
            self.exchange()
        wait_for("pairing", paired)


class Bounds(unittest.TestCase):
    def start(self, **sections):
        links = Link("a"), Link("b")
        for link in links:
            self.addCleanup(link.remove)
        ports = [RawPort(link.far) for link in links]
        for port in ports:
            self.addCleanup(port.close)
        d = Daemon(HP3D, HP3CTL, {"rail0": [link.devargs(i) for i, link in enumerate(links)]}, sections)
        self.addCleanup(d.clean_up)
        return d.up(), ports

    def test_a_late_closing_packet(self):
        """max_hold_us counts from the closing packet, however long that came after the command; an
        lcore that knows only older deadlines ends the hold up to 50 ms late."""
        d, (left, right) = self.start(rfr={"max_hold_us": 1000})
        p = Peers(left, right, 1)
        p.pair(d)
        for i in range(9):
            p.send()
            p.received()
            d.ctl("move", p.flow, "--port", str(PORT + i), "--no-wait")
            p.send()
            p.received()
            p.send()
            self.assertEqual(p.received(), (HOME, p.psn - 1))
            p.ack(p.psn - 1)
            left.receive()
        events = wait_for("nine recoveries", lambda: (
            lambda list: list if len(list) == 9 else None)(
                [e for e in d.json("events") if e["type"] == "recover"]))
        held = [e["evidence"]["drain_ns"] / 1e6 for e in events]
        self.assertGreaterEqual(min(held), 1.0)
        self.assertLess(statistics.median(held), 10.0, f"ms of hold: {held}")
        self.assertEqual(d.stop(), 0, d.output())

    def paired_at(self, d, left, right, lcore):
        """Two RNICs whose flow that lcore has: which one has which addresses, each hp3d draws anew."""
        for number in range(1, 17):
            p = Peers(left, right, number)
            p.pair(d)
            if d.json("show", p.flow)[0]["lcore"] == lcore:
                return p
        raise AssertionError(f"none of 16 flows is at lcore {lcore}")

    def release(self, eal, lcore):
        n = 4000
        d, (left, right) = self.start(eal=eal, rfr={"max_hold_us": 1000000})
        p = self.paired_at(d, left, right, lcore)
        p.send(LAST, 1)
        p.received()
        closing = p.psn - 1
        d.ctl("move", p.flow, "--port", str(PORT), "--no-wait")
        for i in range(n):
            p.send()
            if i % 500 == 499:
                wait_for("held packets", lambda: d.counters()["held_packets"] == i + 1)
        p.ack(closing)
        self.assertEqual([p.received() for _ in range(n)],
                         [(PORT, closing + 1 + i) for i in range(n)])
        self.assertEqual(d.stop(), 0, d.output())
        self.assertRegex(d.output(), "hp3d: stopped: .* 0 not sent")

    def test_a_large_release(self):
        """Twice what a ring between two lcores holds leaves at once, in order, nothing lost."""
        self.release({}, 0)

    def test_a_large_release_by_another_lcore(self):
        self.release(TWO_LCORES, 0)  # lcore 1 owns the port where it leaves

    def test_a_large_release_by_the_owner_of_the_port(self):
        self.release(TWO_LCORES, 1)


if __name__ == "__main__":
    own_namespace()
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
