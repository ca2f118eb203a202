# SPDX-License-Identifier: BSD-3-Clause
"""Base class for the attackers of docs/internals/security-*.md: hp3d as shipped, between two
victims that keep sending.

usage of a module of tests: MODULE.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import contextlib
import json
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration/pipeline"))
from cases import Wired, run  # noqa: E402, F401
from harness import RawPort, wait_for  # noqa: E402

VICTIM_A, VICTIM_B = (socket.inet_aton(a) for a in ("10.9.0.1", "10.9.0.2"))
QPN_A, QPN_B = 0x100, 0x200  # their first ones
BATCH, PAUSE_S = 200, 0.01  # frames at once, such that the ports of tests have room for them
LATE_S = PAUSE_S / 2  # what a flood that was held up makes up for
AHEAD = 1000  # of a flood, where hp3d waits for a processor: half as many more, and the ring of a port, which has room for 2048, is not full
UNREAD = 500  # frames of a flood in such a ring


def send_at(port, frames, per_s, taken=None):
    """So many a second, and no burst after a standstill; no more than AHEAD before what hp3d has taken, as taken() counts it, for a second at most."""
    due = time.monotonic()
    for n, frame in enumerate(frames):
        if taken and n % (AHEAD // 2) == 0:
            with contextlib.suppress(AssertionError):
                wait_for("what was sent", lambda n=n: taken() >= n - AHEAD, 1)
        due = max(due + 1 / per_s, time.monotonic() - LATE_S)
        while due > time.monotonic():
            time.sleep(0.0005)
        port.send(frame)


class Hostile(Wired):
    flooded = None  # the hp3d of shipped()

    def shipped(self, **sections):
        """Nothing is set but what keeps it apart from others, and what the case is about."""
        self.flooded = self.daemon({"rail0": self.ports()}, defaults=True, **sections).up()
        return self.flooded

    def victims(self, d, qps=2, **options):
        """Both send, on one path, and hp3d knows their flows."""
        a, b = (self.endpoint(link, side, slow_us=0, qps=qps, **options)
                for link, side in ((self.rnic, "a"), (self.net, "b")))
        for e in (a, b):
            e.tell("send 1000000")
        return a, b, d.paired(qps)

    def attacker(self, link):
        """Sends from where this link's endpoint is."""
        port = RawPort(link.far)
        self.addCleanup(port.close)
        return port

    def unread(self):
        """How many frames the ports have received that hp3d has not read."""
        with open("/proc/net/dev") as f:
            received = {name.strip(): int(fields.split()[1]) for name, fields in (line.split(":") for line in list(f)[2:])}
        counters = self.flooded.counters()
        return sum(received[link.near] for link in (self.rnic, self.net)) - counters["packets_rx"] - counters["packets_tx"]

    def flood(self, port, frames):
        """How many it was. If hp3d waits for a processor, so does the flood, for a second at most: it reads RoCE only."""
        n, before = 0, self.unread() if self.flooded else 0
        for n, frame in enumerate(frames, 1):
            port.send(frame)
            if n % BATCH == 0:
                time.sleep(PAUSE_S)
            if n % UNREAD == 0 and self.flooded:
                with contextlib.suppress(AssertionError):
                    wait_for("the flood to be read", lambda: self.unread() < before + UNREAD, 1)
        return n

    def by_itself(self, d):
        """Moves and failovers that nobody asked for."""
        return [e for e in d.json("events") if e["type"] in ("switch", "idle_switch", "failover", "replies") and
                e.get("cause") != "operator"]

    def moves(self, d, flow):
        """hp3d may be looking for a better path of it by itself: then it is asked again."""
        def moved():
            answer = json.loads(d.ctl("--json", "move", flow, "--port", str(self.port(0)), code=None).stdout)
            if answer.get("ok", True):
                return answer["outcome"] == "moved"
            self.assertEqual(answer["error"]["code"], "busy", answer)
        wait_for("a move", moved)

    def unhurt(self, d, a, b, flows):
        """Every flow can still be moved; no packet is missing, changed, twice or out of order."""
        self.assertIn(d.json("health", code=None)[0]["status"], ("ok", "warning", "silent", "drops"))
        for flow in flows:
            self.moves(d, flow)
        self.settle(a, b)
        self.whole(a, b)
        self.stop(d)
