#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The watcher of libibverbs: programs call real libibverbs functions, and the watcher reports
events.

usage: watch.py HP3_WATCH VERBS_CALLER HP3D HP3CTL [unittest arguments]

There is no RDMA device: verbs_caller has its own driver, and the GID tables are files in a
directory of the test. Exit code 77: this machine forbids BPF, even to root.
"""
import ctypes
import fcntl
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HP3_WATCH, VERBS_CALLER, HP3D, HP3CTL = sys.argv[1:5]
LIBC = ctypes.CDLL(None, use_errno=True)
SETTLE = 20  # seconds: the longest wait for anything
QUIET = 0.3  # seconds without an event that prove that none comes
MINE, PEER = "::ffff:10.9.0.1", "::ffff:10.9.0.2"
GIDS = {  # index: GID, type
    0: ("fe80:0000:0000:0000:0000:09ff:fe00:0001", "IB/RoCE v1"),
    1: ("0000:0000:0000:0000:0000:ffff:0a09:0001", "RoCE v2"),
    2: ("fd00:0009:0000:0000:0000:0000:0000:0001", "RoCE v2"),
    3: ("0000:0000:0000:0000:0000:ffff:0a09:0105", "RoCE v2"),
}


def die_with_parent():
    LIBC.prctl(1, signal.SIGKILL)


class Process:
    """A child whose lines are read with a time limit."""

    def __init__(self, *args, env=None, pass_fds=(), executable=None):
        self.err = tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err,
                                  preexec_fn=die_with_parent, env=env, pass_fds=pass_fds, executable=executable)
        self.buffer = b""

    def line(self, seconds=SETTLE):
        """The next line, or None if none comes in time."""
        end = time.monotonic() + seconds
        while b"\n" not in self.buffer:
            wait = end - time.monotonic()
            if wait <= 0 or not select.select([self.p.stdout], [], [], wait)[0]:
                return None
            data = os.read(self.p.stdout.fileno(), 65536)
            if not data:
                return None
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def errors(self):
        self.err.seek(0)
        return self.err.read()

    def end(self, sig=signal.SIGTERM):
        if self.p.poll() is None:
            self.p.send_signal(sig)
        code = self.p.wait(timeout=SETTLE)
        for stream in (self.p.stdin, self.p.stdout):
            try:
                stream.close()
            except BrokenPipeError:
                pass
        return code

    def forget(self):
        self.end(signal.SIGKILL)
        self.err.close()


def library_of(process):
    with open(f"/proc/{process.p.pid}/maps") as f:
        return re.search(r"/\S+/libibverbs\.so\S*", f.read())[0]


class Base(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix=f"hp3-watch-{os.getpid()}-", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.directory)
        port = os.path.join(self.directory, "class/infiniband/rxe0/ports/1")
        for what, column in (("gids", 0), ("gid_attrs/types", 1)):
            os.makedirs(os.path.join(port, what))
            for index, entry in GIDS.items():
                with open(os.path.join(port, what, str(index)), "w") as f:
                    f.write(entry[column] + "\n")
        os.makedirs(os.path.join(self.directory, "dev/infiniband"))
        self.device = os.path.join(self.directory, "dev/infiniband/uverbs0")
        with open(self.device, "w"):
            pass

    def child(self, *args, **more):
        p = Process(*args, **more)
        self.addCleanup(p.forget)
        return p

    def watch(self, *more):
        w = self.child(HP3_WATCH, "--verbs", "library", "--sysfs", self.directory, "--dev",
                       os.path.join(self.directory, "dev"), *more)
        ready = w.line()
        self.assertIsNotNone(ready, w.errors())
        self.assertEqual(json.loads(ready), {"v": 1, "event": "ready", "by": "library"})
        return w

    def caller(self, version="IBVERBS_1.1", device="rxe0", **more):
        c = self.child(VERBS_CALLER, version, device, **more)
        self.assertEqual(c.line(), "ready")
        return c

    def tell(self, c, *commands):
        for command in commands:
            c.p.stdin.write(command.encode() + b"\n")
            c.p.stdin.flush()
            self.assertEqual(c.line(), "ok", command)

    def event(self, w):
        line = w.line()
        self.assertIsNotNone(line, w.errors())
        return json.loads(line)

    def silence(self, w):
        self.assertIsNone(w.line(QUIET))

    def wait_error(self, w, pattern):
        end = time.monotonic() + SETTLE
        while not re.search(pattern, w.errors()):
            self.assertLess(time.monotonic(), end, f"{pattern} not in: {w.errors()}")
            time.sleep(0.02)

    UP = ("init", f"rtr 4660 7001 1024 1 1 {PEER}", "rts 16777215")


class Library(Base):
    def test_both_versions_before_and_after(self):
        """Each set-up is told once, with every field, also of a process that ran before."""
        before = {v: self.caller(v) for v in ("IBVERBS_1.0", "IBVERBS_1.1")}
        w = self.watch()
        after = {v: self.caller(v) for v in ("IBVERBS_1.0", "IBVERBS_1.1")}
        qpn = 0x10
        for callers in (before, after):
            for version, c in callers.items():
                with self.subTest(version=version, before=callers is before):
                    qpn += 1
                    self.tell(c, f"create {qpn} rc", *self.UP)
                    up = self.event(w)
                    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
                    self.assertLess(abs(now - up.pop("t_ns")), SETTLE * 10**9)
                    self.assertEqual(up, {
                        "v": 1, "event": "up", "pid": c.p.pid, "device": "rxe0", "port": 1,
                        "local": "10.9.0.1", "remote": "10.9.0.2", "vlan": 0, "lqpn": qpn,
                        "rqpn": 4660, "psn": 16777215, "rq_psn": 7001, "mtu": 1024})
                    self.tell(c, "destroy")
                    down = self.event(w)
                    self.assertEqual((down["event"], down["lqpn"], down["rqpn"], down["remote"]),
                                     ("down", qpn, 4660, "10.9.0.2"))
        self.silence(w)
        self.assertEqual(w.end(), 0)

    def test_ipv6_and_largest_values(self):
        w, c = self.watch(), self.caller()
        self.tell(c, "create 16777215 rc", "init", "rtr 16777214 16777213 4096 1 2 fd00:9::2", "rts 0")
        up = self.event(w)
        self.assertEqual([up[k] for k in ("local", "remote", "lqpn", "rqpn", "psn", "rq_psn", "mtu")],
                         ["fd00:9::1", "fd00:9::2", 16777215, 16777214, 0, 16777213, 4096])

    def test_every_end_is_told_once(self):
        w, c = self.watch(), self.caller()
        self.tell(c, "create 33 rc")
        for end in ("err", "reset", "init"):
            self.tell(c, *self.UP)
            self.assertEqual(self.event(w)["event"], "up")
            self.tell(c, end)
            self.assertEqual(self.event(w)["event"], "down", end)
        self.tell(c, "err", "reset", "destroy")
        self.silence(w)

    def test_process_that_dies(self):
        w = self.watch()
        for how in (signal.SIGKILL, None):
            c = self.caller()
            self.tell(c, "create 34 rc", *self.UP)
            self.assertEqual(self.event(w)["event"], "up")
            if how:
                c.p.send_signal(how)
            else:
                c.p.stdin.close()
            down = self.event(w)
            self.assertEqual((down["event"], down["pid"], down["lqpn"]), ("down", c.p.pid, 34))

    def test_one_number_of_two_processes(self):
        """Any process may claim any number: each has a queue pair of that number, and ends only its own."""
        w = self.watch()
        a, b = self.caller(), self.caller()
        self.tell(a, "create 35 rc", *self.UP)
        self.assertEqual(self.event(w)["pid"], a.p.pid)
        self.tell(b, "create 35 rc", *self.UP)
        up = self.event(w)
        self.assertEqual((up["event"], up["pid"]), ("up", b.p.pid))
        a.end(signal.SIGKILL)
        down = self.event(w)
        self.assertEqual((down["event"], down["pid"]), ("down", a.p.pid))
        self.silence(w)

    def test_what_is_no_set_up(self):
        w, c = self.watch(), self.caller()
        self.tell(c, "create 36 rc", "init", "result 22")
        self.tell(c, f"rtr 1 1 1024 1 1 {PEER}", "result 0", "rts 1")  # refused, so there is no peer
        self.tell(c, f"rtr 1 1 1024 1 0 {PEER}", "rts 1", "reset")  # RoCE v1
        self.tell(c, f"rtr 1 1 1024 1 9 {PEER}", "rts 1", "reset")  # no such GID
        self.tell(c, "rtr 1 1 1024 1 2 ::ffff:10.9.0.2", "rts 1", "reset")  # IPv6 to IPv4
        self.tell(c, "create 37 ud", *self.UP)
        self.silence(w)
        untrusted = self.caller(device="../../etc")
        self.tell(untrusted, "create 38 rc", *self.UP)
        self.silence(w)

    def test_drained_and_readdressed(self):
        """SQD and back changes nothing, another address vector does."""
        w, c = self.watch(), self.caller()
        self.tell(c, "create 39 rc", *self.UP)
        self.event(w)
        self.tell(c, "sqd", "rts -", "sqd", f"av 1 1 {PEER}", "rts -")
        self.silence(w)
        self.tell(c, "sqd", "av 1 3 ::ffff:10.9.0.6", "rts -")
        down, up = self.event(w), self.event(w)
        self.assertEqual([(e["event"], e["local"], e["remote"], e["psn"]) for e in (down, up)],
                         [("down", "10.9.0.1", "10.9.0.2", 16777215), ("up", "10.9.1.5", "10.9.0.6", None)])
        self.silence(w)

    def test_watcher_that_came_late(self):
        c = self.caller()
        self.tell(c, "create 40 rc", "init", f"rtr 2 2 1024 1 1 {PEER}")
        w = self.watch()
        self.tell(c, "rts 5", "err")
        self.silence(w)
        self.tell(c, "reset", *self.UP)
        self.assertEqual(self.event(w)["event"], "up")

    def test_many(self):
        """More calls than a ring of records could lose unnoticed: all arrive, in order."""
        w, c = self.watch(), self.caller()
        for qpn in range(100, 400):
            self.tell(c, f"create {qpn} rc", *self.UP)
        self.assertEqual([self.event(w)["lqpn"] for _ in range(300)], list(range(100, 400)))
        c.end(signal.SIGKILL)
        self.assertEqual({self.event(w)["lqpn"] for _ in range(300)}, set(range(100, 400)))
        self.assertEqual(w.errors(), "")


class Trouble(Base):
    def test_no_permission(self):
        """Said once for each watcher, by name, with what would help."""
        nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all")
        readable = os.path.join(self.directory, "hp3-watch")
        shutil.copy(HP3_WATCH, readable)
        os.chmod(self.directory, 0o755)
        run = subprocess.run((*nobody, readable), capture_output=True, text=True, timeout=SETTLE)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 3, run.stderr)
        self.assertRegex(lines[1], r"not watched in libibverbs: no permission for BPF.*CAP_BPF")

    def test_kernel_without_verbs(self):
        """auto: the kernel's watcher is missed by name, the library's serves."""
        if os.path.isdir("/sys/class/infiniband"):
            return
        w = self.child(HP3_WATCH, "--sysfs", self.directory)
        self.assertEqual(json.loads(w.line())["by"], "library")
        self.assertRegex(w.errors(), r"\Ahp3-watch: queue-pair setup is not watched in the kernel: .*\n\Z")
        run = subprocess.run((HP3_WATCH, "-v", "kernel"), capture_output=True, text=True, timeout=SETTLE)
        self.assertEqual(run.returncode, 1)

    def test_wrong_library(self):
        fifo, writable, foreign = (os.path.join(self.directory, name) for name in ("fifo.so", "writable.so", "foreign.so"))
        os.mkfifo(fifo)
        for path, mode, owner in ((writable, 0o666, 0), (foreign, 0o644, 65534)):
            shutil.copy(library_of(self.caller()), path)
            os.chmod(path, mode)
            os.chown(path, owner, 0)
        for path, why in (("/nonexistent.so", "no such file"), (HP3_WATCH, "no ibv_modify_qp"),
                          (__file__, "Exec format error"), (fifo, "it is no regular file"),
                          (writable, "others than root may write it"), (foreign, "it does not belong to root")):
            run = subprocess.run((HP3_WATCH, "-v", "library", "-l", path), capture_output=True, text=True,
                                 timeout=SETTLE)
            self.assertEqual(run.returncode, 1)
            self.assertIn(path, run.stderr)
            self.assertIn(why, run.stderr)


class Discover(Base):
    """What is looked for in other processes, and only if the operator wants it."""

    def watch(self, *more):
        return super().watch("--discover", *more)

    def test_static_program_is_named(self):
        """Once, however often devices are opened, and nothing stays open of it; one without a device is of no interest."""
        w = self.watch()
        static = [shutil.which("busybox"), "sh", "-c"]
        self.child(*static, "echo; read x")
        p = self.child(*static, f"exec 3<{self.device}; echo; read x")
        pattern = rf"process {p.p.pid} \(busybox\) uses RDMA without libibverbs \(statically linked\?\)"
        self.wait_error(w, pattern)
        opened = os.listdir(f"/proc/{w.p.pid}/fd")
        subprocess.run(("cat", self.device), check=True)
        time.sleep(QUIET)
        self.assertEqual(len(re.findall(r"process \d+", w.errors())), 1, w.errors())
        # Some of what was open then may be closed by now: it looked at the program a moment before.
        self.assertLessEqual(set(os.listdir(f"/proc/{w.p.pid}/fd")), set(opened))

    def test_static_program_that_was_there_before(self):
        p = self.child(shutil.which("busybox"), "sh", "-c", f"exec 3<{self.device}; echo; read x")
        p.line()
        self.wait_error(self.watch(), rf"process {p.p.pid} \(busybox\) uses RDMA without libibverbs")

    def test_name_that_is_no_text(self):
        """Nothing that a terminal would obey reaches the log."""
        name = os.path.join(self.directory.encode(), b"\x1b[2Jhp3\xff\x9b")
        shutil.copy(shutil.which("busybox"), name)
        p = self.child("busybox", "sh", "-c", f"exec 3<{self.device}; echo; read x", executable=name)
        p.line()
        w = self.watch()
        self.wait_error(w, rf"process {p.p.pid} \(.*\) uses RDMA")
        self.assertIn("(?[2Jhp3??)", w.errors())

    def own_copy(self):
        shutil.copy(library_of(self.caller()), os.path.join(self.directory, "libibverbs.so.1"))
        return os.path.join(self.directory, "libibverbs.so.1")

    def user_of_own_copy(self):
        with open(self.device) as device:
            return self.caller(env={**os.environ, "LD_LIBRARY_PATH": self.directory}, pass_fds=[device.fileno()])

    def test_library_of_its_own(self):
        """A container's or a bundled copy is another file: it is watched once it is met."""
        self.own_copy()
        w = self.watch()
        c = self.user_of_own_copy()
        self.wait_error(w, rf"process {c.p.pid} uses a libibverbs of its own .*: watched from now on")
        self.tell(c, "create 50 rc", *self.UP)
        self.assertEqual(self.event(w)["lqpn"], 50)
        self.assertEqual(len(w.errors().splitlines()), 1)

    def test_library_of_a_user(self):
        """What others than root may write is not touched, nor what is not the mapped file any more."""
        path = self.own_copy()
        os.chown(path, 65534, 65534)
        w = self.watch()
        c = self.user_of_own_copy()
        self.wait_error(w, rf"process {c.p.pid} .* not watched \({path}: it does not belong to root\)")
        os.unlink(path)
        self.own_copy()
        subprocess.run(("cat", self.device), check=True)
        d = self.user_of_own_copy()
        self.wait_error(w, rf"process {d.p.pid} uses a libibverbs of its own")
        self.tell(c, "create 51 rc", *self.UP)
        self.silence(w)
        self.tell(d, "create 52 rc", *self.UP)
        self.assertEqual(self.event(w)["lqpn"], 52)

    def test_not_unless_asked(self):
        self.own_copy()
        w = Base.watch(self)
        self.tell(self.user_of_own_copy(), "create 53 rc", *self.UP)
        self.silence(w)
        self.assertEqual(w.errors(), "")


