#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Verbs mode: what RNICs and switches tell hp3d, besides completions: counters of CNPs, time stamps, mirrored CNPs.

usage: verbs_signals.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: as of verbs_fabric.py.
"""
import os
import random
import socket
import subprocess
import threading
import time
from cases import run
import frames
from harness import die_with_parent, wait_for
from verbs_fabric import Fabric, MLX5, PATHS, QPS, RXE


class Port(Fabric):
    """The port of the RNIC handles CNPs, as a sysfs that the test makes says."""

    def setUp(self):
        super().setUp()
        counters = os.path.join(self.directory, "class/infiniband/fake0/ports/1/hw_counters")
        os.makedirs(counters)
        self.counter = os.path.join(counters, "rp_cnp_handled")
        self.count(7)
        self.counting = False
        self.addCleanup(self.still)

    def count(self, n):
        fd = os.open(self.counter, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, b"%d\n" % n, 0)  # in place: the file is kept open
        os.close(fd)

    def counts(self):
        n = 7
        while self.counting:
            n += 3
            self.count(n)
            time.sleep(0.02)

    def still(self):
        if self.counting:
            self.counting = False
            self.thread.join()

    def run_slow(self, counting):
        """What moves were for when one path became slow, and what it was before."""
        a, b, pa, pb = self.both(metrics={"sysfs": self.directory})
        self.work(a)
        if counting:
            self.counting = True
            self.thread = threading.Thread(target=self.counts)
            self.thread.start()
            time.sleep(0.5)
        before = [e for e in a.json("events") if e.get("outcome") == "moved" and e["cause"] == "port_cnp"]
        self.leave_a_slow_path(a)
        self.still()
        for p in (pa, pb):
            self.judge(p)
        after = self.causes(a)
        self.stop(a)
        self.stop(b)
        return before, after

    def test_cnps_are_named(self):
        before, after = self.run_slow(True)
        self.assertLessEqual(len(before), 2, before)  # hardly anybody leaves for CNPs of whomever: hosts are slow by themselves
        self.assertIn("port_cnp", after)

    def test_without_cnps(self):
        before, after = self.run_slow(False)
        self.assertEqual(before, [])
        self.assertNotIn("port_cnp", after)


class Stamps(Fabric):
    """RNICs that stamp completions, as they should and otherwise: a slow path is left, and each answer counts under how it was timed."""

    NAMES = ("stamped", "unstamped", "stamp_missing", "stamp_backwards", "stamp_too_late", "stamp_distrusted")

    def answers(self, d):
        return {n: self.metric(d, f"hp3_verbs_answers_{n}_total") for n in self.NAMES}

    def times(self, how, vendor=MLX5):
        """How many answers there were of each kind; all that the engine got are among them."""
        fake = {"HP3_FAKE_STAMPS": how} if how else {}
        a, b, pa, pb = self.both(vendor=vendor, fake=fake.items())
        self.work(a)
        for _ in range(10):  # flows that leave at once ask little
            self.leave_a_slow_path(a)
            n = self.answers(a)
            if sum(n.values()) > 20:
                break
        self.assertGreater(sum(n.values()), 20)
        self.assertGreaterEqual(sum(n.values()), self.probe_counters(a)["probe_replies"] // 2)
        stamping = self.metric(a, "hp3_verbs_stamping_ports")
        self.judge_and_stop(a, b, pa, pb)
        return stamping, {name for name in n if n[name] > 0}, n

    def test_good(self):
        stamping, kinds, n = self.times("good")
        self.assertEqual(stamping, 1)
        self.assertEqual(kinds, {"stamped"}, n)

    def test_default(self):
        """No such counter, as with Soft-RoCE: hp3d's clock, and nothing to complain of."""
        self.assertEqual(self.times("", RXE)[:2], (0, {"unstamped"}))

    def test_soft_roce_that_stamps(self):
        """16 queue pairs on one completion queue."""
        self.assertEqual(self.times("good", RXE)[:2], (1, {"stamped"}))

    def test_says_so_but_makes_none(self):
        self.assertEqual(self.times("refused")[:2], (0, {"unstamped"}))

    def test_wraps(self):
        """60 times a second."""
        stamping, kinds, n = self.times("wraps")
        self.assertEqual(stamping, 1)
        self.assertLessEqual(kinds, {"stamped", "stamp_backwards", "stamp_distrusted"}, n)  # backwards: a host that slept for half of it
        self.assertGreater(n["stamped"], 10, n)

    def test_begins_anew(self):
        """Those that are on their way just then are refused."""
        stamping, kinds, n = self.times("resets")
        self.assertLessEqual(kinds, {"stamped", "stamp_backwards", "stamp_distrusted"}, n)
        self.assertGreater(n["stamped"], 0, n)

    def test_stands_still(self):
        stamping, kinds, n = self.times("still")
        self.assertEqual(kinds, {"stamp_backwards", "stamp_distrusted"}, n)

    def test_too_fast(self):
        stamping, kinds, n = self.times("fast")
        self.assertLessEqual(kinds, {"stamped", "stamp_too_late", "stamp_distrusted"}, n)  # stamped: a host that looked ten times as late
        self.assertGreater(n["stamp_too_late"], 0, n)


