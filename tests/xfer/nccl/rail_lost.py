#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rail of two is lost in the middle of an AllReduce of 8 ranks, which the network plugin for NCCL carries: the
result is right bit by bit. Neighbours in the ring are in different network namespaces.

usage: rail_lost.py HARNESS PLUGIN [unittest arguments]
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hosts import Host, drop_all, join, wait_for  # noqa: E402

HARNESS, PLUGIN = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]
MBITS = 200  # of a rail
RANKS = 8
BYTES = 8 << 20  # of an AllReduce: its second half carries 29 MB over each rail, in each direction


class RailLost(unittest.TestCase):
    def setUp(self):
        self.hosts = Host(), Host()
        for host in self.hosts:
            self.addCleanup(host.close)
        join(*self.hosts, {"r0": MBITS, "r1": MBITS})
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)

    def sent(self, link):
        return min(host.bytes_sent(link) for host in self.hosts)

    def reduce(self, version, lose):
        """Rail r1 is lost after the second half of the second AllReduce has begun on both rails."""
        go = os.path.join(self.dir.name, "go")
        namespaces = ",".join(f"/proc/{host.holder.pid}/ns/net" for host in self.hosts)
        environment = {**os.environ, "HARNESS_PAUSE": go, "HARNESS_NAMESPACES": namespaces}
        process = subprocess.Popen((HARNESS, PLUGIN, version, str(RANKS), "2", str(BYTES)), env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        wait_for("the pause of all ranks", lambda: process.poll() is not None or
                 all(os.path.exists(f"{go}.{rank}") for rank in range(RANKS)))
        before = {link: self.sent(link) for link in ("r0", "r1")}
        with open(go, "w", encoding="ascii"):
            pass
        wait_for("data on both rails", lambda: process.poll() is not None or all(self.sent(k) > n + 1_000_000 for k, n in before.items()))
        lose()
        lost = self.sent("r1"), self.sent("r0")
        self.assertIsNone(process.poll(), "the AllReduce was over before the rail was lost")
        out, err = process.communicate(timeout=150)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("are right", out)
        print(out, end="")
        self.assertLess(self.sent("r1") - lost[0], 1_000_000)
        self.assertGreater(self.sent("r0") - lost[1], 10_000_000)  # the rest took the other rail

    def test_the_link_goes_down(self):
        self.reduce("10", lambda: self.hosts[1].run("ip", "link", "set", "r1", "down"))

    def test_the_link_drops_all_packets(self):
        self.reduce("11", lambda: drop_all(self.hosts[0], "r1"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
