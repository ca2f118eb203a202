#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""RNIC-like traffic while hp3d is killed, hangs, is stopped and started again, or reloads.

usage: survives.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT ROCE_GEN [unittest arguments]

HP3_SURVIVES=kills,hangs,restarts,reloads: how often; 1,1,1,10 without it.

roce-gen behaves as an RNIC with go-back-N: it retransmits after NAKs and time-outs, and counts
packets that arrive out of order, twice or too late. Packets that hp3d holds when it is killed
are lost. No other packet is lost, and none is overtaken.
"""
import collections
import json
import os
import signal
import subprocess
import sys
import time
import unittest
from cases import Wired
from harness import die_with_parent, own_namespace, wait_for

ROCE_GEN = sys.argv[6]
KILLS, HANGS, RESTARTS, RELOADS = (int(n) for n in os.environ.get("HP3_SURVIVES", "1,1,1,10").split(","))
MBPS, QPS = 25, 4  # the rings of ports have room for half a second of it
TIMEOUT = 18  # one that the pauses of a busy machine do not set off
TIMER = 4.096e-6 * 2 ** TIMEOUT
COUNTED = ("retransmissions", "timeouts", "naks_received", "out_of_seq_request", "duplicate_request", "overtaken",
           "overtaken_across_ports", "late_duplicates")


def mac(interface):
    out = subprocess.run(["ip", "-j", "link", "show", interface], check=True, capture_output=True, text=True).stdout
    return json.loads(out)[0]["address"]


class Survives(Wired):
    BYPASS = {}

    def traffic(self, d):
        """WRITEs and READs on four queue pairs, without end: the one that responds, the one that asks."""
        path, ends = os.path.join(d.directory, "setup"), []
        for link, other, address, how in ((self.net, self.rnic, "10.9.0.2", ["--listen", path]),
                                          (self.rnic, self.net, "10.9.0.1", ["--connect", path])):
            ends.append(subprocess.Popen(
                [ROCE_GEN, "--interface", link.far, "--address", address, "--dst-mac", mac(other.far),
                 "--op", "write:70,read:30", "--qps", str(QPS), "--depth", "4", "--size", "32768", "--timeout", str(TIMEOUT),
                 "--link-mbps", str(MBPS), "--interval-ms", "10", "--output", os.path.join(d.directory, address), *how],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=die_with_parent))
            self.addCleanup(ends[-1].stderr.close)
            self.addCleanup(ends[-1].wait)
            self.addCleanup(ends[-1].kill)
            if how[0] == "--listen":
                wait_for("roce-gen", lambda: os.path.exists(path))
        wait_for("flows", lambda: len(d.flows()) >= QPS)
        return ends

    def end(self, d, ends):
        """Everything that was begun is complete and right. What both ends counted, and the longest silence in s."""
        ends[1].send_signal(signal.SIGINT)
        codes = [e.wait(timeout=60) for e in ends]
        self.assertEqual(codes, [0, 0], [e.stderr.read() for e in ends])
        sums, silence = collections.Counter(), 0
        for address in ("10.9.0.1", "10.9.0.2"):
            with open(os.path.join(d.directory, address), encoding="ascii") as f:
                report = json.load(f)
            for q in report["qps"]:
                sums.update({c: q[c] for c in COUNTED})
            sums["lost_by_kernel"] += report["port"]["kernel_lost"]
            quiet = 0
            for step in report["series"][:-1] if address == "10.9.0.1" else ():
                quiet = 0 if step["completed"] > 0 else quiet + step["to_s"] - step["from_s"]
                silence = max(silence, quiet)
        return dict(sums), silence

    def settled(self, d):
        """Traffic goes through this hp3d."""
        before = d.counters()["packets_tx"]
        wait_for("packets", lambda: d.counters()["packets_tx"] > before + 200)

    def again(self, d):
        if os.path.exists(d.socket):
            os.unlink(d.socket)
        d.begin()
        d.up()
        self.settled(d)

    def show(self, what, times, sums, silence):
        print(f"{what} x {times}: longest silence {1000 * silence:.0f} ms,", json.dumps(sums), file=sys.stderr)

    def test_killed(self):
        d = self.start()
        ends = self.traffic(d)
        for _ in range(KILLS):
            self.settled(d)
            d.process.send_signal(signal.SIGKILL)
            d.process.wait()
            time.sleep(0.3)
            self.again(d)
        sums, silence = self.end(d, ends)
        self.show("killed", KILLS, sums, silence)
        self.bounded(sums, silence, KILLS + self.hangs(d))  # on a busy machine it may wait for a processor, too
        self.stop(d)

    def hangs(self, d):
        return d.output().count("no sign of life")

    def bounded(self, sums, silence, times):
        """What is lost with all that was in flight of a queue pair comes again after its timer, once each time."""
        self.assertEqual((sums["overtaken"], sums["overtaken_across_ports"], sums["late_duplicates"]), (0, 0, 0))
        self.assertLessEqual(sums["timeouts"], QPS * times)
        self.assertLess(silence, 2 * TIMER)

    def test_hangs(self):
        d = self.start()
        before = d.free_buffers()  # with traffic some are in use
        ends = self.traffic(d)
        for _ in range(HANGS):
            self.settled(d)
            d.process.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            d.process.send_signal(signal.SIGCONT)
        self.settled(d)
        sums, silence = self.end(d, ends)
        self.show("hung", HANGS, sums, silence)
        self.bounded(sums, silence, max(HANGS, self.hangs(d)))
        wait_for("all buffers", lambda: d.free_buffers() == before)
        self.stop(d)

    def twice(self, play):
        """Once more where roce-gen came too late for what its socket held: that is this machine's loss."""
        sums, silence = play()
        return play() if sums["lost_by_kernel"] else (sums, silence)

    def restarts(self):
        d = self.start(bypass=Wired.BYPASS)  # hp3d that waits for a processor does not seem to hang
        ends = self.traffic(d)
        for _ in range(RESTARTS):
            self.settled(d)
            for flow in d.paired(QPS)[:2]:
                d.ctl("move", flow, "--random", code=None)
            self.stop(d)
            self.again(d)
        sums, silence = self.end(d, ends)
        self.show("stopped and started", RESTARTS, sums, silence)
        self.stop(d)
        return sums, silence

    def test_stopped_and_started(self):
        """In order, and nothing is lost: not one packet is sent twice."""
        sums, silence = self.twice(self.restarts)
        self.assertEqual(set(sums.values()), {0}, sums)
        self.assertLess(silence, 2 * TIMER)

    def footprint(self, d):
        """KiB of the heap that are resident, KiB mapped, descriptors. DPDK's pages, mapped at the start, become resident as traffic uses them."""
        with open(f"/proc/{d.process.pid}/status", encoding="ascii") as f:
            status = dict(line.split(":", 1) for line in f)
        return (*(int(status[key].split()[0]) for key in ("RssAnon", "VmSize")), len(os.listdir(f"/proc/{d.process.pid}/fd")))

    def test_reloads(self):
        d = self.start(bypass=Wired.BYPASS)  # hp3d that waits for a processor does not seem to hang
        ends = self.traffic(d)
        self.settled(d)
        before = None
        for i in range(RELOADS):
            d.process.send_signal(signal.SIGHUP)
            wait_for("the reload", lambda n=i + 1: d.output().count("hp3d: reloaded") == n)
            before = before or self.footprint(d)
        self.settled(d)
        wait_for("descriptors that are closed", lambda: self.footprint(d)[2] <= before[2])
        heap, mapped, _ = self.footprint(d)
        sums, silence = self.end(d, ends)
        self.show("reloaded", RELOADS, sums, silence)
        self.assertEqual(set(sums.values()), {0}, sums)
        self.assertLess(heap - before[0], 256)
        self.assertLess(mapped - before[1], 1024)  # an arena of malloc's, at most
        self.stop(d)


if __name__ == "__main__":
    own_namespace()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[7:]])
