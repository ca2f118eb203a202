# SPDX-License-Identifier: BSD-3-Clause
"""Testbeds whose hp3ds have the shipped configuration.

hp3d's configuration is the text of `hp3d --dump-config=all` with nothing changed but the ports, which no default can know,
the mode, which is what is compared, and what keeps several processes on one machine apart: file_prefix and socket.

wire   two hosts, their eth0 joined by one veth pair: one path, and no switch that could add anything
one    the P4 fabric with one spine
four   the P4 fabric with four equal spines
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "p4-testbed"))

from testbed import bed as beds  # noqa: E402
from testbed import tools  # noqa: E402

NAME = "harm"
MTU = 1500
PORT = "qpairs=1,qdisc_bypass=0,framesz=2048,blocksz=32768,framecnt=2048"
PATHS = ("wire", "one", "four")


def shipped(hp3d, changes, rail):
    """hp3d's own configuration and a rail; `changes`: {"[section] key": value}, all of them keys that it has."""
    left, section, lines = dict(changes), "", []
    for line in tools.run([hp3d, "--dump-config=all"]).splitlines():
        head = re.fullmatch(r"(\[.+\])", line)
        section = head.group(1) if head else section
        key, equals, _ = line.partition(" = ")
        value = left.pop(f"{section} {key}", None) if equals else None
        lines.append(line if value is None else f"{key} = {value}")
    if left:
        raise tools.Problem(f"hp3d --dump-config=all has no {', '.join(left)}")
    return "\n".join([*lines, "[rail.rail0]", *(f'{key} = "{value}"' for key, value in rail.items())]) + "\n"


class Shipped(beds.Bed):
    """`mode`: of hp3d; `hosts`: who takes part; `without`: hosts that have no hp3d; `hp3d`: another program."""

    def __init__(self, name, build, mode, hosts, without=(), hp3d=None):
        super().__init__(name, build)
        self.mode, self.taking_part, self.without = mode, hosts, without
        self.program = hp3d or tools.binary(build, "hp3d")

    def with_hp3d(self):
        return [h for h in self.taking_part if h not in self.without]

    def make_host(self, h, mtu, bare):
        super().make_host(h, mtu, bare or h["name"] not in self.with_hp3d())

    def interface(self, host):
        return "rnic0" if host in self.with_hp3d() else "eth0"

    def start_hp3d(self, host, plan, chosen, seed):
        name = host["name"]
        if name not in self.with_hp3d():
            return
        text = shipped(self.program, {
            "[eal] file_prefix": f'"hp3tb-{self.name}-{name}"',
            "[control] socket": f'"{self.path(name + ".sock")}"',
            "[service] state": f'"{self.path(name + "-state")}"',
            "[policy] mode": self.mode,
        }, {"rnic": f"net_af_packet0,iface=port0,{PORT}", "net": f"net_af_packet1,iface=eth0,{PORT}"})
        with open(self.path(name + ".ini"), "w", encoding="ascii") as f:
            f.write(text)
        self.spawn(f"hp3d-{name}", name, [self.program, "--config", self.path(name + ".ini")])

    def await_hp3d(self, host):
        if host["name"] in self.with_hp3d():
            super().await_hp3d(host)

    def down(self):
        """hp3d is not asked to stop cleanly first: that takes time, and is another test's matter."""
        for name in self.with_hp3d():
            tools.stop(self.recorded(f"hp3d-{name}"), grace=0)
        super().down()

    def restart_hp3d(self, name):
        """Stops it as an operator does, and starts it anew."""
        host = next(h for h in self.settings()["plan"]["hosts"] if h["name"] == name)
        tools.stop(self.recorded(f"hp3d-{name}"))
        self.start_hp3d(host, None, {}, 0)
        self.await_hp3d(host)


class Wire(Shipped):
    """Two hosts without a network between them: what one sends to its gateway reaches the other."""

    def up(self, topology, **kw):
        plan = {"mtu": MTU, "hosts": [
            {"name": f"h{i}", "mac": f"02:09:00:00:00:{i:02x}", "leaf_mac": f"02:09:00:00:00:{3 - i:02x}", "leaf": "-",
             "ip4": f"10.9.{i}.1", "ip6": f"fd00:9:0:{i}::1", "port": "af_packet"} for i in (1, 2)]}
        self.take_lock()
        try:
            self.sweep()
            os.makedirs(self.dir, mode=0o700)
            with open(self.path("settings.json"), "w", encoding="utf-8") as f:
                json.dump({"topology": "wire", "target": "wire", "taps": [], "plan": plan}, f)
            try:
                self.join(plan)
                for host in plan["hosts"]:
                    self.start_hp3d(host, plan, {}, 0)
                for host in plan["hosts"]:
                    self.await_hp3d(host)
            except BaseException:
                self.sweep(keep_logs=True)
                raise
        finally:
            self.drop_lock()
        return plan

    def join(self, plan):
        spaces = [self.ns(h["name"]) for h in plan["hosts"]]
        for ns in spaces:
            tools.run(["ip", "netns", "add", ns])
            self.quiet(ns)
        self.batch(spaces[0], [f"link add eth0 mtu {MTU} type veth peer name eth0 mtu {MTU} netns {spaces[1]}"])
        for host in plan["hosts"]:
            self.make_host(host, MTU, False)


def make(path, build, mode, hosts, **kw):
    """A bed of this path that is not up yet, and the topology that up() takes."""
    name = f"{NAME}{os.getpid()}"
    if path == "wire":
        return Wire(name, build, mode, hosts, **kw), "wire"
    many = "incast-" if len(hosts) > 2 else ""
    return Shipped(name, build, mode, hosts, **kw), os.path.join(HERE, "topo", f"{many}{path}.ini")


def sweep(build):
    """What runs left whose process, and its keeper, were killed."""
    for name in beds.names():
        pid = name.removeprefix(NAME)
        if name.startswith(NAME) and pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            subprocess.run([os.path.join(tools.HERE, "hp3-testbed"), "--build", build, "--name", name, "down"],
                           check=False, capture_output=True)
