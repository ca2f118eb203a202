#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Verbs mode: peers that cannot answer, and hosts on which hp3d lacks something.

usage: verbs_peers.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: as of verbs_fabric.py.
"""
import time
from cases import run
from harness import wait_for
from verbs_fabric import Fabric, KEY, PATHS, CAP_NET_BIND_SERVICE, CAP_NET_RAW


class Others(Fabric):
    """Peers that do not answer: the applications go on, nobody moves for it."""

    def quiet(self, a, b, pa, pb, counter):
        self.work(a)
        self.paths([1500] * PATHS)
        wait_for(counter, lambda: self.probe_counters(a)[counter] + self.probe_counters(b)[counter] > 3)
        self.assertEqual(self.causes(a) & {"completion", "dead"}, set())
        for p in (pa, pb):
            self.judge(p)
        self.stop(a)
        self.stop(b)

    def test_keys_that_differ(self):
        a = self.hp3d(1)
        b = self.hp3d(2, probes={"probe_key": KEY[::-1]})
        self.quiet(a, b, self.application(a, 1), self.application(b, 2), "hellos_bad_tag")

    def test_without_datagrams(self):
        """The other host's RNIC makes no such queue pairs: one line says so, and it is moved by hand."""
        a, b = self.hp3d(1), self.hp3d(2, fake={"HP3_FAKE_NO_UD": "1"}.items())
        pa, pb = self.application(a, 1), self.application(b, 2)
        self.says(b, "fake0: no queue pair of datagrams")
        self.work(a)
        self.paths([1500] * PATHS)
        time.sleep(1)
        self.assertEqual(self.causes(b), set())
        flow = b.json("qps")[0]["flow"]
        self.assertEqual(b.move(flow, "--port", "50000")["outcome"], "moved")
        for p in (pa, pb):
            self.judge(p)
        self.stop(a)
        self.stop(b)

    def test_no_library(self):
        a = self.hp3d(1, verbs={"socket": "", "ibverbs": "/nowhere/libibverbs.so"})
        self.says(a, "/nowhere/libibverbs.so: cannot open")
        self.stop(a)

    def test_no_rnic_we_know(self):
        a = self.hp3d(1, vendor="14e4")
        self.says(a, "which source ports its datagrams have is not known (vendor 0x14e4)")
        self.stop(a)

    def test_without_the_right(self):
        """No raw socket: that is said, ports stand for paths, and a slow path is left."""
        a, b = self.hp3d(1, drop=CAP_NET_RAW, ppp={"identity": "trace"}), self.hp3d(2)
        pa, pb = self.application(a, 1), self.application(b, 2)
        self.work(a)
        wait_for("a word", lambda: "no raw socket, so switches are not asked" in a.output())
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)

    def test_the_other_one_vanishes(self):
        """Killed, nothing moves for it; another one in its place is found, and answers."""
        a, b, pa, pb = self.both()
        self.work(a)
        b.process.kill()
        b.process.wait()
        self.paths([1500] * PATHS)
        time.sleep(1)
        self.paths([0] * PATHS)
        moves = self.causes(a) & {"dead"}
        self.assertEqual(moves, set())
        b2 = self.hp3d(2)
        answers = self.probe_counters(a)["answers"]
        self.leave_a_slow_path(a, 40)
        self.assertGreater(self.probe_counters(a)["answers"], answers)
        self.judge_and_stop(a, b2, pa, pb)

    def test_without_a_key(self):
        """Hosts agree on one."""
        a, b, pa, pb = self.both(probes={"probe_key": ""})
        self.work(a)
        for d in (a, b):
            wait_for("a key", lambda d=d: "keyed" in {e["type"] for e in d.json("events")})
            self.assertRegex(d.output(), "(?m)capabilities kept: net_bind_service$")
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)

    def test_without_privileged_ports(self):
        """That is said: hosts that agree on keys do not reply then, those with a key of all do."""
        a, b = self.hp3d(1, drop=CAP_NET_BIND_SERVICE, probes={"probe_key": ""}), self.hp3d(2, probes={"probe_key": ""})
        pa, pb = self.application(a, 1), self.application(b, 2)
        wait_for("a word", lambda: "UDP ports below 1024 cannot be had" in a.output())
        self.quiet(a, b, pa, pb, "hellos_unprivileged")
        self.paths([0] * PATHS)
        a, b = self.hp3d(1, drop=CAP_NET_BIND_SERVICE), self.hp3d(2)
        pa, pb = self.application(a, 1), self.application(b, 2)
        self.work(a)
        self.leave_a_slow_path(a)
        self.assertNotIn("UDP ports below 1024", a.output())
        self.judge_and_stop(a, b, pa, pb)


if __name__ == "__main__":
    run()
