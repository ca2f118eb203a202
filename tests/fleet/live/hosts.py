#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3-fleet agent with an hp3d: it reports hp3d's data, and keeps running when hp3d or the broker
ends.

usage: HP3_FLEET=PROGRAM hosts.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import json
import os
import signal
import sys
import time
import urllib.request

from broker import Planner, Process, Server, publish, scratch, wait_for

sys.path.insert(0, os.path.join(sys.argv[5], "tests", "integration", "pipeline"))
from cases import Wired, run  # noqa: E402
from scraping import loopback  # noqa: E402

FLEET = os.environ["HP3_FLEET"]
AGE = "[map]\nage_ms = 200\n"


class Agent(Process):
    def __init__(self, directory, servers, control, **more):
        keys = {"control": f'"{control}"', "host": "h0", "leaf": "l0", "interval_ms": 100, **more}
        path = os.path.join(directory, "agent.ini")
        with open(path, "w", encoding="ascii") as f:
            f.write(f'[fleet]\nservers = "{servers}"\n[agent]\n' + "".join(f"{k} = {v}\n" for k, v in keys.items()))
        super().__init__([FLEET, "--config", path, "agent"], os.path.join(directory, "agent.log"))


class Hosts(Wired):
    def setUp(self):
        super().setUp()
        loopback()
        held = scratch()
        self.addCleanup(held.cleanup)
        self.dir = held.name
        self.server = Server(self.dir)
        self.addCleanup(self.server.kill)
        self.planner = Planner(FLEET, self.dir, self.server.url, extra=AGE)
        self.addCleanup(self.planner.kill)

    def agent(self, d, **more):
        a = Agent(self.dir, self.server.url, d.socket, **more)
        self.addCleanup(a.kill)
        return a

    def hosts(self):
        return [h["host"] for h in self.planner.ask("hosts")["rows"]]

    def flows(self, agent, n):
        """The rows of n flows that send. What was asked before may be forgotten now: on a busy machine a report comes late."""
        def sending():
            rows = self.planner.ask("flows")["rows"]
            return rows if [r["rate_kbps"] > 0 for r in rows] == [True] * n else None
        return wait_for(sending, why=agent.said)

    def test_flows_are_reported(self):
        """Every flow that sends, by hp3d's own name of it; nothing of it is advised, and hp3d has sent nothing for it."""
        d = self.start()
        a, b = self.endpoints(qps=3)
        agent = self.agent(d)
        a.tell("send 1000000")
        rows = self.flows(agent, 3)
        named = sorted(flow.split("/", 1)[1] for flow in d.paired(3))
        self.assertEqual(sorted(r["flow"].split("/", 1)[1] for r in rows), named, agent.said())
        self.assertEqual({r["flow"].split("/", 1)[0] for r in rows}, {"h0"})
        wait_for(lambda: self.hosts() == ["h0"], why=agent.said)
        wait_for(lambda: len(self.planner.ask("why", "h0/")["rows"]) == 3, why=agent.said)
        self.assertEqual(self.planner.metric("planned_moves_total"), 0)
        self.assertEqual(self.planner.metric("messages_bad_total"), 0)
        self.settle(a, b)
        self.whole(a, b)
        self.assertEqual(agent.kill(signal.SIGTERM), 0)
        wait_for(lambda: self.hosts() == [], why=lambda: f"an agent that ended is gone; there are {self.hosts()}")
        self.stop(d)

    def test_hp3d_and_broker_come_and_go(self):
        """A host whose hp3d is silent is gone, and there again; so it is with the broker."""
        d = self.start()
        agent = self.agent(d)
        wait_for(lambda: self.hosts() == ["h0"], why=agent.said)
        d.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: self.hosts() == [], why=agent.said)
        d.process.send_signal(signal.SIGCONT)
        wait_for(lambda: self.hosts() == ["h0"], why=agent.said)
        self.server.kill()
        time.sleep(1)
        self.server.start()
        wait_for(lambda: self.planner.metric("hosts") == 1, why=agent.said)
        self.stop(d)
        wait_for(lambda: self.hosts() == [], why=agent.said)
        wait_for(lambda: "is it running? see control= in [agent]" in agent.said(), why=agent.said)
        self.assertIsNone(agent.process.poll())

    def test_nothing_that_comes_moves_anything(self):
        """Plans, whoever sends them, and other messages: the agent has subscribed to nothing, says the broker."""
        d = self.start()
        a, b = self.endpoints(qps=1)
        agent = self.agent(d)
        a.tell("send 1000000")
        self.flows(agent, 1)
        for subject in ("hp3.plan", "hp3.report.h0", "hp3.ask", "hp3.keepalive"):
            publish(self.server.port, subject, b"\x00" * 64)

        def subscriptions():
            with urllib.request.urlopen(f"http://127.0.0.1:{self.server.monitor}/connz", timeout=5) as page:
                return sorted(c["subscriptions"] for c in json.load(page)["connections"])
        # Agent and planner; the broker may not have noticed yet that those who published are gone.
        wait_for(lambda: len(subscriptions()) == 2, why=lambda: str(subscriptions()))
        subscribed = subscriptions()
        self.assertEqual(subscribed[0], 0, subscribed)
        self.assertGreater(subscribed[1], 0)
        self.settle(a, b)
        self.whole(a, b)
        self.assertEqual(d.counters()["moves_switched"], 0)
        self.assertIsNone(agent.process.poll())

    def test_a_host_without_a_name(self):
        """What cannot be a name is told before anything is sent, with the key that mends it."""
        d = self.start()
        agent = self.agent(d, host='"a.b"')
        self.assertEqual(agent.process.wait(timeout=20), 2)
        self.assertIn("letters, digits", agent.said())
        agent = self.agent(d, addresses='"10.0.0.1, here"')
        self.assertEqual(agent.process.wait(timeout=20), 2)
        self.assertIn("addresses", agent.said())


if __name__ == "__main__":
    run()
