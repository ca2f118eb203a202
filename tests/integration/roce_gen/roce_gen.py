# SPDX-License-Identifier: BSD-3-Clause
"""Two roce-gen processes in network namespaces, over a veth or over a relay that loses and reorders
frames.

usage: roce_gen.py ROCE_GEN PIPELINE_DIRECTORY [unittest arguments]

One end is in the test's own unnamed namespace, the other in that of a child process. Both
namespaces are removed when the test ends, in whatever way.
"""
import ctypes
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

ROCE_GEN = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from harness import CLONE_NEWNET, LIBC, RawPort, die_with_parent, own_namespace, wait_for  # noqa: E402

LIMIT = 60  # seconds, for any run
ECN_CE = 3


def ip(*args):
    subprocess.run(["ip", *args], check=True)


class Far:
    """A namespace with an interface."""

    def __init__(self):
        def enter():
            die_with_parent()
            if LIBC.unshare(CLONE_NEWNET) != 0:
                os._exit(1)
        self.process = subprocess.Popen(["sleep", "3600"], preexec_fn=enter)
        mine = os.readlink("/proc/self/ns/net")
        wait_for("namespace", lambda: os.readlink(f"/proc/{self.process.pid}/ns/net") != mine)
        self.enter = ["nsenter", "-t", str(self.process.pid), "-n"]

    def ip(self, *args):
        subprocess.run([*self.enter, "ip", *args], check=True)

    def snmp(self):
        text = subprocess.run([*self.enter, "cat", "/proc/net/snmp"], check=True, capture_output=True,
                              text=True).stdout.splitlines()
        return {(names.split()[0] + name): int(value) for names, values in zip(text[::2], text[1::2])
                for name, value in zip(names.split()[1:], values.split()[1:])}

    def close(self):
        self.process.kill()
        self.process.wait()


class Relay:
    """Forwards frames between two interfaces; harm(frame, count) returns what becomes of a frame
    with data: the frames to send now."""

    def __init__(self, a, b, harm):
        self.ports = [RawPort(a), RawPort(b)]
        self.harm, self.count, self.stopped = harm, 0, False
        self.threads = [threading.Thread(target=self.run, args=way, daemon=True)
                        for way in (self.ports, self.ports[::-1])]
        for t in self.threads:
            t.start()

    def run(self, come, go):
        come.sock.settimeout(0.2)
        while not self.stopped:
            try:
                frame = come.sock.recv(65536)
            except (TimeoutError, OSError):
                continue
            data = len(frame) > 300 and frame[12:14] == b"\x08\x00"
            self.count += data
            for f in self.harm(frame, self.count) if data else [frame]:
                try:
                    go.send(f)
                except OSError:
                    pass

    def close(self):
        self.stopped = True
        for t in self.threads:
            t.join()
        for p in self.ports:
            p.close()


def marked(frame):
    """With CE; the IPv4 checksum follows, the ICRC does not cover it."""
    f = bytearray(frame)
    f[15] |= ECN_CE
    f[24:26] = b"\0\0"
    total = sum(int.from_bytes(f[i:i + 2], "big") for i in range(14, 34, 2))
    total = (total & 0xffff) + (total >> 16)
    f[24:26] = (0xffff - ((total & 0xffff) + (total >> 16))).to_bytes(2, "big")
    return bytes(f)


class End:
    def __init__(self, directory, name, args, enter=()):
        self.report_path = os.path.join(directory, name + ".json")
        self.log = open(os.path.join(directory, name + ".log"), "w+")
        self.process = subprocess.Popen(
            [*enter, ROCE_GEN, "--name", name, "--output", self.report_path, *args],
            stdout=self.log, stderr=self.log, preexec_fn=die_with_parent)

    def output(self):
        with open(self.log.name) as f:
            return f.read()

    def finish(self, code=0):
        got = self.process.wait(timeout=LIMIT)
        if got != code:
            raise AssertionError(f"exit code {got}, not {code}: {self.output()}")
        if not os.path.exists(self.report_path):
            return None
        with open(self.report_path) as f:
            return json.load(f)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log.close()


