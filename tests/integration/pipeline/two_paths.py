# SPDX-License-Identifier: BSD-3-Clause
"""Base of tests with two hp3ds, each with an endpoint, and two paths between them (relay.py)."""
import os
import subprocess
import sys
from cases import Wired
from harness import Link


# hp3d leaves a path for its death alone, and does not take a wait for a processor for it.
DEATHS = {"ppp": {"probe": "peer", "rtt_factor": 10000, "probe_timeout_us": 100000}, "rfr": {"stall_us": 300000}}


class TwoPaths(Wired):
    SLOW_US = 3000  # of the path of odd source ports
    RING = {}  # of the second one's port to the network

    def setUp(self):
        super().setUp()
        self.wires = Link("v"), Link("w")
        for wire in self.wires:
            self.addCleanup(wire.remove)
        self.network = subprocess.Popen(
            [sys.executable, os.path.join(os.path.dirname(__file__), "relay.py"), self.wires[0].far,
             self.wires[1].far, str(self.SLOW_US)], stdin=subprocess.PIPE, text=True)
        self.addCleanup(self.network.wait)
        self.addCleanup(self.network.stdin.close)

    def pair_of_daemons(self, far=None, **sections):
        """`far`: what only the second one's configuration says. On a busy machine paths differ, and hp3d would spray where that is not asked for."""
        near, far = ({**one, "rfr": {"mode": "move", **one.get("rfr", {})}} for one in (sections, {**sections, **(far or {})}))
        a = self.daemon({"rail0": (self.rnic.devargs(0), self.wires[0].devargs(1))}, **near).up()
        b = self.daemon({"rail0": (self.net.devargs(0), self.wires[1].devargs(1, **self.RING))}, **far).up()
        return a, b

    def endpoints(self, **options):
        return (self.endpoint(self.rnic, "a", slow_us=0, **options),
                self.endpoint(self.net, "b", slow_us=0, **options))

    def relay(self, line):
        self.network.stdin.write(line + "\n")
        self.network.stdin.flush()

    def traffic(self, *ends):
        for e in ends:
            e.tell("send 1000000")
