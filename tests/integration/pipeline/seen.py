#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What hp3d reports to operators about bypassed rails and about links that go down.

usage: seen.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time
from cases import Wired, run
from harness import SETTLE, Link, RawPort, wait_for


class Seen(Wired):
    def status(self, d):
        """As hp3ctl prints it; its exit code agrees."""
        run = d.ctl("health", code=None)
        status = re.match(r"health +(\S+): ", run.stdout).group(1)
        self.assertEqual(run.returncode == 0, status in ("ok", "warning"), run.stdout)
        return status

    def becomes(self, d, status):
        wait_for(f"status {status}", lambda: self.status(d) == status)

    def changes(self, d, kind, *keys):
        return [tuple(e[k] for k in keys) for e in d.json("events", "--type", kind)]

    def page(self, d):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(SETTLE)
            s.connect(os.path.join(d.directory, "hp3-metrics.sock"))
            s.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            return b"".join(iter(lambda: s.recv(65536), b"")).decode()

    def metric(self, d, name):
        """The value of a metric that has one sample."""
        found = re.findall(rf"(?m)^{name}(?:\{{[^}}]*\}})? (\S+)$", self.page(d))
        self.assertEqual(len(found), 1, name)
        return float(found[0])

    def link(self, interface, state):
        subprocess.run(["ip", "link", "set", interface, state], check=True)

    def hangs_since(self, d):
        """Since when hp3ctl health warns of hangs, which were counted during the last minute."""
        warning = re.search(r"(?m)^  hangs: \[rail\.rail0\]: hp3d hung, .* hangs: \d+ \(since (\S+Z), and now\); give hp3d its own CPU",
                            re.sub(r"\n    ", " ", d.ctl("health", code=1).stdout))
        return warning and warning.group(1)

    def test_an_operator_turns_it(self):
        d = self.start()
        self.becomes(d, "ok")
        d.ctl("bypass", "on")
        self.becomes(d, "direct")
        wait_for("the metric", lambda: self.metric(d, "hp3_bypass_direct") == 1)
        d.ctl("bypass", "auto")
        self.becomes(d, "ok")
        wait_for("the metric", lambda: self.metric(d, "hp3_bypass_direct") == 0)
        self.assertEqual(d.json("events", "--since", "1h"), d.json("events"))
        wait_for("a second without events", lambda: d.json("events", "--since", "1s") == [])
        told = self.changes(d, "bypass", "rail", "from", "to")
        self.assertEqual(told[-2:], [("rail0", "taken", "direct"), ("rail0", "direct", "taken")])
        self.assertRegex(d.ctl("events").stdout, r"(?m)^\d+ +[\d.]+ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z bypass +rail0 taken -> direct$")
        self.stop(d)

    def test_a_hang(self):
        d = self.start(bypass={"stale_ms": 40})  # as it ships
        a, _ = self.endpoints(window=4096, rate=4000)  # frames go on to come
        a.tell("send 1000000")
        d.paired(1)
        hangs = self.metric(d, "hp3_bypass_hangs_total")
        d.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        d.process.send_signal(signal.SIGCONT)
        wait_for("the event", lambda: ("taken", "direct") in self.changes(d, "bypass", "from", "to"))
        hung = time.time()
        wait_for("hp3d's own look at its counters", lambda: time.time() > hung + 7)
        self.becomes(d, "drops")
        self.assertLess(self.hangs_since(d), time.strftime("%FT%TZ", time.gmtime(hung + 6)))
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

    def test_a_silent_port(self):
        """Requests leave, nothing arrives. Frames that are no RoCEv2 (here: ARP of others) do not count as replies."""
        for fail_open in ("auto", "off"):
            with self.subTest(fail_open=fail_open):
                d = self.start(bypass={"fail_open": fail_open})
                self.assertEqual(d.ask("health")["warnings"], [])
                a = self.endpoint(self.rnic, "a", timeout=14)
                a.tell("send 100")
                others = RawPort(self.net.far)

                def silent():
                    others.send(b"\xff" * 6 + b"\x02\0\0\0\0\x07" + b"\x08\x06" + bytes(46))
                    warnings = [(w["code"], w["text"]) for w in d.ask("health")["warnings"]]
                    return warnings if "silent" in dict(warnings) else None
                self.assertIn(("silent", "[rail.rail0] net: requests leave, and no packet arrives"), wait_for("a warning", silent))
                self.assertRegex(d.output(), r"\[rail\.rail0\] net: silent: \d+ requests left by this port, and no RoCEv2 packet has arrived")
                self.assertEqual(d.json("health", code=1)[0]["status"], "silent")
                self.assertIn("[rail.rail0] net: requests leave", d.ctl("health", code=1).stdout)
                silent = r'(?m)^hp3_port_(silent|silences_total)\{rail="rail0",side="(\w+)"\} (\d+)$'
                wait_for("the metrics", lambda: sorted(re.findall(silent, self.page(d))) == [
                    ("silences_total", "net", "1"), ("silences_total", "rnic", "0"), ("silent", "net", "1"), ("silent", "rnic", "0")])
                a.kill()  # it has given up
                a, b = self.endpoints()
                a.tell("send 100")
                wait_for("all ACKs", lambda: a.report()["acked"] == 100 * 16)
                wait_for("no warning", lambda: "silent" not in [w["code"] for w in d.ask("health")["warnings"]])
                self.assertEqual(self.changes(d, "silent", "rail", "side", "from", "to"),
                                 [("rail0", "net", "heard", "silent"), ("rail0", "net", "silent", "heard")])
                self.assertIn("[rail.rail0] net: no longer silent", d.output())
                for endpoint in (a, b):
                    endpoint.kill()
                others.close()
                self.stop(d)

    def has_carrier(self, interface):
        out = subprocess.run(["ip", "-j", "link", "show", interface], check=True, capture_output=True, text=True).stdout
        return "LOWER_UP" in json.loads(out)[0]["flags"]

    def carried(self, carrier):
        """What is seen beyond the other port."""
        wait_for(f"carrier {carrier}", lambda: self.has_carrier(self.net.far) == carrier)

    def test_a_link_is_carried(self):
        """While hp3d runs or hangs; the other port is up again when it ends, however it does, and traffic passes."""
        for ports in (self.ports(), (self.rnic.xdp_devargs(0), self.net.xdp_devargs(1))):
            d = self.daemon({"rail0": ports}, bypass={"carry_link": "on"}).up()
            self.becomes(d, "ok")
            for hang in (False, True):
                if hang:
                    d.process.send_signal(signal.SIGSTOP)
                self.link(self.rnic.far, "down")
                self.carried(False)
                self.link(self.rnic.far, "up")
                self.carried(True)
                if hang:
                    d.process.send_signal(signal.SIGCONT)
                self.becomes(d, "ok")
            a, b = self.endpoints(timeout=14)
            a.tell("send 20")
            wait_for("all ACKs", lambda: a.report()["acked"] == 20 * 16)
            self.link(self.rnic.far, "down")
            self.carried(False)
            d.process.kill()
            d.process.wait()
            self.carried(True)
            a.kill()
            b.kill()
            self.link(self.rnic.far, "up")
        d = self.start(bypass={"carry_link": "on"})
        self.link(self.rnic.far, "down")
        self.carried(False)
        self.stop(d)
        self.carried(True)
        self.assertEqual(glob.glob(f"/run/hp3/down-{os.stat('/proc/self/ns/net').st_ino}-*"), [])

    def test_a_carried_link_takes_time(self):
        """A NIC has a link seconds after it was set up. Meanwhile, the other port stays up."""
        d = self.start(bypass={"carry_link": "on"})
        self.becomes(d, "ok")
        self.link(self.rnic.far, "down")
        self.carried(False)
        self.link(self.net.far, "down")
        self.link(self.rnic.far, "up")
        wait_for("net set up", lambda: "net: set up again" in d.output())
        time.sleep(2.5)  # hp3d-carry looks each second
        self.link(self.net.far, "up")
        self.becomes(d, "ok")
        self.assertNotIn("rnic: set down", d.output())
        self.stop(d)
        self.link(self.net.far, "down")  # as when hp3d's start makes a NIC train
        d = self.start(bypass={"carry_link": "on"})
        time.sleep(2.5)
        self.link(self.net.far, "up")
        self.becomes(d, "ok")
        self.assertNotIn("set down", d.output())
        self.stop(d)

    def keeper_of_links(self, d):
        """The process that sets links up again, by its name."""
        with open(f"/proc/{d.process.pid}/task/{d.process.pid}/children") as f:
            for child in map(int, f.read().split()):
                with open(f"/proc/{child}/comm") as name:
                    if name.read() == "hp3d-carry\n":
                        return child
        raise AssertionError("no such process")

    def keeper_looks(self, d):
        """It has looked at the links since hp3d began. A link that goes down before counts as not there yet, for 30 s."""
        self.becomes(d, "ok")
        with open(f"/proc/{self.keeper_of_links(d)}/status") as status:
            def wakes():
                status.seek(0)
                return int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", status.read()).group(1))
            before = wakes()
            wait_for("its looks", lambda: wakes() > before + 1)

    def test_all_of_it_is_killed(self):
        """The next hp3d finds what is down, even one that is not to carry links; and an operator has the last word."""
        d = self.start(bypass={"carry_link": "on"})
        self.keeper_looks(d)
        self.link(self.rnic.far, "down")
        self.carried(False)
        keeper = self.keeper_of_links(d)
        with open(f"/proc/{keeper}/status") as f:
            self.assertIn("CapEff:\t%016x\n" % (1 << 12), f.read())
        os.kill(keeper, signal.SIGKILL)
        d.process.kill()
        d.process.wait()
        time.sleep(0.2)
        self.assertFalse(self.has_carrier(self.net.far))
        d = self.start()
        self.carried(True)
        self.assertIn("net: set up again, after an hp3d that was killed", d.output())
        self.stop(d)
        self.link(self.rnic.far, "up")
        d = self.start(bypass={"carry_link": "on"})
        self.keeper_looks(d)
        self.link(self.rnic.far, "down")
        self.carried(False)
        self.link(self.net.near, "up")
        time.sleep(0.3)
        self.assertTrue(self.has_carrier(self.net.far))
        self.stop(d)

    def test_a_link_is_carried_to_a_driver(self):
        """But not from it: hp3d says so at its start."""
        d = self.daemon({"rail0": (self.rnic.devargs(0), "net_ring0")}, bypass={"carry_link": "on"}).up()
        self.becomes(d, "ok")
        for state in ("down", "up"):
            self.link(self.rnic.far, state)
            wait_for("both links", lambda: d.json("health", code=None)[0]["links"]["rail0"] == {
                "rnic": state == "up", "net": state == "up"})
        self.assertIn("[rail.rail0] net: set down, for as long as the other port has no link", d.output())
        self.assertIn("[rail.rail0] rnic: stays up if the other port has no link: only one of them is a kernel interface", d.output())
        d.stop()

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