class Base(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix=f"hp3-roce-gen-{os.getpid()}-")
        self.addCleanup(self.directory.cleanup)
        self.socket = os.path.join(self.directory.name, "s")
        self.far = Far()
        self.addCleanup(self.far.close)

    def cable(self, harm=None, mtu=4200):
        """ga here, gb in the far namespace; between them a wire, or a relay."""
        if harm is None:
            ip("link", "add", "ga", "mtu", str(mtu), "type", "veth", "peer", "name", "gb", "mtu", str(mtu))
            self.addCleanup(subprocess.run, ["ip", "link", "del", "ga"], stderr=subprocess.DEVNULL)
        else:
            for near, other in (("ga", "ra"), ("gb", "rb")):
                ip("link", "add", near, "mtu", str(mtu), "type", "veth", "peer", "name", other, "mtu", str(mtu))
                self.addCleanup(subprocess.run, ["ip", "link", "del", other], stderr=subprocess.DEVNULL)
                ip("link", "set", other, "up", "promisc", "on")
        ip("link", "set", "gb", "netns", str(self.far.process.pid))
        ip("addr", "add", "10.7.0.1/24", "dev", "ga")
        ip("link", "set", "ga", "up")
        self.far.ip("addr", "add", "10.7.0.2/24", "dev", "gb")
        self.far.ip("link", "set", "gb", "up")
        if harm is not None:
            relay = Relay("ra", "rb", harm)
            self.addCleanup(relay.close)

    def end(self, name, *args, far=False):
        e = End(self.directory.name, name, args, self.far.enter if far else ())
        self.addCleanup(e.kill)
        return e

    def pair(self, args, server=(), common=(), codes=(0, 0)):
        """Reports of who connects and who listens."""
        b = self.end("b", "--interface", "gb", "--listen", self.socket, "--seed", "2", *common, *server, far=True)
        a = self.end("a", "--interface", "ga", "--connect", self.socket, "--seed", "1", *common, *args)
        return a.finish(codes[0]), b.finish(codes[1])

    def whole(self, a, b, messages):
        self.assertEqual(a["messages"]["completed"], messages)
        self.assertEqual(a["messages"]["open"] + a["messages"]["failed"], 0)
        for r in (a, b):
            self.assertEqual(r["content"]["wrong"] + r["content"]["wrong_read_packets"], 0)
            self.assertEqual(r["port"]["bad_icrc"] + r["port"]["strays"] + r["port"]["kernel_lost"], 0)
        self.assertEqual(b["content"]["checked"] + a["fct_us"].get("read", {"n": 0})["n"], messages)

    def in_order(self, *reports):
        for r in reports:
            for name in ("retransmissions", "timeouts", "out_of_seq_request", "out_of_order_packets", "duplicate_request",
                         "overtaken", "late_duplicates", "stale_replies"):
                self.assertEqual(r["sum"][name], 0, name)


