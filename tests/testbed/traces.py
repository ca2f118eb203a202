#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d determines the spine on each port's path, by traces and by the linear map that it derives
from them.

usage: traces.py BUILD CASE

Compared with the prediction of hp3-testbed path, from the switches' tables and seeds. hp3d does not have these.
"""
import configparser
import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from bench_bed import HERE, Bed

SEED = 20261121
HOSTS = ("h1", "h3")
SETTINGS = {"probe": "peer", "identity": "trace", "traces_per_second": "2000", "trace_recheck_ms": "3000",
            "probe_timeout_us": "100000"}
LIBC = ctypes.CDLL(None)


def die_with_parent():
    LIBC.prctl(1, signal.SIGKILL)


class Fabric:
    """A testbed whose hp3d of h1 and h3 are ours, with some traffic between these."""

    def __init__(self, bed, more):
        self.bed, self.ours = bed, []
        self.dir = f"/run/hp3-testbed/{bed.name}"
        topology = os.path.join(tempfile.mkdtemp(prefix="hp3-traces-"), "topology.ini")
        with open(os.path.join(HERE, "topo", "trace.ini"), encoding="ascii") as f, \
                open(topology, "w", encoding="ascii") as out:
            out.write(f.read() + more)
        try:
            bed.must("up", topology)
        finally:
            shutil.rmtree(os.path.dirname(topology))
        for host in HOSTS:
            self.restart(host)
        for host in HOSTS:
            self.wait(f"hp3d of {host}", lambda host=host: os.path.exists(f"{self.dir}/{host}.sock"))

    def wait(self, what, check, seconds=60):
        end = time.monotonic() + seconds
        while True:
            value = check()
            if value:
                return value
            assert time.monotonic() < end, f"{what}: not within {seconds} s: {self.pair()}"
            time.sleep(0.05)

    def spawn(self, host, *words):
        with open(f"{self.dir}/ours.log", "ab") as log:
            self.ours.append(subprocess.Popen(
                ["ip", "netns", "exec", f"hp3tb-{self.bed.name}-{host}", *words], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=die_with_parent))
        return self.ours[-1]

    def restart(self, host):
        """The testbed's hp3d with its own configuration, but for what is said above."""
        pid, ini = self.bed.pid(f"hp3d-{host}"), f"{self.dir}/{host}.ini"
        os.kill(pid, signal.SIGTERM)
        self.wait("the end of hp3d", lambda: not os.path.exists(f"{self.dir}/{host}.sock"))
        c = configparser.ConfigParser(interpolation=None)
        c.read(ini)
        if not c.has_section("ppp"):
            c.add_section("ppp")
        c["ppp"].update(SETTINGS)
        with open(ini, "w", encoding="ascii") as f:
            c.write(f)
        self.spawn(host, os.path.join(self.bed.build, "app/hp3d/hp3d"), "--config", ini)

    def traffic(self, qps):
        """Messages from h1 to h3 until stop()."""
        common = (os.path.join(self.bed.build, "p4-testbed/roce-gen/roce-gen"), "--interface", "rnic0",
                  "--setup-ms", "20000", "--link-mbps", "45", "--seed", str(SEED % 65536))
        self.spawn("h3", *common, "--listen", f"{self.dir}/rx.gen", "--load", "none", "--output", f"{self.dir}/rx.json")
        self.wait("roce-gen", lambda: os.path.exists(f"{self.dir}/rx.gen"))
        self.gen = self.spawn("h1", *common, "--connect", f"{self.dir}/rx.gen", "--qps", str(qps), "--load", "poisson",
                              "--load-mbps", "4", "--size", "8192", "--output", f"{self.dir}/tx.json")
        return self.wait("paired flows", lambda: [f["flow"] for f in self.ctl("flows") if f["paired"]][qps - 1:])[0]

    def stop(self):
        """Traffic ends: its report."""
        self.gen.send_signal(signal.SIGTERM)
        self.gen.wait(timeout=30)
        with open(f"{self.dir}/tx.json", encoding="utf-8") as f:
            return json.load(f)

    def run(self, words, host="h1"):
        return subprocess.run([os.path.join(self.bed.build, "app/hp3ctl/hp3ctl"), "--socket", f"{self.dir}/{host}.sock",
                               "--json", *words], capture_output=True, text=True, check=False, timeout=60)

    def refused(self, *words):
        """Why it is."""
        out = self.run(words)
        assert out.returncode == 1, f"{words[:3]}: {out.stdout}{out.stderr}"
        return json.loads(out.stdout)["error"]

    def ctl(self, *words, host="h1"):
        out = self.run(words, host)
        assert out.returncode == 0, f"{words[:3]}: {out.stdout}{out.stderr}"
        return [json.loads(line) for line in out.stdout.splitlines()]

    def pair(self):
        """What h1 knows of the paths to h3."""
        pairs = [p for p in self.ctl("paths") if p["pair"].endswith("-10.9.2.1")]
        return pairs[0]["identity"] if pairs else {}

    def until(self, tracing):
        return self.wait(tracing, lambda: (lambda p: p if p.get("tracing") == tracing else None)(self.pair()))

    def hop(self, port):
        """Address of the spine that the switches will choose."""
        return "10.8.2." + self.bed.spine("h1", "h3", port)[1:]

    def traced(self, flow, ports):
        """{port: row} of ports that switches told of; one lost packet is no silence."""
        rows = {}
        for _ in range(3):
            left = [str(p) for p in ports if p not in rows]
            rows.update({r["port"]: r for r in self.ctl("trace", flow, *left) if r["outcome"] != "silent"} if left else {})
        return rows

    def close(self):
        for p in self.ours:
            p.kill()
            p.wait()


