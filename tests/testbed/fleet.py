#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two elephants on one spine, and somebody who sees both: agents beside the hp3d of each host, nats-server, hp3-fleet.

usage: fleet.py BUILD alone|both|dies SEED...

alone: no path is ever good enough for hp3d's own searches; what moves, moves by advice. both: hp3d as it ships, too. dies: as alone, but
broker and planner are killed before the second flow begins: nothing moves, nothing is lost. For each seed: moves, how long after
they met both flows were on spines of their own for good. In every run of the first two they part, by exactly one move, within
8 s; in no run is anything lost, overtaken or sent again.
"""
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading

from bench_bed import REPO, Bed

sys.path.insert(0, os.path.join(REPO, "tests", "fleet", "live"))
from broker import Planner, Process, Server, wait_for  # noqa: E402

MEET_S, LIMIT_S = 3.0, 8.0
LEAVES = {"h1": "l1", "h2": "l1", "h3": "l2", "h4": "l2"}
ADDRESSES = {"h1": "10.9.1.1", "h2": "10.9.1.2", "h3": "10.9.2.1", "h4": "10.9.2.2"}
LINK_KBPS = 45000  # of a link's 50 Mb/s, what RoCEv2 has as payload
TRACED = ["ppp.identity=trace", "ppp.traces_per_second=200"]
NOTHING_FOUND = ["ppp.improve=1"]


class Fleet:
    """From the moment in which hp3ds are there; ends with the run."""

    def __init__(self, bed, directory):
        self.bed, self.dir, self.parts = bed, directory, []
        self.program = os.path.join(bed.build, "app/fleet/hp3-fleet")
        self.server = self.add(Server(directory))
        self.planner = self.add(Planner(self.program, directory, self.server.url, plan="hold_ms = 5000",
                                        extra=f"[map]\nage_ms = 2000\nlink_kbps = {LINK_KBPS}\n"))
        self.agents = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.join_hosts)
        self.thread.start()

    def add(self, process):
        self.parts.append(process)
        return process

    def join_hosts(self):
        for host, leaf in LEAVES.items():
            socket = f"/run/hp3-testbed/{self.bed.name}/{host}.sock"
            wait_for(lambda path=socket: os.path.exists(path), seconds=60)
            ini = os.path.join(self.dir, host + ".ini")
            with open(ini, "w", encoding="ascii") as f:
                f.write(f'[fleet]\nservers = "{self.server.url}"\n[agent]\ncontrol = "{socket}"\nhost = {host}\nleaf = {leaf}\n'
                        f'addresses = "{ADDRESSES[host]}"\ninterval_ms = 200\nadvice = on\n')
            self.agents.append(self.add(Process([self.program, "--config", ini, "agent"], os.path.join(self.dir, host + ".log"))))
        self.over.wait()  # they die with the thread that has started them

    def said(self):
        return "".join(a.said() for a in self.agents)

    def end(self):
        self.over.set()
        self.thread.join()
        for p in reversed(self.parts):
            p.kill()


def play(bed, how, seed, out):
    directory = tempfile.mkdtemp(prefix="hp3-fleet-")
    fleet = Fleet(bed, directory)
    words = TRACED + ([] if how == "both" else NOTHING_FOUND)
    if how == "dies":
        killer = threading.Timer(4, lambda: (fleet.server.kill(), fleet.planner.kill()))
        killer.start()
    try:
        code, _, err = bed.run("run", "micro-collision", "--modes", "on", "--seed", str(seed), "--out", out, "--quiet",
                               *(w for word in words for w in ("--set", word)))
        assert code == 0, err
    finally:
        fleet.end()
        said = fleet.said() + fleet.planner.said()
        shutil.rmtree(directory)
    with open(os.path.join(out, "micro-collision.json"), encoding="utf-8") as f:
        report = json.load(f)
    row = report["summary"]["on"]
    assert row["out_of_seq"] == 0 and row["retransmissions"] == 0 and row["overtaken"] == 0, (row, said)
    return [e for e in report["results"][0]["decisions"] if e["type"] in ("switch", "idle_switch", "failover")], row, said


def main():
    build, how, *seeds = sys.argv[1:]
    bed, out, times = Bed(build, f"f{os.getpid() % 100000}"), tempfile.mkdtemp(prefix="hp3-fleet-out-"), []
    advised = 0
    try:
        for seed in seeds:
            moves, row, said = play(bed, how, seed, out)
            told = ", ".join(f"{e['cause']} at {e['t']:.2f} s" for e in moves)
            print(f"seed {seed}: moves: {told or 'none'}; machine stood still for {row['paused_ms']:.0f} ms", flush=True)
            if how == "dies":
                assert not moves, (moves, said)
                continue
            assert len(moves) == 1 and moves[0]["t"] - MEET_S < LIMIT_S, (moves, said)
            times.append(1000 * (moves[0]["t"] - MEET_S))
            advised += moves[0]["cause"] == "advice"
            assert how == "both" or moves[0]["cause"] == "advice", (moves, said)
    finally:
        bed.run("down")
        shutil.rmtree(out, ignore_errors=True)
    if times:
        times.sort()
        print(f"{len(times)} of {len(seeds)} with one move, {advised} by advice; apart after {statistics.median(times):.0f} ms "
              f"(median), {times[min(len(times) - 1, int(0.99 * len(times)))]:.0f} ms (99th percentile)")
    print(f"fleet {how}: holds")


main()
