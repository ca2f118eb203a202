#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong for a while: no buffers, a full transmit ring or disk, clocks that jump, a process that is stopped.

usage: named.py HP3D-FAULTS HP3CTL [unittest arguments]

A peer of another version: hostile/probes. A state file that is none: pipeline/after, fuzz/moved. A hang behind which
the kernel forwards: pipeline/bypass, pipeline/survives.
"""
import json
import os
import signal
import sys
import time
import unittest

from page import FOREVER
from rig import LIBC, Link, Peers, RawPort, Rig, own_namespace, wait_for

HP3D, HP3CTL = sys.argv[1:3]
PASSES_MS = 300  # within which a packet of a flow that nobody holds has to be through on a busy machine
DAY = 86400


class Named(unittest.TestCase):
    def setUp(self):
        self.links = Link("f"), Link("g")
        for link in self.links:
            self.addCleanup(link.remove)
        self.ports = [RawPort(link.far) for link in self.links]
        for port in self.ports:
            self.addCleanup(port.close)

    def begin(self, **how):
        rig = Rig(HP3D, HP3CTL, self.links, self.ports, **how)
        self.addCleanup(rig.close)
        self.assertTrue(rig.up(), rig.d.output())
        rig.pair()
        return rig

    def lines(self, path):
        with open(path, encoding="utf-8") as f:
            return f.readlines()

    def stop(self, rig):
        self.assertEqual(rig.d.stop(), 0, rig.d.output())
        self.assertIn(" 0 not sent", rig.d.output())

    def test_holds_leave_buffers_to_others(self):
        """A drain takes packets until an eighth of the buffers is left; then it is over, and others never wait."""
        rig = self.begin(posted="700", rfr={"hold_packets": 1536, "max_hold_us": 1000000})
        other = Peers(*self.ports, 9)
        rig.begin_move(True)
        slowest = 0
        for _ in range(16):
            rig.send(50)
            other.send()
            begun = time.monotonic()
            while True:
                frame = self.ports[1].receive()
                self.assertIsNotNone(frame)
                psn = int.from_bytes(frame[51:54], "big")
                if frame[30:34] == other.b:
                    self.assertEqual(psn, other.psn - 1)
                    break
                rig.got.append(psn)
            slowest = max(slowest, time.monotonic() - begun)
        self.assertLess(1000 * slowest, PASSES_MS)
        rig.all_came()
        event, = [e for e in rig.d.json("events") if e["type"] == "recover"]
        self.assertEqual(event["reason"], "hold-full")
        self.assertGreater(rig.d.counters()["held_packets"], 200)
        self.assertGreaterEqual(min(rig.d.free_buffers().values()), 2048 - 1400 - 512)
        self.stop(rig)

    def blocked(self, name, n):
        """For two seconds nothing of it works; a move begins meanwhile. Nothing is lost, nor out of order."""
        rig = self.begin()
        rig.page.arm(name, 1, FOREVER)
        rig.begin_move(True)
        rig.send(n)
        end = time.monotonic() + 2
        while time.monotonic() < end:
            self.assertTrue(rig.ask(True, cmd="health")["ok"])
            rig.take()
            time.sleep(0.1)
        self.assertLess(len(rig.got), len(rig.sent))
        self.assertGreater(rig.page.hits(), 0)
        rig.page.disarm()
        rig.all_came()
        rig.settled()
        rig.all_came()
        rig.move(True)
        rig.all_came()
        self.stop(rig)

    def test_a_full_transmit_ring(self):
        self.blocked("tx", 500)

    def test_no_buffers(self):
        self.blocked("mbuf", 900)

    def test_stopped_in_a_hold(self):
        """Where nothing forwards meanwhile: the clock of the packets has jumped when it goes on."""
        rig = self.begin(bypass={"fail_open": "off"})
        rig.begin_move(True)
        wait_for("held packets", lambda: rig.d.counters()["held_packets"] >= 3)
        rig.d.process.send_signal(signal.SIGSTOP)
        rig.send(20)
        time.sleep(1)
        rig.d.process.send_signal(signal.SIGCONT)
        rig.all_came()
        rig.settled()
        rig.all_came()
        rig.move(True)
        rig.all_came()
        self.stop(rig)

    def test_the_wall_clock_jumps(self):
        """What is told bears the new time; what is timed does not notice, and no record is lost at the end."""
        rig = self.begin()
        audit = os.path.join(rig.d.directory, "audit.log")
        for jump in (DAY, -DAY):
            rig.page.wall(jump)
            for _ in range(3):
                rig.move(True)
                rig.all_came()
            said = time.strftime("%Y-%m-%d", time.gmtime(time.time() + jump))
            wait_for("a record of that day", lambda: any(said in line for line in self.lines(audit)))
            rig.run(True)
            rig.reload(True)
            rig.all_came()
        begun = time.monotonic()
        self.stop(rig)
        self.assertLess(time.monotonic() - begun, 5)
        last = json.loads(self.lines(audit)[-1])
        self.assertEqual((last["type"], last["to"]), ("bypass", "waiting"))

    def test_a_full_disk(self):
        """Said once each, counted, and over when there is room again; packets go on all the time."""
        place = "/mnt"
        self.assertEqual(LIBC.mount(b"tmpfs", place.encode(), b"tmpfs", 0, b"size=64k"), 0)
        self.addCleanup(LIBC.umount2, place.encode(), 2)
        rig = self.begin(bypass={"fail_open": "off"}, log={"audit": place + "/audit"}, control={"moved": place + "/moved"})
        filler = os.path.join(place, "filler")
        with open(filler, "wb", buffering=0) as f:
            with self.assertRaises(OSError):
                while True:
                    f.write(bytes(512))
        for _ in range(100):
            rig.move(True)
            rig.all_came()
            if rig.d.output().count("No space left on device") >= 2:
                break
            time.sleep(0.02)
        os.unlink(filler)
        rig.move(True)
        rig.all_came()
        wait_for("the audit log", lambda: "audit: written again" in rig.d.output())
        wait_for("the file of moved flows", lambda: os.path.exists(place + "/moved"))
        with open(place + "/moved", encoding="ascii") as f:
            self.assertEqual(len(json.load(f)["flows"]), 1)
        self.assertEqual(rig.d.output().count("No space left on device"), 2, rig.d.output())
        self.stop(rig)


if __name__ == "__main__":
    own_namespace()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