def right(fabric, flow, ports):
    """Every one of these ports is traced to the spine that it takes; what hp3d knew before."""
    rows = fabric.traced(flow, ports)
    wrong = [(p, rows.get(p)) for p in ports if p not in rows or rows[p]["hop"] != fabric.hop(p)]
    print(f"{len(ports)} ports traced, {len(wrong)} wrong")
    assert not wrong, wrong[:5]
    return {p: rows[p]["known"] for p in ports}


def case_linear(fabric):
    """1,000 random ports traced, all right; a map of some dozen traces tells 1,000 others, all right."""
    rng = random.Random(SEED)
    flow = fabric.traffic(qps=2)
    assert fabric.until("linear") == {"by": "model", "tracing": "linear", "ttl": 2}
    asked = fabric.ctl("stats")[0]["rail"]["rail0"]["trace_sent"]
    print(f"learnt from {asked} traces")
    assert asked < 300
    ports = rng.sample(range(49152, 65536), 2000)
    distinct = fabric.ctl("ports", "--peer", "10.9.2.1", "--count", "4", "--distinct")[0]
    print(f"ports of their own: {distinct['ports']}")
    assert {fabric.hop(p["port"]) for p in distinct["ports"]} == {p["hop"] for p in distinct["ports"]}
    assert len({p["hop"] for p in distinct["ports"]}) == 4 == distinct["paths"]
    assert {p["evidence"] for p in distinct["ports"]} == {"linear"}
    refused = fabric.refused("ports", "--peer", "10.9.2.1", "--count", "5", "--distinct")
    assert refused["code"] == "too-few" and "4 of 5" in refused["text"], refused
    known = right(fabric, flow, ports[:1000])
    assert all(known[p] == fabric.hop(p) for p in known)
    rest = fabric.ctl("trace", "--known", flow, *(str(p) for p in ports[1000:]))
    wrong = [r for r in rest if r["known"] != fabric.hop(r["port"])]
    print(f"{len(rest)} ports predicted, {len(wrong)} wrong")
    assert len(rest) == 1000 and not wrong, wrong[:5]
    # A failed link: three spines are left, and no linear map.
    fabric.bed.must("fail", "l1-s2", "--reroute-ms", "20")
    fabric.until("traces")
    known = right(fabric, flow, ports[:100])
    assert all(k in (None, fabric.hop(p)) for p, k in known.items())
    fabric.bed.must("restore", "l1-s2")
    fabric.until("linear")
    right(fabric, flow, ports[:100])


def case_silent(fabric):
    """One switch says nothing: the port is the path, and traffic does not care."""
    fabric.traffic(qps=2)
    fabric.wait("some traces", lambda: fabric.ctl("stats")[0]["rail"]["rail0"]["trace_nothing"])
    assert fabric.pair() == {"by": "none", "tracing": "rest", "ttl": 0}
    time.sleep(1)
    report = fabric.stop()
    assert fabric.ctl("stats")[0]["rail"]["rail0"]["traces_silent"] > 0
    assert report["messages"]["completed"] > 0, report


def case_qpn(fabric):
    """Switches that hash the queue pair number are found out."""
    fabric.traffic(qps=2)
    assert fabric.until("by-qpn")["by"] == "none"
    assert fabric.refused("ports", "--peer", "10.9.2.1", "--count", "2")["code"] == "hashed-qpn"


CASES = {"linear": "", "silent": "[switch.s3]\ntime_exceeded = off\n", "qpn": "[hash]\nqpn = on\n"}


def main():
    build, case = sys.argv[1:]
    bed = Bed(build, f"r{os.getpid() % 100000}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {SEED}")
    fabric = None
    try:
        fabric = Fabric(bed, CASES[case])
        globals()["case_" + case](fabric)
    finally:
        if fabric:
            fabric.close()
        bed.run("down")
    assert bed.left() == []
    print(f"{case}: holds")


main()
