#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hosts with other ports than net_af_packet send and receive frames; ports that cannot be made
cause a message with the reason.

usage: ports.py BUILD mixed|af_xdp

mixed: h1 tap, h2 memif, h3 af_packet, h4 vhost. Behind the sockets of h2 and h4 sits a testpmd that passes frames
between memif or virtio and a veth of ours.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import reference as ref
from bench_bed import HERE, Bed, Port, is_roce

PORT = "qpairs=1,qdisc_bypass=0,framesz=2048,blocksz=32768,framecnt=256"


class Testpmd:
    """Frames between the sockets of two hosts and the interfaces m0x and v0x, in the fabric's namespace."""

    def __init__(self, bed):
        folder, ns = f"/run/hp3-testbed/{bed.name}", f"hp3tb-{bed.name}-fabric"
        for veth in ("m0", "v0"):
            subprocess.run(["ip", "-n", ns, "link", "add", veth, "type", "veth", "peer", "name", veth + "x"], check=True)
            for end in (veth, veth + "x"):
                subprocess.run(["ip", "-n", ns, "link", "set", end, "arp", "off", "up"], check=True)
        vdevs = [f"net_memif0,role=client,socket-abstract=no,socket={folder}/h2.memif", f"net_af_packet0,iface=m0,{PORT}",
                 f"net_virtio_user0,path={folder}/h4.vhost,queues=1", f"net_af_packet1,iface=v0,{PORT}"]
        words = ["ip", "netns", "exec", ns, "dpdk-testpmd", "--lcores", "0@(0-1),1@(0-1)", "--no-huge", "--no-shconf", "-m", "128",
                 "--no-pci", "--no-telemetry", "--file-prefix", f"hp3tb-{bed.name}-pmd"]
        for v in vdevs:
            words += ["--vdev", v]
        words += ["--", "--forward-mode=io", "--auto-start", "--stats-period=3600", "--total-num-mbufs=4096",
                  "--no-lsc-interrupt"]
        self.log = tempfile.NamedTemporaryFile("w+", prefix="hp3-testpmd-", encoding="utf-8")
        self.process = subprocess.Popen(["stdbuf", "-oL", *words], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        end = time.monotonic() + 30
        while "packet forwarding" not in self.text():
            assert self.process.poll() is None and time.monotonic() < end, self.text()[-2000:]
            time.sleep(0.1)

    def text(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as f:
            return f.read()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def exchange(plan, a, b, ends, tries=20):
    """10 frames each way; the first tries may come before a socket's other side is ready."""
    h = {x["name"]: x for x in plan["hosts"]}

    def frames(src, dst):
        return [ref.ethernet(h[src]["leaf_mac"], h[src]["mac"], 0x0800, ref.ipv4(h[src]["ip4"], h[dst]["ip4"], 17, ref.udp(
            50000 + i, 4791, ref.bth(17, bytes(64))))) for i in range(10)]

    for src, dst in ((a, b), (b, a)):
        for i in range(tries):
            for f in frames(src, dst):
                ends[src].send(f)
            got = [f for _, f in ends[dst].receive(0.3, is_roce)]
            if got:
                break
        want = [f[42:] for f in frames(src, dst)]
        assert sorted(f[42:] for f in got) == sorted(want), f"{src} to {dst}: {len(got)} of {len(want)} frames"
        assert all(f[22] == 61 and f[:6] == ref.mac(h[dst]["mac"]) for f in got), f"{src} to {dst}: not three hops"
        print(f"{src} to {dst}: {len(got)} frames")


def plan_of(bed):
    with open(f"/run/hp3-testbed/{bed.name}/settings.json", encoding="utf-8") as f:
        return json.load(f)["plan"]


def case_mixed(bed):
    bed.must("up", "--bare", os.path.join(HERE, "topo", "ports.ini"))
    pmd = Testpmd(bed)
    try:
        ends = {"h1": Port(bed, "h1"), "h2": Port(bed, "fabric", "m0x"), "h3": Port(bed, "h3"), "h4": Port(bed, "fabric", "v0x")}
        exchange(plan_of(bed), "h1", "h3", ends)
        exchange(plan_of(bed), "h2", "h4", ends)
    finally:
        pmd.close()
    bed.must("status")
    bed.must("down")
    assert bed.left() == [], bed.left()
    errors(bed)


def errors(bed):
    """What cannot be is said, with the fix, and nothing is left."""
    for text, words, more in (
            ("[hosts]\nport = dpaa\n", ("[hosts] port", "af_packet|af_xdp"), ()),
            ("[host.h9]\nport = tap\n", ("[host.h9]", "no such host"), ()),
            ("[hosts]\nport = memif\n", ("h1", "memif"), ("--tap", "h1"))):
        with tempfile.NamedTemporaryFile("w", prefix="hp3-ports-", suffix=".ini", encoding="ascii") as f:
            f.write(text)
            f.flush()
            code, _, err = bed.run("up", "--bare", f.name, *more)
        assert code == 1 and all(w in err for w in words), err
        bed.must("down")
        assert bed.left() == [], bed.left()
    fabric = os.path.join(bed.build, "p4-testbed", "fabric", "hp3-fabric")
    for devargs, why in (("net_nosuch_%s", "no such driver"), ("net_af_packet_%s,iface=hp3nosuch", "is the interface in this namespace")):
        done = subprocess.run([fabric, "run", os.path.join(HERE, "topo", "ports.ini"), "--socket", f"/run/{bed.name}-ports.sock",
                               "--devargs", devargs], capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 1 and "host h1" in done.stderr and why in done.stderr and "[hosts] port" in done.stderr, done.stderr


def case_af_xdp(bed):
    bed.must("up", "--bare", os.path.join(HERE, "topo", "af-xdp.ini"))
    exchange(plan_of(bed), "h1", "h2", {h: Port(bed, h) for h in ("h1", "h2")})


def main():
    build, case = sys.argv[1:]
    bed = Bed(build, f"p{os.getpid() % 100000}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        globals()["case_" + case](bed)
    finally:
        bed.run("down")
    print(f"{case}: holds")


main()
