#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d without packets sleeps, and packets wake it.

usage: idle.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import glob
import os
import re
import statistics
import sys
import time
from cases import Base, run
from harness import RawPort


class Idle(Base):
    def threads(self, d):
        """CPU time in seconds, and how often threads went to sleep."""
        cpu, sleeps = 0, 0
        for path in glob.glob(f"/proc/{d.process.pid}/task/*"):
            with open(path + "/schedstat") as f:
                cpu += int(f.read().split()[0]) / 1e9
            with open(path + "/status") as f:
                sleeps += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", f.read())[1])
        return cpu, sleeps

    def idle_second(self, d):
        """The quietest of a few: what the machine does besides is charged to us, too."""
        spent = []
        for _ in range(4):
            before = self.threads(d)
            time.sleep(1)
            spent.append([b - a for a, b in zip(before, self.threads(d))])
        return (min(s[i] for s in spent) for i in (0, 1))

    def test_idle_sleeps(self):
        d = self.daemon({"rail0": ("net_null0,no-rx=1", "net_null1,no-rx=1")}).up()
        cpu, sleeps = self.idle_second(d)
        self.assertLess(sleeps, 1100)  # 1,000 of the lcore, 20 of the control thread
        self.assertLess(cpu, 0.05)
        self.stop(d)

    def test_packets_wake(self):
        """net_tap can: hardly any wake-ups without packets, and no packet waits for the end of a sleep."""
        names = [f"t{i}x{os.getpid()}" for i in (0, 1)]
        d = self.daemon({"rail0": [f"net_tap{i},iface={name}" for i, name in enumerate(names)]}).up()
        cpu, sleeps = self.idle_second(d)
        self.assertLess(sleeps, 300)  # 100 of the lcore; what the kernel says on a new interface
        self.assertLess(cpu, 0.05)
        ends = [RawPort(name) for name in names]
        took = []
        for end in ends:
            self.addCleanup(end.close)
        for i in range(15):
            frame = bytes(12) + b"\x88\xb5" + bytes([i]) * 50
            time.sleep(0.1)
            start = time.monotonic()
            ends[0].send(frame)
            while ends[1].receive() != frame:
                pass
            took.append(time.monotonic() - start)
        # Sleeps are of 10 ms by then.
        self.assertLess(statistics.median(took), 0.003, took)
        self.stop(d)


if __name__ == "__main__":
    if not os.path.exists("/dev/net/tun"):
        sys.exit(77)
    run()
