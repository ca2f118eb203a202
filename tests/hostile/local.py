#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A user of the host without privileges.

usage: local.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import fcntl
import glob
import json
import os
import resource
import signal
import socket
import stat
import subprocess
from hostile import Hostile, run
from cases import HP3CTL
from harness import LIBC, SETTLE, wait_for

NOBODY = 65534
MNT_DETACH = 2


def as_nobody(attempt):
    """What attempt() returns, or the name of the exception that ends it, where nobody does it."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            said = str(attempt())
        except OSError as e:
            said = type(e).__name__
        except BaseException as e:  # never back into the test
            said = repr(e)
        os.write(into, said.encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as f:
        said = f.read()
    os.waitpid(child, 0)
    return said


def held_by_nobody(test, hold, told, tell):
    """hold(), which does not return, goes on until the test ends. What it wrote to `tell`."""
    holder = os.fork()
    if holder == 0:
        signal.alarm(60)
        os.setpgid(0, 0)
        os.write(tell, as_nobody(hold).encode())
        os._exit(1)
    os.close(tell)
    test.addCleanup(os.waitpid, holder, 0)
    test.addCleanup(os.killpg, holder, signal.SIGKILL)
    return os.read(told, 99)


class Local(Hostile):
    def installed(self, **sections):
        """Its directory is one that everybody may enter, as /run/hp3 is."""
        d = self.daemon({"rail0": self.ports()}, defaults=True, begin=False, log={"audit": "DIRECTORY/audit.log"}, **sections)
        os.chmod(d.directory, 0o755)
        os.chmod(d.config, 0o600)
        os.chmod(d.log.name, 0o600)
        d.begin()
        return d.up()

    def refused(self, attempt, what):
        self.assertEqual(as_nobody(attempt), "PermissionError", what)

    def connects(self, kind, path):
        with socket.socket(socket.AF_UNIX, kind) as s:
            s.connect(path)

    def sockets(self, d):
        """All that hp3d listens on: paths, abstract names begin with @."""
        mine = {os.readlink(fd) for fd in glob.glob(f"/proc/{d.process.pid}/fd/*")}
        with open(f"/proc/{d.process.pid}/net/unix") as f:
            lines = [line.split() for line in f.readlines()[1:]]
        return [words[7] for words in lines if len(words) > 7 and f"socket:[{words[6]}]" in mine]

    def test_a_crash_leaves_no_key(self):
        """A core dump would have it: there is none, wherever the kernel would put it."""
        self.addCleanup(resource.setrlimit, resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        d = self.installed(probes={"probe_key": "00112233445566778899aabbccddeeff"})
        pid = d.process.pid
        with open(f"/proc/{pid}/status") as f:
            mask = next(int(line.split()[1], 8) for line in f if line.startswith("Umask"))
        self.assertEqual(mask & 0o022, 0o022)
        self.assertEqual(resource.prlimit(pid, resource.RLIMIT_CORE)[0], 0)
        resource.prlimit(pid, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        os.kill(pid, signal.SIGABRT)
        self.assertEqual(os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT).si_code, os.CLD_KILLED)

    def test_sockets(self):
        """Nobody can connect to any socket of hp3d's."""
        d = self.installed()
        wait_for("the start", lambda: "hp3d: ready" in d.output())  # d.up() has seen the first of the sockets
        paths = self.sockets(d)
        self.assertIn(d.socket, paths)
        self.assertIn(d.socket.replace("hp3.sock", "hp3-metrics.sock"), paths)
        for path in paths:
            self.assertEqual(path[0], "/", "an abstract name is open to everybody")
            for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
                self.refused(lambda: self.connects(kind, path), path)
        tool = subprocess.run([HP3CTL, "--socket", d.socket, "flows"], user=NOBODY, group=NOBODY, extra_groups=[],
                              capture_output=True, text=True)
        self.assertNotEqual(tool.returncode, 0)
        self.assertIn("ermission denied", tool.stderr)
        self.stop(d)

    def test_files(self):
        """What hp3d makes others neither write nor, but for directories, read; links that they would plant have no place."""
        d = self.installed()
        places = [d.directory, os.path.join("/var/run/dpdk", d.prefix), "/run/hp3", "/sys/fs/bpf/hp3"]
        seen = 0
        for place in places:
            for directory, _, files in os.walk(place):
                self.refused(lambda: os.symlink("/etc/passwd", os.path.join(directory, "planted")), directory)
                for path in (os.path.join(directory, name) for name in files):
                    seen += 1
                    for how in (os.O_RDONLY, os.O_WRONLY):
                        if not stat.S_ISSOCK(os.lstat(path).st_mode):
                            self.refused(lambda: os.open(path, how), path)
                    self.refused(lambda: os.unlink(path), path)
        self.assertGreater(seen, 10)
        self.stop(d)

    def test_locks(self):
        """He holds the locks of all that he can open, and hp3d starts, with all that there is to be mounted."""
        while LIBC.umount2(b"/sys/fs/bpf", MNT_DETACH) == 0:
            pass
        os.makedirs("/run/hp3", exist_ok=True)
        d = self.daemon({"rail0": self.ports()}, defaults=True, begin=False)
        os.chmod(d.directory, 0o755)
        places = (d.directory, d.config, d.command[0], "/run/hp3", "/run", "/sys/fs", "/sys/fs/bpf", "/dev/shm")
        told, tell = os.pipe()

        def hold():
            for path in filter(lambda path: os.access(path, os.R_OK), places):
                fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_EX)
            os.write(tell, b"held")
            signal.pause()
        self.assertEqual(held_by_nobody(self, hold, told, tell), b"held")
        d.begin()
        d.up()
        for path in (d.socket + ".lock", "/run/hp3/ports.lock", "/run/hp3/bpf.lock"):
            self.refused(lambda: os.open(path, os.O_RDONLY), path)
        wait_for("fail-open", lambda: "takes RoCEv2 packets; all others" in d.output())
        self.stop(d)


