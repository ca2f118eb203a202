#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Advice from a planner to an hp3d: two flows share one of two paths, whose switches answer traces.

usage: HP3_FLEET=PROGRAM advice_live.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import signal
import sys
import time

from broker import Planner, Server, cbor, publish, scratch, wait_for
from hosts import FLEET, Agent

sys.path.insert(0, os.path.join(sys.argv[5], "tests", "integration", "pipeline"))
from cases import run  # noqa: E402
from scraping import loopback  # noqa: E402
from two_paths import TwoPaths  # noqa: E402

KEY = "000102030405060708090a0b0c0d0e0f"
A, B = bytes([10, 9, 0, 1]), bytes([10, 9, 0, 2])
RATE = 400  # packets a second of each flow
# Beyond what a busy machine does to round trips; nothing but advice moves flows here.
SETTINGS = {"ppp": {"probe": "peer", "identity": "trace", "traces_per_second": 1000, "rtt_factor": 10000,
                    "probe_timeout_us": 100000},
            "rfr": {"stall_us": 1000000},
            "probes": {"probe_key": KEY}}


def rate_kbps(d, seconds=1):
    """Of the flows, on average."""
    def count():
        return [(f["bytes"], f["t_ns"]) for f in d.flows()]
    before = count()
    time.sleep(seconds)
    return sum((b - a) * 8e6 / (t - s) for (a, s), (b, t) in zip(before, count())) / len(before)


