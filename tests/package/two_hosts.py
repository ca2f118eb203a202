#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The Debian package on two fresh hosts, each with one rail in hp3.ini and nothing else changed: a large WRITE takes all paths between
them, in order, and hp3ctl peers says how the hosts are keyed. So do READ responses, with one key more (SLOW_READS: links are slow here).

Each host is a fresh root under its own systemd, in a network namespace of the P4 testbed: four spines. roce-gen is the RNIC. The
fabric's counters say what each spine carried.

usage: two_hosts.py BUILD [--deb FILE] [--set SECTION.KEY=VALUE]...
FILE: this package. Without it: that of debian.py, if the tree has not changed since; else a new one. --set changes a key of hp3.ini,
to see the test fail: rfr.mode=move, probes.keys=off.
Exit code 77: no fresh root can be had, or its systemd does not boot here.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from fresh import ROOT, Booted, Fresh, built, check, own_mounts, remove_root, step
from harness import die_with_parent, interrupted, sweep, wait_for

sys.path.insert(0, os.path.join(ROOT, "tests/testbed"))
from bench_bed import Bed, Control  # noqa: E402
from testbed import spray, tools  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
RAIL = ("rail.rail0.rnic", "net_af_packet0,iface=port0"), ("rail.rail0.net", "net_af_packet1,iface=eth0")
LINK_MBPS = 60
# No event tells of these queue pairs: hp3d pairs them by replies within 0.2 s, so few READs are outstanding.
LOAD = {"write": ("--size", "1048576", "--depth", "4"), "read": ("--size", "262144", "--depth", "2")}
# At 60 Mb/s, a READ of 256 KiB takes 35 ms, longer than the responder waits for the requester's YES: 0.04 ms at 50 Gb/s.
SLOW_READS = ("rfr.spray_keepalive_us", "50000")
WINDOW = 128  # packets, in a row, of one queue pair: 20 ms
SPREAD = 80  # windows in which all spines carried their share
FAIR = 0.5  # of an equal share: what each spine carries at least in such a window
PATIENCE = int(os.environ.get("HP3_PATIENCE", "120"))  # seconds; on a busy machine, each wait takes less than a tenth
WRONG = ("out_of_seq_request", "duplicate_request", "retransmissions", "naks_received", "timeouts", "overtaken")


class Host:
    """The package, installed in a fresh root and started there."""

    def __init__(self, name, work, bare, deb, bed, changes):
        self.name, self.work = name, os.path.join(work, name)
        os.mkdir(self.work)
        self.root = Fresh(self.work, bare)
        self.root.install([deb], "systemd")
        self.set(*RAIL, *changes)
        self.network = f"/run/netns/hp3tb-{bed.name}-{name}"
        self.unit = Booted(self.root, self.network, f"hp3-{os.getpid()}-{name}")
        self.booted = self.unit.process.poll() is None

    def set(self, *changes):
        ini = self.root.read("etc/hp3/hp3.ini")
        for path, value in changes:
            section, _, key = path.rpartition(".")
            line, head = f'{key} = "{value}"', f"[{section}]\n"
            ini, n = re.subn(rf"(?ms)^(\[{re.escape(section)}\]$(?:(?!^\[).)*?^){key} = [^\n]*", rf"\1{line}", ini)
            if n == 0:
                ini = ini.replace(head, head + line + "\n") if head in ini else f"{ini}\n{head}{line}\n"
        with open(self.root.at("etc/hp3/hp3.ini"), "w") as f:
            f.write(ini)

    def reload(self, *changes):
        self.set(*changes)
        self.unit.run("systemctl", "reload", "hp3d")
        wait_for("the reload", lambda: "hp3d: reloaded" in self.unit.journal(), PATIENCE)

    def start(self):
        check(subprocess.run(self.unit.words("systemctl", "start", "hp3d"), stderr=subprocess.DEVNULL).returncode == 0,
              f"{self.name}: systemd cannot start hp3d:\n" + self.unit.journal())
        # As on a host where hp3d has a CPU of its own.
        pid = self.unit.show("MainPID")
        self.unit.run("sh", "-c", f"renice -n -15 -p $(ls /proc/{pid}/task) && echo -15 >/proc/{pid}/autogroup")
        self.identity, = re.findall(r"made a new identity of this host, (\S+)", self.unit.journal())

    def peers(self):
        return [json.loads(line) for line in self.unit.run("hp3ctl", "--json", "peers").splitlines()]

    def told(self):
        return self.unit.run("hp3ctl", "peers") + self.unit.run("hp3ctl", "stats", "--nonzero") + self.unit.journal()


def first():
    die_with_parent()
    tools.ahead()


class Gen:
    """roce-gen on a host."""

    def __init__(self, bed, work, host, *words):
        self.report_at = os.path.join(work, f"{host.name}.json")
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", os.path.basename(host.network), os.path.join(bed.build, "p4-testbed/roce-gen/roce-gen"),
             "--interface", "rnic0", "--link-mbps", str(LINK_MBPS), "--no-np", "--output", self.report_at, *words],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=first)

    def end(self):
        """Its report."""
        self.process.send_signal(signal.SIGINT)
        return self.report()

    def report(self):
        code = self.process.wait(timeout=PATIENCE)
        with open(self.report_at) as f:
            report = json.loads(f.read().splitlines()[-1])
        check(code == 0, f"roce-gen: exit code {code}: {report['sum']}")
        return report


