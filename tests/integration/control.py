#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3ctl and the control socket against a real hp3d on null ports.

usage: control.py HP3D HP3CTL
"""
import grp
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

HP3D, HP3CTL = sys.argv[1:3]
CONFIG = """
[eal]
file_prefix = "{prefix}"
memory_mb = 64
mbufs = 1024
mbuf_bytes = 2176
lcores = 1
[rail.rail0]
rnic = "net_null0,no-rx=1"
net = "net_null1,no-rx=1"
[rail.east]
rnic = "net_null2,no-rx=1"
net = "net_null3,no-rx=1"
[flows]
max_flows = 64
max_pairs = 16
[rfr]
hold_packets = 512
[probes]
probe_key = "{secret}"
probe_key_old = "{old}"
[log]
audit = "off"
[service]
state = "{state}"
[control]
socket = "{socket}"
"""
SECRET, OLD_SECRET, NEW_SECRET = "5ec4e700" * 4, "01d5ec00" * 4, "9e35ec00" * 4
SECRETS = (SECRET, OLD_SECRET, NEW_SECRET)
UNKNOWN = "rail0/10.9.0.1-10.9.0.2/0x00001c"


class Daemon:
    """hp3d with a directory of its own, up when the socket answers."""

    def __init__(self, directory, name="a", sock=None, more=""):
        self.socket = sock or os.path.join(directory, "run", "hp3.sock")
        self.config = os.path.join(directory, name + ".ini")
        with open(self.config, "w") as f:
            f.write(CONFIG.format(prefix=f"hp3-{os.getpid()}-{name}", socket=self.socket, state=os.path.join(directory, "state"), secret=SECRET, old=OLD_SECRET) + more)
        self.log = open(os.path.join(directory, name + ".log"), "w+")
        self.process = subprocess.Popen([HP3D, "--config", self.config], stdout=self.log,
                                        stderr=subprocess.STDOUT)

    def wait_up(self):
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.connect(self.socket)
                    return self
            except OSError:
                time.sleep(0.05)
        raise AssertionError("hp3d did not come up:\n" + self.output())

    def output(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self, sig=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(sig)
        code = self.process.wait(timeout=20)
        self.log.close()
        return code


class Client:
    """A raw connection, for what hp3ctl would never send."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)  # waits while the backlog is full
        self.sock.settimeout(10)
        self.lines = self.sock.makefile("rb")

    def send(self, data):
        self.sock.sendall(data)
        return self

    def line(self):
        return json.loads(self.lines.readline())

    def ask(self, **request):
        return self.send(json.dumps(request).encode() + b"\n").line()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lines.close()
        self.sock.close()


