# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the tests of fail-open: endpoints that number their frames, and the BPF map of a port."""
import glob
import json
import os
import signal
import socket
import struct
import subprocess
import time
from cases import Wired
from harness import wait_for

PAUSE_US = 60000  # longest without a frame: 40 ms (stale_ms) until it is noticed, the rest is the machine's
TIMEOUT = 14  # the default of RNICs: 67 ms
LATE_US = 15000  # endpoints that wait longer for a CPU may see a time-out that is not ours
PATIENT = {"stale_ms": 1000}  # whatever else runs on the machine, hp3d does not seem to hang
DIRECT, TAKEN, LEAVING, STALE = range(4)
LAYOUT = 4  # offset in the map of a port


class Port:
    """The map of a port, as it is pinned."""

    def __init__(self, link):
        self.path, = glob.glob(f"/sys/fs/bpf/hp3/*/{socket.if_nametoindex(link.near)}/hp3_port")
        self.bytes = self.dump()
        words = struct.unpack("=24Q", self.bytes)
        self.state, self.taken = words[8] & 7, words[8] >> 3
        self.inside = self.taken - words[17] - words[18]

    def dump(self):
        out = subprocess.run(["bpftool", "-j", "map", "dump", "pinned", self.path], check=True, capture_output=True)
        return bytes(int(b, 16) for b in json.loads(out.stdout)[0]["value"])

    def poke(self, offset, value):
        changed = self.bytes[:offset] + bytes([value]) + self.bytes[offset + 1:]
        subprocess.run(["bpftool", "map", "update", "pinned", self.path, "key", "0", "0", "0", "0", "value",
                        *map(str, changed)], check=True)


class Bypassing(Wired):
    BYPASS = {}

    late_us = 0  # longest that an endpoint did not get a CPU

    def traffic(self, rate=4000):
        """Both endpoints send. No packet takes a slow path. The window stays open for as long as hp3d is silent."""
        a, b = (self.endpoint(link, side, stamps=1, timeout=TIMEOUT, window=4096, rate=rate, message=16)
                for link, side in ((self.rnic, "a"), (self.net, "b")))
        for e in (a, b):
            e.tell("send 1000000")
        return a, b

    def states(self):
        return Port(self.rnic).state, Port(self.net).state

    def inside(self):
        return Port(self.rnic).inside + Port(self.net).inside

    def wire(self, a, b):
        """No frame came twice or late; the longest pause since the last call, but for what endpoints were not there."""
        reports = [e.report() for e in (a, b)]
        for r in reports:
            self.assertEqual((r["wire"]["twice"], r["wire"]["late"]), (0, 0), r)
        late = max(r["late_us"] for r in reports)
        self.late_us = max(self.late_us, late)
        return max(r["wire"]["pause_us"] for r in reports) - late

    def taking(self, d):
        """Waits until hp3d has the packets of both directions."""
        before = d.counters()
        wait_for("packets", lambda: all(d.counters()[n] > before[n] + 100 for n in ("packets_tx", "packets_rx")))

    def again(self, d):
        """The next hp3d, on the same ports."""
        if os.path.exists(d.socket):
            os.unlink(d.socket)  # a killed one leaves it
        d.begin()
        d.up()

    def hangs(self, d):
        return d.output().count("no sign of life for more than 40 ms")

    def ended(self, a, b, d=None, hangs=0):
        """All messages complete, both ways, and no RNIC's timer went off unless d hung more often. How many frames never came."""
        self.settle(a, b)
        self.wire(a, b)
        reports = [e.report() for e in (a, b)]
        if d and self.hangs(d) <= hangs and self.late_us < LATE_US:
            self.assertEqual([r["timeouts"] for r in reports], [0, 0])
        for sender, receiver in (reports, reports[::-1]):
            self.assertEqual(sender["sent"] - sender["faults"]["again"], receiver["received"])
            self.assertEqual((receiver["faults"]["bad_icrc"], receiver["faults"]["bad_payload"]), (0, 0))
        return sum(r["wire"]["sent"] - r["wire"]["frames"] for r in reports)
    def hang(self, d):
        """Until both ports have noticed; a busy machine may have had hp3d hang already."""
        for _ in range(5):
            wait_for("the take-over", lambda: self.states() == (TAKEN, TAKEN))
            d.process.send_signal(signal.SIGSTOP)
            time.sleep(0.2)
            if self.states() == (STALE, STALE):
                return
            d.process.send_signal(signal.SIGCONT)
        self.fail(f"states {self.states()}")

    @staticmethod
    def is_stopped(d):
        with open(f"/proc/{d.process.pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(") ", 1)[1][0] == "T"

    def has_gone_direct(self):
        """By itself, late; the kernel alone sets STALE."""
        return bool({DIRECT, LEAVING} & set(self.states()))

    def kill_with_ports(self, d):
        """Kills hp3d while it has the ports."""
        for _ in range(20):
            self.taking(d)
            d.process.send_signal(signal.SIGSTOP)
            wait_for("the stop", lambda: self.is_stopped(d))
            if not self.has_gone_direct():
                d.process.kill()
                d.process.wait()
                return
            d.process.send_signal(signal.SIGCONT)
        self.fail(f"states {self.states()}")

    def elsewhere(self, **sections):
        """hp3d that does not see whose the interfaces are, as in a container: its /run is its own."""
        d = self.daemon({"rail0": self.ports()}, begin=False, **sections)
        d.command = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs run /run && exec "$@"', "sh", *d.command]
        d.begin()
        return d.up()

    def refused(self, d, *texts, code=1):
        self.assertEqual(d.process.wait(timeout=40), code, d.output())
        for text in texts:
            self.assertRegex(d.output(), text)
