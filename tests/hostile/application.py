#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An application on the same host that may use the RNIC.

usage: application.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
from hostile import VICTIM_A, Hostile, run, send_at
from frames import WRITE_ONLY, roce
from harness import wait_for

MAX_FLOWS, MAX_PAIRS = 16384, 8192
PER_S = 20000


class Application(Hostile):
    def test_more_queue_pairs_than_fit(self):
        """Every place for flows and address pairs is taken: who was there before is served on, what is more passes as it is."""
        d = self.shipped(flows={"max_flows": MAX_FLOWS})
        a, b, flows = self.victims(d)
        sink = self.attacker(self.net)
        sink.only(30, 10 << 8 | 66)  # destinations of the flood
        sent = [roce(VICTIM_A, bytes((10, 66, pair >> 8, pair & 255)), 50000, WRITE_ONLY, 0x1000 + i, i, 1, bytes(16))
                for i in range(MAX_FLOWS // MAX_PAIRS + 1) for pair in range(MAX_PAIRS + 100)]
        got = []

        def arrived():
            got.extend(frame for frame in sink.arrived() if frame[42] == WRITE_ONLY)  # not hp3d's own questions
            return len(got)
        send_at(self.attacker(self.rnic), sent, PER_S, arrived)
        wait_for("all of them", lambda: arrived() == len(sent))
        self.assertEqual(set(got), set(sent))
        counters = d.counters()
        self.assertGreater(counters["flows_full"], 0)
        self.assertGreater(counters["pairs_full"], 0)
        sink.close()
        # the victims send on: some are in use at most moments
        wait_for("all buffers", lambda: all(pool["free"] == pool["size"] for pool in d.stats()["pool"].values()))
        self.unhurt(d, a, b, flows)


if __name__ == "__main__":
    run()
