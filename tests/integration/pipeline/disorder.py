#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The endpoints detect reordering: this HP3D is built to release held packets before the drain
ends.

usage: disorder.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import itertools
import time
from cases import Wired, run
from harness import wait_for


class Disorder(Wired):
    def test_it_is_seen(self):
        d = self.start()
        a, b = self.endpoints(qps=4)
        a.tell("send 1000000")
        turns = itertools.count()

        def disorder():
            turn = next(turns)
            for flow in d.paired(4):
                d.ctl("move", flow, "--port", str(self.port(turn % 2)), "--no-wait", code=None)
                time.sleep(0.02)
            faults = b.report()["faults"]
            return faults if faults["gaps"] else None
        faults = wait_for("disorder", disorder)
        self.assertEqual((faults["bad_icrc"], faults["kernel_lost"]), (0, 0))


if __name__ == "__main__":
    run()
