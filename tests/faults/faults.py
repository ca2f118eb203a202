#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of hp3d fail, one at a time, and whatever fails is told clearly, or done without.

usage: faults.py HP3D-FAULTS HP3CTL [unittest arguments]

HP3_FAULTS=all               every call of calls.def in each phase, once and from then on; without it a few of them
HP3_FAULTS=wide              likewise, but of a function that is called often only some calls
HP3_FAULTS=count             how often what is called in which phase
HP3_FAULTS=reload/open64:3+  this one only: in `reload` the third call of open64() and all behind it
HP3_FAULTS_SEED=7            which ones; without it HP3_SEED_BASE, or any
HP3_FAULTS_PART=2/5          of `all` and `wide` the second fifth: several of these run beside each other
"""
import errno
import os
import random
import re
import sys
import time
import unittest

from page import FOREVER
from rig import Link, RawPort, Rig, own_namespace, wait_for  # noqa: F401

HP3D, HP3CTL = sys.argv[1:3]
WANTED = os.environ.get("HP3_FAULTS", "")
PART, PARTS = map(int, os.environ.get("HP3_FAULTS_PART", "1/1").split("/"))
SEED = int(os.environ.get("HP3_FAULTS_SEED") or os.environ.get("HP3_SEED_BASE") or random.SystemRandom().randrange(10000))
FEW = {"start": 10, "run": 24, "move": 24, "reload": 24, "stop": 3}
OFTEN = 12
BUFFERS = "tx", "mbuf"  # an hp3d that ends keeps what it cannot send, and cannot take the rest
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.def"), encoding="ascii") as table:
    ERRORS = {m[1]: m[2] for m in re.finditer(r"^[XH]\((\w+), \S+, (\w+)\)", table.read(), re.M)}


class Fault:
    def __init__(self, phase, name, first, forever):
        self.phase, self.name, self.first, self.last = phase, name, first, FOREVER if forever else first

    def spec(self):
        return f"{self.name}:{self.first}{'+' if self.last == FOREVER else ''}"

    def __str__(self):
        return f"{self.phase}/{self.spec()}"


class Faults(unittest.TestCase):
    def wire(self):
        self.links = Link("f"), Link("g")
        self.ports = [RawPort(link.far) for link in self.links]

    def unwire(self):
        for end in self.ports:
            end.close()
        for link in self.links:
            link.remove()

    def setUp(self):
        self.wire()
        self.addCleanup(lambda: self.unwire())
        self.seen = []
        self.random = random.Random(SEED)
        self.rig, self.spoilt = None, False
        self.tried = self.met = 0
        self.begun = time.monotonic()

    def begin(self, fault=None):
        if self.rig is not None:
            self.rig.close()
        if self.spoilt:  # what a dead hp3d left there is not what comes next is about
            self.unwire()
            self.wire()
        self.spoilt = False
        self.rig = Rig(HP3D, HP3CTL, self.links, self.ports, fault, probes={"keys": "auto"})
        self.addCleanup(self.rig.close)
        return self.rig

    def ready(self):
        """hp3d with a flow that can be moved."""
        rig = self.begin()
        self.assertTrue(rig.up(), rig.d.output())
        rig.pair()
        rig.page.disarm()
        return rig

    def chosen(self, phase, counts):
        """What fails, by the counts of a phase in which nothing did."""
        if "/" in WANTED:
            where, name, n = re.fullmatch(r"(\w+)/(\w+):(\d+\+?)", WANTED).groups()
            return [Fault(phase, name, int(n.rstrip("+")), n[-1] == "+")] if where == phase else []
        faults = []
        for name, n in counts.items():
            calls = list(range(1, n + 1))
            if WANTED == "wide" and n > OFTEN:
                calls = [1, n, *self.random.sample(calls[1:-1], OFTEN - 2)]
            faults += [Fault(phase, name, i, forever) for i in calls for forever in (False, True)]
        self.random.shuffle(faults)
        return faults[PART - 1::PARTS] if WANTED else self.few(faults, FEW[phase])

    def few(self, faults, n):
        """Of each function about as many."""
        by_name = {}
        for fault in self.random.sample(faults, len(faults)):
            by_name.setdefault(fault.name, []).append(fault)
        names = self.random.sample(sorted(by_name), len(by_name))
        return [by_name[name].pop() for name in (names * n)[:n] if by_name[name]]

    def met_by(self, fault):
        """Does the failing call belong to this fault? Then it is told when something is wrong."""
        self.tried += 1
        if self.tried % 100 == 0:
            self.tell(fault.phase)
        self.met += self.rig.page.hits() > 0
        return f"{fault}, called in {self.rig.page.by(HP3D)}"

    def tell(self, phase):
        print(f"\n{phase}: {self.tried} faults, {self.met} of them met, {time.monotonic() - self.begun:.1f} s, "
              f"HP3_FAULTS_SEED={SEED}", file=sys.stderr)

    def wrong(self, what, problem):
        with open(self.rig.d.log.name, errors="replace") as f:
            said = f.read()
        self.spoilt = True
        self.seen.append(f"{what}: {problem}")
        print(f"\n{what}: {problem}\n{said[-6000:] if 'Sanitizer' in said else said[-1500:]}", file=sys.stderr)

    def verdict(self, phase):
        self.tell(phase)
        self.assertEqual(self.seen, [])

    def running(self, phase):
        """One hp3d, in which one call after the other fails, each in an operation of its own."""
        rig = self.ready()
        operation = getattr(rig, phase)
        for _ in range(2):  # the first time some things are made that stay
            rig.page.disarm()
            operation(True)
            counts = rig.page.counts()
            rig.all_came()
        if WANTED == "count":
            print(f"\n{phase}: {counts}", file=sys.stderr)
            return
        for fault in self.chosen(phase, counts):
            try:
                rig.page.arm(fault.name, fault.first, fault.last)
                getattr(rig, phase)(False)
                what = self.met_by(fault)
                rig.page.disarm()
                rig.sound()
                rig.all_came()
                rig.settled()
                rig.all_came()
                getattr(rig, phase)(True)
                rig.all_came()
            except (AssertionError, OSError, ValueError, KeyError) as problem:
                what = self.met_by(fault)
                rig.page.disarm()
                self.wrong(what, problem)
                rig.close()
                rig = self.ready()
        self.stops(rig, f"the end of {phase}")
        self.verdict(phase)

    def stops(self, rig, what):
        """An hp3d that nothing keeps from it ends well; a sanitizer says what was lost."""
        try:
            self.assertEqual(rig.d.stop(), 0)
            rig.sound()
        except AssertionError as problem:
            self.wrong(what, problem)

    def test_run(self):
        self.running("run")

    def test_move(self):
        self.running("move")

    def test_reload(self):
        self.running("reload")

    def clear(self, fault, usual):
        """It ended: is it said what failed?"""
        new = [line for line in self.rig.d.output().splitlines() if line not in usual]
        code = getattr(errno, ERRORS[fault.name], 0)
        says = re.escape(os.strerror(code)) + {
            errno.ENOMEM: "|memory", errno.EPERM: "|permission", errno.EACCES: "|permission"}.get(code, "")
        if not any(re.search(says, line) for line in new):
            raise AssertionError(f"it ended, and nothing says why: {new}")

    def test_start(self):
        rig = self.begin()
        self.assertTrue(rig.up(), rig.d.output())
        counts = rig.page.counts()
        self.stops(rig, "the first one")
        usual = set(rig.d.output().splitlines())
        if WANTED == "count":
            print(f"\nstart: {counts}", file=sys.stderr)
            return
        faults = self.chosen("start", counts)
        for fault in faults:
            try:
                rig = self.begin(fault.spec())
                began = rig.up()
                what = self.met_by(fault)
                rig.page.disarm()
                if began:
                    rig.pair()
                    rig.move(True)
                    rig.all_came()
                    self.stops(rig, what)
                else:
                    rig.sound()
                    self.assertNotEqual(rig.d.process.returncode, 0)
                    self.clear(fault, usual)
            except (AssertionError, OSError, ValueError, KeyError) as problem:
                self.wrong(self.met_by(fault), problem)
        self.verdict("start")

    def test_stop(self):
        """With packets on hold, which leave."""
        faults = None
        while faults is None or faults:
            rig = self.ready()
            rig.move(True)
            rig.begin_move(True)
            rig.page.disarm()
            if faults is None:
                self.assertEqual(rig.d.stop(), 0)
                counts = rig.page.counts()
                rig.all_came()
                if WANTED == "count":
                    print(f"\nstop: {counts}", file=sys.stderr)
                    return
                faults = self.chosen("stop", counts)
                continue
            fault = faults.pop()
            try:
                rig.page.arm(fault.name, fault.first, fault.last)
                rig.d.stop()
                what = self.met_by(fault)
                rig.sound()
                rig.all_came(but_for_the_last=fault.name in BUFFERS and fault.last == FOREVER)
                rig.state_file()
            except (AssertionError, OSError, ValueError, KeyError) as problem:
                self.wrong(self.met_by(fault), problem)
        self.verdict("stop")


if __name__ == "__main__":
    own_namespace()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
