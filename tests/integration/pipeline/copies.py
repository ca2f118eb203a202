#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""TCP through hp3d's ports is as fast as TCP through a bridge of the kernel, within 5 %.

Two hosts are connected by an hp3d with its default configuration, two others by a bridge. The
two pairs copy data in alternation, so that the machine's other load affects both alike. The
fastest fifth of the copies of each pair is compared, since other load disturbs these least.

usage: copies.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import socket
import subprocess
import sys
from cases import Base, run
from harness import CLONE_NEWNET, LIBC, Link, die_with_parent, wait_for

BYTES, COPIES, SERIES = 16 << 20, 60, 4
WORSE = 1.05
SOL_PACKET, PACKET_FANOUT, IGNORE_OUTGOING = 263, 18, 0x4000
PORT = 5000
SINK = """
import socket, sys
s = socket.create_server(("0.0.0.0", %d))
print("up", flush=True)
c, _ = s.accept()
room = bytearray(1 << 20)
while True:
    left = %d
    while left > 0:
        n = c.recv_into(room, min(left, len(room)))
        if n == 0:
            sys.exit()
        left -= n
    c.sendall(b"x")
""" % (PORT, BYTES)
SOURCE = """
import socket, sys, time
c = socket.create_connection((sys.argv[1], %d), 20)
data = bytes(1 << 20)
for line in sys.stdin:
    begin = time.perf_counter()
    for _ in range(%d):
        c.sendall(data)
    c.recv(1)
    print(time.perf_counter() - begin, flush=True)
""" % (PORT, BYTES >> 20)


class Host:
    """A program in a network namespace of its own, with the far end of a link."""

    def __init__(self, link, address, program, *args):
        def enter():
            die_with_parent()
            if LIBC.unshare(CLONE_NEWNET) != 0:
                os._exit(1)
        # It begins once its interface is there.
        self.process = subprocess.Popen([sys.executable, "-c", "input()\n" + program, *args], preexec_fn=enter, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        mine = os.readlink("/proc/self/ns/net")
        wait_for("namespace", lambda: os.readlink(f"/proc/{self.process.pid}/ns/net") != mine)
        subprocess.run(["ip", "link", "set", link.far, "netns", str(self.process.pid)], check=True)
        for command in (["addr", "add", address + "/24", "dev", link.far], ["link", "set", link.far, "up", "arp", "on"]):
            subprocess.run(["nsenter", "-t", str(self.process.pid), "-n", "ip", *command], check=True)
        self.say()

    def say(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def spares_copies(interface):
    """Can a fanout group do without what leaves? Kernels that cannot copy every such frame for the driver."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as s:
        s.bind((interface, 3))
        try:
            s.setsockopt(SOL_PACKET, PACKET_FANOUT, IGNORE_OUTGOING << 16 | os.getpid() & 0xffff)
        except OSError:
            return False
    return True


class Copies(Base):
    def pair(self, name):
        """Source, and the near ends of both links."""
        links = [Link(name + side) for side in "ab"]
        hosts = []
        for link, address, program, args in ((links[1], "10.0.0.2", SINK, ()), (links[0], "10.0.0.1", SOURCE, ("10.0.0.2",))):
            hosts.append(Host(link, address, program, *args))
            self.addCleanup(hosts[-1].kill)
            if program is SINK:
                self.assertEqual(hosts[-1].hear(), "up\n")
        return hosts[1], [link.near for link in links]

    def test_as_quick_as_a_bridge(self):
        # The hosts behind hp3d call each other at once: nothing passes before it runs.
        bridged, near = self.pair("b")
        subprocess.run(["ip", "link", "add", "between", "type", "bridge"], check=True)
        for end in near:
            subprocess.run(["ip", "link", "set", end, "master", "between"], check=True)
        subprocess.run(["ip", "link", "set", "between", "up"], check=True)
        through, near = self.pair("h")
        if not spares_copies(near[0]):
            self.skipTest("this kernel copies each frame that leaves")
        d = self.daemon({"rail0": [f"net_af_packet{i},iface={end}" for i, end in enumerate(near)]}, defaults=True).up()
        said = []
        for _ in range(SERIES):
            took = {through: [], bridged: []}
            for i in range(COPIES):
                for host in ((through, bridged) if i % 2 else (bridged, through)):
                    host.say()
                    took[host].append(float(host.hear()))
            quick = [sorted(took[host])[COPIES // 5] for host in (through, bridged)]
            said.append(f"{BYTES * 8 / quick[0] / 1e9:.2f} Gb/s, by the bridge {BYTES * 8 / quick[1] / 1e9:.2f}")
            print(said[-1])
            if quick[0] <= quick[1] * WORSE:
                break
        else:
            self.fail("; ".join(said))
        counters = d.counters()
        self.assertEqual(counters["packets_tx"] + counters["packets_rx"], 0)  # not one entered hp3d
        self.stop(d)


if __name__ == "__main__":
    run()
