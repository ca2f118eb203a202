#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hours of everything at once: four hosts on the P4 fabric, an hp3d beside each, connections that come and go.

usage: fabric.py BUILD [--minutes N] [--round-s N] [--mbps N] [--seed N] [--report FILE] [--set SECTION.KEY=VALUE]

All the time something is done to hp3d and to its network (deeds.py), drawn by the seed, which is printed. After each
round the faults are undone, the connections end, and this must hold:
- every connection ended well, all that arrived had the content that was sent;
- nothing that hosts sent was overtaken, whatever was moved, killed, reloaded or lost;
- every packet buffer is free, no frame is inside hp3d, no flow is held or in a move;
- the hp3d that is never restarted has grown neither in memory nor in descriptors nor in threads;
- what came to its ports, and what it made, has left them, but for what its counters of drops name.
--report: a line of JSON for each round. The exit code is 1 if anything did not hold; the testbed's logs are kept then.
"""
import argparse
import collections
import glob
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time

sys.path[:0] = [os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../p4-testbed")]
from testbed import hp3d, load, tools  # noqa: E402
from deeds import Bed, Deeds  # noqa: E402

SPARED = "h1"
PAIRS = (("h1", "h3"), ("h2", "h4"), ("h3", "h2"), ("h4", "h1"), ("h1", "h4"))
# Of what is never restarted, after WARM rounds: heaps have had their peaks then (half a MiB more is mapped after the fourth
# round, and a quarter in the two hours behind it). Tables are mapped whole at the start and resident once they were used.
WARM = 5
GROWTH = {"mapped_kib": 1024, "resident_kib": 8192, "descriptors": 0, "threads": 0}
LAST_S = 75  # a move that was asked for waits for a packet to close the old path with: close_timeout_us, a minute here
COUNTED = ("retransmissions", "timeouts", "naks_received", "out_of_seq_request", "duplicate_request", "overtaken",
           "overtaken_across_ports", "late_duplicates", "cnps_received")
# What hp3d makes itself, and what ends in it. No UC packet here is of anybody else's, and what is no RoCEv2 comes to it
# only if it is its own.
MADE = ("probes_peer", "probes_standard", "answered", "reports_sent", "ack_solicitations_sent", "traces",
        "naks_made", "cnps_owed", "cnps_made")
ENDS = ("class_uc", "class_other", "consumed", "drop_discarded", "drop_engine", "drop_handover", "drop_host", "drop_tx_full", "drop_too_long", "drop_bypassed")


class Round:
    """The connections of one round."""

    def __init__(self, bed, plan, rng, number, a):
        self.bed, self.processes = bed, {}
        seconds, line = a.round_s, plan["hosts"][0]["rate_mbps"]
        slow, rate = tools.slowness(line), min(a.mbps, int(line * load.FRAMES_SHARE))
        for i, (src, dst) in enumerate(PAIRS):
            name = f"r{number}-{i}"
            common = ["--interface", "rnic0", "--link-mbps", str(rate), "--timeout", "21",
                      "--setup-ms", "20000", "--drain-ms", "60000", "--cnp-interval-us", str(round(load.CNP_INTERVAL_US * slow)),
                      *load.dcqcn(line, slow)]
            words = {f"{name}-rx": ["--listen", bed.path(name + ".gen"), "--load", "none"],
                     f"{name}-tx": ["--connect", bed.path(name + ".gen"), "--qps", str(rng.choice((1, 2, 4))),
                                    "--op", rng.choice(("write", "read", "send", "write:60,read:30,send:10")),
                                    "--size", str(rng.choice((4096, 65536, 1000000))), "--depth", str(rng.choice((1, 4))),
                                    "--sports", str(rng.randrange(49152, 65536)),
                                    "--duration-ms", str(1000 * (seconds if i < 3 else rng.randrange(2, seconds)))]}
            for side, host in ((f"{name}-rx", dst), (f"{name}-tx", src)):
                self.processes[side] = bed.spawn("gen-" + side, host, [
                    tools.binary(bed.build, "roce-gen"), "--name", side, "--seed", str(rng.randrange(1, 1 << 31)),
                    "--output", bed.path(f"gen-{side}.json"), *common, *words[side]])
                end = time.monotonic() + 20
                while side.endswith("rx") and not os.path.exists(bed.path(name + ".gen")):
                    if time.monotonic() > end:
                        raise AssertionError(f"roce-gen {side} does not listen: {bed.log('gen-' + side)}")
                    time.sleep(0.01)

    def end(self, wrong):
        """What all ends counted, in all."""
        sums = collections.Counter()
        for name, process in self.processes.items():
            code = process.wait(timeout=180)
            with open(self.bed.path(f"gen-{name}.json"), encoding="ascii") as f:
                report = json.load(f)
            sums.update({c: report["sum"][c] for c in COUNTED})
            sums["completed"] += report["messages"]["completed"]
            sums["checked"] += report["content"]["checked"]
            if code != 0 or report["content"]["wrong"] or report["content"]["wrong_read_packets"]:
                wrong.append(f"{name}: exit code {code}, {report['outcome']}, {report['messages']}, {report['content']}")
            os.unlink(self.bed.path(f"gen-{name}.json"))
        wrong += [f"{c}: {sums[c]}" for c in ("overtaken", "overtaken_across_ports", "late_duplicates") if sums[c]]
        if sums["completed"] == 0:
            wrong.append("no message was completed")
        return sums


class Soak:
    def __init__(self, a):
        self.args, self.rng = a, random.Random(a.seed)
        self.bed = Bed(f"soak{os.getpid()}", os.path.realpath(a.build))
        try:
            self.begin(a)
        except BaseException:
            self.bed.down()
            raise

    def begin(self, a):
        chosen = hp3d.overrides(a.set)
        self.plan = self.bed.up(os.path.join(os.path.dirname(__file__), "../../p4-testbed/topo/micro.ini"),
                                chosen=chosen, seed=a.seed)
        self.deeds = Deeds(self.bed, self.plan, self.rng, SPARED, chosen, a.seed)
        self.first, self.rounds, self.last = None, 0, self.books(SPARED)

    def footprint(self, host):
        pid = self.deeds.pid(host)
        with open(f"/proc/{pid}/statm", encoding="ascii") as f:
            mapped, resident = (int(n) * os.sysconf("SC_PAGE_SIZE") // 1024 for n in f.read().split()[:2])
        return {"mapped_kib": mapped, "resident_kib": resident, "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
                "threads": len(os.listdir(f"/proc/{pid}/task"))}

    def health(self, host):
        """Whatever the verdict: after the deeds, there are warnings."""
        control = tools.Control(self.bed.path(host + ".sock"))
        data = control.ask("health")
        control.sock.close()
        return data

    def quiet(self, host):
        """Nothing is in it. None, or what is."""
        stats, = self.bed.hp3ctl(host, "stats")
        health = self.health(host)
        busy = {name: pool for name, pool in stats["pool"].items() if pool["free"] != pool["size"]}
        inside = {side: health["bypass"]["rail0"][side]["inside"] for side in ("rnic", "net")}
        if busy or any(inside.values()) or health["moves_under_way"]:
            return f"{host}: buffers {busy}, inside {inside}, {health['moves_under_way']} moves under way: " \
                   + str(self.bed.hp3ctl(host, "flows") if health["moves_under_way"] else "")
        return None

    def settle(self, wrong):
        for host in self.deeds.hosts:
            end = time.monotonic() + LAST_S
            while (left := self.quiet(host)) and time.monotonic() < end:
                time.sleep(0.2)
            if left:
                wrong.append(left)

    def kept(self, wrong):
        """The spared hp3d, against what it was when it was warm."""
        now = self.footprint(SPARED)
        self.rounds += 1
        if self.rounds <= WARM:
            self.first = now
        for what, more in GROWTH.items():
            if now[what] > self.first[what] + more:
                wrong.append(f"{SPARED}: {what} grew from {self.first[what]} to {now[what]}")
        return now

    def books(self, host):
        """Frames that came to its ports and that it made, frames that left them and that ended in it."""
        links = {link["ifname"]: link["stats64"] for link in json.loads(tools.run(
            ["ip", "-n", self.bed.ns(host), "-s", "-j", "link", "show"]))}
        counters = self.bed.hp3ctl(host, "stats")[0]["rail"]["rail0"]
        bypass = self.health(host)["bypass"]["rail0"]
        came, left = (sum(links[port][way]["packets"] for port in ("port0", "eth0")) for way in ("rx", "tx"))
        return collections.Counter(came=came, left=left, closed=bypass["rnic"]["closed"] + bypass["net"]["closed"],
                                   **{c: counters[c] for c in MADE + ENDS})

    def balanced(self, wrong):
        now = self.books(SPARED)
        since = {c: now[c] - self.last[c] for c in now}
        self.last = now
        lost = since["came"] + sum(since[c] for c in MADE) - since["left"] - since["closed"] - sum(since[c] for c in ENDS)
        if lost:
            wrong.append(f"{SPARED}: {lost} frames are in no counter: {since}")

    def round(self, number):
        wrong, done, began = [], [], time.monotonic()
        connections = Round(self.bed, self.plan, self.rng, number, self.args)
        while time.monotonic() < began + self.args.round_s:
            time.sleep(self.rng.uniform(0.2, 3))
            done.append(f"{time.monotonic() - began:.1f} {self.deeds.one()}")
        self.deeds.undo()
        sums = connections.end(wrong)
        self.settle(wrong)
        self.balanced(wrong)
        return {"round": number, "seconds": round(time.monotonic() - began), "counted": dict(sums), "kept": self.kept(wrong),
                "wrong": wrong, "deeds": done}

    def close(self, keep):
        if keep:
            path = tempfile.mkdtemp(prefix="hp3-soak-")
            for log in glob.glob(self.bed.path("*.log")):
                shutil.copy(log, path)
            print(f"logs: {path}", flush=True)
        self.bed.down()


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("build")
    p.add_argument("--minutes", type=float, default=2)
    p.add_argument("--round-s", type=int, default=60)
    p.add_argument("--mbps", type=int, default=1000, help="each connection sends no faster: less of the machine is used (the line's rate)")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    p.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="a setting of hp3d")
    p.add_argument("--report")
    a = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"soak: {a.minutes:g} minutes, seed {a.seed}", flush=True)
    end, number, bad = time.monotonic() + 60 * a.minutes, 0, 0
    soak = Soak(a)
    out = open(a.report, "w", encoding="ascii") if a.report else None
    try:
        while time.monotonic() < end:
            number += 1
            result = soak.round(number)
            bad += bool(result["wrong"])
            c = result["counted"]
            print(f"round {number}: {len(result['deeds'])} deeds, {c['completed']} messages, {c['retransmissions']} packets again, "
                  f"{c['overtaken'] + c['overtaken_across_ports']} overtaken, {SPARED} {result['kept']['resident_kib']} KiB "
                  + "; ".join(result["wrong"]), flush=True)
            if out:
                out.write(json.dumps(result) + "\n")
                out.flush()
    except Exception:
        bad += 1
        raise
    finally:
        print(f"soak: {number} rounds, {bad} not as they should be; {sum(soak.deeds.done.values())} deeds: "
              + ", ".join(f"{n} {name}" for name, n in soak.deeds.done.items()), flush=True)
        soak.close(keep=bad > 0)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