class Transfer(Base):
    def test_the_peer_listens_later(self):
        """Its socket is not there, is one that a killed process left, and then is there."""
        self.cable()
        a = self.end("a", "--interface", "ga", "--connect", self.socket, "--seed", "1", "--messages", "10")
        wait_for("its start", lambda: "seed" in a.output())

        def wakes():
            with open(f"/proc/{a.process.pid}/status", encoding="ascii") as f:
                return int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", f.read()).group(1))

        def tries_again():
            before = wakes()
            wait_for("more tries", lambda: wakes() > before + 4)
            self.assertIsNone(a.process.poll())
        tries_again()
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(self.socket)
            tries_again()
        tries_again()
        b = self.end("b", "--interface", "gb", "--listen", self.socket, "--seed", "2", far=True)
        self.whole(a.finish(0), b.finish(0), 10)

    def test_mix_and_report(self):
        self.cable()
        out = os.path.join(self.directory.name, "messages")
        a, b = self.pair(["--op", "write:2,send:1,read:1,write-imm:1", "--qps", "8", "--size", "30001", "--depth", "4",
                          "--messages", "100", "--messages-out", out, "--interval-ms", "50"],
                         common=["--mtu", "4096"])
        self.whole(a, b, 800)
        self.in_order(a, b)
        self.assertEqual((a["seed"], a["outcome"], len(a["qps"])), (1, "done", 8))
        with open(out) as f:
            times = sorted(json.loads(line)["fct_us"] for line in f)
        self.assertEqual(len(times), 800)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)):
            exact = times[math.ceil(share * 800) - 1]
            self.assertTrue(exact <= a["fct_us"]["all"][name] * 1.0001 <= exact * 1.009, name)
        self.assertAlmostEqual(a["fct_us"]["all"]["max"], times[-1], places=2)
        bits = sum(i["tx_mbps"] * (i["to_s"] - i["from_s"]) for i in a["series"])
        self.assertAlmostEqual(bits, a["sum"]["tx_bytes"] * 8 / 1e6, places=2)
        self.assertGreater(a["rtt_us"]["n"], 100)
        # No kernel answered what it has no socket for, but for the datagrams that made it look for a neighbour.
        self.assertLess(self.far.snmp()["Icmp:OutDestUnreachs"], 5)

    def test_ipv6(self):
        for path in ("ga", "default"):
            if os.path.exists(f"/proc/sys/net/ipv6/conf/{path}"):
                with open(f"/proc/sys/net/ipv6/conf/{path}/disable_ipv6", "w") as f:
                    f.write("0")
        self.cable()
        ip("addr", "add", "fd00:7::1/64", "dev", "ga", "nodad")
        self.far.ip("addr", "add", "fd00:7::2/64", "dev", "gb", "nodad")
        a, b = self.pair(["--messages", "50", "--op", "send:1,read:1"], common=["--ipv6"])
        self.whole(a, b, 50)
        self.in_order(a, b)
        self.assertEqual(a["qps"][0]["peer"], "fd00:7::2")

    def test_many_queue_pairs_both_ways(self):
        self.cable()
        a, b = self.pair(["--qps", "1024", "--messages", "5", "--size", "5000"],
                         server=["--bidirectional", "--messages", "5", "--size", "3000"])
        self.assertEqual((a["messages"]["completed"], b["messages"]["completed"]), (5120, 5120))
        self.assertEqual((a["content"]["checked"], b["content"]["checked"]), (5120, 5120))
        self.assertEqual(a["content"]["wrong"] + b["content"]["wrong"], 0)
        self.assertEqual(len({q["qpn"] for q in a["qps"]}), 1024)

    def test_rate_and_cpu(self):
        """Never faster than the link; as fast, too, in at least one interval, however busy the machine. Who spins takes all of a
        processor each time; who waits has a try, of three, in which nobody else makes his system calls dear."""
        self.cable()
        busy = 1
        for _ in range(3):
            busy = min(busy, self.rate_and_cpu())
            if busy < 0.5:
                break
        self.assertLess(busy, 0.5)

    def rate_and_cpu(self):
        """The processor's share of the end that took more of it."""
        a, b = self.pair(["--link-mbps", "100", "--depth", "16", "--window", "1024", "--duration-ms", "2000",
                          "--interval-ms", "200"])
        self.in_order(a, b)
        headers = a["port"]["tx_bytes"] / a["sum"]["tx_bytes"]
        wire = [i["tx_mbps"] * headers for i in a["series"] if i["to_s"] - i["from_s"] > 0.19]
        self.assertGreater(max(wire), 97)
        self.assertLess(sum(wire) / len(wire), 103)
        return max(r["cpu_s"] / r["duration_s"] for r in (a, b))

    def test_idle_costs_nothing(self):
        self.cable()
        with unittest.mock.patch.dict(os.environ, {"MALLOC_PERTURB_": "0"}):  # meson's: fills all buffers at the start
            a, b = self.pair(["--load", "poisson", "--load-mbps", "1", "--size", "125000", "--messages", "2"])
        for r in (a, b):
            self.assertLess(r["cpu_s"], 0.1 + 0.02 * r["duration_s"])

    def test_allreduce(self):
        self.cable()
        other = self.socket + "2"
        common = ["--load", "allreduce", "--ranks", "2", "--size", "200000", "--messages", "20"]
        b = self.end("b", "--interface", "gb", "--listen", self.socket, "--connect", other, *common, far=True)
        a = self.end("a", "--interface", "ga", "--listen", other, "--connect", self.socket, *common)
        for r in (a.finish(), b.finish()):
            self.assertEqual(r["fct_us"]["rounds"]["n"], 20)
            self.assertEqual(r["messages"]["completed"], 40)
            self.assertEqual(r["sum"]["messages_received"], 40)
            self.assertEqual(r["sum"]["tx_bytes"], 40 * 100000)

    def test_incast_by_reads_and_sizes_by_cdf(self):
        self.cable()
        cdf = os.path.join(self.directory.name, "cdf")
        with open(cdf, "w") as f:
            f.write("# bytes percent\n1000 0\n1000 50\n50000 100\n")
        a, b = self.pair(["--load", "rounds", "--op", "read", "--qps", "16", "--messages", "10", "--cdf", cdf])
        self.assertEqual((a["fct_us"]["rounds"]["n"], a["messages"]["completed"]), (10, 160))
        self.assertTrue(160 * 8000 < a["sum"]["tx_bytes"] < 160 * 18000)
        self.in_order(a, b)

    def test_fixed_numbers(self):
        """No set-up connection: queue pairs by option."""
        self.cable()

        def mac(enter, name):
            out = subprocess.run([*enter, "ip", "-j", "link", "show", name], capture_output=True, check=True)
            return json.loads(out.stdout)[0]["address"]
        near, far = mac((), "ga"), mac(self.far.enter, "gb")
        b = self.end("b", "--interface", "gb", "--static", "10.7.0.1,0x100,16777215", "--first-qpn", "512",
                     "--first-psn", "7", "--dst-mac", near, "--load", "none", "--qps", "2", far=True)
        a = self.end("a", "--interface", "ga", "--static", "10.7.0.2,0x200,7", "--first-qpn", "256", "--first-psn",
                     "16777215", "--dst-mac", far, "--qps", "2", "--sports", "50001,50003", "--messages", "10",
                     "--timeout", "14")
        r = a.finish()
        self.assertEqual([(q["qpn"], q["peer_qpn"], q["sport"]) for q in r["qps"]],
                         [(256, 512, 50001), (257, 513, 50003)])
        self.assertEqual(r["messages"]["completed"], 20)
        b.process.send_signal(signal.SIGTERM)
        self.assertEqual(b.finish()["content"]["checked"], 20)


