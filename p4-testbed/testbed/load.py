# SPDX-License-Identifier: BSD-3-Clause
"""The hosts' load: roce-gen processes for the flows and rings of a scenario."""
import json
import math
import os
import subprocess
import time
import zlib

from . import tools
from .tools import Problem

PORTS = range(49152, 65536)
INTERVAL_MS = 100

# DCQCN's paper preset: periods in us at full speed, and the smallest steps that whole Mb/s allow.
PERIODS = {"rpg_time_reset": 55, "rate_reduce_monitor_period": 50, "dce_tcp_rtt": 55}
STEPS = {"rpg_byte_reset": 500000, "rpg_ai_rate": 1, "rpg_hai_rate": 1, "rpg_min_rate": 1}
CNP_INTERVAL_US = 50


def dcqcn(rate_mbps, slow):
    """roce-gen's words for DCQCN on a link; times are `slow` times as long as at full speed."""
    words = ["--dcqcn", "paper"]
    for key, value in ({"rpg_max_rate": rate_mbps} | {k: round(v * slow) for k, v in PERIODS.items()} | STEPS).items():
        words += ["--dcqcn-set", f"{key}={value}"]
    return words


# roce-gen's rate counts frames; a link also carries FCS, preamble and gap (24 bytes to 1,098). A host that
# ignored them would keep a queue in its own NIC.
FRAMES_SHARE = 0.978


def sections(scenario, family):
    return {k.split(".", 1)[1]: v for k, v in scenario.items() if k.startswith(family + ".")}


def draw(seed, *words):
    """A number that depends on the seed and the words alone."""
    return zlib.crc32("/".join(str(w) for w in (seed, *words)).encode())


class Paths:
    """Which source ports of a host pair lead over which spine."""

    def __init__(self, bed):
        self.control = bed.fabric()

    def spine(self, src, dst, sport):
        path = self.control.ask("path", src=src, dst=dst, sport=sport)["path"]
        return path[1] if len(path) > 2 else path[0]

    def port(self, src, dst, spine, start):
        """The first port from a start on (around) that takes this spine."""
        for i in range(2048):
            sport = PORTS[(start + i) % len(PORTS)]
            if self.spine(src, dst, sport) == spine:
                return sport
        raise Problem(f"no port of {src} to {dst} leads over {spine}: is that a spine with both links up?")

    def close(self):
        self.control.close()