def agreed(host, role, reads):
    """hp3ctl peers on this host, once it has agreed on one queue pair as that."""
    def look():
        peers = host.peers()
        return peers[0] if len(peers) == 1 and (peers[0][role], peers[0][role + "_reads"]) == (1, int(reads)) else None
    try:
        return wait_for(f"{role} {'READs' if reads else 'WRITEs'} in hp3ctl peers", look, PATIENCE)
    except AssertionError as e:
        raise SystemExit(f"package: {host.name}: {e}\n{host.told()}") from e


def judge_peer(peer, other):
    told = {k: peer[k] for k in ("hp3d", "key", "agreement", "identity", "probes", "reports", "doubted")}
    wanted = {"hp3d": "hp3d", "key": "auto", "agreement": "keyed", "identity": other.identity, "probes": True, "reports": True, "doubted": False}
    check(told == wanted, f"hp3ctl peers: {told}, due is {wanted}")


class Spines:
    """Packets that a leaf sends to each spine, by the fabric's counters."""

    def __init__(self, bed, leaf):
        self.control, self.leaf = Control(f"/run/hp3-testbed/{bed.name}/fabric.sock"), leaf
        self.first = self.last = self.count()
        self.windows = self.spread = 0

    def count(self):
        return spray.spine_packets(self.leaf, {"fabric": self.control.ask("stats")})

    def since(self, before):
        now = self.count()
        return now, {s: n - before[s] for s, n in now.items()}

    def is_spread(self):
        """In SPREAD windows, each spine carried its share: one path at a time, moved or not, never does in any. A machine that does
        not let hp3d run in time ends agreements for a while, so not every window counts."""
        now, sent = self.since(self.last)
        if sum(sent.values()) >= WINDOW:
            self.last = now
            self.windows += 1
            self.spread += len(sent) == 4 and min(sent.values()) >= FAIR / 4 * sum(sent.values())
        return self.spread >= SPREAD

    def told(self):
        _, sent = self.since(self.first)
        return ", ".join(f"{s} {n}" for s, n in sent.items()) + f" packets; all of them their share in {self.spread} of {self.windows} windows"


def transfer(bed, work, hosts, op):
    """One queue pair: h1 writes to h2, or reads from it. Data leave the leaf of their sender by all spines."""
    reads = op == "read"
    leaf, sender, receiver = ("l2", hosts[1], hosts[0]) if reads else ("l1", *hosts)
    where = os.path.join(work, op + ".sock")
    passive = Gen(bed, work, hosts[1], "--listen", where, "--load", "none")
    wait_for("roce-gen's socket", lambda: os.path.exists(where), PATIENCE)
    active = Gen(bed, work, hosts[0], "--connect", where, "--op", op, *LOAD[op])
    judge_peer(agreed(sender, "sprayed", reads), receiver)
    judge_peer(agreed(receiver, "resequenced", reads), sender)
    spines = Spines(bed, leaf)
    try:
        wait_for(f"{op}: packets from {leaf} to all spines", spines.is_spread, PATIENCE)
    except AssertionError as e:
        raise SystemExit(f"package: {e}: {spines.told()}\n{sender.told()}\n{receiver.told()}") from e
    step(f"{op.upper()}: {leaf} sent to its spines {spines.told()}")
    sums = [active.end()["sum"], passive.report()["sum"]]
    wrong = {k: n for s in sums for k, n in s.items() if k in WRONG and n}
    check(not wrong, f"{op}: RNICs counted {wrong}: {sums}\n{sender.told()}\n{receiver.told()}")
    step(f"RNICs counted none of {', '.join(WRONG)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--deb")
    parser.add_argument("--set", action="append", default=[])
    a = parser.parse_args()
    bare = subprocess.run([os.path.join(ROOT, "scripts/fresh-root.sh"), "--bare"], stdout=subprocess.PIPE, text=True)
    if os.geteuid() != 0 or bare.returncode != 0:
        print("package: no fresh root can be had")
        return 77
    signal.signal(signal.SIGTERM, interrupted)
    own_mounts()
    sweep()
    work = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp")  # swept as those of the pipeline's tests
    bed = Bed(os.path.abspath(a.build), f"p{os.getpid() % 100000}")
    hosts = []
    try:
        deb = a.deb or built(bed.build)["hp3"]
        bed.must("up", os.path.join(HERE, "two_hosts.ini"), "--no-hp3d")
        for name in ("h1", "h2"):
            hosts.append(Host(name, work, bare.stdout.strip(), deb, bed, [word.split("=", 1) for word in a.set]))
            if not hosts[-1].booted:
                print("package: systemd cannot be booted here:\n" + hosts[-1].root.read("tmp/boot.log"))
                return 77
            step(f"installed and booted {name}")
        for host in hosts:
            host.start()
        transfer(bed, work, hosts, "write")
        for host in hosts:
            host.reload(SLOW_READS)
        transfer(bed, work, hosts, "read")
        for host in hosts:
            host.unit.run("systemctl", "stop", "hp3d")
            check(host.unit.show("Result") == "success", f"{host.name}: hp3d did not stop cleanly:\n" + host.unit.journal())
            host.unit.end()
        return 0
    finally:
        for host in hosts:
            if host.unit.process.poll() is None:
                host.unit.process.kill()
        bed.run("down")
        for name in ("h1", "h2"):
            remove_root(os.path.join(work, name))
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
