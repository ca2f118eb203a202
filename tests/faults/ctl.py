#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Calls of hp3ctl fail, one at a time: it says so, with its exit code, or what it prints is whole.

usage: ctl.py HP3D HP3CTL-FAULTS [unittest arguments]

HP3_FAULTS=all               every call of hp3ctl.def in each command, once and from then on; without it a few
HP3_FAULTS=stats/malloc:3+   this one only
HP3_FAULTS_SEED=7            which ones; without it HP3_SEED_BASE, or any
HP3_FAULTS_PART=2/5          of `all` the second fifth
"""
import errno
import json
import os
import random
import re
import subprocess
import sys
import tarfile
import time
import unittest

from page import Page
from rig import BROKEN, Link, RawPort, Rig, own_namespace

HP3D, HP3CTL = sys.argv[1:3]
WANTED = os.environ.pop("HP3_FAULTS", "")
PART, PARTS = map(int, os.environ.get("HP3_FAULTS_PART", "1/1").split("/"))
SEED = int(os.environ.get("HP3_FAULTS_SEED") or os.environ.get("HP3_SEED_BASE") or random.SystemRandom().randrange(10000))
FEW = 5  # of each command
LIBRARY_S = "Input/output error"  # libarchive keeps its errors to itself
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hp3ctl.def"), encoding="ascii") as table:
    ERRORS = {m[1]: m[2] for m in re.finditer(r"^[XH]\((\w+), \S+, (\w+)\)", table.read(), re.M)}
TELLS_WHAT_IT_CAN = "doctor", "__complete", "bundle"  # others print all or fail


def shape(text):
    """Without what is another value each time."""
    return sorted(re.sub(r"[\d.]+|(?<= )-(?= |$)", "#", " ".join(line.split())) for line in text.splitlines())


class Hp3ctl(unittest.TestCase):
    def setUp(self):
        links = Link("f"), Link("g")
        ports = [RawPort(link.far) for link in links]
        for link, port in zip(links, ports):
            self.addCleanup(link.remove)
            self.addCleanup(port.close)
        self.rig = Rig(HP3D, HP3CTL, links, ports)
        self.addCleanup(self.rig.close)
        self.assertTrue(self.rig.up(), self.rig.d.output())
        self.rig.pair()
        self.rig.move(True)
        self.page = Page(os.path.join(self.rig.d.directory, "ctl"))
        self.addCleanup(self.page.close)
        self.file = os.path.join(self.rig.d.directory, "bundle.tar.gz")
        self.random = random.Random(SEED)
        self.seen = []
        self.tried = self.met = 0

    def commands(self):
        flow = self.rig.peers.flow
        once = (("bundle", self.file), ("doctor", "--config", self.rig.d.config), ("__complete", "--socket", self.rig.d.socket, "show", ""))
        both = (("flows", "--sort", "rtt"), ("show", flow), ("stats", "--explain"), ("events", "--all"), ("why", flow), ("paths",), ("peers",),
                ("trace", flow, "--known", "50000", "50001"), ("probes",), ("mode",), ("bypass",), ("config",), ("health",))
        for args in once + both:
            yield args
        for args in both:
            yield ("--json", *args)

    def call(self, args, fault=None):
        if os.path.exists(self.file):
            os.unlink(self.file)
        self.page.disarm()
        env = {**os.environ, "HP3_FAULT_PAGE": self.page.path}
        if fault is not None:
            env["HP3_FAULT"] = fault
        socket = () if args[0] in ("__complete",) else ("--socket", self.rig.d.socket)
        return subprocess.run([HP3CTL, *args, *socket] if socket else [HP3CTL, *args], env=env, capture_output=True,
                              text=True, timeout=120, check=False)

    def told(self, args, name, run):
        """It failed: is it said what did?"""
        says = re.escape(os.strerror(getattr(errno, ERRORS[name])))
        if ERRORS[name] == "ENOMEM":
            says += "|memory"
        if name.startswith("archive_"):
            says += "|" + LIBRARY_S
        text = run.stderr
        if args[0] == "--json":
            last = json.loads(run.stdout.splitlines()[-1])
            self.assertFalse(last["ok"])
            text = last["error"]["text"]
        self.assertRegex(text, says)

    def judge(self, args, name, run, usual):
        self.assertIsNone(BROKEN.search(run.stderr), "it broke")
        self.assertIn(run.returncode, range(5))
        if "--json" in args:
            for line in run.stdout.splitlines():
                json.loads(line)
        if args[0] == "bundle":
            self.assertEqual(os.path.exists(self.file), run.returncode == 0)
            if run.returncode == 0:
                with tarfile.open(self.file) as f:
                    self.assertGreater(len(f.getnames()), 10)
        if args[0] == "doctor":
            self.assertIn(run.returncode, (0, 1))
        elif run.returncode != usual.returncode:
            self.told(args, name, run)
        elif args[0] not in TELLS_WHAT_IT_CAN:
            self.assertEqual(shape(run.stdout), shape(usual.stdout))

    def faults_of(self, what, counts):
        if "/" in WANTED:
            return [WANTED.split("/")[1]] if WANTED.split("/")[0] == what else []
        faults = [f"{name}:{i}{plus}" for name, n in counts.items() for i in range(1, n + 1) for plus in ("", "+")]
        if WANTED:
            self.random.shuffle(faults)
            return faults[PART - 1::PARTS]
        names = self.random.sample(sorted(counts), len(counts))
        return [f"{name}:{self.random.randint(1, counts[name])}{self.random.choice(('', '+'))}" for name in names[:FEW]]

    def test_calls(self):
        begun = time.monotonic()
        for args in self.commands():
            what = " ".join(a for a in args if a in ("--json", "__complete") or re.fullmatch("[a-z]+", a)).split()
            what = "json-" * (what[0] == "--json") + what[what[0] == "--json"]
            usual = self.call(args)
            self.assertIn(usual.returncode, (0, 1), usual.stderr)
            counts = self.page.counts()
            for fault in self.faults_of(what, counts):
                run = self.call(args, fault)
                self.tried += 1
                if self.page.hits() == 0:
                    continue
                self.met += 1
                try:
                    self.judge(args, fault.split(":")[0], run, usual)
                except (AssertionError, ValueError, KeyError, IndexError, OSError, tarfile.TarError) as problem:
                    self.seen.append(f"{what}/{fault}, called in {self.page.by(HP3CTL)}: exit code {run.returncode}: {problem}")
                    print(f"\n{self.seen[-1]}\n{run.stdout[-500:]}{run.stderr[-1500:]}", file=sys.stderr)
        print(f"\n{self.tried} faults, {self.met} of them met, {time.monotonic() - begun:.1f} s, HP3_FAULTS_SEED={SEED}", file=sys.stderr)
        self.assertGreater(self.met, 0)
        self.assertEqual(self.seen, [])
        self.assertEqual(self.rig.d.stop(), 0)


if __name__ == "__main__":
    own_namespace()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