class Copies(Fabric):
    """What arrives at the RNIC is mirrored to m1."""

    def setUp(self):
        super().setUp()
        subprocess.run("ip link add m0 type veth peer name m1".split(), check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "del", "m0"], check=False)
        for name in ("m0", "m1"):
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        self.switch = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.addCleanup(self.switch.close)
        self.switch.bind(("m0", 0))

    def mirror(self, qpn, spoil=0, tag=b""):
        frame = bytearray(frames.roce(bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1)), 0xc001, frames.CNP, qpn, 0, 0, bytes(16)))
        frame[-1] ^= spoil
        self.switch.send(frame[:12] + tag + frame[12:])

    def for_a_while(self, a, seconds, which, **how):
        """CNPs of queue pairs that are on that path, or of any (None)."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            marked = [q["local_qpn"] for q in a.json("qps") if which is None or q["port"] % PATHS == which]
            for _ in range(50):
                for qpn in marked:
                    self.mirror(qpn, **how)
                time.sleep(0.001)

    def start(self):
        a = self.hp3d(1, verbs={"socket": "", "ibverbs": os.environ["HP3_TEST_UD"], "copies": "m1"})
        b = self.hp3d(2)
        programs = self.application(a, 1), self.application(b, 2)
        self.work(a)
        return a, b, *programs

    def copies(self, d):
        return self.metric(d, "hp3_verbs_copies_total")

    def felt_by_cnps(self, d):
        return any(e.get("cause") == "cnp" for e in d.json("events"))

    def leave_by_cnps(self, tag=b""):
        a, b, pa, pb = self.start()
        for _ in range(40):  # as soon as the peer is known to answer
            self.for_a_while(a, 0.5, None, tag=tag)
            if self.felt_by_cnps(a):
                break
        self.assertTrue(self.felt_by_cnps(a))
        bad = self.on(a)[0]
        self.paths([1500 if i == bad else 0 for i in range(PATHS)])
        for _ in range(40):
            self.for_a_while(a, 0.5, bad, tag=tag)
            if bad not in self.on(a):
                break
        self.assertNotIn(bad, self.on(a))
        self.assertGreater(self.copies(a), 5)
        self.judge_and_stop(a, b, pa, pb)

    def test_who_is_told_leaves(self):
        self.leave_by_cnps()

    def test_in_a_vlan(self):
        self.leave_by_cnps(bytes.fromhex("81000007"))

    def test_no_better_path(self):
        """CNPs by the thousand, all paths alike but for what hosts make of them: it is asked, and hardly anybody leaves."""
        a, b, pa, pb = self.start()
        self.for_a_while(a, 3, None)
        self.assertGreater(self.copies(a), 1000)
        self.assertTrue(self.felt_by_cnps(a))
        moves = [e for e in a.json("events") if e.get("outcome") == "moved" and e.get("cause") == "cnp"]
        self.assertLessEqual(len(moves), 2 * QPS, moves)
        self.judge_and_stop(a, b, pa, pb)

    def test_what_is_none(self):
        """Damaged ones, those of nobody, data, and anything else at all: no event comes of it."""
        a, b, pa, pb = self.start()
        self.for_a_while(a, 1, None, spoil=1)
        dice = random.Random(7)
        for i in range(200):
            self.mirror(0xabcd00 + i)
            self.switch.send(frames.roce(bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1)), 0xc001, frames.ACK, 0x100, i, 0, bytes(4)))
            self.switch.send(dice.randbytes(dice.randrange(14, 1500)))
        wait_for("those of nobody", lambda: self.copies(a) >= 200)
        self.assertNotIn("cnp", {e.get("cause") for e in a.json("events")})
        self.judge_and_stop(a, b, pa, pb)

    def test_the_mirror_goes(self):
        """One line, and all else as before."""
        a, b, pa, pb = self.start()
        subprocess.run(["ip", "link", "del", "m0"], check=True)
        wait_for("a word", lambda: "CNPs are not seen there any more" in a.output())
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)

    def test_no_such_interface(self):
        d = self.daemon({}, defaults=True, begin=False,
                        verbs={"socket": os.path.join(self.directory, "s"), "ibverbs": "", "copies": "m1, nowhere"})
        d.begin(die_with_parent)
        self.assertNotEqual(d.process.wait(20), 0)
        self.assertRegex(d.output(), r"\[verbs\] copies = nowhere: .*; give an interface that is there and up")


if __name__ == "__main__":
    run()
