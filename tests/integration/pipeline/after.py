#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""After hp3d was killed, the next hp3d and the kernel have the ports that flows use.

usage: after.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import contextlib
import json
import os
import signal
import time
from cases import Wired, run
from harness import TWO_LCORES, wait_for


TIMEOUT = 14  # of RNICs: 67 ms
PER_RUN = 200  # packets of each flow that show where it is


class After(Wired):
    """Nobody forwards while hp3d is away: a file is all that the next one has."""
    def start(self, **sections):
        return super().start(bypass={"fail_open": "off"}, **sections)

    def file(self, d):
        return d.socket + ".moved"

    def moved_and_killed(self, **sections):
        """Three flows, two of them moved, everything acknowledged; hp3d is killed."""
        d = self.start(**sections)
        a, b = self.endpoints(qps=3, pairs=3)
        a.tell("send 1000000")
        flows = sorted(d.paired(3))
        ports = [self.port(0), self.port(0)]
        for flow, port in zip(flows, ports):
            self.move(d, flow, port)
        self.seen_on(b, flows, ports)
        self.settle(a)
        wait_for("the file", lambda: os.path.exists(self.file(d)) and len(self.kept(d)) == 2)
        self.assertEqual(os.stat(self.file(d)).st_mode & 0o777, 0o600)
        self.assertEqual(self.kept(d), dict(zip(flows, ports)))
        d.process.send_signal(signal.SIGKILL)
        d.process.wait()
        os.unlink(d.socket)
        return d, a, b, flows, ports

    def kept(self, d):
        with open(self.file(d)) as f:
            return {e["flow"]: e["port"] for e in json.load(f)["flows"]}

    def seen_on(self, b, flows, ports):
        wait_for("packets on the new ports", lambda: {
            q["ports"][-1][0] for q in b.report()["qps"]} >= set(ports))

    def again(self, d):
        d.begin()
        d.up()

    def test_flows_go_on_where_they_were(self):
        for eal in ({}, TWO_LCORES):
            with self.subTest(eal=eal):
                d, a, b, flows, ports = self.moved_and_killed(eal=eal)
                before = [len(q["ports"]) for q in b.report()["qps"]]
                self.again(d)
                self.assertIn("2 of 2 flows go on where an hp3d before had moved them", d.output())
                self.assertEqual({f["flow"]: f["port"] for f in d.flows()}, dict(zip(flows, ports)))
                a.tell("send 1000000")
                self.assertEqual(sorted(d.paired(3)), flows)
                self.settle(a)
                _, rb = self.whole(a, b)
                self.assertEqual([len(q["ports"]) for q in rb["qps"]], before)  # no packet went elsewhere
                a.tell("send 1000000")
                self.assertIn("0 flows not brought home", self.stop(d))
                self.assertFalse(os.path.exists(self.file(d)))
                a.kill()
                b.kill()

    def test_the_next_one_moves_nothing(self):
        """What an hp3d before had moved comes home behind a drain, from an hp3d that is told to move nothing."""
        for mode in ("observe", "off"):
            with self.subTest(mode=mode):
                d, a, b, flows, ports = self.moved_and_killed()
                with open(os.path.join(d.directory, "hp3.ini"), "a") as f:
                    f.write(f"[policy]\nmode = {mode}\n")
                self.again(d)
                self.assertIn("2 of 2 flows go on where an hp3d before had moved them", d.output())
                a.tell("send 1000000")
                wait_for("all flows at home", lambda: len(d.flows()) == 3 and not any(f["moved"] for f in d.flows()))
                self.settle(a)
                _, rb = self.whole(a, b)
                homes = {q["ports"][0][0] for q in rb["qps"]}
                self.assertEqual({q["ports"][-1][0] for q in rb["qps"]}, homes)
                self.stop(d)
                a.kill()
                b.kill()

    def test_flows_that_never_send_again_delay_no_stop(self):
        d, a, _, _, _ = self.moved_and_killed(control={"stop_drain_ms": 20000})
        a.kill()
        self.again(d)
        since = time.monotonic()
        self.assertIn("0 flows not brought home", self.stop(d))
        self.assertLess(time.monotonic() - since, 15)
        self.assertFalse(os.path.exists(self.file(d)))

    def test_a_file_that_cannot_be_used(self):
        d, a, b, flows, _ = self.moved_and_killed()
        with open(self.file(d)) as f:
            sound = f.read()
        other = json.loads(sound)
        other["boot"] = "0" * 36
        newer = json.loads(sound)
        newer["v"] = 2
        strange = json.loads(sound)
        strange["flows"] = [{"flow": flows[0], "port": 70000, "replies": 0}, {"flow": 7}, "x",
                            {"flow": "rail9" + flows[1][5:], "port": 50000, "replies": 0}]
        for text, mode, says in ((sound[:-20], 0o600, "not used, it is damaged"),
                                 (sound, 0o620, "not used, others may have written it"),
                                 (json.dumps(other), 0o600, "not used, the machine has booted since"),
                                 (json.dumps(newer), 0o600, "not used, it is of another version of hp3d"),
                                 (json.dumps(strange), 0o600, "0 of 4 flows go on")):
            with self.subTest(says=says):
                with open(self.file(d), "w") as f:
                    f.write(text)
                os.chmod(self.file(d), mode)
                self.again(d)
                self.assertIn(says, d.output())
                self.assertEqual(d.flows(), [])
                self.stop(d)
        os.symlink("/etc/passwd", self.file(d))
        self.again(d)
        self.assertIn("not used, Too many levels of symbolic links", d.output())
        self.stop(d)

    def test_no_file_is_wanted(self):
        d = self.start(control={"moved": "off"})
        a, b = self.endpoints(qps=1)
        a.tell("send 1000000")
        flow, = d.paired(1)
        self.move(d, flow, self.port(0))
        time.sleep(0.3)
        self.assertFalse(os.path.exists(self.file(d)))
        self.settle(a)
        self.whole(a, b)
        self.stop(d)