def as_member(gid, path, requests):
    """The codes of the answers that a user of this group gets, or the name of the exception that ends it."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setresgid(gid, gid, gid)
            os.setresuid(65533, 65533, 65533)
            with Client(path) as c:
                said = [c.ask(**r).get("error", {}).get("code", "ok") for r in requests]
        except BaseException as e:  # never back into the test
            said = type(e).__name__
        os.write(into, json.dumps(said).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as f:
        said = json.load(f)
    os.waitpid(child, 0)
    return said


class ControlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory(prefix="hp3-control-")
        cls.daemon = Daemon(cls.directory.name)
        cls.addClassCleanup(cls.clean_up)
        cls.daemon.wait_up()

    @classmethod
    def clean_up(cls):
        """After all that it still stops cleanly; under a sanitizer this also finds what leaked."""
        up = cls.daemon.process.poll() is None
        code = cls.daemon.stop()
        with open(cls.daemon.log.name) as log:
            text = log.read()
        cls.directory.cleanup()
        if not up or code != 0:
            raise AssertionError(f"hp3d ended with {code}:\n{text}")

    def ctl(self, *args, code=0, sock=None):
        run = subprocess.run([HP3CTL, "--socket", sock or self.daemon.socket, *args],
                             capture_output=True, text=True, timeout=30)
        self.assertEqual(run.returncode, code, f"hp3ctl {args}: {run.stdout}{run.stderr}")
        return run

    def client(self):
        return Client(self.daemon.socket)

    def test_health(self):
        lines = self.ctl("health").stdout.splitlines()
        self.assertRegex(lines[0], r"^health    ok: no warnings; version \S+, process \d+, mode on")
        self.assertEqual([line.split()[0] for line in lines[1:]], ["packets", "flows", "peers", "audit", "warnings"])
        self.assertRegex(lines[1], r"^packets +rail0 through hp3d, no packets yet; east through hp3d, no packets yet$")
        self.assertEqual([line.split(None, 1)[1] for line in lines[2:]],
                         ["0: 0 paired, 0 moved, 0 sprayed", "0 address pairs: hp3d answers in 0, 0 with a key", "off", "none"])
        self.assertEqual(self.ctl("status").stdout, "\n".join(lines) + "\n")
        self.assertRegex(self.ctl("health", "--all").stdout, r"(?m)^status +ok$")
        health = json.loads(self.ctl("--json", "health").stdout)
        self.assertEqual((health["status"], health["rails"], health["flows"]), ("ok", 2, 0))
        self.assertEqual(health["pid"], self.daemon.process.pid)
        self.assertEqual(health["lcores"], health["lcores_answering"])
        self.assertIn(health["icrc"], ("portable", "clmul", "crc32", "clmul+crc32"))

    def test_a_group_asks_what_the_agent_asks(self):
        """Of [control] group: flows, paths, events, moves that probes confirm; nothing else. Others do not connect."""
        with tempfile.TemporaryDirectory(prefix="hp3-control-") as directory:
            os.chmod(directory, 0o755)
            d = Daemon(directory, "group", more='group = "nogroup"\n')
            self.addCleanup(d.stop)
            d.wait_up()
            st, group = os.stat(d.socket), grp.getgrnam("nogroup").gr_gid
            self.assertEqual((stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid), (0o660, 0, group))
            asked = [dict(cmd=c) for c in ("flows", "paths", "events", "health", "config", "mode", "stats", "flow", "qps", "ports",
                                           "trace", "bypass", "move")] + [dict(cmd="move", flow=UNKNOWN, port=50000, ask=True),
                                                                          dict(cmd="move", flow=UNKNOWN, port=50000)]
            self.assertEqual(as_member(group, d.socket, asked), ["ok"] * 3 + ["not-allowed"] * 10 + ["not-found", "not-allowed"])
            self.assertEqual(as_member(group - 1, d.socket, asked), "PermissionError")
            with Client(d.socket) as root:
                self.assertTrue(root.ask(cmd="health")["ok"])

    def test_socket_is_private(self):
        self.assertEqual(stat.S_IMODE(os.stat(self.daemon.socket).st_mode), 0o600)

    def test_stats(self):
        stats = json.loads(self.ctl("stats", "--json", "--explain").stdout)
        self.assertEqual(set(stats["rail"]), {"rail0", "east"})
        self.assertEqual(stats["rail"]["rail0"]["moves_requested"], 0)
        self.assertIn("0", stats["lcore"])
        self.assertTrue(all(0 < p["free"] <= p["size"] for p in stats["pool"].values()), stats["pool"])
        self.assertTrue(stats["pool"])
        # Nothing is counted without a name and an explanation.
        self.assertLessEqual(set(stats["rail"]["rail0"]), set(stats["help"]))
        self.assertTrue(all(stats["help"].values()))
        table = self.ctl("stats", "--explain").stdout
        self.assertRegex(table, r"(?m)^rail\.rail0\.moves_requested +0 +moves asked for$")
        self.assertNotIn("moves_requested", self.ctl("stats", "--nonzero").stdout)

    def test_no_flows(self):
        self.assertEqual(self.ctl("flows", "--json").stdout, "")
        self.assertEqual(len(self.ctl("flows").stdout.splitlines()), 1)
        with self.client() as c:
            self.assertEqual(c.ask(cmd="flows"), {"v": 1, "ok": True, "data": []})
            self.assertEqual(c.ask(cmd="flows", after="@0.0.9")["data"], [])
            self.assertEqual(c.ask(cmd="flows", after="@9.9.4294967295")["data"], [])
            for bad in ("@0.0", "@0.0.0x", "@", "x"):
                self.assertEqual(c.ask(cmd="flows", after=bad)["error"]["code"], "bad-request", bad)
            self.assertEqual(c.ask(cmd="flows", limit=0)["error"]["code"], "bad-request")

    def test_no_events(self):
        self.assertEqual(self.ctl("events").stdout, "")
        with self.client() as c:
            self.assertEqual(c.ask(cmd="events", since=5), {"v": 1, "ok": True, "data": [], "next": 0})

    def test_config(self):
        config = json.loads(self.ctl("--json", "config").stdout)
        self.assertEqual(config["control"]["socket"], self.daemon.socket)
        self.assertEqual(config["rail.east"]["net"], "net_null3,no-rx=1")
        self.assertEqual(config["flows"]["max_flows"], 64)
        # What is printed is a configuration: hp3d takes it back.
        again = os.path.join(self.directory.name, "again.ini")
        with open(again, "w") as f:
            f.write(self.ctl("config").stdout)
        check = subprocess.run([HP3D, "--check-config", again], capture_output=True, text=True)
        self.assertEqual(check.returncode, 0, check.stderr)

    def test_keys(self):
        """A private file for each host, all or none of them, none over another one; the same keys from the same secret."""
        where = self.directory.name
        hosts, secret = os.path.join(where, "hosts"), os.path.join(where, "fabric")
        with open(hosts, "w", encoding="utf-8") as f:
            f.write("# rails\na 10.0.0.1 10.1.0.1 fd00::1\nb 10.0.0.2 10.1.0.2 # no IPv6\n\nc fd00::3\n")
        with open(secret, "w", encoding="utf-8") as f:
            f.write("00112233445566778899aabbccddeeff\n")
        out = [os.path.join(where, n) for n in ("one", "two", "drawn")]
        for o in out:
            os.mkdir(o)
        said = json.loads(self.ctl("keys", hosts, "--secret", secret, "--out", out[0], "--json").stdout)
        self.assertEqual(said, {"v": 1, "hosts": 3, "keys": 2 * (4 + 4) + 2 + 2, "drawn": False})
        self.ctl("keys", hosts, "--secret", secret, "--out", out[1])
        self.assertIn("a secret that nobody has", self.ctl("keys", hosts, "--out", out[2]).stdout)
        lines = {}
        for o in out:
            self.assertEqual(sorted(os.listdir(o)), ["a.keys", "b.keys", "c.keys"])
            self.assertEqual({stat.S_IMODE(os.stat(os.path.join(o, n)).st_mode) for n in os.listdir(o)}, {0o600})
            for n in "abc":
                with open(os.path.join(o, n + ".keys"), encoding="utf-8") as f:
                    lines[o, n] = {line.strip() for line in f if not line.startswith("#")}
        for n in "abc":
            self.assertEqual(lines[out[0], n], lines[out[1], n])
            self.assertFalse(lines[out[0], n] & lines[out[2], n])
        self.assertFalse([line for line in lines[out[0], "b"] if "fd00" in line or "10.0.0.1" not in line and "10.1.0.1" not in line])
        self.assertEqual({" ".join(line.split()[:2]) for line in lines[out[0], "c"]}, {"fd00::1 fd00::3", "fd00::3 fd00::1"})
        self.assertLessEqual(lines[out[0], "c"], lines[out[0], "a"])
        for n in "ac":
            os.unlink(os.path.join(out[0], n + ".keys"))
        self.assertIn("File exists", self.ctl("keys", hosts, "--secret", secret, "--out", out[0], code=1).stderr)
        self.assertEqual(os.listdir(out[0]), ["b.keys"]) # not half of them
        for text, why in (("a 10.0.0.1\n", "not two hosts"), ("a 10.0.0.1\na 10.0.0.2\n", "line 2: a host is there twice"),
                          ("a 10.0.0.1\nb 10.0.0.1\n", "line 2: an address is there twice"), ("a\n", "line 1: a line is NAME"),
                          ("../a 10.0.0.1\n", "line 1: a host's name"), ("a ten\n", "line 1: a line is NAME")):
            with open(hosts, "w", encoding="utf-8") as f:
                f.write(text)
            self.assertIn(why, self.ctl("keys", hosts, code=1).stderr)

    def test_bundle(self):
        """Everything in one private file, without the secret; never over another one."""
        path = os.path.join(self.directory.name, "bundle.tar.gz")
        run = self.ctl("bundle", path)
        self.assertEqual(run.stdout, path + "\n")
        self.assertIn("hp3ctl: hp3d/flows.json", run.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with tarfile.open(path) as tar:
            members = {m.name: tar.extractfile(m).read().decode() for m in tar}
        self.assertLessEqual({"version.txt", "hp3d/health.json", "hp3d/stats.json", "hp3d/flows.json", "hp3d/paths.json",
                              "hp3d/events.json", "host/uname.txt", "host/link.txt", "host/doctor.txt",
                              "host/ethtool/lo-driver.txt"}, set(members))
        self.assertEqual(json.loads(members["hp3d/health.json"])["pid"], self.daemon.process.pid)
        self.assertIn("lo:", members["host/link.txt"])
        config = json.loads(members["hp3d/config.json"])
        self.assertEqual((config["probes"]["probe_key"], config["rail.east"]["net"]), ("(set)", "net_null3,no-rx=1"))
        self.assertFalse([name for name, text in members.items() for secret in SECRETS if secret in text])
        with open(path, "rb") as f:
            before = f.read()
        self.assertIn("File exists", self.ctl("bundle", path, code=1).stderr)
        with open(path, "rb") as f:
            self.assertEqual(f.read(), before)
        # Without hp3d it has the host.
        alone = os.path.join(self.directory.name, "alone.tar.gz")
        self.ctl("bundle", alone, sock=os.path.join(self.directory.name, "none.sock"))
        with tarfile.open(alone) as tar:
            names = set(tar.getnames())
        self.assertIn("host/uname.txt", names)
        self.assertFalse([name for name in names if name.startswith("hp3d/")])

    def test_names_of_containers_in_a_bundle(self):
        """Root of a container named an interface: no terminal and no reader of the bundle sees what he wrote."""
        path = os.path.join(self.directory.name, "named.tar.gz")
        name = b"\x1b[2J;id>\x9b\xc2\x9b"
        made = 'ip link add "$0" type veth peer name x && exec "$@"'
        run = subprocess.run(["unshare", "-n", "sh", "-c", made, name, HP3CTL, "--socket", self.daemon.socket, "bundle", path],
                             capture_output=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(b"hp3ctl: interface ?[2J;id>???\n", run.stderr)
        with tarfile.open(path) as tar:
            files = {m.name: tar.extractfile(m).read() for m in tar}
        self.assertIn("host/ethtool/?[2J;id>???-driver.txt", files)
        self.assertIn(b"[2J;id>", files["host/link.txt"])
        for text in (run.stderr, *files.values(), *(n.encode() for n in files)):
            self.assertRegex(text, rb"\A[\t\n -~]*\Z")

    def test_secrets_are_shown_to_nobody(self):
        """Neither by what hp3ctl prints, nor by dumps, nor by messages about a file that is wrong somewhere near them."""
        def hp3d(option, text):
            path = os.path.join(self.directory.name, "other.ini")
            with open(path, "w") as f:
                f.write(text)
            run = subprocess.run([HP3D, option, path], capture_output=True, text=True)
            return run.stdout + run.stderr
        good = CONFIG.format(prefix="other", socket=os.path.join(self.directory.name, "other.sock"), state="", secret=SECRET,
                             old=OLD_SECRET)
        key, old = f'probe_key = "{SECRET}"', f'probe_key_old = "{OLD_SECRET}"'
        outputs = [self.ctl(*words).stdout for words in (("config",), ("--json", "config"), ("stats",), ("health",))]
        self.assertRegex(outputs[0], r"(?m)^# probe_key = .*\(set\)")
        for option in ("--dump-config", "--dump-config=all"):
            outputs.append(hp3d(option, good))
            self.assertIn("\n# probe_key = (set, and not shown)", outputs[-1])
            self.assertIn("\n# probe_key_old = (set, and not shown)", outputs[-1])
        for wrong in (good.replace(key, key[:-1] + '0"'), good.replace(key, key[:-2] + 'x"'), good.replace(key, key[:-1]),
                      good.replace(key, key.replace("=", "")), good.replace(key, key.replace("_key", "key")),
                      good.replace(key, key.upper()), good.replace(key, f"{key}\n{old}"), good.replace(old, f"{old} {old}"),
                      good.replace(key, key + "\x01"), good.replace(key, f"{key} " + "#" * 2000), good.replace(key, ""),
                      f"{key}\n{good}", good.replace("[eal]\n", f"[eal]\n{key}\n"), good.replace("[probes]", "[probe]"),
                      good.replace(key, key.replace('"', "")[:-4] + ";" + SECRET)):
            self.assertNotEqual(wrong, good)
            outputs.append(hp3d("--check-config", wrong))
            self.assertIn("other.ini", outputs[-1])
        with open(self.daemon.config) as f:
            text = f.read()
        self.addCleanup(self.write_config, text)
        for changed in (text.replace(SECRET, NEW_SECRET).replace(OLD_SECRET, SECRET), text.replace(key, key + "\n" + key)):
            self.write_config(changed)
            before = self.daemon.output().count("reload")
            self.daemon.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + 20
            while self.daemon.output().count("reload") == before and time.monotonic() < end:
                time.sleep(0.02)
            self.assertGreater(self.daemon.output().count("reload"), before)
        outputs.append(self.daemon.output())
        self.assertIn("probe_key: (secret) -> (secret)\n", outputs[-1])
        for output in outputs:
            for secret in SECRETS:
                self.assertNotIn(secret[:24].lower(), output.lower())

    def write_config(self, text):
        with open(self.daemon.config, "w") as f:
            f.write(text)

    def test_unknown_flow(self):
        for flow in (UNKNOWN, "0x1c", "rail0/", "10.9.0.1-10.9.0.2/0x1c", "nonsense",
                     "west/10.9.0.1-10.9.0.2/0x1c", "rail0.7/fd00::1-fd00::2/0x1c"):
            self.assertIn("hp3ctl", self.ctl("show", flow, code=4).stderr)
            self.ctl("move", flow, "--random", code=4)
        error = json.loads(self.ctl("--json", "move", UNKNOWN, "--port", "50000", code=4).stdout)
        self.assertEqual(error["error"]["code"], "not-found")
        self.assertTrue(error["error"]["fix"])

    def test_move_all_of_nothing(self):
        self.assertIn("0 moves asked for", self.ctl("move", "--all", "--random").stdout)

    def test_bad_requests(self):
        with self.client() as c:
            self.assertEqual(c.ask(cmd="dance")["error"]["code"], "unknown-command")
            for line in (b"garbage\n", b"\xff\xfe\x00\n", b"[]\n", b"{}\n", b"7\n", b'"health"\n',
                         b'{"cmd":7}\n', b'{"cmd":"health"\n', b'{"cmd":"health","cmd":"health"}\n',
                         b"[" * 5000 + b"\n"):
                answer = c.send(line).line()
                self.assertFalse(answer["ok"], line[:40])
                self.assertEqual(answer["error"]["code"], "bad-request", line[:40])
                self.assertTrue(answer["error"]["text"] and answer["error"]["fix"])
            for request in ({"flow": UNKNOWN}, {"flow": UNKNOWN, "port": 0},
                            {"flow": UNKNOWN, "port": 65536}, {"flow": UNKNOWN, "port": 49151}, {"flow": UNKNOWN, "port": "1"},
                            {"flow": UNKNOWN, "port": 50000, "home": True}, {"port": 50000},
                            {"flow": 7, "random": True}, {"flow": "", "home": True}):
                answer = c.ask(cmd="move", **request)
                self.assertEqual(answer["error"]["code"], "bad-request", request)
            # After all that the connection still serves.
            self.assertTrue(c.ask(cmd="health")["ok"])

    def test_half_lines(self):
        with self.client() as c, self.client() as other:
            c.send(b'{"cmd":"he')
            self.assertTrue(other.ask(cmd="health")["ok"])
            self.assertTrue(c.send(b'alth"}\n').line()["ok"])

    def test_overlong_line(self):
        with self.client() as c:
            try:
                c.send(b"x" * 200000)
            except BrokenPipeError:
                pass
            self.assertIn("longer than", c.line()["error"]["text"])
            with self.assertRaises((ConnectionError, json.JSONDecodeError)):
                c.line()

    def test_pipelined_moves(self):
        with self.client() as c:
            request = json.dumps({"cmd": "move", "flow": UNKNOWN, "random": True}).encode() + b"\n"
            c.send(request * 1000)
            codes = {c.line()["error"]["code"] for _ in range(1000)}
            self.assertEqual(codes, {"not-found"})

    def test_a_client_that_never_reads(self):
        with self.client() as lazy:
            lazy.sock.settimeout(1)
            with self.assertRaises(TimeoutError):  # hp3d takes no more: its memory is bounded
                for _ in range(5000):
                    lazy.send(b'{"cmd":"config"}\n' * 100)
            self.assertEqual(self.ctl("health").returncode, 0)

    def test_many_clients(self):
        clients = [Client(self.daemon.socket) for _ in range(100)]
        try:
            for c in clients[:60]:
                self.assertTrue(c.ask(cmd="health")["ok"])
            for c in clients[:60]:
                c.__exit__()
            # Those beyond the limit had waited; now it is their turn.
            for c in clients[60:]:
                self.assertTrue(c.ask(cmd="health")["ok"])
        finally:
            for c in clients:
                c.__exit__()

    def test_usage(self):
        for args in ((), ("dance",), ("show",), ("move", UNKNOWN), ("flows", "x"),
                     ("move", UNKNOWN, "--port", "65536"), ("move", UNKNOWN, "--port", "x"),
                     ("move", UNKNOWN, "--random", "--home"), ("events", "--since", "-1"),
                     ("move", UNKNOWN, "--random", "--wait", "5", "--no-wait"), ("peers", "--all")):
            self.assertIn("--help", self.ctl(*args, code=2).stderr)
        # Errors name the command, and what it takes.
        for args, said in ((("move", UNKNOWN, "--port", "49151"), "move: --port takes a number from 49152 to 65535, not 49151"),
                           (("--port", "x", "move", UNKNOWN), "move: --port takes a number from 49152 to 65535, not x"),
                           (("watch", "--interval", "600001"), "watch: --interval takes a number from 0 to 600000, not 600001"),
                           (("events", "--since", "10x"), "events: --since takes the number of an event, or a time such as 90s, 10m, 2h or 1d, not 10x"),
                           (("ports", "--peer", "p", "--format", "xml"), "ports: --format takes one of list, flow_label, mooncake, json, uccl, nccl, not xml"),
                           (("mode", "max"), "mode takes one of off, observe, on, not max"),
                           (("trace", UNKNOWN, "70000"), "trace: a PORT is a number from 1 to 65535, not 70000"),
                           (("move", UNKNOWN, "--port"), "move: --port needs a value: a number from 49152 to 65535")):
            self.assertIn(said, self.ctl(*args, code=2).stderr)
        for text in ("", "-1", "m", "0m", "1w", "10 m", "10mm", "1.5h", "99999999999d", "99999999999999999999"):
            self.ctl("events", "--since", text, code=2)
        for text in ("0", "7", "90s", "10m", "2h", "1d"):
            self.ctl("events", "--since", text)
        for command in ("flows", "show", "stats", "move", "events", "why", "paths", "peers", "probes", "watch", "config", "bundle",
                        "health"):
            self.assertIn("Usage: hp3ctl " + command, self.ctl(command, "--help").stdout)
        self.assertRegex(self.ctl("--version").stdout, r"^hp3ctl \d")

    def test_not_running(self):
        nowhere = os.path.join(self.directory.name, "none.sock")
        run = self.ctl("flows", code=3, sock=nowhere)
        self.assertIn(nowhere, run.stderr)
        self.assertIn("is hp3d running?", run.stderr)
        self.assertEqual(json.loads(self.ctl("--json", "flows", code=3, sock=nowhere).stdout)
                         ["error"]["code"], "unreachable")

    def test_completion(self):
        script = os.path.join(os.path.dirname(__file__), "../../app/hp3ctl/completion.bash")
        commands = set(re.findall(r"(?m)^  (\w\S*)", self.ctl("--help").stdout)) | {"status"}
        self.assertGreater(len(commands), 11)
        sorts = {"flow", "local_qpn", "port", "home", "path", "state", "rate", "rtt", "marked", "in_flight", "moves",
                 "bytes", "idle", "unpaired"}
        for words, wanted in (("hp3ctl ", commands), ("hp3ctl mo", {c for c in commands if c.startswith("mo")}),
                              ("hp3ctl events --f", {"--follow"}), ("hp3ctl --socket x sta", {"stats", "status"}),
                              ("hp3ctl move --port 5", set()), ("hp3ctl flows --sort ", sorts),
                              ("hp3ctl flows --sort r", {"rate", "rtt"}), ("hp3ctl events --type un", {"unpair"}),
                              ("hp3ctl health -", {"--all", "--socket", "--json", "--help", "--version"}),
                              ("hp3ctl stat", {"stats", "status"}),
                              ("hp3ctl -", {"--socket", "--json", "--help", "--version"}),
                              ("hp3ctl health x", set()), ("hp3ctl --socket /nowhere show ", set()),
                              ("hp3ctl --socket /etc/passw", {"/etc/passwd", "/etc/passwd-"})):
            line = words.replace("hp3ctl", HP3CTL, 1)
            run = subprocess.run(
                ["bash", "-c", 'source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; _hp3ctl;'
                 'printf "%s\\n" "${COMPREPLY[@]}"', "-", script, line],
                capture_output=True, text=True, check=True)
            self.assertEqual({w for w in run.stdout.split() if not w.startswith("/etc/passwd-")}, wanted - {"/etc/passwd-"},
                             words)


class ReloadTest(unittest.TestCase):
    """SIGHUP: what can change without a restart changes, the rest is named."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="hp3-control-")
        self.addCleanup(self.directory.cleanup)
        self.daemon = Daemon(self.directory.name, "r").wait_up()
        self.addCleanup(self.daemon.stop)

    def hangup(self, text, until):
        with open(self.daemon.config, "w") as f:
            f.write(text)
        self.daemon.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 10
        while until not in self.log():
            self.assertLess(time.monotonic(), end, self.log())
            time.sleep(0.05)

    def log(self):
        with open(self.daemon.log.name) as f:
            return f.read()

    def value(self, section, key):
        out = subprocess.run([HP3CTL, "--socket", self.daemon.socket, "--json", "config"],
                             capture_output=True, text=True, check=True).stdout
        return json.loads(out)[section][key]

    def test_reload(self):
        with open(self.daemon.config) as f:
            text = f.read()
        changed = text.replace("max_flows = 64", "max_flows = 128").replace("[rfr]\n", "[rfr]\ncooldown_us = 5000\n")
        self.hangup(changed + "[policy]\nmode = off\n", "hp3d: reloaded")
        self.assertEqual(self.value("policy", "mode"), "off")
        self.assertEqual(self.value("rfr", "cooldown_us"), 5000)
        self.assertEqual(self.value("flows", "max_flows"), 64)
        self.assertRegex(self.log(), r"max_flows: 64 -> 128: needs a restart, unchanged")
        self.hangup(text + "[policy]\nmode = sometimes\n", "reload refused")
        self.assertEqual(self.value("policy", "mode"), "off")
        self.assertRegex(self.log(), r"\[policy\] mode = sometimes")


