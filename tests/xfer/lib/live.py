#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3x-bench and hp3x-cp between two network namespaces of the test's own: two rails of a fixed rate each, and a
third network for the control channel.

usage: live.py HP3X_BENCH HP3X_CP [unittest arguments]
"""
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from hosts import PATIENCE, Host, drop_all, join, wait_for  # noqa: E402

BENCH, COPY = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]
MBITS = 200  # of a rail
FILE_BYTES = 60_000_000


class Live(unittest.TestCase):
    def setUp(self):
        self.a, self.b = Host(), Host()
        self.addCleanup(self.a.close)
        self.addCleanup(self.b.close)
        join(self.a, self.b, {"r0": MBITS, "r1": MBITS}, ("ctl",))
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.rails = ("--rail", "r0", "--rail", "r1")

    def server(self, *words):
        process = self.b.start(*words, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stderr.readline()  # it listens
        return process

    def client(self, *words):
        process = self.a.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def bench(self, rails, ops, during=lambda: None, code=0):
        process = self.client(BENCH, *rails, "--json", "--ops", str(ops), "10.0.0.2")
        during()
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, code, err)
        return json.loads(out)

    def test_two_rails_carry_twice_as_much(self):
        server = self.server(BENCH, "--serve", *self.rails[:2])
        one = self.bench(self.rails[:2], 60)
        server.kill()
        server.wait()
        self.server(BENCH, "--serve", *self.rails)
        two = self.bench(self.rails, 120)
        print(f"one rail {one['gbits']} Gb/s, two rails {two['gbits']} Gb/s")
        self.assertGreater(two["gbits"], 1.8 * one["gbits"])
        self.assertEqual({p["local_rail"] for p in two["paths"] if p["bytes"] > 0}, {"r0", "r1"})

    def test_many_read_and_write_weights(self):
        """Three clients at once, one of them on a terminal, two over IPv6: all transfers succeed."""
        for host, address in ((self.a, "fd00::1/64"), (self.b, "fd00::2/64")):
            host.run("ip", "address", "add", address, "dev", "ctl", "nodad")
        self.server(BENCH, "--serve", *self.rails)
        words = (BENCH, *self.rails, "--pattern", "weights", "--size", "65536", "--ops", "400")
        clients = [self.client(*words, "--json", "10.0.0.2"), self.client(*words, "--json", "fd00::2")]
        screen, terminal = os.openpty()
        self.addCleanup(os.close, screen)
        shown = self.a.start(*words, "[fd00::2]", stdout=subprocess.PIPE, stderr=terminal)
        os.close(terminal)
        out, _ = shown.communicate(timeout=PATIENCE)
        self.assertIn("weights: 400 transfers, 0 failed", out)
        self.assertIn("400 of 400 transfers", os.read(screen, 65536).decode())
        for process in clients:
            out, err = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 0, err)
            result = json.loads(out)
            self.assertEqual((result["transfers"], result["failed"], err), (400, 0, ""))
            self.assertEqual(result["bytes"], 400 * 65536)

    def test_a_rail_is_cut(self):
        """No transfer fails, and the rest takes the other rail."""
        self.server(BENCH, "--serve", *self.rails)

        def cut():
            wait_for("both rails carry data", lambda: min(map(self.a.bytes_sent, ("r0", "r1"))) > 5_000_000)
            self.b.run("ip", "link", "set", "r1", "down")
        result = self.bench(self.rails, 120, cut)
        self.assertEqual((result["transfers"], result["failed"]), (120, 0))

    def test_a_rail_loses_all_packets(self):
        """The links stay up."""
        self.server(BENCH, "--serve", *self.rails)

        def cut():
            wait_for("both rails carry data", lambda: min(map(self.a.bytes_sent, ("r0", "r1"))) > 5_000_000)
            drop_all(self.a, "r1")
        result = self.bench(self.rails, 120, cut)
        self.assertEqual((result["transfers"], result["failed"]), (120, 0))

    def test_the_control_network_is_cut(self):
        """The control channel goes on over another address of the server. Each transfer needs it to count."""
        timeout = ("--peer-timeout", "2000")
        self.server(BENCH, "--serve", *timeout, *self.rails)
        process = self.client(BENCH, *self.rails, *timeout, "--json", "--pattern", "kvcache", "--ops", "90", "10.0.0.2")
        wait_for("both rails carry data", lambda: min(map(self.a.bytes_sent, ("r0", "r1"))) > 5_000_000)
        drop_all(self.a, "ctl")  # the links stay up
        drop_all(self.b, "ctl")
        cut = time.monotonic()
        out, err = process.communicate(timeout=PATIENCE)
        took = time.monotonic() - cut
        self.assertEqual(process.returncode, 0, err)
        result = json.loads(out)
        self.assertEqual((result["transfers"], result["failed"]), (90, 0))
        print(f"the control network was cut for {took:.1f} s")
        self.assertGreater(took, 2 * 2.0)

    def test_the_peer_is_killed(self):
        """All transfers end, those under way with PEER_LOST."""
        server = self.server(BENCH, "--serve", *self.rails)

        def kill():
            wait_for("data", lambda: self.a.bytes_sent("r0") > 5_000_000)
            server.kill()
        result = self.bench(self.rails, 2000, kill, code=1)
        self.assertEqual(result["transfers"] + result["failed"], 2000)
        self.assertGreater(result["failed"], 0)

    def file(self):
        path = os.path.join(self.dir.name, "file")
        with open(path, "wb") as f:
            f.write(os.urandom(FILE_BYTES))
        served = os.path.join(self.dir.name, "served")
        os.mkdir(served)
        return path, served

    def copy(self, path, *more):
        return self.client(COPY, *self.rails, *more, path, "10.0.0.2:copy")

    @staticmethod
    def checksum(path):
        with open(path, "rb") as f:
            return hashlib.sha256(f.read()).digest()

    def test_a_copy_is_killed_and_resumed(self):
        path, served = self.file()
        self.server(COPY, "--serve", served, *self.rails)
        first = self.copy(path)
        wait_for("half of the file", lambda: self.a.bytes_sent("r0") + self.a.bytes_sent("r1") > FILE_BYTES / 2)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        self.assertEqual(os.listdir(served), [".copy.hp3x-part"])  # no file with the name before it is complete

        def resumed():
            second = self.copy(path)
            out, err = second.communicate(timeout=PATIENCE)
            if second.returncode != 0 and "now" in err:  # the receiver has not noticed yet that the first sender is gone
                return False
            self.assertEqual(second.returncode, 0, err)
            sent = int(err.split(" bytes, ")[1].split(" ")[0])
            self.assertLess(sent, 0.7 * FILE_BYTES)
            self.assertGreater(sent, 0)
            return True
        wait_for("the second copy", resumed)
        self.assertEqual(os.listdir(served), ["copy"])
        self.assertEqual(self.checksum(path), self.checksum(os.path.join(served, "copy")))

    def test_a_block_is_wrong(self):
        """A partial file with a wrong block: this block is sent, the others are not."""
        path, served = self.file()
        part = os.path.join(served, ".copy.hp3x-part")
        with open(path, "rb") as f, open(part, "wb") as p:
            data = bytearray(f.read())
            data[30_000_000] ^= 1
            p.write(data)
        self.server(COPY, "--serve", served, *self.rails)
        again = self.copy(path)
        _, err = again.communicate(timeout=PATIENCE)
        self.assertIn("1048576 of them sent", err)
        self.assertEqual(self.checksum(path), self.checksum(os.path.join(served, "copy")))

    def test_names_stay_in_the_directory(self):
        path, served = self.file()
        os.symlink(os.path.join(self.dir.name, "outside"), os.path.join(served, ".link.hp3x-part"))
        self.server(COPY, "--serve", served, *self.rails)
        for name in ("../copy", "/tmp/copy", ".copy", "a/b", "link", "x" * 201):
            bad = self.client(COPY, *self.rails, path, "10.0.0.2:" + name)
            _, err = bad.communicate(timeout=PATIENCE)
            self.assertEqual(bad.returncode, 1, name)
            self.assertRegex(err, "name of the file|cannot write")
        self.assertEqual(os.listdir(served), [".link.hp3x-part"])
        self.assertFalse(os.path.exists(os.path.join(self.dir.name, "outside")))

    def test_target_without_colon(self):
        for words in (["receiver"], ["[10.0.0.2]"], []):
            bad = self.client(COPY, "model", *words)
            _, err = bad.communicate(timeout=PATIENCE)
            self.assertNotEqual(bad.returncode, 0)
            self.assertRegex(err, "HOST:FILE, or (as )?HOST: to keep the name")

    def plain_copy(self, path):
        """Seconds of a plain socket copy over one rail, in a thread and a process in the other namespace."""
        receive = ("import socket,sys\ns=socket.create_server(('10.1.0.2',9000))\nprint('',flush=True)\nc,_=s.accept()\n"
                   "f=open(sys.argv[1],'wb')\nwhile (d:=c.recv(1<<20)): f.write(d)\nf.close()\nc.send(b'x')")
        send = ("import socket,sys,time\nb=time.monotonic()\nc=socket.create_connection(('10.1.0.2',9000))\nf=open(sys.argv[1],'rb')\n"
                "while (d:=f.read(1<<20)): c.sendall(d)\nc.shutdown(1)\nc.recv(1)\nprint(time.monotonic()-b)")
        server = self.b.start(sys.executable, "-c", receive, os.path.join(self.dir.name, "plain"), stdout=subprocess.PIPE)
        server.stdout.readline()
        out = subprocess.check_output(self.a.words(sys.executable, "-c", send, path), text=True)
        server.wait()
        server.stdout.close()
        return float(out)

    def test_as_fast_as_a_plain_copy(self):
        path, served = self.file()
        self.server(COPY, "--serve", served, *self.rails[:2])
        plain = self.plain_copy(path)
        began = time.monotonic()
        process = self.client(COPY, "--rail", "r0", path, "10.0.0.2:copy")
        _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        took = time.monotonic() - began
        print(f"plain socket copy {plain:.2f} s, hp3x-cp over one rail {took:.2f} s")
        self.assertLess(took, 1.3 * plain)


if __name__ == "__main__":
    unittest.main(verbosity=2)
