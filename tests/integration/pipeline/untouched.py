#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d forwards packets unchanged if they are not of a paired reliable connection.

usage: untouched.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import subprocess
import tempfile
from cases import MAKE_CAPTURES, SOURCE, Wired, run
from harness import RawPort, read_pcap


class Untouched(Wired):
    """Everything that is not a paired reliable connection passes as it is, both ways."""

    def frames(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([MAKE_CAPTURES, directory], check=True)
            names = [os.path.join(directory, f"gen_{n}.pcap")
                     for n in ("malformed", "opcodes", "cnp", "random", "bad_icrc", "vlan", "qinq")]
            names += [os.path.join(SOURCE, "tests/data/pcap", n + ".pcap")
                      for n in ("uc_send", "ud_send", "rc_write_rdmacm")]
            frames = [f for n in names for f in read_pcap(n)]
        frames += [bytes.fromhex("ffffffffffff020000000001") + ethertype + os.urandom(46)
                   for ethertype in (b"\x08\x06", b"\x88\xcc", b"\x89\x15", b"\x00\x20")]
        # The kernel takes no frame without an Ethernet header, the interface none beyond its MTU.
        return [f for f in frames if 14 <= len(f) <= 1514]

    def survives_the_driver(self, frame):
        """net_af_packet takes the outer tag out and does not say that it was an 802.1ad one, and puts IPv4 fragments together."""
        return frame[12:14] != b"\x88\xa8" and not (
            frame[12:14] == b"\x08\x00" and len(frame) > 22 and (frame[20] & 0x3f or frame[21]))

    def test_frames(self):
        """Through hp3d, all that the driver can carry; and all, as it ships: what is not hp3d's goes past it."""
        frames = self.frames()
        self.assertGreater(len(frames), 1000)
        fit = list(filter(self.survives_the_driver, frames))
        self.assertLess(len(fit), len(frames))
        with self.subTest("through hp3d"):
            counters = self.pass_all(fit, bypass={"fail_open": "off"})
            self.assertEqual((counters["packets_tx"], counters["packets_rx"]), (len(fit), len(fit)))
        with self.subTest("as it ships"):
            counters = self.pass_all(frames)
            for name in ("packets_tx", "packets_rx"):
                self.assertGreater(counters[name], 200)
                self.assertLess(counters[name], len(fit) - 200)

    def pass_all(self, frames, **sections):
        d = self.start(pairing={"challenge": "off", "cm": "off"}, **sections)
        before = d.free_buffers()
        ends = RawPort(self.rnic.far), RawPort(self.net.far)
        for end in ends:
            self.addCleanup(end.close)
        for source, sink in (ends, ends[::-1]):
            for i, frame in enumerate(frames):
                source.send(frame)
                got = sink.receive()
                self.assertEqual(got, frame, f"frame {i}: {frame.hex()}\nbecame {got and got.hex()}")
        for end in ends:
            self.assertIsNone(end.receive(0.05))
        counters = d.counters()
        self.assertEqual(counters["changed"], 0)
        self.assertEqual(d.free_buffers(), before)
        self.stop(d)
        return counters

    def test_beside_moves(self):
        """The same in the midst of connections that are being moved."""
        d = self.start()
        a, b = self.endpoints(qps=2)
        a.tell("send 1000000")
        port = RawPort(self.rnic.far)
        self.addCleanup(port.close)
        odd = [f for f in self.frames() if f[12:14] not in (b"\x08\x00", b"\x86\xdd")][:200]
        for i, flow in enumerate(d.paired(2) * 4):
            for frame in odd[25 * i:25 * i + 25]:
                port.send(frame)
            self.move(d, flow, self.port(i // 2 % 2))
        self.settle(a)
        _, rb = self.whole(a, b)
        self.assertEqual(rb["others"], len(odd))
        self.stop(d)


if __name__ == "__main__":
    run()