class OwnershipTest(unittest.TestCase):
    """Who may have a socket: one living hp3d."""

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory(prefix="hp3-control-")
        self.addCleanup(self.directory.cleanup)
        self.path = os.path.join(self.directory.name, "run", "hp3.sock")

    def test_second_is_refused_stale_is_replaced_stop_removes(self):
        first = Daemon(self.directory.name, "a").wait_up()
        try:
            second = Daemon(self.directory.name, "b")
            self.assertEqual(second.process.wait(timeout=20), 1, second.output())
            self.assertRegex(second.output(), re.escape(self.path) + r": .*socket=")
            second.stop()
            # The first was not disturbed.
            self.assertEqual(subprocess.run([HP3CTL, "--socket", self.path, "health"],
                                            capture_output=True).returncode, 0)
        finally:
            first.stop(signal.SIGKILL)
        self.assertTrue(os.path.exists(self.path))
        self.assertEqual(subprocess.run([HP3CTL, "--socket", self.path, "health"],
                                        capture_output=True).returncode, 3)
        third = Daemon(self.directory.name, "c")
        try:
            end = time.monotonic() + 30
            while subprocess.run([HP3CTL, "--socket", self.path, "health"],
                                 capture_output=True).returncode != 0:
                self.assertLess(time.monotonic(), end, "no health")
                self.assertIsNone(third.process.poll(), third.output())
                time.sleep(0.05)
        finally:
            code = third.stop()
        self.assertFalse(os.path.exists(self.path))
        with open(third.log.name) as log:
            self.assertEqual(code, 0, log.read())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