class WithDaemon(Base):
    CONFIG = """
[eal]
file_prefix = "hp3-watch-{pid}"
memory_mb = 64
mbufs = 1024
mbuf_bytes = 2176
lcores = {lcores}
[rail.rail0]
rnic = "net_null0,no-rx=1"
net = "net_null1,no-rx=1"
rdma = "{rdma}"
[rail.east]
rnic = "net_null2,no-rx=1"
net = "net_null3,no-rx=1"
rdma = "mlx5_7"
[flows]
max_flows = 64
max_pairs = 16
[rfr]
hold_packets = 256
[watch]
verbs = {verbs}
[control]
socket = "{directory}/hp3.sock"
[service]
state = "{directory}/state"
"""

    def hp3d(self, verbs="library", rdma="", lcores=1):
        path = os.path.join(self.directory, "hp3.ini")
        with open(path, "w") as f:
            f.write(self.CONFIG.format(pid=os.getpid(), directory=self.directory, verbs=verbs, rdma=rdma,
                                       lcores=lcores))
        # A /sys/class of its own, with the test's GID tables. Private is /sys alone: in a chroot / is no mount.
        d = self.child("unshare", "--mount", "--propagation", "unchanged", "sh", "-c",
                       'mount --make-rprivate /sys && mount -t tmpfs none /sys/class && '
                       'cp -r "$0/class/infiniband" /sys/class/ && exec "$1" --config "$0/hp3.ini"',
                       self.directory, HP3D)
        end = time.monotonic() + 40
        while not os.path.exists(os.path.join(self.directory, "hp3.sock")) and d.p.poll() is None:
            self.assertLess(time.monotonic(), end, d.errors())
            time.sleep(0.05)
        return d

    def ctl(self, what):
        run = subprocess.run((HP3CTL, "--socket", os.path.join(self.directory, "hp3.sock"), "--json", what),
                             capture_output=True, text=True, timeout=SETTLE, check=what != "health")  # its exit code is 1 with warnings
        return [json.loads(line) for line in run.stdout.splitlines()]

    def watch_count(self, key, n):
        end = time.monotonic() + SETTLE
        while self.ctl("health")[0]["watch"][key] != n:
            self.assertLess(time.monotonic(), end, self.ctl("health"))
            time.sleep(0.02)


