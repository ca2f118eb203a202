#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Moves under adverse conditions: stops, a sender that dies, refusals, floods, a full table.

usage: trouble.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import time
from cases import Wired, run
from harness import TWO_LCORES, Client, wait_for

UNKNOWN = "rail0/10.9.0.1-10.9.0.2/0x00abcd"


class Trouble(Wired):
    def draining(self, d, flow, port):
        """Begins a move that b's silence keeps from ending; returns when packets are held. The
        window (see patient()) lets a go on sending meanwhile."""
        d.ctl("move", flow, "--port", str(port), "--no-wait")
        wait_for("a drain", lambda: d.json("show", flow)[0]["state"] == "draining")
        wait_for("held packets", lambda: d.counters()["held_packets"] - d.counters()["released"] > 0)

    def patient(self):
        return self.endpoints(window=4096, rate=2000)

    def test_stop_in_a_hold(self):
        """What is held leaves in order, on the old port."""
        d = self.start(rfr={"max_hold_us": 1000000}, control={"stop_drain_ms": 100})
        a, b = self.patient()
        a.tell("send 1000000")
        flow, = d.paired(1)
        b.tell("withhold 1")
        self.draining(d, flow, self.port(0))
        a.tell("stop")
        wait_for("the end of the message", lambda: a.report()["sent"] % 16 == 0)
        sent = a.report()["sent"]
        self.assertLess(b.report()["received"], sent)
        self.stop(d)
        wait_for("held packets", lambda: b.report()["received"] == sent)
        _, rb = self.whole(a, b)
        self.assertEqual([port for port, _ in rb["qps"][0]["ports"]], [0xc001])

    def test_stop_brings_moved_flows_home(self):
        """In the midst of traffic, behind a drain like every move; to the last packet in order."""
        for eal in ({}, TWO_LCORES):
            with self.subTest(eal=eal):
                d = self.start(eal=eal)
                a, b = self.endpoints(qps=8, pairs=8)
                a.tell("send 1000000")
                for flow in d.paired(8):
                    self.move(d, flow, self.port(0))
                self.seen(b, 2)
                self.assertIn("0 flows not brought home", self.stop(d))
                rb = b.report()
                self.assertEqual(set(rb["faults"].values()), {0}, rb["faults"])
                for i, q in enumerate(rb["qps"]):  # the last run may be empty: hp3d ends soon
                    ports, home = [port for port, _ in q["ports"]], 0xc001 + 2 * i
                    self.assertEqual(ports, [home, ports[1], home][:len(ports)])
                self.assertIn(3, [len(q["ports"]) for q in rb["qps"]])
                a.kill()
                b.kill()

    def test_source_killed_in_a_drain(self):
        """With the last ACK the move ends; without it the hold's bound ends it. Nothing stays."""
        for silent in (False, True):
            with self.subTest(silent=silent):
                d = self.start()
                before = d.free_buffers()
                a, b = self.patient()
                a.tell("send 1000000")
                flow, = d.paired(1)
                b.tell("withhold 1")
                self.draining(d, flow, self.port(0))
                a.kill()
                if not silent:
                    b.tell("withhold 0")
                event = wait_for("the end of the move", lambda: [
                    e for e in d.json("events") if e["type"] in ("switch", "recover")])[-1]
                self.assertEqual(event["type"], "recover" if silent else "switch")
                wait_for("every packet", lambda: b.report()["received"] == d.counters()["tx_requests"])
                self.assertEqual(set(b.report()["faults"].values()), {0})
                self.assertEqual(d.free_buffers(), before)
                b.kill()
                self.stop(d)

    def test_refusals(self):
        d = self.start()
        a, b = self.patient()
        a.tell("send 1000000")
        flow, = d.paired(1)

        def refused(code, exit_code, *args):
            error = d.json("move", *args, code=exit_code)[0]["error"]
            self.assertEqual(error["code"], code)
            self.assertTrue(error["text"] and error["fix"])
        refused("already-there", 1, flow, "--port", str(0xc001))
        self.move(d, flow, 50000)
        refused("already-there", 1, flow, "--port", "50000")
        refused("not-found", 4, UNKNOWN, "--random")
        refused("not-found", 4, "rail9/" + flow.split("/", 1)[1], "--random")
        b.tell("withhold 1")
        self.draining(d, flow, 50001)
        refused("busy", 1, flow, "--random")
        b.tell("withhold 0")
        self.settle(a)
        self.whole(a, b)
        self.stop(d)

    def test_unpaired_and_forbidden(self):
        for sections, code in (({"pairing": {"challenge": "off"}}, "not-paired"),
                               ({"policy": {"mode": "off"}}, "not-permitted")):
            with self.subTest(code=code):
                d = self.start(**sections)
                a, b = self.endpoints()
                a.tell("send 20")
                wait_for("all ACKs", lambda: a.report()["acked"] == 20 * 16)
                flow, = d.flows()
                error = d.json("move", flow["flow"], "--random", code=1)[0]["error"]
                self.assertEqual(error["code"], code)
                self.assertNotIn("try again", error["fix"])
                if code == "not-paired":
                    self.assertIn("challenge-off", error["text"])
                    self.assertIn("set [pairing] challenge = on", error["fix"])
                self.whole(a, b)
                self.assertEqual(d.counters()["moves_refused"], 1)
                a.kill()
                b.kill()
                self.stop(d)

    def test_a_thousand_moves_in_a_second(self):
        d = self.start()
        before = d.free_buffers()
        a, b = self.endpoints(qps=8, rate=16000)
        a.tell("send 1000000")
        flows = d.paired(8)
        client = Client(d.socket)
        self.addCleanup(client.close)
        codes, tags, sent = [], set(), 0
        begin = time.monotonic()
        while sent < 1000:
            for _ in range(50):
                client.send(cmd="move", flow=flows[sent % 8], random=True)
                sent += 1
            for _ in range(50):
                answer = client.answer()
                if answer["ok"]:
                    tags.add(answer["data"]["tag"])
                else:
                    codes.append(answer["error"]["code"])
            time.sleep(max(0, begin + sent / 1000 - time.monotonic()))
        self.assertEqual(len(tags) + len(codes), 1000)
        self.assertEqual(set(codes), {"busy"})
        self.assertGreater(len(tags), 50)
        self.settle(a)
        # Each move that was begun ended once, and was told of.
        wait_for("the ends of all moves", lambda: d.ask("health")["moves_under_way"] == 0)
        ended = [e["tag"] for e in d.json("events") if e.get("tag")]
        self.assertEqual(sorted(ended), sorted(tags))
        self.whole_but_runs(a, b)
        self.assertEqual(d.free_buffers(), before)
        self.stop(d)

    def whole_but_runs(self, a, b):
        """More changes of port than an endpoint remembers are no fault."""
        ra, rb = a.report(), b.report()
        rb["faults"].pop("runs_lost")
        self.assertEqual(set(rb["faults"].values()), {0}, rb["faults"])
        self.assertEqual(ra["sent"], rb["received"])

    def test_a_full_table(self):
        """Flows beyond max_flows are forwarded and counted."""
        d = self.start(flows={"max_flows": 64})
        a, b = self.endpoints(qps=100)
        a.tell("send 4")
        wait_for("all ACKs", lambda: a.report()["acked"] == 100 * 4 * 16)
        self.whole(a, b)
        counters = d.counters()
        self.assertEqual(counters["flows_created"], 64)
        self.assertEqual(counters["untracked"], 36 * 4 * 16)
        self.assertEqual(counters["flows_full"], 36 * 4 * 16)
        self.assertEqual(len(d.flows()), 64)
        health = d.json("health")[0]  # these flows are only forwarded, so traffic is not harmed
        self.assertEqual(health["status"], "warning")
        self.assertEqual((health["warnings"][0]["count"], health["warnings"][0]["now"]), (36 * 4 * 16, True))
        self.assertEqual(health["warnings"][0]["text"],
                         f"[rail.rail0]: packets without a place in the flow table: {36 * 4 * 16}")
        self.assertIn("[flows] max_flows", health["warnings"][0]["fix"])
        self.stop(d)


if __name__ == "__main__":
    run()
