# SPDX-License-Identifier: BSD-3-Clause
"""One run of a shape: starts the testbed, generates the load, reads the counters of the ends and of
hp3d, stops the testbed."""
import collections
import json
import os
import subprocess
import sys
import time

import network
from testbed import load as loads
from testbed import tools
from testbed.scenario import keeper

INTERVAL_MS = 50
EVENTS_S = 0.3
PAGE = 500
SLOW = 80  # DCQCN's periods; hp3d's are what ships
MOVES = ("moves_switched", "moves_idle")
RNIC = ("timeouts", "retransmissions", "out_of_seq_request", "overtaken", "late_duplicates", "duplicate_request")


class Watcher:
    """Events and counters of the hp3d of a bed, also of one that is started anew."""

    def __init__(self, bed):
        self.bed, self.since, self.events, self.last, self.sums = bed, {}, collections.Counter(), {}, {}

    def ask(self, host, cmd, **args):
        control = tools.Control(self.bed.path(host + ".sock"))
        try:
            return control.ask(cmd, **args)
        finally:
            control.close()

    def take(self):
        for host in self.bed.with_hp3d():
            while True:
                page = self.ask(host, "events", since=self.since.get(host, 0), limit=PAGE)
                self.events.update(" ".join(str(e[k]) for k in ("type", "cause", "outcome") if k in e) for e in page)
                if page:
                    self.since[host] = page[-1]["seq"]
                if len(page) < PAGE:
                    break
            self.last[host] = self.ask(host, "stats")["rail"]["rail0"]

    def forget(self, host):
        """It is about to be started anew: its counters begin at 0."""
        self.take()
        self.keep(host)
        self.since.pop(host, None)

    def keep(self, host):
        for name, value in self.last.pop(host).items():
            self.sums[name] = self.sums.get(name, 0) + value

    def counters(self):
        self.take()
        for host in list(self.last):
            self.keep(host)
        return self.sums


def words(bed, shape, name, host, seed, hosts):
    rate = shape.mbps
    found = [tools.binary(bed.build, "roce-gen"), "--interface", bed.interface(host), "--name", name, "--seed", str(seed),
             "--link-mbps", str(rate), "--interval-ms", str(INTERVAL_MS), "--setup-ms", "20000", "--drain-ms", "8000",
             "--output", bed.path(f"gen-{name}.json"), *shape.gen]
    if shape.dcqcn:
        found += ["--cnp-interval-us", str(loads.CNP_INTERVAL_US * SLOW), *loads.dcqcn(rate, SLOW)]
    return found


def start(bed, shape, seconds, seed, plan):
    """roce-gen of both ends, TCP verbs: {name: process}, and the Unix time in ms at which they begin."""
    hosts = {h["name"]: h for h in plan["hosts"]}
    receiver, senders = bed.taking_part[-1], bed.taking_part[:-1]
    socket, run = bed.path("rx.gen"), {}
    begin = int(time.time() * 1000) + 600 + 40 * len(senders) + shape.qps
    run["rx"] = bed.spawn("gen-rx", receiver, words(bed, shape, "rx", receiver, seed + 1000, hosts) + [
        "--listen", socket, "--expect", str(len(senders)), "--load", "none", *shape.peer])
    end = time.monotonic() + 10
    while not os.path.exists(socket):
        if run["rx"].poll() is not None or time.monotonic() > end:
            raise tools.Problem(f"roce-gen does not start: {bed.log('gen-rx')}")
        time.sleep(0.01)
    for i, host in enumerate(senders):
        run[host] = bed.spawn(f"gen-{host}", host, words(bed, shape, host, host, seed * 100 + i, hosts) + [
            "--connect", socket, "--op", shape.op, "--qps", str(shape.qps), "--depth", str(shape.depth), "--size",
            str(shape.size), "--start-at-ms", str(begin), "--duration-ms", str(seconds * 1000), *shape.load])
    if shape.tcp_mbps:
        tcp = [sys.executable, os.path.join(network.HERE, "background.py")]
        bed.spawn("tcp-rx", receiver, [*tcp, "listen", hosts[receiver]["ip4"]])
        bed.spawn("tcp-tx", senders[0], [*tcp, "send", hosts[receiver]["ip4"], str(shape.tcp_mbps)])
    return run, begin / 1000


def reports(bed, run, limit):
    found, end = {}, time.monotonic() + limit
    for name, process in run.items():
        try:
            process.wait(max(end - time.monotonic(), 0.1))
            with open(bed.path(f"gen-{name}.json"), encoding="utf-8") as f:
                found[name] = json.loads(f.read().splitlines()[-1])
        except (subprocess.TimeoutExpired, OSError, IndexError) as e:
            raise tools.Problem(f"roce-gen {name} gave no report: {bed.log('gen-' + name)}") from e
    return found


def late_ms(found):
    """The longest time for which a roce-gen was not let run: how much later than due an interval ended."""
    return max((1000 * (s["to_s"] - s["from_s"]) - INTERVAL_MS for r in found.values() for s in r["series"]), default=0)


def figures(found, watcher):
    senders = [r for name, r in found.items() if name != "rx"]
    row = {key: sum(r["sum"][key] for r in found.values()) for key in RNIC}
    row["out_of_seq"] = row.pop("out_of_seq_request")
    row["duplicates"] = row.pop("duplicate_request")
    row["p99_us"] = max(r["fct_us"]["all"]["p99"] for r in senders)
    row["mean_us"] = sum(r["fct_us"]["all"]["avg"] for r in senders) / len(senders)
    row["completed"] = sum(r["messages"]["completed"] for r in senders)
    row["broken"] = sum(r["messages"]["open"] + r["messages"]["failed"] + r["content"]["wrong"] +
                        r["content"]["wrong_read_packets"] for r in found.values())
    row["late_ms"] = late_ms(found)
    c = watcher.counters()
    row["moves"] = sum(c[name] for name in MOVES)
    row["fruitless"] = {name.removeprefix("fruitless_"): n for name, n in c.items() if name.startswith("fruitless_") and n}
    row["dead_rounds"] = row["fruitless"].get("dead", 0) + watcher.events["round dead winner"]
    row["events"] = dict(sorted(watcher.events.items()))
    row["given_up"] = c["moves_recovered"]
    for name in ("replies_moved", "failovers", "ack_solicitations", "rounds", "probes", "severe", "acks_consumed", "naks_made", "reports"):
        row[name] = c[name]
    return row


def play(bed, shape, seconds, seed, plan):
    watcher = Watcher(bed)
    run, begin = start(bed, shape, seconds, seed, plan)
    restart = begin + shape.restart_ms / 1000 if shape.restart_ms else None
    while any(p.poll() is None for p in run.values()) and time.time() < begin + seconds + 12:
        time.sleep(EVENTS_S)
        if restart is not None and time.time() > restart:
            restart = None
            host = bed.with_hp3d()[-1]
            watcher.forget(host)
            bed.restart_hp3d(host)
        watcher.take()
    return figures(reports(bed, run, 15), watcher)


def once(path, build, shape, mode, seed, seconds, hp3d=None):
    """A run in a bed of its own. Figures of one mode."""
    hosts = [f"h{i + 1}" for i in range(shape.senders)]
    hosts.append("h2" if shape.senders == 1 else "h9")
    bed, topology = network.make(path, build, mode, hosts, without=shape.without, hp3d=hp3d)
    pipe, pid = keeper(bed)
    try:
        plan = bed.up(topology)
        try:
            return play(bed, shape, seconds, seed, plan)
        finally:
            bed.down()
    finally:
        os.close(pipe)
        os.waitpid(pid, 0)
