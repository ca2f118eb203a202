#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An attacker that has the key: a peer, or somebody who has broken into a peer.

usage: peer.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: HP3_TEST_REPORTS (reports).
"""
import os
import subprocess
from hostile import VICTIM_A, Hostile, run
from frames import WRITE_ONLY, roce
from harness import wait_for

KEY = "000102030405060708090a0b0c0d0e0f"
MAX_FLOWS, QUOTA = 1920, 30  # of an address pair: 1/64
REPORTS = 2 * MAX_FLOWS  # fewer than hp3d takes from one host at once: 4000


def frames(count):
    data = subprocess.run([os.environ["HP3_TEST_REPORTS"], KEY, str(count)], capture_output=True, check=True).stdout
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 2], "big")
        yield data[at + 2:at + 2 + size]
        at += 2 + size


class Peer(Hostile):
    def test_reports_do_not_fill_the_table(self):
        """Twice as many reports as the table has room for, each of another queue pair: the peer has its quota, and who
        is local finds room."""
        d = self.shipped(flows={"max_flows": MAX_FLOWS}, probes={"probe_key": KEY})
        a, b, flows = self.victims(d)
        before = d.counters()
        self.flood(self.attacker(self.net), frames(REPORTS))
        wait_for("reports", lambda: d.counters()["reports_taken"] > before["reports_taken"] + 2 * QUOTA)
        c = d.counters()
        self.assertEqual(c["flows_created"] - before["flows_created"], QUOTA)
        self.assertEqual(c["announced_refused"], c["reports_taken"] - before["reports_taken"] - QUOTA)
        self.assertEqual(c["flows_full"], 0)
        local = MAX_FLOWS - len(flows)
        sink = self.attacker(self.net)
        self.flood(self.attacker(self.rnic), (
            roce(VICTIM_A, bytes((10, 66, 0, 1 + i % 200)), 50000, WRITE_ONLY, 0x1000 + i, i, 1, bytes(16)) for i in range(local)))
        wait_for("flows", lambda: d.counters()["flows_created"] - before["flows_created"] == QUOTA + local)
        c = d.counters()
        self.assertEqual((c["flows_full"], c["announced_dropped"]), (0, QUOTA))
        sink.close()
        self.unhurt(d, a, b, flows)


if __name__ == "__main__":
    run()
