# SPDX-License-Identifier: BSD-3-Clause
"""Shared by live tests: the command line of hp3-testbed, raw sockets in namespaces."""
import ctypes
import json
import os
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
REPO = os.path.dirname(os.path.dirname(HERE))
SCRIPT = os.path.join(REPO, "p4-testbed", "hp3-testbed")
CLONE_NEWNET, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 0x40000000, 33, 35

sys.path.insert(0, os.path.join(REPO, "p4-testbed"))

from testbed.tools import Control  # noqa: E402


class Bed:
    def __init__(self, build, name):
        self.build, self.name = build, name

    def start(self, *words, **kw):
        return subprocess.Popen([SCRIPT, "--build", self.build, "--name", self.name, *words], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)

    def run(self, *words):
        done = subprocess.run([SCRIPT, "--build", self.build, "--name", self.name, *words], capture_output=True,
                              text=True, check=False, timeout=1200)
        return done.returncode, done.stdout, done.stderr

    def must(self, *words):
        code, out, err = self.run(*words)
        assert code == 0, f"{words}: {code}: {err}"
        return out

    def stats(self):
        return json.loads(self.must("stats", "--json"))

    def spine(self, src, dst, sport):
        """Spine that a packet from leaf to leaf is predicted to take (hp3-testbed path, without its start-up)."""
        control = Control(f"/run/hp3-testbed/{self.name}/fabric.sock")
        try:
            return control.ask("path", src=src, dst=dst, sport=sport)["path"][1]
        finally:
            control.close()

    def left(self):
        """What a testbed of this name left on the machine."""
        names = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
        found = [n for n in names if n.startswith(f"hp3tb-{self.name}-")]
        run = os.listdir("/run/hp3-testbed") if os.path.isdir("/run/hp3-testbed") else []
        found += [n for n in run if n in (self.name, self.name + ".lock")]
        return found

    def pid(self, what):
        with open(f"/run/hp3-testbed/{self.name}/{what}.pid", encoding="ascii") as f:
            return json.load(f)["pid"]


class Port:
    """A raw socket on a host's eth0, or on another interface in a namespace of the testbed."""

    def __init__(self, bed, host, interface="eth0"):
        libc = ctypes.CDLL(None, use_errno=True)
        with open("/proc/self/ns/net", encoding="ascii") as home, \
                open(f"/run/netns/hp3tb-{bed.name}-{host}", encoding="ascii") as there:
            assert libc.setns(there.fileno(), CLONE_NEWNET) == 0, "setns"
            try:
                self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
                self.sock.bind((interface, 0))
                self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
                self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
            finally:
                assert libc.setns(home.fileno(), CLONE_NEWNET) == 0, "setns back"

    def send(self, frame):
        self.sock.send(frame)

    def receive(self, seconds, want):
        """[(time at which the kernel had it, frame)] of frames that `want` accepts, until it was silent for so long."""
        out, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            self.sock.settimeout(max(end - time.monotonic(), 0.001))
            try:
                frame, anc, _, where = self.sock.recvmsg(65536, 128)
            except socket.timeout:
                break
            if where[2] != socket.PACKET_OUTGOING and want(frame):
                sec, nsec = struct.unpack("qq", anc[0][2][:16])
                out.append((sec + nsec / 1e9, frame))
                end = time.monotonic() + seconds
        return out


def is_roce(frame):
    return len(frame) > 42 and frame[12:14] == b"\x08\x00" and frame[23] == 17 and frame[36:38] == struct.pack("!H", 4791)


def is_icmp(frame):
    return len(frame) > 34 and frame[12:14] == b"\x08\x00" and frame[23] == 1
