#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Sprayed queue pairs between two hp3ds, over two paths, one of which takes 3 ms longer. Packets
arrive in order at the endpoint. Also checked: what hp3d reports about spraying.

usage: spraying.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import signal
import time
from cases import run
from harness import wait_for
from scraping import ask, metrics_socket, samples, value
from two_paths import TwoPaths

QPS = 2
ENOUGH = 3000  # packets
# As shipped but for what a busy machine does to round trips, and to hp3d: it is waited for longer, and nothing moves by itself.
SETTINGS = {"ppp": {"probe": "peer", "rtt_factor": 10000, "probe_timeout_us": 100000},
            "rfr": {"mode": "spray", "spray_wait_us": 500000, "spray_keepalive_us": 100000, "stall_us": 0},
            "probes": {"probe_key": "000102030405060708090a0b0c0d0e0f"}}


class Spraying(TwoPaths):
    def begin(self, near=None, far=None, mode="spray"):
        """near, far: what the one rail of either says of the mode."""
        settings = {**SETTINGS, "rfr": {**SETTINGS["rfr"], "mode": mode}}
        rails = ({"rail.rail0": {"rfr_mode": m}} if m else {} for m in (near, far))
        a, b = self.pair_of_daemons(**settings, **next(rails), far=next(rails))
        ends = self.endpoints(qps=QPS, message=600)  # 153,600 bytes each: sprayed
        self.traffic(ends[0])
        a.paired(QPS)
        return a, b, ends

    def end(self, a, b, ends):
        self.settle(ends[0])
        sent, received = (e.report() for e in ends)
        del received["faults"]["runs_lost"]  # each packet may be on another port than the one before it
        self.assertEqual(set(received["faults"].values()) | set(sent["faults"].values()), {0}, (sent["faults"], received["faults"]))
        self.assertEqual([q["sent"] for q in sent["qps"]], [q["received"] for q in received["qps"]])
        self.stop(a)
        self.stop(b)

    def sprayed(self, a, b):
        wait_for("packets on both paths", lambda: a.counters()["sprayed"] > ENOUGH)
        self.assertEqual({f["spray"] for f in a.flows()}, {"spraying"})
        wait_for("packets that arrive out of order", lambda: b.counters()["reseq_held"] > ENOUGH / 10)

    def test_in_order(self):
        a, b, ends = self.begin()
        self.sprayed(a, b)
        self.settle(ends[0])
        counters, found = b.counters(), samples(ask(metrics_socket(b)).text)
        doubts = ("reseq_late", "reseq_given_up", "reseq_beyond", "reseq_full", "reseq_share")
        self.assertEqual(sum(counters[name] for name in doubts), 0)
        self.assertEqual(counters["reseq_held"], value(found, "hp3_engine_reseq_held_total"))
        self.assertGreater(counters["reseq_gaps"], 10)
        self.assertEqual(value(found, "hp3_reseq_gap_seconds_count"), counters["reseq_gaps"])
        self.assertEqual(value(found, "hp3_reseq_gap_seconds_bucket", le="+Inf"), counters["reseq_gaps"])
        self.assertAlmostEqual(value(found, "hp3_reseq_gap_seconds_sum"), counters["reseq_waited"] / 1e9, places=6)
        # The paths differ by 3 ms: so long some packets were waited for.
        self.assertGreater(counters["reseq_gaps_1ms"], 0)
        self.end(a, b, ends)

    def test_a_rail_has_its_own_mode(self):
        a, b, ends = self.begin(near="spray", far="auto", mode="move")
        self.sprayed(a, b)
        self.end(a, b, ends)

    def test_a_rail_does_not_want_to(self):
        a, b, ends = self.begin(far="move")
        wait_for("messages", lambda: ends[0].report()["acked"] > ENOUGH)
        self.assertEqual((a.counters()["sprayed"], b.counters()["reseq_held"]), (0, 0))
        self.assertLessEqual({f["spray"] for f in a.flows()}, {"single", "asking"})  # once a second
        self.end(a, b, ends)

    def again(self, a):
        before = a.counters()["sprayed"]
        wait_for("packets on both paths again", lambda: a.counters()["sprayed"] > before + ENOUGH / 10)

    def operators(self, *, ends_it, goes_on):
        """What an operator does at the receiver and then at the sender while queue pairs are sprayed, and takes back: no packet overtakes another."""
        a, b, ends = self.begin()
        self.sprayed(a, b)
        for d in (b, a):
            ends_it(d)
            time.sleep(0.2)
            goes_on(d)
            self.again(a)
        self.assertEqual(b.counters()["reseq_late"], 0)
        self.end(a, b, ends)

    def test_mode_off(self):
        self.operators(ends_it=lambda d: d.ctl("mode", "off"), goes_on=lambda d: d.ctl("mode", "on"))

    def test_observe(self):
        self.operators(ends_it=lambda d: d.ctl("mode", "observe"), goes_on=lambda d: d.ctl("mode", "on"))

    def test_bypass(self):
        def direct(d):
            d.ctl("bypass", "on")
            wait_for("the way past hp3d", lambda: d.ctl("bypass").stdout == "bypass on\nrail0 direct\n")

        self.operators(ends_it=direct, goes_on=lambda d: d.ctl("bypass", "auto"))

    def test_stop(self):
        def start(d):
            if os.path.exists(d.socket):
                os.unlink(d.socket)
            d.begin()
            d.up()

        self.operators(ends_it=self.stop, goes_on=start)

    def test_reload(self):
        """Longer and shorter intervals between words, and less room than is needed."""
        def reload(d, **keys):
            with open(d.config) as f:
                text = f.read()
            for key, value in keys.items():
                text = "\n".join(f"{key} = {value}" if line.startswith(key + " ") else line for line in text.splitlines()) + "\n"
            with open(d.config, "w") as f:
                f.write(text)
            said = len(d.output())
            d.process.send_signal(signal.SIGHUP)
            wait_for("the reload", lambda: "hp3d: reloaded" in d.output()[said:])

        self.operators(ends_it=lambda d: reload(d, spray_keepalive_us=1000000), goes_on=lambda d: reload(d, spray_keepalive_us=20000))


if __name__ == "__main__":
    run()
