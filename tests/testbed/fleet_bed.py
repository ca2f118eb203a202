# SPDX-License-Identifier: BSD-3-Clause
"""Starts hp3-fleet on a testbed: an agent next to the hp3d of each host, nats-server, planner."""
import os
import sys
import threading

from bench_bed import REPO

sys.path.insert(0, os.path.join(REPO, "tests", "fleet", "live"))
from broker import Planner, Process, Server, wait_for  # noqa: E402

# Hosts and leaves of a topology, the payload that a link between them carries, how often hosts report.
SHAPES = {"micro": (4, 2, 45000, 200), "leafspine-8x4": (16, 8, 3600, 500)}
TRACED = ["ppp.identity=trace", "ppp.traces_per_second=200"]


def settings(words):
    return [w for word in words for w in ("--set", word)]


class Fleet:
    """From the moment in which hp3ds are there; ends with the run."""

    def __init__(self, bed, directory, shape="micro"):
        self.bed, self.dir, self.parts = bed, directory, []
        self.hosts, self.leaves, self.link_kbps, self.interval_ms = SHAPES[shape]
        self.program = os.path.join(bed.build, "app/fleet/hp3-fleet")
        self.server = self.add(Server(directory))
        self.start_planner("p0")
        self.agents = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.join_hosts)
        self.thread.start()

    def start_planner(self, name):
        self.planner = self.add(Planner(self.program, self.dir, self.server.url, name, plan="hold_ms = 5000",
                                        extra=f"[map]\nage_ms = 2000\nlink_kbps = {self.link_kbps}\n"))

    def add(self, process):
        self.parts.append(process)
        return process

    def join_hosts(self):
        per_leaf = self.hosts // self.leaves
        for i in range(self.hosts):
            host, leaf = f"h{i + 1}", i // per_leaf + 1
            socket = f"/run/hp3-testbed/{self.bed.name}/{host}.sock"
            wait_for(lambda path=socket: os.path.exists(path), seconds=60)
            ini = os.path.join(self.dir, host + ".ini")
            with open(ini, "w", encoding="ascii") as f:
                f.write(f'[fleet]\nservers = "{self.server.url}"\n[agent]\ncontrol = "{socket}"\nhost = {host}\nleaf = l{leaf}\n'
                        f'addresses = "10.9.{leaf}.{i % per_leaf + 1}"\ninterval_ms = {self.interval_ms}\nadvice = on\n')
            self.agents.append(self.add(Process([self.program, "--config", ini, "agent"], os.path.join(self.dir, host + ".log"))))
        self.over.wait()  # they die with the thread that has started them

    def said(self):
        return "".join(a.said() for a in self.agents)

    def end(self):
        self.over.set()
        self.thread.join()
        for p in reversed(self.parts):
            p.kill()