class Kept(Wired):
    """The kernel forwards, on the ports that flows had been moved to."""
    BYPASS = {"stale_ms": 300}  # less than RNICs wait, and more than hp3d waits for a processor

    def moved(self, sections=None, **shape):
        """Four flows in mid-traffic; two of them are moved."""
        d = self.start(**(sections or {}))
        a, b = (self.endpoint(link, side, qps=4, pairs=2, timeout=TIMEOUT, window=1024, rate=4000, **shape)
                for link, side in ((self.rnic, "a"), (self.net, "b")))
        a.tell("send 1000000")
        ports = {flow: self.port(0) for flow in sorted(d.paired(4))[:2]}
        for flow, port in ports.items():
            wait_for("the move", lambda f=flow, p=port: self.moves(d, f, p))
        self.on(b, ports.values())
        return d, a, b, ports

    def moves(self, d, flow, port):
        """False: on a busy machine it hung meanwhile, or its packets took too long to drain, or it looks for a path itself."""
        event = d.json("move", flow, "--port", str(port), code=None)[0]
        if event.get("error", {}).get("code") in ("not-paired", "busy"):
            return False
        self.assertNotIn("error", event, d.output())
        self.assertEqual((event["to"], event["flow"]), (port, flow))
        return event["outcome"] == "moved"

    def runs(self, b):
        return [[port for port, _ in q["ports"]] for q in b.report()["qps"]]

    def on(self, b, ports):
        wait_for("packets on the new ports", lambda: {r[-1] for r in self.runs(b)} >= set(ports))

    def flows_go_on(self, b):
        """Every queue pair receives more."""
        before = [q["received"] for q in b.report()["qps"]]
        wait_for("packets", lambda: all(
            q["received"] > n + PER_RUN for q, n in zip(b.report()["qps"], before)))

    def intact(self, a, b, runs):
        """Whole, in order, with right ICRCs, and no flow has left its port since."""
        self.settle(a)
        ra, rb = a.report(), b.report()
        self.assertEqual(ra["sent"] - ra["faults"]["again"], rb["received"])
        self.assertEqual((rb["faults"]["bad_icrc"], rb["faults"]["bad_payload"]), (0, 0))
        self.assertEqual(self.runs(b), runs)

    def says(self, d, n):
        wait_for("the line of the log", lambda: f"{n} flows go on on the ports to which they had" in d.output())

    def away(self, d, ports):
        def moved():
            return {f["flow"]: f["port"] for f in d.flows() if f["moved"]}
        with contextlib.suppress(AssertionError):
            wait_for("the flows", lambda: moved() == ports)
        self.assertEqual(moved(), ports)

    def killed(self, **shape):
        d, a, b, ports = self.moved(**shape)
        runs = self.runs(b)
        d.process.kill()
        d.process.wait()
        os.unlink(d.socket)
        self.flows_go_on(b)
        self.assertEqual(self.runs(b), runs)
        d.begin()
        d.up()
        self.says(d, 2)
        self.flows_go_on(b)
        self.away(d, ports)
        self.intact(a, b, runs)
        self.stop(d)

    # Each on ports of its own: flows that are not paired again when hp3d stops stay away, and the next one knows them.
    def test_killed(self):
        self.killed(payload=8)

    def test_killed_tagged(self):
        self.killed(payload=1400, vlan=7)

    def test_killed_tagged_twice(self):
        self.killed(vlan=7, inner=9)

    def test_killed_ipv6(self):
        self.killed(ipv6=1)

    def test_hangs(self):
        d, a, b, ports = self.moved({"bypass": {"stale_ms": 40}})  # as it ships
        runs = self.runs(b)
        for _ in range(3):
            d.process.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
            self.flows_go_on(b)
            d.process.send_signal(signal.SIGCONT)
            self.flows_go_on(b)
            self.away(d, ports)
        self.intact(a, b, runs)
        self.stop(d)

    def test_stopped_after_a_hang(self):
        """When it has noticed, all that was moved comes home."""
        d, a, b, ports = self.moved({"control": {"stop_drain_ms": 15000}})
        d.process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        self.flows_go_on(b)
        d.process.send_signal(signal.SIGCONT)
        self.assertIn("0 flows not brought home", self.stop(d))
        self.assertEqual(d.output().count("(stop), "), 2)
        self.flows_go_on(b)
        self.assertEqual([r[-1] for r in self.runs(b)], [r[0] for r in self.runs(b)])
        self.settle(a)

    def test_home_again(self):
        """What has come home, by an operator or by a stop, stays at home."""
        d, a, b, ports = self.moved()
        self.assertEqual(d.move(next(iter(ports)), "--home")["outcome"], "moved")
        self.flows_go_on(b)
        runs = self.runs(b)
        d.process.kill()
        d.process.wait()
        os.unlink(d.socket)
        self.flows_go_on(b)
        self.assertEqual(self.runs(b), runs)
        d.begin()
        d.up()
        self.says(d, 1)
        d.paired(4)
        self.flows_go_on(b)
        self.assertIn("0 flows not brought home", self.stop(d))
        self.flows_go_on(b)
        d.begin()
        d.up()
        self.flows_go_on(b)
        self.assertNotIn("flows go on on the ports", d.output()[d.output().index("stopped:"):])
        self.assertEqual([r[-1] for r in self.runs(b)], [r[0] for r in self.runs(b)])
        self.assertEqual([f["flow"] for f in d.flows() if f["moved"]], [])
        self.settle(a)
        self.stop(d)


if __name__ == "__main__":
    run()
