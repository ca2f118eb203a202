#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d's metrics by HTTP: contents of the page, access rights, and malicious clients.

usage: metrics.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import contextlib
import glob
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from cases import METRICS_MANUAL, Base, Wired, run
from harness import listens, wait_for
from scraping import OPENMETRICS, ask, at_rest, auto_socket, loopback, make_rnic, metrics_socket, promtool, samples, value

TCP = ("127.0.0.1", 9795)
NULL = {"rail0": ("net_null0,no-rx=1", "net_null1,no-rx=1")}
LISTEN = {"listen": "127.0.0.1:9795"}


def threads(daemon):
    """The names of its threads, by number."""
    found = {}
    for task in os.listdir(f"/proc/{daemon.process.pid}/task"):
        with open(f"/proc/{daemon.process.pid}/task/{task}/comm") as f:
            found[task] = f.read().strip()
    return found


class Page(Wired):
    def setUp(self):
        super().setUp()
        loopback()

    @staticmethod
    def mode_of(found):
        return [dict(labels)["mode"] for (name, labels), is_it in found.items() if name == "hp3_mode" and is_it]

    def test_a_page_says_what_stats_say(self):
        """As shipped, on the socket beside the control socket; after moves of all kinds of traffic."""
        d = self.start(flows={"max_flows": 64})
        where = metrics_socket(d)
        self.assertEqual(stat.S_IMODE(os.stat(where).st_mode), 0o600)
        a, b = self.endpoints(qps=4)
        a.tell("send 1000000")
        for flow in d.paired(4):
            self.move(d, flow, self.port(0))
        self.settle(a, b)
        self.whole(a, b)
        counters = d.counters()
        time.sleep(0.15)  # a page lives for 100 ms
        page = ask(where)
        self.assertEqual((page.status, page.getheader("Content-Type")),
                         (200, "text/plain; version=0.0.4; charset=utf-8"))
        found = samples(page.text)
        self.assertEqual(promtool("check", "metrics", text=page.text), "")
        for name, of in (("hp3_packets_total", "packets"), ("hp3_bytes_total", "bytes")):
            for direction in ("tx", "rx"):
                self.assertEqual(value(found, name, rail="rail0", direction=direction), counters[f"{of}_{direction}"])
        self.assertEqual(value(found, "hp3_class_packets_total", **{"class": "rc_request"}), counters["class_rc_request"])
        self.assertEqual(value(found, "hp3_engine_tx_requests_total"), counters["tx_requests"])
        self.assertEqual(value(found, "hp3_pipe_released_total"), counters["released"])
        self.assertEqual(value(found, "hp3_moves_total", cause="operator", rail="rail0"), 4)
        moved = value(found, "hp3_moves_total", cause="operator", outcome="switch")
        self.assertEqual(moved, counters["moves_switched"])
        self.assertEqual(value(found, "hp3_moves_total"), 4)
        for name in ("hp3_move_drain_seconds", "hp3_move_decision_seconds"):
            self.assertGreaterEqual(value(found, name + "_count"), moved)
            self.assertEqual(value(found, name + "_count"), value(found, name + "_bucket", le="+Inf"))
        self.assertEqual(value(found, "hp3_reseq_gap_seconds_count"), counters["reseq_gaps"])
        drains = [e["evidence"]["drain_ns"] for e in d.json("events") if e["type"] == "switch"]
        self.assertAlmostEqual(value(found, "hp3_move_drain_seconds_sum"), sum(drains) / 1e9, places=9)
        self.assertEqual(value(found, "hp3_events_total", type="pair"), 4)
        self.assertEqual((value(found, "hp3_flows"), value(found, "hp3_flows_max")), (4, 64))
        self.assertEqual((value(found, "hp3_flows_moved"), value(found, "hp3_pairs")), (4, 1))
        self.assertEqual({value(found, "hp3_port_up", side=s) for s in ("rnic", "net")}, {1})
        self.assertEqual(value(found, "hp3_drops_total", reason="tx_full"), 0)
        for pool, n in d.stats()["pool"].items():
            self.assertEqual(value(found, "hp3_pool_buffers", pool=pool), n["size"])
            self.assertEqual(value(found, "hp3_pool_free_buffers", pool=pool), n["free"])
        self.assertEqual(self.mode_of(found), ["on"])
        d.ctl("mode", "observe")
        wait_for("another mode", lambda: self.mode_of(samples(ask(where).text)) == ["observe"])
        self.assertGreater(value(found, "hp3_lcore_seconds_total", lcore="0", state="busy"), 0)
        self.assertLess(abs(time.time() - value(found, "process_start_time_seconds")), 60)
        for state, up in (("down", 0), ("up", 1)):
            subprocess.run(["ip", "link", "set", self.rnic.far, state], check=True)
            wait_for("a link " + state, lambda: value(samples(ask(where).text), "hp3_port_up", side="rnic") == up)
        self.assertEqual(value(samples(ask(where).text), "hp3_port_up", side="net"), 1)
        d.stop()
        self.assertFalse(os.path.exists(where))

    def test_both_formats_say_the_same(self):
        d = self.daemon(NULL, metrics=LISTEN).up()
        metrics_socket(d)
        time.sleep(0.15)
        plain = ask(TCP)
        opened = ask(TCP, Accept=OPENMETRICS + ", text/plain;q=0.5")
        self.assertEqual(opened.getheader("Content-Type"),
                         "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(opened.text.endswith("\n# EOF\n"))
        self.assertNotIn("# EOF", plain.text)
        of = [samples(opened.text), samples(plain.text)]
        self.assertEqual(*(set(found) for found in of))
        self.assertGreater(len(of[0]), 300)
        family = None
        for line in opened.text.splitlines()[:-1]:
            words = line.split(" ")
            if words[1:2] == ["TYPE"]:
                family, kind = words[2], words[3]
                self.assertFalse(family.endswith("_total"), line)
            elif words[1:2] == ["UNIT"]:
                self.assertTrue(family.endswith("_" + words[3]), line)
            elif line[0] != "#":
                name = line.split("{")[0].split(" ")[0]
                ends = {"counter": ("_total",), "info": ("_info",), "histogram": ("_bucket", "_sum", "_count"),
                        "gauge": ("",)}[kind]
                self.assertIn(name, [family + e for e in ends], line)
        with open(METRICS_MANUAL) as f:
            manual = set(re.findall(r"^\.BR (\w+) \" \(", f.read(), re.M))
        served = set(re.findall(r"^# TYPE (\w+)", plain.text, re.M))
        # No RNIC here, no rail that fails open.
        self.assertEqual(manual - served, {m for m in manual if "rnic" in m or "bypass" in m or "verbs" in m})
        self.assertEqual(served - manual, set())
        d.stop()

    def test_rnics(self):
        """Those of a sysfs that the test makes: what is not there has no series, what comes is there."""
        root = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp")
        self.addCleanup(shutil.rmtree, root)
        d = self.daemon(NULL, metrics={"sysfs": root}).up()
        where = metrics_socket(d)

        def page():
            time.sleep(0.15)
            return samples(text := ask(where).text), text
        self.assertFalse([k for k in page()[0] if k[0].startswith("hp3_rnic")])
        make_rnic(root, "mlx5_0", "1", out_of_sequence=7, lifespan=10, np_cnp_sent=2**63 + 1)
        make_rnic(root, "mlx5_1", "1", state="1: DOWN", rx_write_requests="gibberish")
        found, text = page()
        self.assertEqual(value(found, "hp3_rnic_hw_events_total", device="mlx5_0", port="1", event="out_of_sequence"), 7)
        self.assertIn('event="np_cnp_sent"} 9223372036854775809\n', text)
        self.assertEqual(len([k for k in found if k[0] == "hp3_rnic_hw_events_total"]), 2)
        self.assertEqual([value(found, "hp3_rnic_port_up", device=d) for d in ("mlx5_0", "mlx5_1")], [1, 0])
        strange = 'a"} 1\nhp3_rnic_port_up{device="b\\'  # what ends a label or a line is escaped
        make_rnic(root, strange, "1", out_of_sequence=5)
        found, text = page()
        self.assertEqual(promtool("check", "metrics", text=text), "")
        self.assertIn('hp3_rnic_port_up{device="a\\"} 1\\nhp3_rnic_port_up{device=\\"b\\\\",port="1"} 1\n', text)
        self.assertEqual(len([k for k in found if k[0] == "hp3_rnic_port_up"]), 3)
        shutil.rmtree(os.path.join(root, "class/infiniband/mlx5_0"))
        self.assertEqual([k for k in page()[0] if ("device", "mlx5_0") in k[1]], [])
        d.stop()

    def test_who_hangs_is_seen(self):
        """The heartbeats of a process that stood still, and of an lcore that sleeps."""
        d = self.daemon(NULL).up()
        where = metrics_socket(d)

        def heartbeats():
            time.sleep(0.15)
            found = samples(ask(where).text)
            return {dict(k[1])["thread"]: time.time() - v for k, v in found.items() if k[0].startswith("hp3_heartbeat")}
        self.assertEqual(set(heartbeats()), {"control", "lcore0"})
        self.assertLess(max(heartbeats().values()), 1)
        task = next(t for t, name in threads(d).items() if name.startswith(("rte-worker", "lcore-worker")))
        # One thread alone cannot be stopped: an idle one is kept from the CPU by a tracer.
        tracer = subprocess.Popen([sys.executable, "-c", HOLD, task], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.stdin.close)
        self.addCleanup(tracer.stdout.close)
        self.assertEqual(tracer.stdout.readline(), b"held\n")
        time.sleep(1)
        held = heartbeats()
        self.assertGreater(held["lcore0"], 0.9)
        self.assertLess(held["control"], 0.5)
        tracer.stdin.close()
        wait_for("the heartbeat", lambda: max(heartbeats().values()) < 0.5)
        d.stop()


HOLD = """
import ctypes, os, sys
libc, task = ctypes.CDLL(None, use_errno=True), int(sys.argv[1])
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
libc.ptrace.argtypes = [ctypes.c_long] * 4
assert libc.ptrace(PTRACE_SEIZE, task, 0, 0) == 0 and libc.ptrace(PTRACE_INTERRUPT, task, 0, 0) == 0
os.waitpid(task, WALL)
print("held", flush=True)
sys.stdin.read()
libc.ptrace(PTRACE_DETACH, task, 0, 0)
"""


class Clients(Base):
    def setUp(self):
        loopback()
        self.d = self.daemon(NULL, metrics=LISTEN).up()
        self.addCleanup(self.d.stop)
        metrics_socket(self.d)

    def open(self, data=b""):
        s = socket.create_connection(TCP, timeout=20)
        self.addCleanup(s.close)
        s.sendall(data)
        return s

    def connections(self):
        """Sockets of hp3d; files that it reads for a page are no connections."""
        n = 0
        for fd in glob.glob(f"/proc/{self.d.process.pid}/fd/*"):
            with contextlib.suppress(FileNotFoundError):
                n += os.readlink(fd).startswith("socket:")
        return n

    def test_errors(self):
        for path in ("/", "/metrics/", "/metricsx", "/%2e%2e/etc/passwd", "//metrics"):
            self.assertEqual(ask(TCP, path).status, 404, path)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            answer = ask(TCP, method=method, body="x" * 100)
            self.assertEqual((answer.status, answer.getheader("Allow")), (405, "GET, HEAD"), method)
        head = ask(TCP, method="HEAD")
        self.assertEqual((head.status, head.text), (200, ""))
        self.assertGreater(int(head.getheader("Content-Length")), 10000)
        self.assertEqual(ask(TCP, "/metrics?x=1").status, 200)
        self.assertEqual(ask(TCP, **{"X-Long": "x" * 30000}).status, 431)
        for nonsense in (b"\0\0\0\0\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n", b"\r\n" * 1000):
            s = self.open(nonsense)
            s.shutdown(socket.SHUT_WR)
            self.assertNotIn(b"200 OK", s.recv(65536), nonsense)
        self.assertEqual(ask(TCP).status, 200)

    def test_slow_and_many(self):
        """All places taken by clients that say nothing, or drip: they are cut off, and who waits is served."""
        before = at_rest(self.connections)
        begin = time.monotonic()
        unread = [self.open(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50) for _ in range(4)]
        silent = [self.open() for _ in range(8)]
        dripping = [self.open(b"GET /metrics HTTP/1.1\r\nX-Drip: ") for _ in range(16)]  # and those in the backlog
        time.sleep(0.2)
        self.assertLessEqual(self.connections() - before, 16)  # the places of this listener
        # On the other socket nobody waits for them.
        self.assertEqual(ask(metrics_socket(self.d)).status, 200)
        self.assertLess(time.monotonic() - begin, 2)
        self.assertEqual(self.d.json("health")[0]["status"], "ok")
        ends = {}

        def drip():
            for s in dripping:
                if s not in ends:
                    try:
                        s.sendall(b"x")
                    except OSError:
                        ends[s] = time.monotonic() - begin
            time.sleep(0.2)
            return len(ends) >= 6  # those that had a place
        wait_for("an end of dripping", drip, 30)
        self.assertGreater(min(ends.values()), 2.5)
        self.assertLess(min(ends.values()), 6)
        for s in dripping + silent + unread:
            s.close()
        self.assertEqual(ask(TCP).status, 200)
        wait_for("closed connections", lambda: self.connections() == before)

    def test_a_page_is_shared(self):
        """A thousand requests cost few pages: within 100 ms all get the same."""
        cpu = [value(samples(ask(TCP).text), "process_cpu_seconds_total") for _ in range(5)]
        self.assertLessEqual(len(set(cpu)), 3)
        time.sleep(0.15)
        self.assertNotIn(value(samples(ask(TCP).text), "process_cpu_seconds_total"), cpu)


class Places(Base):
    """Where metrics are served, and where they cannot be."""

    def setUp(self):
        loopback()

    def refused(self, d, message):
        self.assertEqual(d.process.wait(timeout=40), 1, d.output())
        self.assertRegex(d.output(), message)

    @staticmethod
    def answers(where):
        try:
            return ask(where).status == 200
        except OSError:
            return False

    def test_off(self):
        d = self.daemon(NULL, metrics={"socket": "off"}).up()
        time.sleep(0.2)
        self.assertFalse(os.path.exists(auto_socket(d)))
        self.assertNotIn("hp3d-metrics", threads(d).values())
        self.stop(d)

    def test_ipv6_and_own_path(self):
        with open("/proc/sys/net/ipv6/conf/lo/disable_ipv6", "w") as f:
            f.write("0")
        d = self.daemon(NULL, metrics={"listen": "[::1]:9796"}).up()
        metrics_socket(d)
        self.assertEqual(ask(("::1", 9796)).status, 200)
        with self.assertRaises(OSError):
            ask(("127.0.0.1", 9796))
        own = os.path.join(d.directory, "deep", "er.sock")
        second = self.daemon(NULL, metrics={"socket": own}).up()
        wait_for("its own place", lambda: listens(second.process, own))
        self.assertEqual(ask(own).status, 200)
        self.stop(d)
        self.stop(second)

    def test_taken(self):
        d = self.daemon(NULL, metrics=LISTEN).up()
        self.refused(self.daemon(NULL, metrics=LISTEN), r"\[metrics\] listen = 127.0.0.1:9795: .*in use; stop who listens")
        taken = metrics_socket(d)
        self.refused(self.daemon(NULL, metrics={"socket": taken}), re.escape(taken) + r".*set socket= in \[metrics\]")
        self.refused(self.daemon(NULL, metrics={"listen": "10.1.2.3:80", "remote": "on"}),
                     r"listen = 10.1.2.3:80: .*see that the address is this host's")
        self.assertEqual(ask(TCP).status, 200)
        self.assertEqual(ask(taken).status, 200)
        self.assertEqual(d.stop(signal.SIGKILL), -signal.SIGKILL)
        again = self.daemon(NULL, metrics={**LISTEN, "socket": taken}).up()  # what a dead one left is replaced
        wait_for("an answer", lambda: self.answers(taken))
        self.assertEqual(ask(TCP).status, 200)
        self.assertEqual(ask(taken).status, 200)
        self.stop(again)


if __name__ == "__main__":
    run()
