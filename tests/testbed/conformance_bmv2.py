#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Conformance vectors against bmv2: the same packets, simple_switch instead of the embedded switch.

usage: conformance_bmv2.py BUILD [NAME...]        only vectors whose names begin with NAME

Every switch that a vector names runs in a namespace of the testbed's, with a veth at each port. The frame that
leaves, its port and the counters of packets must be as in the vector (vectors.md lists the differences of bmv2).
Without simple_switch, p4c-bm2-ss and simple_switch_CLI on PATH the test is skipped.
"""
import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import reference as ref
from bench_bed import Port
from conformance_run import HERE, judge
from testbed import bed as beds
from testbed import bmv2, tools

SKIP = 77
SLOW_PPS = 40  # of a queue that is to be filled
TOGETHER, PAUSE_S = 8, 0.01  # simple_switch's sockets hold some 30 frames
KMIN, KMAX, MTU = 15000, 60000, 1500
REASONS = 6
LATE_S = 10.0  # what is expected has arrived by then
QUIET_S = 0.05  # what is not expected would have


class Cli:
    """simple_switch_CLI, kept open; unbuffered, so that answers come when they are made."""

    def __init__(self, bed, number):
        words = ["ip", "netns", "exec", bed.ns("fabric"), "simple_switch_CLI", "--thrift-port", str(bmv2.THRIFT + number)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "PYTHONUNBUFFERED": "1"})

    def ask(self, lines, n):
        """n counters, by name."""
        self.process.stdin.write("\n".join(lines) + "\n")
        self.process.stdin.flush()
        found = {}
        while len(found) < n:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("simple_switch_CLI ended")
            m = bmv2.COUNTER.search(line)
            if m:
                found[f"{m[1]}[{m[2]}]"] = int(m[4] or m[5])
        return found

    def counters(self, names):
        return self.ask([f"counter_read {n.split('[')[0]} {n.split('[')[1][:-1]}" for n in names], len(names))

    def close(self):
        self.process.stdin.close()
        self.process.wait(5)
        self.process.stdout.close()


class Device:
    """A running switch with our raw sockets at its ports."""

    def __init__(self, bed, topology, plan, name, program):
        self.plan, self.name = plan, name
        self.number = next(i for i, s in enumerate(plan["switches"]) if s["name"] == name)
        self.n = len(plan["switches"][self.number]["ports"])
        bed.batch(bed.ns("fabric"), [line for i in range(self.n) for line in (
            f"link add {name}p{i} mtu 9000 type veth peer name {name}x{i} mtu 9000",
            f"link set {name}p{i} arp off up", f"link set {name}x{i} arp off up")])
        process = bed.spawn(f"switch-{name}", "fabric", bmv2.command(self.number, [f"{name}p{i}" for i in range(self.n)], program))
        bmv2.await_switch(bed, f"switch-{name}", process, self.number)
        entries = tools.run([tools.binary(bed.build, "hp3-fabric"), "entries", topology, name, "--target", "bmv2"])
        bmv2.load(bed, self.number, entries.splitlines())
        self.bed, self.cli = bed, Cli(bed, self.number)
        self.ports = [Port(bed, "fabric", f"{name}x{i}") for i in range(self.n)]
        self.names = [f"{c}[{p}]" for c in ("port_rx", "port_tx", "port_ce") for p in range(self.n)]
        self.names += [f"drops[{r}]" for r in range(REASONS)]
        self.flows = {}

    def send(self, port, frames):
        for i, frame in enumerate(frames):
            if i % TOGETHER == TOGETHER - 1:
                time.sleep(PAUSE_S)
            self.ports[port].send(frame)

    def collect(self, n):
        """[(port, frame)]: n of them, and whatever else comes."""
        got, end = [], time.monotonic() + LATE_S
        while time.monotonic() < end:
            wait = QUIET_S if len(got) >= n else end - time.monotonic()
            ready = select.select([p.sock for p in self.ports], [], [], wait)[0]
            for i, p in enumerate(self.ports):
                if p.sock in ready:
                    frame, where = p.sock.recvfrom(65536)
                    if where[2] != 4:  # PACKET_OUTGOING: what we sent
                        got.append((i, frame))
            if not ready:
                break
        return got

    def run(self, v):
        if "routes" in v:
            bmv2.load(self.bed, self.number, [f"table_add ipv{6 if ':' in p else 4}_route set_group {p} => {g}" for p, g in v["routes"]])
            return []
        frame, want, flow = bytes.fromhex(v["frame"]), v["expect"], [k for k in v["expect"]["counters"] if k.startswith("flow[")]
        names = self.names + flow
        before = self.cli.counters(names)
        fill = 0
        if v["depth"] and "port" in want:
            fill = (KMAX // MTU + 16) if v["depth"] > KMAX else KMIN // MTU - 2
            bmv2.load(self.bed, self.number, [f"set_queue_rate {SLOW_PPS} {want['port']}"])
        self.send(v["port"], [without_ecn(frame) for _ in range(fill)] + [frame] * v.get("repeat", 1))
        got = self.collect(fill + (v["answered"][0] if "repeat" in v else "port" in want))
        if fill:
            bmv2.load(self.bed, self.number, [f"set_queue_rate 0 {want['port']}"])
        after = self.cli.counters(names)
        changes = {k: after[k] - before[k] for k in names if after[k] != before[k]}
        for k in flow:
            self.flows[k] = self.flows.get(k, 0) + after[k] - before[k]
        if "repeat" in v:
            answers = [{"frame": f.hex(), "counters": {}} for _, f in got]
            return answers + [{"counters": {"drops[5]": changes.get("drops[5]", 0)}}]
        for k in changes:
            changes[k] -= 0 if k.startswith("port_ce") else fill
        answer = {"counters": changes, "drop": True} if len(got) <= fill else {
            "counters": changes, "port": got[-1][0], "frame": got[-1][1].hex()}
        if len(got) > fill + 1:
            answer["more"] = len(got) - fill - 1
        return answer

    def other_flows(self):
        """Flow counters that no vector accounts for."""
        all_of = self.cli.counters([f"flow[{i}]" for i in range(4096)])
        return {k: n - self.flows.get(k, 0) for k, n in all_of.items() if n != self.flows.get(k, 0)}

    def close(self):
        self.cli.close()
        for p in self.ports:
            p.sock.close()


def without_ecn(frame):
    """The same flow, not ECN-capable."""
    f = bytearray(frame)
    if f[12:14] == b"\x08\x00":
        f[15] &= 0xfc
        f[24:26] = b"\0\0"
        f[24:26] = struct.pack("!H", ref.checksum(bytes(f[14:34])))
    else:
        f[15] &= 0xcf
    return bytes(f)


def as_seen(v):
    """The vector without what bmv2 does not show."""
    if "routes" in v:
        return v
    expect = {k: x for k, x in v["expect"].items() if k != "priority"}
    expect["counters"] = {k: n for k, n in expect["counters"].items() if "_bytes[" not in k}
    return {**v, "expect": expect}


def topology_run(bed, build, topology, batch, program):
    path = os.path.join(HERE, "topo", topology + ".ini")
    plan = json.loads(tools.run([tools.binary(build, "hp3-fabric"), "plan", path]))
    bed.sweep()
    os.makedirs(bed.dir, mode=0o700)
    tools.run(["ip", "netns", "add", bed.ns("fabric")])
    bed.quiet(bed.ns("fabric"))
    devices = {n: Device(bed, path, plan, n, program) for n in sorted({v["switch"] for v in batch})}
    wrong = 0
    for v in batch:
        for key, expected, found in judge(as_seen(v), devices[v["switch"]].run(v)):
            print(f"{v['name']}: {key}: expected {expected}\n{' ' * len(v['name'])}  {' ' * len(key)}       got {found}")
            wrong += 1
    if topology == "crc32":
        others = devices["l1"].other_flows()
        wrong += len(others)
        print(f"flow counters that no packet accounts for: {others or 'none'}")
    for d in devices.values():
        d.close()
    return wrong


def main():
    if bmv2.missing():
        print(f"skipped: {', '.join(bmv2.missing())} not on PATH (not Debian packages)")
        sys.exit(SKIP)
    build, wanted = sys.argv[1], sys.argv[2:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with open(os.path.join(HERE, "vectors.json"), encoding="utf-8") as f:
        vectors = [v for v in json.load(f) if not wanted or v["name"].startswith(tuple(wanted))]
    bed, wrong = beds.Bed(f"c{os.getpid() % 100000}", build), 0
    bed.take_lock()
    folder = tempfile.mkdtemp(prefix="hp3-bmv2-")
    try:
        bmv2.compile_program(os.path.join(folder, "hp3.json"))
        for topology in sorted({v["topology"] for v in vectors}):
            wrong += topology_run(bed, build, topology, [v for v in vectors if v["topology"] == topology],
                                  os.path.join(folder, "hp3.json"))
    finally:
        shutil.rmtree(folder)
        bed.drop_lock()
        bed.down()
    if wrong:
        sys.exit(f"{len(vectors)} vectors, {wrong} differences")
    print(f"{len(vectors)} vectors hold on bmv2")


main()
