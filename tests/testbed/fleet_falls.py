#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3-fleet fails while hosts send, and recovers: their traffic is as without hp3-fleet.

usage: fleet_falls.py BUILD SCENARIO LEAST broker|planner|both|stalls|all SEED...

Runs SCENARIO with hp3d alone, and with hp3-fleet, of which a part fails four seconds after all
hosts have joined: the broker, the planner or both are killed, and started again three seconds
later. stalls: the broker is stopped (SIGSTOP) for three seconds, so that connections stay open.
Compared with runs without hp3d, no additional packet is lost, overtaken or retransmitted.
Afterwards, a planner plans for all hosts again. Goodput is at least LEAST of that with hp3d
alone (geometric mean over the runs).
"""
import os
import shutil
import signal
import sys
import tempfile
import threading
import time

from bench_bed import Bed
from fleet_bed import Fleet
from fleet_gain import conclude, judge, off_and_alone, play

WAYS = ["broker", "planner", "both", "stalls"]
JOINED_S, AWAY_S = 4, 3


class Falls(threading.Thread):
    """Joins when the fleet is whole again, or the time for it is over."""

    def __init__(self, fleet, way):
        super().__init__()
        self.fleet, self.way, self.took_s = fleet, way, None
        self.start()

    def whole(self, fewest_plans):
        try:
            metric = self.fleet.planner.metric
            return metric("leads") == 1 and metric("hosts") == self.fleet.hosts and metric("plans_total") > fewest_plans
        except OSError:
            return False

    def wait_until_whole(self, fewest_plans, seconds):
        end = time.monotonic() + seconds
        while not self.fleet.over.wait(0.05) and time.monotonic() < end:
            if self.whole(fewest_plans):
                return True
        return False

    def run(self):
        fleet = self.fleet
        if not self.wait_until_whole(0, 60) or fleet.over.wait(JOINED_S):
            return
        if self.way == "stalls":
            fleet.server.process.send_signal(signal.SIGSTOP)
        if self.way in ("broker", "both"):
            fleet.server.kill()
        if self.way in ("planner", "both"):
            fleet.planner.kill()
        time.sleep(AWAY_S)
        plans = 0 if self.way in ("planner", "both") else fleet.planner.metric("plans_total")
        if self.way == "stalls":
            fleet.server.process.send_signal(signal.SIGCONT)
        if self.way in ("broker", "both"):
            fleet.server.start()
        if self.way in ("planner", "both"):
            fleet.start_planner("p1")
        back = time.monotonic()
        if self.wait_until_whole(plans + 3, 15):
            self.took_s = time.monotonic() - back
        fleet.over.wait()  # processes die with the thread that has started them


def with_falls(bed, scenario, seed, out, shape, way):
    directory = tempfile.mkdtemp(prefix="hp3-fleet-")
    fleet = Fleet(bed, directory, shape)
    falls = Falls(fleet, way)
    try:
        report = play(bed, scenario, "on", seed, out)
    finally:
        fleet.end()
        falls.join()
        said = fleet.planner.said() + fleet.said()
        shutil.rmtree(directory)
    assert falls.took_s is not None, (way, seed, said)
    return report, falls.took_s


def main():
    build, scenario, least, ways, *seeds = sys.argv[1:]
    bed, out, ratios = Bed(build, f"f{os.getpid() % 100000}"), tempfile.mkdtemp(prefix="hp3-fleet-out-"), []
    try:
        for seed in seeds:
            shape, alone = off_and_alone(bed, scenario, seed, out)
            for way in WAYS if ways == "all" else [ways]:
                report, took_s = with_falls(bed, scenario, seed, out, shape, way)
                ratios.append(judge(report, "on", seed, f"{way}, whole again after {took_s:.1f} s") / alone)
    finally:
        bed.run("down")
        shutil.rmtree(out, ignore_errors=True)
    conclude(bed, f"{scenario}: a fleet that falls", ratios, least)


if __name__ == "__main__":
    main()