class Advice(TwoPaths):
    SLOW_US = 20000  # slower than the other path by far more than the jitter of a busy machine

    def setUp(self):
        super().setUp()
        loopback()
        held = scratch()
        self.addCleanup(held.cleanup)
        self.dir = held.name
        self.server = Server(self.dir)
        self.addCleanup(self.server.kill)

    def agent(self, d, name, **more):
        directory = os.path.join(self.dir, name)
        os.mkdir(directory)
        a = Agent(directory, self.server.url, d.socket, host=name, leaf="l" + name, **more)
        self.addCleanup(a.kill)
        return a

    def plans(self, kbps):
        """Two flows fill a link, one does not."""
        p = Planner(FLEET, self.dir, self.server.url, extra=f"[map]\nage_ms = 1000\nlink_kbps = {2 * kbps:.0f}\n",
                    plan="hold_ms = 1000", valid_ms=3000)  # outcomes are reported within it on a busy machine
        self.addCleanup(p.kill)
        return p

    def collide(self, near, ends):
        """Both flows on the path of even ports, by switches that both hp3ds know."""
        self.relay("hops")
        self.traffic(ends[0])
        flows = near.paired(2)
        self.go(near, flows, 0)
        wait_for(lambda: any(p["hop"] == "10.8.2.1" for p in near.json("paths")[0]["paths"]), why=lambda: str(near.json("paths")))
        return flows

    def go(self, near, flows, odd):
        """Both flows take the path of even ports, or of odd ones."""
        for port, flow in enumerate(flows):
            near.move(flow, "--port", str(50000 + 2 * port + odd))
        hop = "10.8.2.1" if odd else "10.8.2.2"
        wait_for(lambda: [f["path"]["hop"] for f in near.flows()] == [hop] * 2, why=lambda: str(near.flows()))

    def begin(self, advice="on"):
        near, far = self.pair_of_daemons(**SETTINGS)
        ends = self.endpoints(qps=2, rate=RATE, message=16)
        flows = self.collide(near, ends)
        agent, other = self.agent(near, "h0", advice=advice), self.agent(far, "h1", addresses='"10.9.0.2"')
        if advice == "on":
            wait_for(lambda: self.server.listeners("hp3.plan"), why=agent.said)
        return near, far, ends, flows, agent, other

    def advised(self, d):
        return [e for e in d.json("events") if e.get("cause") == "advice"]

    def finish(self, near, far, ends):
        self.settle(ends[0])
        self.whole(*ends)
        self.stop(near)
        self.stop(far)

    def test_one_of_two_leaves(self):
        near, far, ends, flows, agent, _ = self.begin()
        self.go(near, flows, 1)
        planner = self.plans(rate_kbps(near))
        moved = wait_for(lambda: [e for e in self.advised(near) if e["type"] in ("switch", "idle_switch")], why=lambda: agent.said() + str(self.advised(near)))
        self.assertIn(moved[0]["flow"], flows)
        self.assertEqual((moved[0]["outcome"], moved[0]["from"] % 2, moved[0]["to"] % 2), ("moved", 1, 0))
        wait_for(lambda: ": moved" in agent.said(), why=agent.said)
        time.sleep(3)  # held for one second, and planned ten times a second
        moved = [e for e in self.advised(near) if e["type"] in ("switch", "idle_switch")]
        self.assertEqual(len(moved), 1, f"{moved}\n{agent.said()}")
        self.assertEqual(sorted(f["path"]["hop"] for f in near.flows()), ["10.8.2.1", "10.8.2.2"])
        self.assertEqual(planner.metric("messages_bad_total"), 0)
        self.assertEqual(agent.kill(signal.SIGTERM), 0)
        self.assertRegex(agent.said(), r"advice: 0 bad messages; \d+ plans; .* hp3d was asked about")
        self.finish(near, far, ends)

    def test_a_slower_path_is_not_taken(self):
        """The planner sees less load there, hp3d that it takes longer."""
        near, far, ends, _, agent, _ = self.begin()
        planner = self.plans(rate_kbps(near))
        wait_for(lambda: self.advised(near), why=agent.said)
        wait_for(lambda: ": kept" in agent.said(), why=agent.said)
        wait_for(lambda: "kept" in [r["advised"] for r in planner.ask("why", "h0/")["rows"]], why=lambda: str(planner.ask("why", "h0/")))
        kept = next(r for r in planner.ask("why", "h0/")["rows"] if r["advised"])
        self.assertEqual(kept["advised_port"] % 2, 1)
        wait_for(lambda: "no better" in next(r for r in planner.ask("why", "h0/")["rows"] if r["advised"])["why"],
                 why=lambda: str(planner.ask("why", "h0/")))  # hold_ms is over, and it is not named again
        self.assertEqual({e["type"] for e in self.advised(near)} - {"round"}, {"recover"})
        self.assertEqual({f["path"]["hop"] for f in near.flows()}, {"10.8.2.2"})
        self.finish(near, far, ends)

    def test_what_is_severe_is_told_at_once(self):
        """A path that loses packets is found, and told of long before the next report is due; of two agents that one which may."""
        near, far = self.pair_of_daemons(ppp={"probe": "peer", "rtt_factor": 10000, "probe_timeout_us": 100000},
                                         rfr={"max_hold_us": 100000, "stall_us": 1000000})
        ends = self.endpoints(qps=1, timeout=17, rate=RATE, message=16)  # the relay loses what comes faster than it can
        self.traffic(ends[0])
        planner = self.plans(1000)
        agents = [self.agent(near, "h0", interval_ms=60000), self.agent(near, "h1", interval_ms=60000, severe_ms=0)]
        wait_for(lambda: planner.metric("reports_total") == 2, why=lambda: agents[0].said() + agents[1].said())
        time.sleep(1)
        self.assertEqual(planner.metric("reports_total"), 2)
        def severe():
            return near.json("events", "--all", "--type", "severe")
        self.assertEqual(severe(), [])
        self.relay("grey")
        wait_for(severe)
        found = time.monotonic()
        wait_for(lambda: planner.metric("reports_total") > 2, why=agents[0].said)
        self.assertLess(time.monotonic() - found, 10)
        heard = {h["host"]: h["heard_ms"] for h in planner.ask("hosts")["rows"]}
        self.assertLess(heard["h0"], heard["h1"])
        ends[0].tell("stop")
        sent = wait_for(ends[0].all_acked, seconds=30)
        self.assertEqual(ends[1].report()["received"], sent["acked"])
        self.stop(near)
        self.stop(far)

    def test_nobody_applies_as_shipped(self):
        near, far, ends, _, agent, _ = self.begin(advice="off")
        planner = self.plans(rate_kbps(near))
        wait_for(lambda: planner.ask("why", "h0/")["rows"], why=agent.said)
        time.sleep(2)
        self.assertEqual(planner.metric("planned_moves_total"), 0)
        self.assertEqual(self.advised(near), [])
        self.finish(near, far, ends)

    def test_unauthenticated_senders(self):
        """Garbage, a plan of another version, one that names a flow of ours without knowing this process."""
        near, far, ends, flows, agent, _ = self.begin()
        self.relay("wide")
        before = near.counters()["moves_requested"]
        qpn = int(flows[0].rsplit("/", 1)[1], 16)
        move = ["h0", 12345, A, B, qpn, b"", b"", near.flows()[0]["port"], 50001, 1, 1, 1]
        plan = [2, 2, "evil", 2**64 - 1, 2**64 - 1, 2**32 - 1, 1, 1, 1, 1, 1, [move]]
        payloads = (b"", os.urandom(64), cbor([1, *plan[1:]]), cbor(plan), cbor(plan)[:-1])
        heard = self.server.listeners("hp3.plan")[0]["out_msgs"]
        publish(self.server.port, "hp3.plan", *payloads)
        wait_for(lambda: self.server.listeners("hp3.plan")[0]["out_msgs"] >= heard + len(payloads), why=agent.said)
        time.sleep(1)  # a move would be asked for by then
        self.assertEqual(near.counters()["moves_requested"], before)
        self.assertEqual(agent.kill(signal.SIGTERM), 0)
        self.assertIn("advice: 4 bad messages; 1 plans; 1 moves of this host; 1 of another process", agent.said())
        self.finish(near, far, ends)


if __name__ == "__main__":
    run()
