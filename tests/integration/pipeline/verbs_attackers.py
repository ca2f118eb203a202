#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Verbs mode: users without privileges send what they like to hp3d and to its queue pairs.

usage: verbs_attackers.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: as of verbs_fabric.py.
"""
import os
import random
import signal
import socket
import struct
import subprocess
import time
from cases import run
import frames
from harness import CLONE_NEWNET, LIBC, die_with_parent, wait_for
from verbs_fabric import Fabric, HP3_PORT, KEYING, NOBODY, PROBE


class Attackers(Fabric):
    """Users of either host who answer in the place of hp3d, and who send it what they like."""

    def impostor(self, qpn, port, user):
        """A process of the other host, which has no hp3d: it tells who asks of that queue pair, from that port. It has done so once; what ends it."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            die_with_parent()
            try:
                LIBC.setns(os.open(f"/proc/{self.other.pid}/ns/net", os.O_RDONLY), CLONE_NEWNET)
                asked, back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
                back.bind(("10.0.0.2", port))
                asked.bind(("10.0.0.2", HP3_PORT))
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
                while True:
                    question, (ip, sport) = asked.recvfrom(2000)
                    back.sendto(answer(question, "10.0.0.2", ip, port, sport, qpn), (ip, sport))
                    os.write(write, b".")  # the pipe has room for all
            finally:  # nothing of the test's goes on in here
                os._exit(1)
        os.close(write)

        def end():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(read)
        self.assertEqual(os.read(read, 1), b".")
        return end

    def test_a_user_answers_in_its_place(self):
        """On a host without hp3d. hp3d sends to queue pairs that a privileged port named, and to no others."""
        a = self.hp3d(1, probes={"probe_key": ""})
        pa = self.application(a, 1)
        qp = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(qp.close)
        qp.bind(os.path.join(self.directory, "10.0.0.2-300"))
        qp.setblocking(False)
        end = self.impostor(300, 7000, NOBODY)
        wait_for("refused ones", lambda: self.probe_counters(a)["hellos_unprivileged"] > 0)
        time.sleep(1)
        end()
        self.assertEqual(received(qp), 0)
        self.addCleanup(self.impostor(300, 700, 0))
        wait_for("messages", lambda: received(qp) > 0, 40)
        self.judge(pa)
        self.stop(a)

    def test_a_user_has_the_port(self):
        """Of hp3, when hp3d starts: that is said. While hp3d has it, nobody else gets it, for any address."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("10.0.0.1", HP3_PORT))
            a = self.hp3d(1)
            pa = self.application(a, 1)
            self.says(a, f"UDP port {HP3_PORT} ([probes] port) cannot be had")
            self.judge(pa)
            self.stop(a)
        a = self.hp3d(1)
        pa = self.application(a, 1)
        wait_for("its socket", lambda: b":12BB" in subprocess.run(["cat", "/proc/net/udp6"], capture_output=True, check=True).stdout)
        for family, address in ((socket.AF_INET, "10.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
            for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
                with socket.socket(family, socket.SOCK_DGRAM) as s:
                    s.setsockopt(socket.SOL_SOCKET, option, 1)
                    with self.assertRaises(OSError):
                        s.bind((address, HP3_PORT))
        self.judge(pa)
        self.stop(a)

    def test_hostile_hellos(self):
        """Of any length and form, again, from invented ports, and as datagrams: counted; who asks honestly is answered."""
        a, b, pa, pb = self.both()
        self.work(a)
        dice = random.Random(5)
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("10.0.0.1", 0))
        def shower():  # a busy hp3d's socket keeps few of them
            for i in range(400):
                n = dice.choice((0, 1, 4, 95, 96, 96, 96, 97, 1400))
                s.sendto(dice.randbytes(n), ("10.0.0.1", 4795))
                s.sendto(bytes((0x70, frames.PROBES_VERSION << 4 | 1, 0, 0)) + dice.randbytes(20) + bytes(64) + dice.randbytes(8), ("10.0.0.1", 4795))
                if i % 50 == 0:
                    time.sleep(0.002)
            counters = self.probe_counters(a)
            return counters["hellos_bad_tag"] > 100 and counters["hellos_bad_form"] > 100
        wait_for("bad tags, and no form", shower)
        s.sendto(bytes((0x70, (frames.PROBES_VERSION + 1) << 4 | 1)) + bytes(94), ("10.0.0.1", 4795))
        wait_for("another version", lambda: self.probe_counters(a)["hellos_version"] >= 1)
        s.close()
        u = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(u.close)
        names = [n for n in os.listdir(self.directory) if n.startswith("10.0.0.1-")]
        self.assertEqual(len(names), 16)
        for i in range(2000):  # of the form of fake_ud.c, for a queue pair that it guessed; the Q_Key it cannot
            try:
                u.sendto(struct.pack("=QIIIIBBH512s", 0, 1, 1, 1, dice.getrandbits(32), 0, 64, 64, dice.randbytes(512)) +
                         bytes(0), socket.MSG_DONTWAIT, os.path.join(self.directory, names[i % 16]))
            except BlockingIOError:
                time.sleep(0.001)
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)

    def test_a_question_has_one_answer(self):
        """Without a key, from addresses that nobody knows: as many bytes go to them as came from them, at most. From a user's port: none."""
        d = self.hp3d(1, probes={"probe_key": ""})
        wait_for("its socket", lambda: b":12BB" in subprocess.run(["cat", "/proc/net/udp6"], capture_output=True, check=True).stdout)
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        LIBC.setns(os.open(f"/proc/{self.other.pid}/ns/net", os.O_RDONLY), CLONE_NEWNET)
        n, asked, told, back = 60, 0, 0, 0
        try:
            for i in range(n):
                subprocess.run(["ip", "addr", "add", f"10.0.0.{i + 10}/24", "dev", "v1"], check=True)
            victim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.addCleanup(victim.close)
            victim.bind(("0.0.0.0", HP3_PORT))
            victim.setblocking(False)
            for i in range(n):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                    s.bind((f"10.0.0.{i + 10}", 700))
                    s.setblocking(False)
                    m = question(f"10.0.0.{i + 10}", "10.0.0.1", 700, i + 1)
                    s.sendto(m, ("10.0.0.1", HP3_PORT))
                    asked += len(m)
                    time.sleep(0.02)
                    told += received(s)
            time.sleep(0.5)
            back = received(victim)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.bind(("10.0.0.10", 1024))
                s.setblocking(False)
                s.sendto(question("10.0.0.10", "10.0.0.1", 1024, n + 1), ("10.0.0.1", HP3_PORT))
                wait_for("its end", lambda: self.probe_counters(d)["hellos_unprivileged"] == 1)
                time.sleep(0.5)
                self.assertEqual(received(s) + received(victim), 0)
        finally:
            LIBC.setns(home, CLONE_NEWNET)
        self.assertGreater(told + back, asked // 2)
        self.assertLessEqual(told + back, asked)
        self.stop(d)


class Gone(Fabric):
    def test_a_user_gets_the_queue_pairs_of_an_hp3d_that_stopped(self):
        """Probes go there, but no message of key agreement: the peer has not named them lately."""
        a, b, pa, pb = self.both(probes={"probe_key": ""})
        self.work(a)
        for d in (a, b):
            wait_for("a key", lambda d=d: "keyed" in {e["type"] for e in d.json("events")})
        b.process.kill()
        b.process.wait()
        qps = []
        for name in os.listdir(self.directory):
            if name.startswith("10.0.0.2-"):
                os.unlink(os.path.join(self.directory, name))
                qps.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
                self.addCleanup(qps[-1].close)
                qps[-1].bind(os.path.join(self.directory, name))
                qps[-1].setblocking(False)
        without = "hp3_verbs_datagrams_without_peer_total"
        probes, begin = 0, time.monotonic()
        while time.monotonic() < begin + 25:  # questions for a key leave 15 s after the last message of the peer
            for frames_of in map(datagrams, qps):
                for frame in frames_of:
                    probes += PROBE in frame
                    self.assertFalse(KEYING in frame and time.monotonic() > begin + 9.5, time.monotonic() - begin)
            time.sleep(0.1)
        self.assertGreater(len(qps), 0)
        self.assertGreater(probes, 0)
        self.assertGreater(self.metric(a, without), 0)
        for p in (pa, pb):
            self.judge(p)
        self.stop(a)


def received(s):
    n = 0
    try:
        while True:
            n += len(s.recv(2000))
    except BlockingIOError:
        return n


def datagrams(s):
    try:
        while True:
            yield s.recv(2000)
    except BlockingIOError:
        return


def siphash(message):
    """SipHash-2-4 with a key of zeros: the tag where there is no probe_key."""
    mask = (1 << 64) - 1
    v = [0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573]

    def turn(x, bits):
        return (x << bits | x >> 64 - bits) & mask

    def mix(rounds):
        for _ in range(rounds):
            v[0] = v[0] + v[1] & mask
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = v[2] + v[3] & mask
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = v[0] + v[3] & mask
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = v[2] + v[1] & mask
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)
    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 255])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i:i + 8], "little")
        v[3] ^= word
        mix(2)
        v[0] ^= word
    v[2] ^= 0xff
    mix(4)
    return (v[0] ^ v[1] ^ v[2] ^ v[3]).to_bytes(8, "little")


def tagged(hello, src, dst, sport, dport):
    """probes/hello.h, probes/tag.h."""
    ends = b"".join(socket.inet_aton(a) + bytes(12) for a in (src, dst))
    return hello + siphash(bytes([6, 0]) + ends + struct.pack(">HH", sport, dport) + hello)


def question(src, dst, sport, nonce):
    asks = bytes([0x70, frames.PROBES_VERSION << 4 | 1, 0, 0]) + struct.pack(">IQQ", 7, int(time.time() * 1e6), nonce) + bytes(64)
    return tagged(asks, src, dst, sport, HP3_PORT)


def answer(asks, src, dst, sport, dport, qpn):
    tells = bytes([0x70, frames.PROBES_VERSION << 4 | 2, 1, 0]) + struct.pack(">I", 7) + asks[8:24] + struct.pack(">I", qpn) + bytes(60)
    return tagged(tells, src, dst, sport, dport)


if __name__ == "__main__":
    run()