class Harm(Base):
    def test_loss(self):
        self.cable(lambda frame, n: [] if n % 101 == 0 else [frame])
        a, b = self.pair(["--op", "write:1,send:1,read:1", "--qps", "2", "--messages", "100", "--size", "20000",
                          "--timeout", "14"])
        self.whole(a, b, 200)
        self.assertGreater(a["sum"]["retransmissions"], 0)
        self.assertGreater(b["sum"]["out_of_seq_request"], 0)
        self.assertEqual(b["sum"]["overtaken"] + b["sum"]["late_duplicates"], 0)

    def test_disorder(self):
        late = []

        def swap(frame, n):
            if n % 50 == 0 and not late:
                late.append(frame)
                return []
            return [frame, late.pop()] if late else [frame]
        self.cable(swap)
        a, b = self.pair(["--messages", "100", "--size", "20000", "--timeout", "14"])
        self.whole(a, b, 100)
        self.assertGreater(b["sum"]["overtaken"], 0)
        self.assertEqual(b["sum"]["overtaken_across_ports"], 0)
        self.assertGreater(b["sum"]["out_of_seq_request"], 0)

    def test_marks_and_cnps(self):
        self.cable(lambda frame, n: [marked(frame) if n % 4 == 0 else frame])
        a, b = self.pair(["--messages", "150", "--size", "50000", "--link-mbps", "100", "--dcqcn", "connectx",
                          "--dcqcn-set", "rpg_ai_rate=1", "--dcqcn-set", "rpg_hai_rate=1", "--dcqcn-set",
                          "rpg_time_reset=10000", "--dcqcn-set", "rpg_byte_reset=0"],
                         server=["--cnp-interval-us", "1000"])
        self.whole(a, b, 150)
        self.in_order(a, b)
        self.assertAlmostEqual(b["ce_share"], 0.25, delta=0.01)
        self.assertGreater(b["sum"]["cnps_sent"], 10)
        self.assertEqual(a["sum"]["cnps_received"], b["sum"]["cnps_sent"])
        self.assertLess(a["goodput_mbps"]["tx"], 80)  # DCQCN held it back: without, 94

    def test_pause(self):
        """Pause frames for the data's priority stop the sender; for others they do not."""
        self.cable(lambda frame, n: [frame])
        wire = RawPort("ra")
        self.addCleanup(wire.close)
        b = self.end("b", "--interface", "gb", "--listen", self.socket, far=True)
        a = self.end("a", "--interface", "ga", "--connect", self.socket, "--link-mbps", "50", "--duration-ms", "1000",
                     "--live", "--interval-ms", "100")
        wait_for("traffic", lambda: a.output().count('"interval"') >= 2)
        for classes, quanta in ((1 << 2, 65535), (1 << 3, 50000)):  # 50000 quanta at 50 Mb/s: 512 ms
            wire.send(bytes.fromhex("0180c2000001 020000000009 8808 0101") + classes.to_bytes(2, "big")
                      + quanta.to_bytes(2, "big") * 8 + bytes(26))
        ra, rb = a.finish(), b.finish()
        self.assertEqual((ra["port"]["pauses"], ra["port"]["paused_us"]), (1, 512000))
        self.assertGreaterEqual(sum(i["tx_mbps"] == 0 for i in ra["series"]), 4)
        self.whole(ra, rb, ra["messages"]["posted"])

    def test_damage(self):
        """A wrong ICRC is loss; wrong content behind a right one must not happen, and is told."""
        def damage(frame, n):
            return [frame[:-20] + bytes([frame[-20] ^ 1]) + frame[-19:]] if n % 97 == 0 else [frame]
        self.cable(damage)
        a, b = self.pair(["--messages", "50", "--size", "20000", "--timeout", "14"])
        self.assertEqual(a["messages"]["completed"], 50)
        self.assertEqual(b["content"], {"checked": 50, "wrong": 0, "unchecked": 0, "wrong_read_packets": 0})
        self.assertGreater(b["port"]["bad_icrc"], 5)

    def test_a_dead_path_ends_queue_pairs(self):
        self.cable(lambda frame, n: [])
        a, _ = self.pair(["--qps", "2", "--messages", "5", "--timeout", "10", "--retry-count", "2"], codes=(3, 0))
        self.assertEqual(a["outcome"], "incomplete")
        self.assertEqual([q["failure"] for q in a["qps"]], ["retry-exceeded"] * 2)

    def test_killed_peer(self):
        self.cable()
        b = self.end("b", "--interface", "gb", "--listen", self.socket, far=True)
        a = self.end("a", "--interface", "ga", "--connect", self.socket, "--link-mbps", "50", "--live",
                     "--interval-ms", "50")
        wait_for("traffic", lambda: a.output().count('"interval"') >= 3)
        b.process.kill()
        report = a.finish(1)
        self.assertEqual(report["outcome"], "peer-lost")
        self.assertIn("went away", a.output())
        b.process.wait()
        # What it left behind is no obstacle.
        again = self.pair(["--messages", "3"])
        self.assertEqual(again[0]["messages"]["completed"], 3)