class Guest(Hostile):
    """A user who was given the socket; root made it open to others."""

    def open(self, seconds=SETTLE):
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.d.socket)  # waits for room in the backlog, as hp3ctl does
        s.settimeout(seconds)
        return s

    def ask(self):
        with self.open() as s:
            s.sendall(b'{"cmd":"health"}\n')
            with s.makefile("rb") as lines:
                return b'"ok":true' in lines.readline()

    def setUp(self):
        super().setUp()
        self.d = self.shipped()
        os.chmod(self.d.directory, 0o755)
        os.chmod(self.d.socket, 0o666)

    def resident(self):
        with open(f"/proc/{self.d.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))

    def test_requests_that_are_none(self):
        """Nested deep, endless, with NULs and broken UTF-8, cut: answered with an error or cut off, at no cost to traffic."""
        a, b, flows = self.victims(self.d)
        bad = [b"[" * 30000, b'{"cmd":' * 9000, b"x" * 1000000, b'{"cmd":"health\0"}', b'{"cmd":"\xff\xfe"}', b"\0" * 60000,
               b'{"cmd":"flows","limit":1e999}', b'{"cmd":"move","flow":"' + b"/" * 60000 + b'"}',
               b'{"cmd":{"cmd":{"cmd":[]}}}', b'{"cmd":"health","cmd":"config"', b'"' * 65000, b"\xed\xa0\x80"]

        def attack():
            for request in bad * 3:
                with self.open() as s:
                    try:
                        s.sendall(request + b"\n")
                    except OSError:
                        continue  # cut off in the midst of it
                    with s.makefile("rb") as lines:
                        answer = json.loads(lines.readline())
                    if answer["ok"]:
                        return f"{request[:40]} is taken"
            for i in range(1000):
                with self.open() as s:
                    s.sendall((b"", b'{"cmd":"hea', b'{"cmd":"health"}\n')[i % 3])
            return "done"
        self.assertEqual(as_nobody(attack), "done")
        before = self.resident()
        for _ in range(3):
            self.assertEqual(as_nobody(attack), "done")
        self.assertLess(self.resident() - before, 2048)
        self.assertTrue(self.ask())
        self.unhurt(self.d, a, b, flows)

    def test_connections_without_end(self):
        """He opens hundreds that are silent, send half a request or never read an answer: root, and he himself, are served."""
        silent = [self.open() for _ in range(20)]  # root's own
        for s in silent:
            self.addCleanup(s.close)
        told, tell = os.pipe()

        def hold():
            first = (b"", b'{"cmd":', b'{"cmd":"config"}\n' * 3000)
            held = [self.open(0.2) for _ in range(300)]
            for i, s in enumerate(held):
                try:
                    s.sendall(first[i % 3])
                except OSError:
                    pass  # it was closed, or takes no more
            said = self.ask()
            os.write(tell, str(said).encode())
            signal.pause()
        self.assertEqual(held_by_nobody(self, hold, told, tell), b"True")
        for _ in range(40):
            self.assertTrue(self.ask())
        for s in silent:
            s.sendall(b'{"cmd":"health"}\n')
            self.assertIn(b'"ok":true', s.recv(65536))
        self.stop(self.d)


if __name__ == "__main__":
    run()
