#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""As bypass.py, with AF_XDP for both ports or for one: hp3d dies, hangs, ends and starts while
packets flow.

usage: xdp.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import json
import os
import signal
import struct
import subprocess
import time
import bypass
from bypassing import DIRECT, PATIENT, STALE, Port
from cases import Wired, run
from harness import Link, RawPort, wait_for


def program(link):
    """The name of the XDP program on the interface."""
    out = subprocess.run(["ip", "-j", "-d", "link", "show", link.near], check=True, capture_output=True, text=True).stdout
    xdp = json.loads(out)[0].get("xdp")
    return xdp and xdp["prog"]["name"]


class Xdp(bypass.Bypass):
    """What differs: the socket is the interface's only one, so nobody takes over while an hp3d has it."""
    TAKES_AD = True

    def ports(self):
        return self.rnic.xdp_devargs(0), self.net.xdp_devargs(1)

    def next_one(self, **sections):
        """hp3d that does not see whose the interfaces are, as in a container: its /run is its own."""
        d = self.daemon({"rail0": self.ports()}, begin=False, **sections)
        d.command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs run /run && exec "$@"', "sh", *d.command]
        d.begin()
        return d

    def test_the_next_one_waits(self):
        """It does not: as long as this one lives it is refused, and does no harm."""
        d = self.start(bypass=PATIENT)
        a, b = self.traffic()
        self.taking(d)
        self.refused(self.next_one(), rf"(rnic|net) = .*: hp3d of process {d.process.pid} uses it: stop it first")
        self.taking(d)
        self.assertEqual(self.ended(a, b), 0)
        self.stop(d)

    def test_replaced(self):
        """One that hangs has its socket until it is killed."""
        d = self.start()
        a, b = self.traffic()
        self.taking(d)
        self.hang(d)
        self.refused(self.next_one(), rf"(rnic|net) = .*: hp3d of process {d.process.pid} has it, and hangs: kill -9 {d.process.pid}")
        d.process.send_signal(signal.SIGCONT)
        self.taking(d)
        self.ended(a, b)
        self.stop(d)

    def test_no_permission(self):
        """Nothing can be received without a program."""
        self.refused(self.without_bpf(), "does not start")

    def test_programs(self):
        """The tap stays when hp3d is killed, and finds the socket gone; a clean stop takes it away."""
        d = self.start()
        self.assertEqual({program(self.rnic), program(self.net)}, {"hp3_xdp_tap"})
        a, b = self.traffic()
        self.kill_with_ports(d)
        self.assertEqual({program(self.rnic), program(self.net)}, {"hp3_xdp_tap"})
        wait_for("the kernel's way", lambda: self.states() == (STALE, STALE))
        self.again(d)
        self.taking(d)
        self.ended(a, b)
        self.stop(d)
        self.assertEqual((program(self.rnic), program(self.net), self.states()), (None, None, (DIRECT, DIRECT)))

    def test_somebody_elses(self):
        """Another's program stays where it is."""
        source = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"hp3-pass-{os.getpid()}")
        self.addCleanup(os.unlink, source + ".o")
        code = '__attribute__((section("xdp"), used)) int pass(void *c) { return 2; }'
        subprocess.run(["clang-14", "-O2", "-target", "bpf", "-x", "c", "-c", "-o", source + ".o", "-"], input=code, text=True,
                       check=True)
        subprocess.run(["ip", "link", "set", self.net.near, "xdp", "obj", source + ".o", "sec", "xdp"], check=True)
        self.refused(self.daemon({"rail0": self.ports()}), r"net = .*: another XDP program \(pass\) is attached")
        self.assertEqual(program(self.net), "pass")


class Mixed(bypass.Bypass):
    """One port by AF_XDP, one by AF_PACKET."""
    TAKES_AD = True

    def ports(self):
        return self.rnic.devargs(0), self.net.xdp_devargs(1)

    test_the_next_one_waits = Xdp.test_the_next_one_waits
    test_replaced = Xdp.test_replaced
    test_no_permission = Xdp.test_no_permission
    next_one = Xdp.next_one


class Limits(Wired):
    def mtu(self, n):
        for link in (self.rnic, self.net):
            for end in (link.far, link.near):
                subprocess.run(["ip", "link", "set", end, "mtu", str(n)], check=True)

    def test_largest(self):
        """What is said to fit does, through hp3d."""
        self.mtu(3438)
        d = self.daemon({"rail0": (self.rnic.xdp_devargs(0), self.net.xdp_devargs(1))}, eal={"mbuf_bytes": 3840}).up()
        ends = RawPort(self.rnic.far), RawPort(self.net.far)
        for end in ends:
            self.addCleanup(end.close)
        ip = struct.pack(">BBHHHBBH8B", 0x45, 0, 3438, 0, 0x4000, 64, 17, 0, 10, 9, 0, 1, 10, 9, 0, 2)
        roce = ip + struct.pack(">HHHH", 0xc001, 4791, 3418, 0) + b"\x64" + bytes(3409)
        frame = bytes.fromhex("0200000000020200000000010800") + roce
        ends[0].send(frame)
        self.assertEqual(ends[1].receive(), frame)
        self.assertEqual(d.counters()["packets_tx"], 1)
        self.stop(d)

    def test_mtu(self):
        """What does not fit is said before a port is touched."""
        self.mtu(4200)
        d = self.daemon({"rail0": (self.rnic.xdp_devargs(0), self.net.xdp_devargs(1))}, eal={"mbuf_bytes": 4608})
        self.assertEqual(d.process.wait(timeout=40), 1)
        self.assertRegex(d.output(), r"rnic: MTU 4200 of \S+ does not fit net_af_xdp, which carries 3438; ip link set \S+ mtu 3438")


if __name__ == "__main__":
    run()
