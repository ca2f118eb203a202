#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A user of the host, or of the network, who reaches the metrics port.

usage: metrics.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import encodings.idna  # noqa: F401 (nobody may not be able to load it)
import os
import signal
import socket
import time
from hostile import Hostile, run
from harness import wait_for
from local import as_nobody, held_by_nobody
from scraping import ask, at_rest, loopback, metrics_socket, promtool, samples

TCP = ("127.0.0.1", 9795)
KEY = "000102030405060708090a0b0c0d0e0f"
PLACES, LIFE_S = 16, 3  # of server.h
LABELS = {"rail", "lcore", "thread", "state", "direction", "reason", "class", "side", "error", "cause", "outcome", "verdict",
          "type", "le", "pool", "mode", "version", "level", "icrc", "device", "port", "event", "way"}
LONG = (b"GET /" + b"x" * 1000000 + b" HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 1000000 + b"\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 100000 + b"\r\n", b"G" * 1000000,
        b"GET /metrics?" + b"a=b&" * 100000 + b" HTTP/1.1\r\n\r\n")


class Metrics(Hostile):
    def setUp(self):
        super().setUp()
        loopback()
        self.d = self.shipped(metrics={"listen": "%s:%d" % TCP}, probes={"probe_key": KEY})
        os.chmod(self.d.directory, 0o755)
        self.own = metrics_socket(self.d)
        self.ends = self.victims(self.d)

    def of_process(self):
        """Its descriptors, and the KiB of memory that are resident."""
        with open(f"/proc/{self.d.process.pid}/status") as f:
            resident = next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))
        return len(os.listdir(f"/proc/{self.d.process.pid}/fd")), resident

    def test_who_reads_what(self):
        """The UNIX socket is root's. The port is everybody's who reaches it; a page names no flow, host or key."""
        self.assertEqual(as_nobody(lambda: ask(self.own)), "PermissionError")
        self.assertEqual(as_nobody(lambda: ask(TCP).status), "200")
        time.sleep(0.15)
        text = ask(TCP).text
        self.assertNotIn(KEY, text)
        for flow in self.d.json("flows"):
            self.assertNotIn(flow["flow"], text)
        for address in ("10.9.0.1", "10.9.0.2"):
            self.assertNotIn(address, text)
        for (name, labels), _ in samples(text).items():
            self.assertLessEqual({key for key, _ in labels}, LABELS, name)
        self.assertEqual(promtool("check", "metrics", text=text), "")
        self.unhurt(self.d, *self.ends)

    def test_slow_and_many_clients(self):
        """Hundreds that are silent, drip or never read: root's socket answers, and so does the port once they have left."""
        told, tell = os.pipe()
        descriptors, resident = at_rest(self.of_process)

        def hold():
            held = []
            for i in range(300):
                s = socket.socket()
                s.setblocking(False)
                s.connect_ex(TCP)
                held.append(s)
            os.write(tell, b"held")
            for _ in range(60):
                for i, s in enumerate(held):
                    try:
                        s.send((b"", b"x", b"GET /metrics HTTP/1.1\r\n\r\n" * 50)[i % 3])
                    except OSError:
                        pass  # not there yet, or cut off
                time.sleep(0.1)
            for s in held:
                s.close()
        self.assertEqual(held_by_nobody(self, hold, told, tell), b"held")
        until = time.monotonic() + 6
        while time.monotonic() < until:
            begin = time.monotonic()
            self.assertEqual(ask(self.own).status, 200)
            self.assertLess(time.monotonic() - begin, 1)
            self.assertLessEqual(self.of_process()[0] - descriptors, PLACES + 1)
            time.sleep(0.2)
        wait_for("the port", lambda: ask(TCP).status == 200)
        self.assertLess(self.of_process()[1] - resident, 8192)
        self.unhurt(self.d, *self.ends)

    def test_all_leave_at_once(self):
        """A waiting client is served even if hp3d sees all others close at once."""
        descriptors = at_rest(self.of_process)[0]
        held = [socket.create_connection(TCP, timeout=20) for _ in range(PLACES)]
        for s in held:
            s.sendall(b"G")
        wait_for("all places taken", lambda: self.of_process()[0] >= descriptors + PLACES)
        with socket.create_connection(TCP, timeout=20) as waits:
            waits.sendall(b"GET /metrics HTTP/1.1\r\nHost: hp3\r\n\r\n")
            os.kill(self.d.process.pid, signal.SIGSTOP)
            os.waitid(os.P_PID, self.d.process.pid, os.WSTOPPED)
            for s in held:
                s.close()
            os.kill(self.d.process.pid, signal.SIGCONT)
            self.assertIn(b" 200 ", waits.recv(4096))
        self.unhurt(self.d, *self.ends)

    def test_long_requests(self):
        """Requests of a megabyte are refused or cut off; none gets a page, and memory stays as it is."""
        def attack():
            for request in LONG * 4:
                with socket.create_connection(TCP, timeout=2 * LIFE_S) as s:
                    said = b""
                    try:
                        s.sendall(request)
                    except OSError:
                        pass  # cut off in the midst of it; what it said before may still come
                    try:
                        said = s.recv(4096)
                    except OSError:
                        pass
                    if b"200 OK" in said:
                        return f"{request[:40]} is taken"
            return "done"
        self.assertEqual(as_nobody(attack), "done")
        before = self.of_process()[1]
        for _ in range(3):
            self.assertEqual(as_nobody(attack), "done")
        self.assertLess(self.of_process()[1] - before, 2048)
        self.assertEqual(ask(TCP).status, 200)
        self.unhurt(self.d, *self.ends)


if __name__ == "__main__":
    run()