class Load:
    def __init__(self, bed, scenario, plan):
        self.bed, self.scenario = bed, scenario
        self.hosts = {h["name"]: h for h in plan["hosts"]}
        self.seed = scenario["scenario"]["seed"]
        self.processes, self.ports, self.ack_ports = {}, {}, {}
        self.start_ms = 0

    def check(self):
        names = [(f"flow.{n}", h) for n, f in sections(self.scenario, "flow").items() for h in (f["src"], f["dst"])]
        names += [(f"ring.{n}", h) for n, r in sections(self.scenario, "ring").items() for h in r["hosts"].split()]
        for where, host in names:
            if host not in self.hosts:
                raise Problem(f"[{where}]: no host '{host}': the topology has {', '.join(self.hosts)}")

    def choose_ports(self, paths):
        for name, f in sections(self.scenario, "flow").items():
            start = draw(self.seed, name) % len(PORTS)
            if f["sport"]:
                self.ports[name] = f["sport"]
            elif f["via"]:
                self.ports[name] = paths.port(f["src"], f["dst"], f["via"], start)
            else:
                self.ports[name] = PORTS[start]
            if f["ack_via"]:
                self.ack_ports[name] = paths.port(f["dst"], f["src"], f["ack_via"], start)
        for ring, r in sections(self.scenario, "ring").items():
            for host in r["hosts"].split():
                who = f"{ring}-{host}"
                src, dst = self.ends(who)
                start = draw(self.seed, who, "port") % len(PORTS)
                self.ports[who] = paths.port(src, dst, r["via"], start) if r["via"] else PORTS[start]

    def words(self, name, host, seed):
        rc, rate = self.scenario["rc"], int(self.hosts[host]["rate_mbps"] * FRAMES_SHARE)
        slow = tools.slowness(self.hosts[host]["rate_mbps"])
        words = [tools.binary(self.bed.build, "roce-gen"), "--interface", "rnic0", "--name", name, "--seed", str(seed),
                 "--link-mbps", str(rate), "--window", str(rc["window"]),
                 "--timeout", str(rc["timeout"] + round(math.log2(slow))), "--interval-ms", str(INTERVAL_MS),
                 "--setup-ms", "20000", "--cnp-interval-us", str(round(CNP_INTERVAL_US * slow)), "--drain-ms", "5000",
                 "--output", self.bed.path(f"gen-{name}.json"), "--messages-out", self.bed.path(f"gen-{name}.messages")]
        return words + (dcqcn(rate, slow) if rc["dcqcn"] == "on" else [])

    def spawn(self, name, host, words):
        self.processes[name] = self.bed.spawn(f"gen-{name}", host, words)

    def await_socket(self, name):
        end = time.monotonic() + 10
        while not os.path.exists(self.bed.path(name + ".gen")):
            if self.processes[name].poll() is not None or time.monotonic() > end:
                raise Problem(f"roce-gen {name} does not start: {self.bed.log('gen-' + name)}")
            time.sleep(0.01)

    def start(self):
        seconds = self.scenario["scenario"]["seconds"]
        flows, rings = sections(self.scenario, "flow"), sections(self.scenario, "ring")
        for name, f in flows.items():
            seed = draw(self.seed, name, "rx") % 65536 + 1
            self.spawn(name + "-rx", f["dst"], self.words(name + "-rx", f["dst"], seed)
                       + ["--listen", self.bed.path(name + "-rx.gen"), "--load", "none"]
                       + (["--sports", str(self.ack_ports[name])] if name in self.ack_ports else []))
        for name in flows:
            self.await_socket(name + "-rx")
        self.start_ms = int(time.time() * 1000) + 1200 + 30 * (len(flows) + 4 * len(rings))
        for name, f in flows.items():
            stop = f["stop_ms"] or seconds * 1000
            words = self.words(name, f["src"], draw(self.seed, name, "tx") % 65536 + 1) + [
                "--connect", self.bed.path(name + "-rx.gen"), "--load", f["load"], "--op", f["op"],
                "--qps", str(f["qps"]), "--start-at-ms", str(self.start_ms + f["start_ms"]),
                "--duration-ms", str(max(stop - f["start_ms"], 1)),
                "--sports", ",".join(str(p) for p in self.ports_of(name, self.ports[name]))]
            words += ["--cdf", f["cdf"]] if f["cdf"] else ["--size", str(f["size_bytes"])]
            words += ["--load-mbps", str(f["load_mbps"])] if f["load"] == "poisson" else ["--depth", str(f["depth"])]
            self.spawn(name, f["src"], words)
        for name, r in rings.items():
            self.start_ring(name, r, seconds)

    def start_ring(self, name, ring, seconds):
        hosts = ring["hosts"].split()
        for i, host in enumerate(hosts):
            who = f"{name}-{host}"
            peer = f"{name}-{hosts[(i + 1) % len(hosts)]}"
            words = self.words(who, host, draw(self.seed, who) % 65536 + 1) + [
                "--listen", self.bed.path(who + ".gen"), "--connect", self.bed.path(peer + ".gen"),
                "--load", "allreduce", "--ranks", str(len(hosts)), "--size", str(ring["size_bytes"]),
                "--start-at-ms", str(self.start_ms), "--duration-ms", str(seconds * 1000)]
            self.spawn(who, host, words + ["--sports", str(self.ports[who])])

    def ends(self, flow):
        """Source and destination of a flow, or of a ring's rank (RING-HOST)."""
        flows = sections(self.scenario, "flow")
        if flow in flows:
            return flows[flow]["src"], flows[flow]["dst"]
        for name, ring in sections(self.scenario, "ring").items():
            hosts = ring["hosts"].split()
            for i, host in enumerate(hosts):
                if flow == f"{name}-{host}":
                    return host, hosts[(i + 1) % len(hosts)]
        raise Problem(f"no flow '{flow}' to move")

    def pair(self, flow):
        """The part of hp3d's flow ids that names the address pair."""
        src, dst = self.ends(flow)
        return f"{self.hosts[src]['ip4']}-{self.hosts[dst]['ip4']}/"

    def name_of(self, host, record):
        """The scenario's name of a flow in hp3d's list of this host, or None: by its pair and the port it came with."""
        for name, port in self.ports.items():
            if self.ends(name)[0] == host and record["home"] in self.ports_of(name, port) and self.pair(name) in record["flow"]:
                return name
        return None

    def ports_of(self, name, port):
        """Source ports of a load's queue pairs, from that of the first."""
        n = sections(self.scenario, "flow").get(name, {"qps": 1})["qps"]
        return [PORTS[(port - PORTS[0] + i * 977) % len(PORTS)] for i in range(n)]

    def flow_ids(self, flow):
        """hp3d's names of the flow's queue pairs at the source, by their port."""
        return [f["flow"] for f in self.bed.hp3ctl(self.ends(flow)[0], "flows")
                if self.pair(flow) in f["flow"] and f["home"] == self.ports[flow]]

    def finish(self, limit):
        """Reports of all processes; who does not end in time is stopped."""
        end = time.monotonic() + limit
        reports = {}
        for name, process in self.processes.items():
            try:
                code = process.wait(max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired as e:
                raise Problem(f"roce-gen {name} does not end: {self.bed.log('gen-' + name)}") from e
            try:
                with open(self.bed.path(f"gen-{name}.json"), encoding="utf-8") as f:
                    reports[name] = json.loads(f.read().splitlines()[-1])
            except (OSError, IndexError, ValueError) as e:
                raise Problem(f"roce-gen {name} ended with code {code} and no report: "
                              f"{self.bed.log('gen-' + name)}") from e
            reports[name]["exit"] = code
            reports[name]["fct"] = self.messages(name)
            self.shift(reports[name], self.begin_ms(name))
        return reports

    def begin_ms(self, name):
        """When a process begins, in the scenario's time; its report counts from there."""
        flow = sections(self.scenario, "flow").get(name)
        return flow["start_ms"] if flow else 0

    @staticmethod
    def shift(report, ms):
        for interval in report["series"]:
            interval["from_s"] += ms / 1000
            interval["to_s"] += ms / 1000
        for message in report["fct"]:
            message[0] += ms * 1000

    def messages(self, name):
        try:
            with open(self.bed.path(f"gen-{name}.messages"), encoding="utf-8") as f:
                lines = [json.loads(line) for line in f]
        except (OSError, ValueError):
            return []
        return [[m["at_us"], m["fct_us"], m["bytes"]] for m in lines]