class Daemon(WithDaemon):
    """hp3d: what the watcher sees is in its flow table before the first packet."""

    def test_set_up_reaches_the_engine(self):
        d, c = self.hp3d(lcores=2), self.caller()
        self.assertEqual(self.ctl("health")[0]["watch"],
                         {"by": "library", "up": 0, "down": 0, "refused": 0, "no_rail": 0, "ends": 0})
        for i in range(8):
            self.tell(c, f"create {28 + i} rc", "init", f"rtr {4660 + i} 1 1024 1 1 ::ffff:10.9.0.{2 + i}",
                      "rts 77")
        self.watch_count("up", 8)
        flows = self.ctl("flows")
        self.assertEqual({(f["flow"], f["paired"], f["pairing"]) for f in flows},
                         {(f"rail0/10.9.0.1-10.9.0.{2 + i}/0x{4660 + i:06x}", False, "none") for i in range(8)})
        c.end(signal.SIGKILL)
        self.watch_count("down", 8)
        self.assertEqual(self.ctl("flows"), [])
        self.assertEqual(d.end(), 0, d.errors())
        self.assertIn("queue-pair setup is watched by: library\n", d.errors())

    def test_device_of_no_rail(self):
        d, c = self.hp3d(rdma="mlx5_0"), self.caller()
        self.tell(c, "create 28 rc", *self.UP, "destroy")
        self.watch_count("no_rail", 2)
        self.assertEqual(self.ctl("flows"), [])
        self.assertEqual(len(re.findall("RDMA device rxe0 belong to no rail: set rdma", d.errors())), 1)
        self.assertEqual(d.end(), 0, d.errors())

    def test_off_and_not_to_be_had(self):
        d, c = self.hp3d(verbs="off"), self.caller()
        self.tell(c, "create 28 rc", *self.UP)
        self.assertEqual(self.ctl("health")[0]["watch"]["by"], "none")
        self.assertEqual(self.ctl("flows"), [])
        self.assertEqual(d.end(), 0, d.errors())
        if not os.path.isdir("/sys/class/infiniband"):
            d = self.hp3d(verbs="kernel")
            self.assertEqual(d.p.wait(timeout=SETTLE), 1)
            self.assertRegex(d.errors(), r"\[watch\] verbs: cannot be had: set it to auto")


