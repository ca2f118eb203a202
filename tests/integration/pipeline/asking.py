#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3ctl move --ask: hp3d first probes the given port, and moves the flow only if its path is not
worse.

usage: asking.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
from cases import run
from harness import wait_for
from two_paths import TwoPaths

# As shipped but for what a busy machine does to round trips: nothing moves by itself.
SETTINGS = {"ppp": {"probe": "peer", "rtt_factor": 10000, "probe_timeout_us": 100000}, "probes": {"probe_key": "000102030405060708090a0b0c0d0e0f"}}


class Asking(TwoPaths):
    def begin(self):
        a, b = self.pair_of_daemons(**SETTINGS)
        ends = self.endpoints(qps=1)
        self.traffic(ends[0])
        flow, = a.paired(1)
        return a, b, ends, flow

    def end(self, a, b, ends):
        self.settle(ends[0])
        self.whole(*ends)
        self.stop(a)
        self.stop(b)

    def ask(self, d, flow, port, code=0):
        """What comes of it, once it is known what came of the move before."""
        def answer():
            said = d.json("move", flow, "--port", str(port), "--ask", code=None)
            return said if said[0].get("error", {}).get("code") not in ("too-soon", "busy") else None
        said = wait_for("the outcome of the last move", answer)[0]
        self.assertEqual("error" in said or said["outcome"] == "kept", code != 0, said)
        return said

    def test_only_where_it_is_no_worse(self):
        """Ports: odd ones take 3 ms longer."""
        a, b, ends, flow = self.begin()
        e = self.ask(a, flow, 50000)
        self.assertEqual((e["outcome"], e["to"], e["cause"]), ("moved", 50000, "advice"))
        e = self.ask(a, flow, 50001, code=1)
        self.assertEqual((e["outcome"], e["type"], e["reason"], e["cause"]), ("kept", "recover", "no-better", "advice"))
        self.assertEqual(a.flows()[0]["port"], 50000)
        rounds = [e for e in a.json("events", "--all") if e["type"] == "round" and e["cause"] == "advice"]
        for e in rounds:
            self.assertEqual([p["port"] for p in e["evidence"]["probes"]], [e["from"], e["to"] if e["outcome"] == "winner" else 50001])
        self.assertEqual(a.counters()["fruitless_advice"], 1)
        self.end(a, b, ends)

    def test_refusals(self):
        a, b, ends, flow = self.begin()
        self.assertEqual(self.ask(a, flow, a.flows()[0]["port"], code=1)["error"]["code"], "already-there")
        self.assertEqual(a.json("move", flow, "--random", "--ask", code=1)[0]["error"]["code"], "bad-request")
        a.ctl("mode", "observe")
        self.assertEqual(self.ask(a, flow, 50000, code=1)["error"]["code"], "not-permitted")
        a.ctl("mode", "on")
        self.end(a, b, ends)

    def test_a_dead_path(self):
        """Nothing comes back from there, and it is remembered."""
        a, b, ends, flow = self.begin()
        self.assertEqual(self.ask(a, flow, 50000)["outcome"], "moved")
        self.relay("dead0")
        answers = []

        def is_known():
            answers.append(self.ask(a, flow, 50001, code=1))
            return answers[-1].get("error", {}).get("code") == "failed-path"
        wait_for("it to be known", is_known)
        self.assertEqual({e.get("outcome") for e in answers[:-1]} - {"kept"}, set(), answers)
        self.assertEqual(a.flows()[0]["port"], 50000)
        self.end(a, b, ends)


if __name__ == "__main__":
    run()
