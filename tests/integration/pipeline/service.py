#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d as a service: its messages to service manager, journal and audit log, and the capabilities
that it keeps.

usage: service.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import ctypes
import datetime
import glob
import json
import os
import re
import shutil
import signal
import socket
import struct
import time
from cases import Wired, run
from harness import LIBC, Daemon, wait_for

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
JOURNAL = "/run/systemd/journal"


class Manager:
    """The end of $NOTIFY_SOCKET that a service manager has."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "notify")
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path)
        self.sock.settimeout(0.02)
        self.seen = []  # (time, lines)

    def read(self):
        try:
            while True:
                self.seen.append((time.monotonic(), self.sock.recv(4096).decode().splitlines()))
        except TimeoutError:
            return self.seen

    def lines(self):
        return [line for _, lines in self.read() for line in lines]

    def pings(self):
        return [t for t, lines in self.read() if "WATCHDOG=1" in lines]


class Service(Wired):
    def daemon(self, rails, env=None, **sections):
        """env: set before it starts."""
        os.environ.update(env or {})
        try:
            return super().daemon(rails, **sections)
        finally:
            for name in env or {}:
                del os.environ[name]

    def manager(self):
        m = Manager(self.directory())
        self.addCleanup(m.sock.close)
        return m

    def directory(self):
        """Removed with the daemons' own, by name."""
        Daemon.count += 1
        path = f"/tmp/hp3-pipeline-{os.getpid()}-service{Daemon.count}"
        os.mkdir(path, 0o755)
        self.addCleanup(lambda: shutil.rmtree(path, ignore_errors=True))
        return path

    def tasks(self, d):
        """Of each thread: effective capabilities, permitted ones, no_new_privs."""
        out = []
        for path in glob.glob(f"/proc/{d.process.pid}/task/*/status"):
            with open(path) as f:
                status = dict(line.split(":\t", 1) for line in f if ":\t" in line)
            out.append((int(status["CapEff"], 16), int(status["CapPrm"], 16), int(status["NoNewPrivs"])))
        return out

    def ready(self, d):
        wait_for("ready", lambda: "hp3d: ready: " in d.output())
        return d

    def test_the_manager_is_told(self):
        m = self.manager()
        d = self.ready(self.daemon({"rail0": self.ports()}, {"NOTIFY_SOCKET": m.path}).up())
        self.assertRegex(d.output(), rf"(?m)^hp3d: ready: version \d\S+, rails rail0, 1 lcore, pid {d.process.pid}, "
                                     r"capabilities kept: none$")
        wait_for("READY=1", lambda: "READY=1" in m.lines())
        self.assertNotIn("WATCHDOG=1", m.lines())  # it was not asked for
        d.process.send_signal(signal.SIGHUP)
        wait_for("the end of the reload", lambda: m.lines().count("READY=1") == 2)
        said = [line.split("=")[0] for line in m.lines() if not line.startswith("STATUS")]
        self.assertEqual(said, ["READY", "RELOADING", "MONOTONIC_USEC", "READY"])
        self.stop(d)
        self.assertEqual([line for line in m.lines() if line.startswith("STOPPING")], ["STOPPING=1"])

    def test_refused_start_is_never_ready(self):
        m = self.manager()
        d = self.daemon({"rail0": ("net_null0", "net_nosuch0")}, {"NOTIFY_SOCKET": m.path})
        self.assertEqual(d.process.wait(timeout=40), 1)
        self.assertNotIn("READY=1", m.lines())

    def test_watchdog_is_about_lcores(self):
        """An lcore that hangs while the main thread goes on ends the pings; they return with it."""
        m = self.manager()
        d = self.daemon({"rail0": self.ports()}, {"NOTIFY_SOCKET": m.path, "WATCHDOG_USEC": "400000"}).up()
        wait_for("pings", lambda: len(m.pings()) >= 5)
        worker, = [int(t) for t in os.listdir(f"/proc/{d.process.pid}/task")
                   if self.name_of(d, t).startswith("rte-worker")]
        self.hold(worker)
        wait_for("a word about it", lambda: "lcore 0 has made no round" in d.output())
        last, now = m.pings()[-1], time.monotonic()
        wait_for("some time", lambda: time.monotonic() > now + 0.8)
        self.assertEqual(m.pings()[-1], last)
        self.let_go(worker)
        wait_for("pings again", lambda: m.pings()[-1] > last)
        self.stop(d)

    def name_of(self, d, task):
        with open(f"/proc/{d.process.pid}/task/{task}/comm") as f:
            return f.read()

    def hold(self, thread):
        for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
            if LIBC.ptrace(request, thread, None, None) != 0:
                raise OSError(ctypes.get_errno(), "ptrace")
        self.addCleanup(self.let_go, thread)  # or nobody can wait for its process
        os.waitpid(thread, WALL)

    def let_go(self, thread):
        LIBC.ptrace(PTRACE_DETACH, thread, None, None)

    def test_capabilities(self):
        """None is left with af_packet; moves, reload and stop go on without them."""
        d = self.ready(self.start())
        self.assertEqual(set(self.tasks(d)), {(0, 0, 1)})
        a, b = self.endpoints(qps=1)
        a.tell("send 1000000")
        flow, = d.paired(1)
        self.move(d, flow, self.port(0))
        d.process.send_signal(signal.SIGHUP)
        wait_for("reload", lambda: "hp3d: reloaded" in d.output())
        self.move(d, flow, self.port(1))
        self.settle(a)
        self.whole(a, b)
        self.stop(d)

    def test_signals(self):
        """The main thread handles those that stop hp3d, or make it reload; all other threads block them."""
        d = self.ready(self.start())
        mains = sum(1 << (number - 1) for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM))

        def blocked(task):
            with open(f"/proc/{d.process.pid}/task/{task}/status") as f:
                return mains & next(int(line.split()[1], 16) for line in f if line.startswith("SigBlk:"))

        wait_for("the main thread", lambda: blocked(d.process.pid) == 0)
        others = [t for t in os.listdir(f"/proc/{d.process.pid}/task") if int(t) != d.process.pid]
        self.assertGreater(len(others), 1)
        self.assertEqual({blocked(t) for t in others}, {mains})
        self.stop(d)

    def test_capabilities_that_stay(self):
        d = self.ready(self.daemon({"rail0": self.ports()}, service={"capabilities": "keep"}).up())
        self.assertEqual({(eff, prm) for eff, prm, _ in self.tasks(d)}, {self.mine()})
        self.stop(d)

    def mine(self):
        with open("/proc/self/status") as f:
            status = dict(line.split(":\t", 1) for line in f if ":\t" in line)
        return int(status["CapEff"], 16), int(status["CapPrm"], 16)

    def log_lines(self, path):
        with open(path) as f:
            return [json.loads(line) for line in f]

    def test_audit_log(self):
        """Moves and refusals survive kill -9; the file can be rotated."""
        log = os.path.join(self.directory(), "audit.log")
        d = self.start(log={"audit": log})
        a, b = self.endpoints(qps=1)
        a.tell("send 1000000")
        flow, = d.paired(1)
        began = datetime.datetime.now(datetime.timezone.utc)
        port = self.port(0)
        event = self.move(d, flow, port)
        moved = event["type"]  # switch; idle_switch if the sender got no CPU, and had nothing in flight
        d.ctl("move", flow, "--port", str(port), code=None)  # is there already
        wait_for("a refusal", lambda: any(e["type"] == "refusal" for e in self.log_lines(log)))
        types = {e["type"]: e for e in self.log_lines(log)}
        self.assertEqual(types[moved], {**event, "time": types[moved]["time"]})
        self.assertEqual(event["time"], types[moved]["time"])
        at = datetime.datetime.fromisoformat(event["time"].replace("Z", "+00:00"))
        self.assertLess(abs((at - began).total_seconds()), 5)
        self.assertEqual((types["refusal"]["flow"], types["refusal"]["code"]), (flow, "already-there"))
        self.assertEqual(types["ready"]["pid"], d.process.pid)
        self.assertNotIn("pair", types)
        os.rename(log, log + ".1")
        d.process.send_signal(signal.SIGHUP)
        wait_for("a new file", lambda: os.path.exists(log) and self.log_lines(log))
        self.assertEqual([e["type"] for e in self.log_lines(log)], ["reload"])
        moved = self.move(d, flow, self.port(1))["type"]
        wait_for("the move", lambda: moved in [e["type"] for e in self.log_lines(log)])
        health = d.ask("health")["audit"]
        self.assertEqual((health["state"], health["lost_disk"], health["lost_queue"]), ("ok", 0, 0))
        d.process.kill()
        d.process.wait()
        self.assertIn(moved, [e["type"] for e in self.log_lines(log)])

    def test_no_directory_for_the_log(self):
        """As shipped, where /var/log/hp3 is not there: said once, and on it goes."""
        missing = os.path.join(self.directory(), "missing", "audit.log")
        d = self.ready(self.daemon({"rail0": self.ports()}, log={"audit": missing}).up())
        self.assertEqual(d.output().count(f"audit log {missing}: its directory is missing: make it, or set audit="), 1)
        health = d.json("health")[0]
        self.assertEqual(health["status"], "warning")
        self.assertIn("audit", [w["code"] for w in health["warnings"]])
        self.assertRegex(d.ctl("health").stdout, rf"(?m)^  audit: the audit log {re.escape(missing)} cannot be written")
        self.stop(d)

    def journal(self):
        """A journal of this test's own, where sd_journal_send() looks for it."""
        if LIBC.unshare(CLONE_NEWNS) != 0 or LIBC.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        if LIBC.mount(b"tmpfs", b"/run", b"tmpfs", 0, None) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        os.makedirs(JOURNAL)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sock.bind(os.path.join(JOURNAL, "socket"))
        sock.settimeout(10)
        self.addCleanup(sock.close)
        return sock

    def fields(self, data):
        """An entry in the journal's native protocol."""
        out = {}
        while data:
            line, data = data.split(b"\n", 1)
            if b"=" in line:
                name, value = line.split(b"=", 1)
            else:
                size, = struct.unpack("<Q", data[:8])
                name, value, data = line, data[8:8 + size], data[9 + size:]
            out[name.decode()] = value.decode()
        return out

    def test_journal(self):
        """With stderr in the journal a move is an entry with fields, and no line on stderr."""
        sock = self.journal()
        d = self.with_stderr_in_the_journal()
        entry = self.fields(sock.recv(65536))  # the rail is ours
        self.assertEqual((entry["HP3_TYPE"], entry["HP3_RAIL"], entry["HP3_TO"]), ("bypass", "rail0", "taken"))
        a, b = self.endpoints(qps=1)
        a.tell("send 1000000")
        flow, = d.paired(1)
        for _ in range(10):
            event = self.move(d, flow, self.port(0))
            entry = self.fields(sock.recv(65536))
            if event["type"] == "switch":
                break
            self.assertEqual((event["type"], entry["HP3_TYPE"]), ("idle_switch", "idle_switch"))  # nothing was in flight
        self.assertEqual((entry["HP3_TYPE"], entry["HP3_FLOW"], entry["HP3_CAUSE"]), ("switch", flow, "operator"))
        self.assertEqual((int(entry["HP3_TO"]), int(entry["HP3_SEQ"])), (event["to"], event["seq"]))
        self.assertEqual((entry["HP3_TIME"], entry["PRIORITY"]), (event["time"], "6"))
        self.assertEqual(json.loads(entry["HP3_EVIDENCE"]), event["evidence"])
        self.assertRegex(entry["MESSAGE"], rf"^{flow}: moved from port \d+ to {event['to']} \(operator\), drained in")
        self.assertNotIn("moved from", d.output())
        d.ctl("move", flow, "--port", str(event["to"]), code=None)
        entry = self.fields(sock.recv(65536))
        self.assertEqual((entry["HP3_TYPE"], entry["HP3_CODE"], entry["PRIORITY"]), ("refusal", "already-there", "5"))
        self.stop(d)

    def with_stderr_in_the_journal(self):
        """JOURNAL_STREAM names the file that is stderr; the daemon's log is known only once it is open."""
        original = Daemon.begin

        def begin(daemon):
            st = os.fstat(daemon.log.fileno())
            os.environ["JOURNAL_STREAM"] = f"{st.st_dev}:{st.st_ino}"
            try:
                original(daemon)
            finally:
                del os.environ["JOURNAL_STREAM"]
        Daemon.begin = begin
        try:
            return self.start()
        finally:
            Daemon.begin = original

    def test_stderr_where_there_is_no_journal(self):
        d = self.start()
        a, _ = self.endpoints(qps=1)
        a.tell("send 1000000")
        flow, = d.paired(1)
        event = self.move(d, flow, self.port(0))
        wait_for("a line", lambda: f"hp3d: {event['time']} {flow}: moved from port" in d.output())
        self.settle(a)
        self.stop(d)


if __name__ == "__main__":
    run()