def status(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def child_of(pid):
    """The one that there is, and that lives; else None."""
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            said = status(other)
        except OSError:
            continue
        if said["PPid"] == str(pid) and said["State"][0] != "Z":
            return int(other)
    return None


class Apart(WithDaemon):
    """The watcher's process dies, hangs, and may little; hp3d goes on."""

    def setUp(self):
        super().setUp()
        self.d = self.hp3d()
        self.assertEqual(self.ctl("health")[0]["watch"]["by"], "library", self.d.errors())

    def processes(self):
        keeper = child_of(self.d.p.pid)
        return keeper, keeper and child_of(keeper)

    def wait(self, what, true):
        end = time.monotonic() + SETTLE
        while not true():
            self.assertLess(time.monotonic(), end, f"{what}: {self.d.errors()}")
            time.sleep(0.02)

    def seen(self, n):
        """hp3d is told of a queue pair that is set up now."""
        c = self.caller()
        self.tell(c, f"create {60 + n} rc", *self.UP)
        self.watch_count("up", n)

    def ended(self, times):
        """... and another one watches."""
        self.wait(f"{times} ends", lambda: (w := self.ctl("health")[0]["watch"])["ends"] == times and w["by"] == "library")

    def told(self, pattern):
        self.assertEqual(len(re.findall(r"another one is started", self.d.errors())), 1, self.d.errors())
        self.assertRegex(self.d.errors(), pattern)

    def over(self):
        self.assertEqual(self.d.end(), 0, self.d.errors())
        self.assertNotIn("watched any more", self.d.errors())

    def check_capabilities(self):
        """hp3d keeps none for it, who watches has none either, and none comes back."""
        def caps(pid):
            said = status(pid)
            return int(said["CapPrm"], 16) | int(said["CapEff"], 16), said["NoNewPrivs"]
        keeper, worker = self.processes()
        self.wait("ready", lambda: "hp3d: ready:" in self.d.errors())
        self.assertEqual(caps(self.d.p.pid), (0, "1"))
        self.assertEqual(caps(worker), (0, "1"))
        bpf, perfmon, admin = 1 << 39, 1 << 38, 1 << 21
        self.assertEqual(caps(keeper), (bpf | perfmon | admin, "1"))
        with open(f"/proc/{worker}/limits") as f:
            limits = f.read()
        self.assertRegex(limits, r"Max file size +0 +0 ")
        self.assertRegex(limits, r"Max core file size +0 +0 ")

    def test_killed(self):
        """Told once, counted each time; the pause before the next one doubles."""
        self.check_capabilities()
        self.seen(1)
        for times in (1, 2):
            killed = time.monotonic()
            os.kill(self.processes()[1], signal.SIGKILL)
            self.ended(times)
        self.assertGreater(time.monotonic() - killed, 0.4)
        self.seen(2)
        self.check_capabilities()
        self.told(r"the watcher of queue-pair setup was ended by signal 9:")
        self.over()

    def test_hung(self):
        """Told as that; and both end with hp3d, however it does."""
        before = self.processes()
        os.kill(before[1], signal.SIGSTOP)
        self.ended(1)
        self.assertEqual(self.processes()[0], before[0])
        self.assertFalse(os.path.exists(f"/proc/{before[1]}"))
        self.seen(1)
        self.told(r"the watcher of queue-pair setup hung")
        after = self.processes()
        self.d.end(signal.SIGKILL)
        self.wait("the end of both", lambda: not any(os.path.exists(f"/proc/{p}/fd/0") for p in after))

    def test_gone(self):
        """Both stand still, as on a machine that does: that is no hang. Then nobody is left to start another
        one: told, and hp3d goes on and ends well."""
        keeper, worker = self.processes()
        for sig, wait in ((signal.SIGSTOP, 4.5), (signal.SIGCONT, 0.5)):
            for pid in (keeper, worker):
                os.kill(pid, sig)
                time.sleep(0.1)
            time.sleep(wait)
        self.assertEqual(self.ctl("health")[0]["watch"]["ends"], 0, self.d.errors())
        os.kill(keeper, signal.SIGKILL)
        self.wait("by none", lambda: self.ctl("health")[0]["watch"]["by"] == "none")
        self.wait("the end of both", lambda: not any(os.path.exists(f"/proc/{p}/fd/0") for p in (keeper, worker)))
        self.assertEqual(len(re.findall("not watched any more", self.d.errors())), 1)
        self.assertEqual(self.d.end(), 0, self.d.errors())


def uprobes_allowed():
    run = subprocess.run(("timeout", "-s", "INT", "0.5", HP3_WATCH, "--verbs", "library"), check=False,
                         capture_output=True, text=True)
    return "no permission for BPF" not in run.stderr


def alone():
    """A watcher sees all callers on this machine: one of these programs at a time."""
    lock = open("/run/hp3-watch-tests.lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


if __name__ == "__main__":
    LOCK = alone()
    if not uprobes_allowed():
        print("BPF is forbidden here, even to root")
        sys.exit(77)
    unittest.main(argv=["watch.py", *sys.argv[5:]])