class Refused(Base):
    def refused(self, code, message, *args):
        run = subprocess.run([ROCE_GEN, *args], capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertRegex(run.stderr, message)

    def test_usage(self):
        ok = ("--interface", "lo", "--listen", self.socket)
        for message, args in (
                (r"--interface is missing", ()),
                (r"no peer: give --listen", ("--interface", "lo")),
                (r"--mtu is 256, 512", (*ok, "--mtu", "1000")),
                (r"--mtu 9999: .*256 to 4096", (*ok, "--mtu", "9999")),
                (r"--size -1: write a number", (*ok, "--size", "-1")),
                (r"--op is write", (*ok, "--op", "erase")),
                (r"--op is write", (*ok, "--op", "read:0")),
                (r"--load x: write closed", (*ok, "--load", "x")),
                (r"poisson needs --load-mbps", (*ok, "--load", "poisson")),
                (r"allreduce needs --ranks", (*ok, "--load", "allreduce")),
                (r"a ring", (*ok, "--load", "allreduce", "--ranks", "4")),
                (r"--sports 70000", (*ok, "--sports", "70000")),
                (r"--dcqcn is paper", (*ok, "--dcqcn", "tcp")),
                (r"rpg_nothing=1: no such parameter", (*ok, "--dcqcn", "paper", "--dcqcn-set", "rpg_nothing=1")),
                (r"needs --dcqcn", (*ok, "--dcqcn-set", "rpg_ai_rate=1")),
                (r"rpg_max_rate: set it to the line rate.*--link-mbps", (*ok, "--dcqcn", "connectx")),
                (r"no.*cdf.*check the path", (*ok, "--cdf", "/no/cdf")),
                (r"--address is an IPv4", (*ok, "--address", "10.0.0")),
                (r"--dst-mac is six bytes", (*ok, "--dst-mac", "02:00")),
                (r"unrecognized option", (*ok, "--nothing")),
                (r"x: not an option", (*ok, "x"))):
            with self.subTest(args=args):
                self.refused(2, message, *args)

    def test_names_that_are_no_text(self):
        """A title for the terminal, a line of its own, no UTF-8, a C1 sequence: messages are plain lines."""
        evil = b"x\x1b]0;x\x07\nroce-gen: done \xff\xc2\x9b2J"
        ok = ("--interface", "lo", "--listen", self.socket)
        for code, args in ((2, (*ok, "--name", evil)), (2, ("--interface", evil, "--listen", self.socket)), (2, (*ok, "--mtu", evil)),
                           (2, (*ok, "--cdf", b"/" + evil)), (2, (*ok, b"--" + evil)), (2, (*ok, evil)), (2, (*ok, "--load", evil)),
                           (2, (*ok, "--dcqcn", "paper", "--dcqcn-set", evil)), (1, ("--interface", evil, "--name", "a", *ok[2:])),
                           (1, (*ok, "--messages-out", b"/" + evil)), (1, (*ok, "--static", evil, "--address", "10.0.0.1"))):
            with self.subTest(args=args):
                run = subprocess.run([ROCE_GEN, *args], capture_output=True, timeout=LIMIT)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertRegex(run.stderr, rb"\A(roce-gen: [ -~]*\n)+\Z")
                self.assertNotRegex(run.stderr, rb"(?m)^roce-gen: done")

    def test_help(self):
        run = subprocess.run([ROCE_GEN, "--help"], capture_output=True, text=True, check=True)
        self.assertIn("--link-mbps N", run.stdout)
        self.assertIn("Exit codes: 0 done", run.stdout)
        self.assertLess(max(map(len, run.stdout.splitlines())), 121)
        with open(os.path.join(os.path.dirname(__file__), "../../../docs/reference/roce-gen.1")) as f:
            manual = f.read().replace("\\-", "-")
        for option in re.findall(r"^  --(\S+)", run.stdout, re.M):
            self.assertRegex(manual, rf"(?m)^\.BI? --{option}( |$)")

    def test_what_is_not_there(self):
        self.cable()
        near = ("--interface", "ga", "--setup-ms", "300")
        self.refused(1, r"--interface nosuch0: .*ip link", "--interface", "nosuch0", "--listen", self.socket)
        self.refused(1, r"not all peers are there after 300 ms: /tmp.*--setup-ms", *near, "--connect", self.socket)
        self.refused(1, r"1 of 1 to be accepted", *near, "--listen", self.socket)
        self.refused(1, r"--listen nowhere: .*ADDRESS:PORT", *near, "--listen", "nowhere")
        precious = os.path.join(os.path.dirname(self.socket), "precious")
        for make in (lambda: open(precious, "w").close(), lambda: os.symlink("/etc/passwd", precious)):
            make()
            self.refused(1, rf"--listen {precious}: File exists: write a path", *near, "--listen", precious)
            os.unlink(precious)
        self.refused(1, r"no IPv6 address", *near, "--listen", self.socket, "--ipv6")
        ip("link", "set", "ga", "mtu", "1000")
        self.refused(1, r"do not fit the MTU 1000 of ga", *near, "--listen", self.socket)
        self.assertFalse(os.path.exists(self.socket))

    def test_ends_that_do_not_fit(self):
        self.cable()
        for wrong, message in ((["--mtu", "2048"], "another path MTU"), (["--size", "1073741824"], None)):
            a = self.end("a", "--interface", "ga", "--connect", self.socket, *wrong, "--messages", "1", "--drain-ms",
                         "10", "--duration-ms", "10")
            b = self.end("b", "--interface", "gb", "--listen", self.socket, far=True)
            if message:
                a.finish(1)
                b.finish(1)
                self.assertIn(message, b.output())
            else:
                self.assertEqual(a.finish(3)["messages"]["open"], 1)
                b.finish()

    def test_unauthenticated_on_the_set_up_socket(self):
        self.cable()
        for said, message in ((b"hello\n", "no message"), (b'{"type":"hello","v":9}\n', "makes no sense"),
                              (b'{"type":"error","text":"no"}\n', "says: no"), (b"x" * 5000000, "too long"),
                              (b"", "went away")):
            b = self.end("b", "--interface", "gb", "--listen", self.socket, far=True)
            wait_for("socket", lambda: os.path.exists(self.socket))
            with socket.socket(socket.AF_UNIX) as s:
                wait_for("listener", lambda: s.connect_ex(self.socket) == 0)
                try:
                    s.sendall(said)
                except OSError:
                    pass
            b.finish(1)
            self.assertIn(message, b.output())


if __name__ == "__main__":
    own_namespace()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
