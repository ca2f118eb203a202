#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d is stopped after it has checked the shared word that lets it send, and before it sends. The
kernel takes over meanwhile, so hp3d's late packets must be dropped.

usage: gate.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT STOP_BEFORE_SEND [unittest arguments]
"""
import os
import signal
import socket
import subprocess
import sys
import time
from bypassing import STALE, Bypassing
from harness import RawPort, wait_for

STOP_BEFORE_SEND = sys.argv.pop(6)
SO_MARK = 36
from cases import run  # noqa: E402 (reads the arguments)


class Gate(Bypassing):
    def armed(self, **sections):
        """hp3d that can be stopped there, as it ships."""
        d = self.daemon({"rail0": self.ports()}, begin=False, **sections)
        self.file, self.no_room = (os.path.join(d.directory, name) for name in ("stop", "refuse"))
        d.command = ["env", "LD_PRELOAD=" + os.path.abspath(STOP_BEFORE_SEND), "HP3_STOP_BEFORE_SEND=" + self.file,
                     "HP3_REFUSE_TO_SEND=" + self.no_room, *d.command]
        d.begin()
        return d.up()

    def stopped(self, d):
        """It holds a burst that it has taken for timely, and newer frames go direct."""
        for _ in range(20):
            self.taking(d)
            with open(self.file, "w"):
                pass
            wait_for("the stop", lambda: self.is_stopped(d))
            if not self.has_gone_direct():
                wait_for("newer frames to go direct", lambda: self.states() == (STALE, STALE))
                time.sleep(0.05)
                return
            d.process.send_signal(signal.SIGCONT)  # it was late on its own before it sent, and went direct
        self.fail(f"states {self.states()}")

    def test_hangs_before_it_sends(self):
        d = self.armed()
        a, b = self.traffic()
        for _ in range(3):
            before = d.counters()["drop_bypassed"]
            self.stopped(d)
            d.process.send_signal(signal.SIGCONT)
            self.taking(d)
            self.assertGreater(d.counters()["drop_bypassed"], before)
            self.wire(a, b)
        self.assertEqual(d.counters()["drop_bypassed"], self.ended(a, b))
        self.stop(d)

    def test_replaced_before_it_sends(self):
        """Another one has taken over, whose own frames pass."""
        d = self.armed()
        a, b = self.traffic()
        self.stopped(d)
        later = self.elsewhere()
        self.taking(later)
        d.process.send_signal(signal.SIGCONT)
        wait_for("the line of the log", lambda: "has taken these ports over" in d.output())
        self.taking(later)
        d.stop()
        self.assertGreater(self.ended(a, b), 0)
        self.stop(later)

    def test_leaves_when_the_kernel_has_sent_all(self):
        """It has no room as hp3d begins to leave: what waits in the driver's rings then has not left."""
        d = self.armed(bypass={"stale_ms": 1000})
        a, b = self.traffic()
        for _ in range(3):
            self.taking(d)
            with open(self.no_room, "w"):
                pass
            d.process.send_signal(signal.SIGTERM)
            time.sleep(0.1)
            os.unlink(self.no_room)
            self.assertNotIn("were left behind", self.stop(d))
            self.again(d)
        self.taking(d)
        self.assertEqual(self.ended(a, b), 0)
        self.stop(d)

    def gates(self):
        shown = [subprocess.run(["tc", "filter", "show", "dev", link.near, "egress"], check=True, capture_output=True, text=True).stdout
                 for link in (self.rnic, self.net)]
        return ["gate" in out for out in shown]

    def test_others_pass(self):
        """What another program sends, with any mark but ours; also when hp3d is gone. Detached, the gate is."""
        d = self.armed()
        self.assertEqual(self.gates(), [True, True])
        frame = bytes.fromhex("020000000002020000000001") + b"\x88\xb5" + os.urandom(60)
        source, sink = RawPort(self.rnic.near), RawPort(self.rnic.far)
        self.addCleanup(source.close)
        self.addCleanup(sink.close)

        def passes():
            source.send(frame)
            return sink.receive() == frame
        self.assertTrue(passes())
        source.sock.setsockopt(socket.SOL_SOCKET, SO_MARK, 0x68)
        self.assertTrue(passes())
        self.stop(d)
        self.assertTrue(passes())
        subprocess.run([d.command[4], "--detach", "--config", d.config], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(self.gates(), [False, False])
        self.assertTrue(passes())


if __name__ == "__main__":
    run()
