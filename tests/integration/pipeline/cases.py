# SPDX-License-Identifier: BSD-3-Clause
"""Base classes of the pipeline's test cases: hp3d as a process, with endpoints on both sides.

usage of a module of tests: MODULE.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import random
import signal
import socket
import sys
import unittest
from harness import Daemon, Endpoint, Link, own_namespace, wait_for

HP3D, HP3CTL, RC_ENDPOINT, MAKE_CAPTURES, SOURCE = sys.argv[1:6]
METRICS_MANUAL = os.path.join(os.path.dirname(HP3D), "metrics/hp3-metrics.7")
SLOW_US = 3000
SEED = 7


def run():
    """The tests of the module that is called."""
    own_namespace()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[6:]])


class Base(unittest.TestCase):
    # Tests of something else: on a busy machine hp3d does not seem to hang. Those of fail-open have what ships.
    BYPASS = {"stale_ms": 1000}

    def daemon(self, rails, defaults=False, begin=True, **sections):
        sections["bypass"] = {**self.BYPASS, **sections.get("bypass", {})}
        d = Daemon(HP3D, HP3CTL, rails, sections, defaults, begin)
        self.addCleanup(d.clean_up)
        self.addCleanup(self.tell, d)
        return d

    def tell(self, d):
        """Of a test that failed: what hp3d knows, before it is gone."""
        result = self._outcome.result
        if any(self in (test, getattr(test, "test_case", None)) for test, _ in result.failures + result.errors):
            print(d.account(), file=sys.stderr)

    def stop(self, d, sig=signal.SIGTERM):
        """A clean stop: exit code 0 says that every packet buffer was given back."""
        code = d.stop(sig)
        self.assertEqual(code, 0, d.output())
        self.assertRegex(d.output(), r"hp3d: stopped: .* 0 not sent")
        return d.output()

    def metric(self, d, name):
        s = socket.socket(socket.AF_UNIX)
        s.connect(os.path.join(d.directory, "hp3-metrics.sock"))
        s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
        text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
        s.close()
        return next((float(line.split()[1]) for line in text.splitlines() if line.startswith(name + " ")), None)


class Wired(Base):
    """rnic side: endpoint a; network side: endpoint b.

    The endpoints check every packet: content, ICRC, and that PSNs come in order. Packets on odd ports
    take a path that is 3 ms slower, so that a packet which changes its path too early arrives out of order.
    """

    def setUp(self):
        self.rnic, self.net = Link("r"), Link("n")
        self.addCleanup(self.rnic.remove)
        self.addCleanup(self.net.remove)
        self.random = random.Random(SEED)

    def ports(self):
        return self.rnic.devargs(0), self.net.devargs(1)

    def start(self, **sections):
        return self.daemon({"rail0": self.ports()}, **sections).up()

    def endpoint(self, link, side, **options):
        e = Endpoint(RC_ENDPOINT, link.far, side, **options)
        self.addCleanup(e.kill)
        return e

    def endpoints(self, **options):
        return (self.endpoint(self.rnic, "a", slow_us=SLOW_US, **options),
                self.endpoint(self.net, "b", slow_us=SLOW_US, **options))

    def settle(self, *senders):
        """Lets the messages end and waits for the last ACK."""
        for e in senders:
            e.tell("stop")
        for e in senders:
            wait_for("all ACKs", e.all_acked)

    def whole(self, a, b):
        """Everything arrived exactly once, in order, as it was sent. Returns both reports."""
        ra, rb = a.report(), b.report()
        for sender, receiver in ((ra, rb), (rb, ra)):
            self.assertEqual(set(receiver["faults"].values()), {0}, receiver["faults"])
            self.assertEqual([q["sent"] for q in sender["qps"]], [q["received"] for q in receiver["qps"]])
        return ra, rb

    def seen(self, receiver, runs):
        """Waits until each queue pair has received on so many ports, one after the other."""
        wait_for("packets on the last port", lambda: all(
            len(q["ports"]) == runs for q in receiver.report()["qps"]))

    def port(self, parity):
        """One that RNICs use, beyond the home ports of the endpoints."""
        return self.random.randrange(0xd000 + parity, 0xfffe, 2)

    def move(self, d, flow, port):
        """One move that must succeed; its event."""
        event = d.move(flow, "--port", str(port))
        self.assertEqual((event["outcome"], event["to"], event["flow"]), ("moved", port, flow), event)
        return event
