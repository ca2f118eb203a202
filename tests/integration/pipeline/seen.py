#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What operators are told of rails that hp3d is passed by on, and of links that go down.

usage: seen.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import re
import signal
import socket
import subprocess
import time
from cases import Wired, run
from harness import SETTLE, Link, wait_for


class Seen(Wired):
    BYPASS = {}

    def status(self, d):
        """As hp3ctl prints it; its exit code agrees."""
        run = d.ctl("health", code=None)
        status = re.search(r"(?m)^status +(\S+)$", run.stdout).group(1)
        self.assertEqual(run.returncode == 0, status == "ok", run.stdout)
        return status

    def becomes(self, d, status):
        wait_for(f"status {status}", lambda: self.status(d) == status)

    def changes(self, d, kind, *keys):
        return [tuple(e[k] for k in keys) for e in d.json("events", "--type", kind)]

    def metric(self, d, name):
        """The value of a metric that has one sample."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(SETTLE)
            s.connect(os.path.join(d.directory, "hp3-metrics.sock"))
            s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            page = b"".join(iter(lambda: s.recv(65536), b"")).decode()
        found = re.findall(rf"(?m)^{name}(?:\{{[^}}]*\}})? (\S+)$", page)
        self.assertEqual(len(found), 1, name)
        return float(found[0])

    def link(self, interface, state):
        subprocess.run(["ip", "link", "set", interface, state], check=True)

    def test_an_operator_turns_it(self):
        d = self.start()
        self.becomes(d, "ok")
        d.ctl("bypass", "on")
        self.becomes(d, "direct")
        wait_for("the metric", lambda: self.metric(d, "hp3_bypass_direct") == 1)
        d.ctl("bypass", "auto")
        self.becomes(d, "ok")
        wait_for("the metric", lambda: self.metric(d, "hp3_bypass_direct") == 0)
        told = self.changes(d, "bypass", "rail", "from", "to")
        self.assertEqual(told[-2:], [("rail0", "taken", "direct"), ("rail0", "direct", "taken")])
        self.assertRegex(d.ctl("events").stdout, r"(?m)^\d+ +\S+ bypass +rail0 taken -> direct$")
        self.stop(d)

    def test_a_hang(self):
        d = self.start()
        a, _ = self.endpoints(window=4096, rate=4000)  # frames go on to come
        a.tell("send 1000000")
        d.paired(1)
        hangs = self.metric(d, "hp3_bypass_hangs_total")
        d.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        d.process.send_signal(signal.SIGCONT)
        wait_for("the event", lambda: ("taken", "direct") in self.changes(d, "bypass", "from", "to"))
        self.becomes(d, "ok")
        self.assertGreater(self.metric(d, "hp3_bypass_hangs_total"), hangs)
        a.kill()
        self.stop(d)

    def test_a_link_goes_down(self):
        for fail_open in ("auto", "off"):
            with self.subTest(fail_open=fail_open):
                d = self.start(bypass={"fail_open": fail_open})
                self.becomes(d, "ok")
                for side, link in (("rnic", self.rnic), ("net", self.net)):
                    self.link(link.far, "down")
                    self.becomes(d, "link-down")
                    self.assertEqual(d.json("health", code=1)[0]["links"],
                                     {"rail0": {"rnic": side != "rnic", "net": side != "net"}})
                    self.link(link.far, "up")
                    self.becomes(d, "ok")
                    self.assertEqual(self.changes(d, "link", "rail", "side", "from", "to")[-2:],
                                     [("rail0", side, "up", "down"), ("rail0", side, "down", "up")])
                    self.assertIn(f"[rail.rail0] {side}: the link is down: nothing passes", d.output())
                    self.assertIn(f"[rail.rail0] {side}: the link is up again", d.output())
                self.stop(d)

    def test_an_interface_is_deleted(self):
        """In the midst of traffic. Its lcore goes on to sleep, and what is made anew works after a restart."""
        d = self.start()
        self.becomes(d, "ok")
        a, _ = self.endpoints(window=4096)
        a.tell("send 1000000")
        d.paired(1)
        self.net.remove()
        self.becomes(d, "link-down")
        self.assertEqual(self.changes(d, "link", "side", "to"), [("net", "down")])
        self.assertIn("[rail.rail0] net: its interface was deleted: make it anew, then restart hp3d", d.output())
        a.kill()

        def used():
            with open(f"/proc/{d.process.pid}/stat") as f:
                words = f.read().rsplit(")", 1)[1].split()
            return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
        begin, before = time.monotonic(), used()
        time.sleep(1)
        self.assertLess((used() - before) / (time.monotonic() - begin), 0.5)
        self.net = Link("n")
        self.addCleanup(self.net.remove)
        time.sleep(0.5)
        self.assertEqual(self.status(d), "link-down")
        d.stop()
        self.assertNotIn("not given back", d.output())
        d = self.start()
        self.becomes(d, "ok")
        a, b = self.endpoints()
        a.tell("send 20")
        wait_for("all ACKs", lambda: a.report()["acked"] == 20 * 16)
        self.stop(d)


if __name__ == "__main__":
    run()
