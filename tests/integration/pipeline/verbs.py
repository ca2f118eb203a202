#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d in verbs mode: applications with libhp3verbs.so, and processes that only pretend to use it.

usage: verbs.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: HP3_TEST_VERBS (the library), HP3_TEST_COLLECTIVE, HP3_TEST_RXE, HP3_TEST_MLX5, LD_LIBRARY_PATH (fakes).
"""
import array
import errno
import fcntl
import glob
import json
import mmap
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time
from cases import Base, run
from harness import Client, die_with_parent, wait_for

CELLS, CELL, MAGIC, VERSION = 4096, 256, 0x33505668, 3
SIZE = CELLS * CELL
F_ADD_SEALS, SEALS = 1033, 0x1 | 0x2 | 0x4  # SEAL, SHRINK, GROW
RTS, SQD = 2, 1
SUSPEND, MOVE, MOVE_NOW, RESUME = 1, 2, 3, 4
DRAINED, MOVED, RESUMED, FAILED = 1, 2, 3, 4
QPS, DEPTH = 4, 32  # of tests/verbs/collective.c
FAKES = os.environ.pop("LD_LIBRARY_PATH")  # the application's; hp3d has the real libraries


class VerbsMode(Base):
    def hp3d(self, **more):
        sections = {"verbs": {"socket": "", "poll_us": 1000}, "ppp": {}, "rfr": {"max_hold_us": 500000}, **more}
        d = self.daemon({}, begin=False, **sections)
        d.verbs = os.path.join(d.directory, "verbs.sock")
        with open(d.config) as f:
            text = f.read()
        with open(d.config, "w") as f:
            f.write(text.replace('socket = ""', f'socket = "{d.verbs}"'))
        d.begin()
        return d.up()

    def qps(self, d, n):
        return wait_for(f"{n} queue pairs", lambda: (lambda q: q if len(q) == n else None)(d.json("qps")))

    def alive(self, d, full=()):
        """Tables may be `full`: their warnings, and no others, are right."""
        health, = d.json("health")
        self.assertEqual([w for w in health["warnings"] if w["code"] not in full], [])
        self.assertEqual(health["status"], "warning" if health["warnings"] else "ok", health["warnings"])
        self.assertIn("packets   do not pass hp3d in verbs mode", d.ctl("health").stdout)


class Application(VerbsMode):
    """One that posts as collective libraries do, with a provider of the tests."""

    def start(self, d, provider="HP3_TEST_RXE", **more):
        env = {**os.environ, "HP3_VERBS_SOCKET": d.verbs, "NCCL_IBVERBS_LIB": os.environ["HP3_TEST_VERBS"],
               "LD_LIBRARY_PATH": FAKES, **more}
        p = subprocess.Popen([os.environ["HP3_TEST_COLLECTIVE"], os.environ[provider]], env=env, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        self.addCleanup(self.end, p)
        return p

    def end(self, p):
        if p.poll() is None:
            p.kill()
            p.communicate()

    def judge(self, p, changes):
        r = json.loads(p.communicate("end\n", timeout=20)[0])
        self.assertEqual((r["errors"], r["disorder"], r["overtaken"]), (0, 0, 0), r)
        self.assertEqual((r["left"], r["done"]), (r["posted"], r["posted"]), r)
        self.assertEqual(r["port_changes"], changes, r)
        self.assertEqual(p.returncode, 0)

    def works(self, d):
        """Each queue pair has posted on the port that it now has: more is done than fits its send queue."""
        before = {q["flow"]: q["done_wrs"] for q in d.json("qps")}
        wait_for("work", lambda: all(q["done_wrs"] > before[q["flow"]] + DEPTH for q in d.json("qps")))

    def moved(self, provider, method):
        d = self.hp3d()
        p = self.start(d, provider)
        qps = self.qps(d, QPS)
        self.works(d)
        for q in qps:
            self.assertEqual((q["method"], q["device"], q["pid"], q["program"]), (method, "fake0", p.pid, "collective"))
            self.assertTrue(q["flow"].startswith("verbs/10.0.0.1-10.0.0.2/"), q)
        for i, q in enumerate(qps):
            event = d.move(q["flow"], "--port", str(50000 + i))
            self.assertEqual((event["outcome"], event["to"]), ("moved", 50000 + i))
        now = self.qps(d, QPS)
        self.assertEqual([q["port"] for q in now], [50000 + i for i in range(QPS)])
        self.assertEqual([q["moves"] for q in now], [1] * QPS)
        self.works(d)
        wait_for("a rate", lambda: all(q["rate_kbps"] > 0 for q in d.json("qps")))
        error = d.json("move", qps[0]["flow"], "--port", "50000", code=1)[0]["error"]
        self.assertEqual(error["code"], "already-there")
        d.ctl("mode", "off")
        wait_for("all at home", lambda: all(q["port"] == q["home"] for q in d.json("qps")))
        self.works(d)
        d.ctl("mode", "on")
        d.move(qps[0]["flow"], "--random")
        self.works(d)
        flow = next(f for f in d.flows() if f["flow"] == qps[0]["flow"])
        self.assertTrue(flow["moved"] and flow["bytes"] > 0, flow)
        self.assertEqual(d.counters("verbs")["packets_tx"], 0)
        self.judge(p, 2 * QPS + 1)
        wait_for("no queue pairs", lambda: not d.json("qps") and not d.flows())
        self.stop(d)

    def test_moved_by_sqd(self):
        self.moved("HP3_TEST_RXE", "sqd")

    def test_moved_by_sport(self):
        self.moved("HP3_TEST_MLX5", "sport")

    def threads(self, p):
        names = set()
        for path in glob.glob(f"/proc/{p.pid}/task/*/comm"):
            with open(path) as f:
                names.add(f.read().strip())
        return names

    def test_how_it_is_loaded(self):
        """As docs/guide/nccl.md says: by the variable; by a link named libibverbs.so, for a program that opens this name; LD_PRELOAD
        does not help such a program."""
        d = self.hp3d()
        links = os.path.join(d.directory, "links")
        os.mkdir(links)
        os.symlink(os.environ["HP3_TEST_VERBS"], os.path.join(links, "libibverbs.so"))
        for i, more in enumerate(({}, {"NCCL_IBVERBS_LIB": "libibverbs.so", "LD_LIBRARY_PATH": f"{links}:{FAKES}"})):
            p = self.start(d, **more)
            self.qps(d, QPS)
            self.works(d)
            self.assertIn("hp3-verbs", self.threads(p))
            self.judge(p, 0)
            wait_for("no queue pairs", lambda: not d.json("qps"))
            self.assertEqual(self.metric(d, "hp3_verbs_connections_total"), i + 1)
        p = self.start(d, NCCL_IBVERBS_LIB="libibverbs.so", LD_PRELOAD=os.environ["HP3_TEST_VERBS"])
        self.judge(p, 0)
        self.assertEqual(self.metric(d, "hp3_verbs_connections_total"), 2)
        self.stop(d)

    def test_the_next_hp3d_finds_it_where_it_is(self):
        """hp3d is killed, another one comes: the application never notices, nothing moves."""
        d = self.hp3d()
        p = self.start(d)
        flow = self.qps(d, QPS)[0]["flow"]
        d.move(flow, "--port", "50001")
        self.works(d)
        d.process.kill()
        d.process.wait()
        d.begin()
        wait_for("the next one", lambda: d.ctl("health", code=None).returncode == 0, 40)
        q = next(q for q in self.qps(d, QPS) if q["flow"] == flow)
        self.assertEqual(q["port"], 50001)
        f = next(f for f in d.flows() if f["flow"] == flow)
        self.assertEqual((f["port"], f["moved"]), (50001, True))
        d.move(flow, "--home")
        self.works(d)
        self.stop(d)
        self.judge(p, 2)

    def test_refused_users(self):
        d = self.hp3d()
        self.assertEqual(os.stat(d.verbs).st_mode & 0o777, 0o600)
        os.chmod(d.directory, 0o755)
        os.chmod(d.verbs, 0o666)  # by mistake

        def nobody():
            die_with_parent()
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        code = ("import socket,sys; s=socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect(sys.argv[1]); "
                "s.settimeout(5); sys.exit(len(s.recv(100)))")
        self.assertEqual(subprocess.run(["python3", "-c", code, d.verbs], preexec_fn=nobody, check=False).returncode, 0)
        wait_for("its refusal", lambda: self.metric(d, "hp3_verbs_refused_users_total") == 1)
        self.alive(d)


class Shim:
    """An application's end, done by hand."""

    def __init__(self, path, size=SIZE, seals=SEALS, fds=None, hello=None, sealed=True, patient=False):
        self.memory = os.memfd_create("shim", os.MFD_ALLOW_SEALING if sealed else 0)
        os.ftruncate(self.memory, size)
        self.map = mmap.mmap(self.memory, size) if size else None
        if seals:
            fcntl.fcntl(self.memory, F_ADD_SEALS, seals)
        self.bell = os.eventfd(0, os.EFD_NONBLOCK)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sock.connect(path)
        self.sock.settimeout(5)
        fds = [self.memory, self.bell] if fds is None else fds
        hello = struct.pack("=IIIII20s", MAGIC, VERSION, os.getpid(), CELLS, CELL, b"test") if hello is None else hello
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self.sock.sendmsg([hello], ancillary)
        except (BrokenPipeError, ConnectionResetError):  # it was refused already
            if not patient:
                raise

    def welcome(self):
        try:
            return self.sock.recv(100)
        except (BrokenPipeError, ConnectionResetError):
            return b""

    def put(self, i, fmt, at, *values):
        struct.pack_into("=" + fmt, self.map, i * CELL + at, *values)

    def get(self, i, fmt, at):
        return struct.unpack_from("=" + fmt, self.map, i * CELL + at)

    def cell(self, i, qpn, dest, generation=1, state=RTS, local="10.1.0.1", remote="10.1.0.2"):
        gid = lambda a: b"\0" * 10 + b"\xff\xff" + socket.inet_aton(a)
        version = self.get(i, "I", 0)[0] | 1  # odd: being written; hp3d may scan cells at any time
        self.put(i, "I", 0, version)
        self.put(i, "IIIIHBBBBBBHH16s16s", 4, generation, qpn, dest, 0, 0, state, SQD, 0, 1, 0, 0, 0, 0xd000,
                 gid(local), gid(remote))
        self.put(i, "9s", 192, b"fake\x1b[2J0")  # escapes do not reach a terminal
        self.put(i, "I", 0, version + 1)

    def ring(self):
        os.eventfd_write(self.bell, 1)

    def wanted(self, i, op):
        def look():
            word, = self.get(i, "Q", 128)
            return word if (word >> 16) & 0xff == op else None
        return wait_for(f"op {op}", look, 5)

    def say(self, i, word, did, detail=0):
        self.put(i, "Q", 136, (word & ~0xffffff) | did << 16 | detail)
        self.ring()

    def close(self):
        self.sock.close()
        if self.map is not None:
            self.map.close()
        os.close(self.memory)
        os.close(self.bell)


class UntrustedApplications(VerbsMode):
    def shim(self, d, **how):
        s = Shim(d.verbs, **how)
        self.addCleanup(s.close)
        return s

    def test_what_is_no_application(self):
        """Wrong memory, descriptors, words: refused, each; those that come after are served."""
        d = self.hp3d()
        read, write = os.pipe()
        good = struct.pack("=IIIII20s", MAGIC, VERSION, 1, CELLS, CELL, b"")
        for how in ({"seals": 0}, {"seals": 4}, {"seals": 0, "sealed": False}, {"size": SIZE - 4096}, {"size": 0},
                    {"size": 2 * SIZE}, {"seals": SEALS | 0x10}, {"fds": []}, {"fds": [read]}, {"fds": [read, write]},
                    {"hello": good[:-1]}, {"hello": good + b"x"}, {"hello": b""},
                    {"hello": struct.pack("=IIIII20s", MAGIC, 7, 1, CELLS, CELL, b"")},
                    {"hello": struct.pack("=IIIII20s", MAGIC, VERSION, 1, 1 << 31, CELL, b"")},
                    {"hello": struct.pack("=IIIII20s", MAGIC, VERSION, 1, CELLS, 1, b"")}):
            self.assertEqual(self.shim(d, **how).welcome(), b"", how)
        s = self.shim(d, fds=[0] * 200)
        self.assertEqual(s.welcome(), b"")
        mute = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        mute.connect(d.verbs)
        mute.settimeout(5)
        good = self.shim(d)
        self.assertEqual(struct.unpack("=IIIIII", good.welcome())[:3], (MAGIC, VERSION, 1))
        self.assertEqual(mute.recv(1), b"")  # it had its second
        for fd in (read, write):
            os.close(fd)
        self.alive(d)
        self.stop(d)

    def test_memory_full_of_anything(self):
        d = self.hp3d()
        dice = random.Random(11)
        s = self.shim(d)
        self.assertTrue(s.welcome())
        for i in range(60):
            if i % 3 == 0:
                s.map[:] = dice.randbytes(SIZE)
                for c in range(0, CELLS, 2):  # else none of them would be looked at
                    s.cell(c, dice.randrange(1 << 24), dice.randrange(1 << 24), dice.randrange(1 << 32),
                           dice.choice((1, RTS)), local=f"10.1.{dice.randrange(4)}.1")
            for _ in range(4000):
                s.map[dice.randrange(SIZE)] = dice.randrange(256)
            s.ring()
            time.sleep(0.004)
        # The more often hp3d reads the memory meanwhile, the more queue pairs and addresses it sees in there.
        self.alive(d, full=("flows-full", "pairs-full"))
        for q in d.json("qps"):
            self.assertNotIn("\x1b", json.dumps(q))
        d.ctl("move", "--all", "--random", "--no-wait", code=None)
        s.sock.close()
        wait_for("no flows", lambda: not d.flows())
        after = self.shim(d)
        self.assertTrue(after.welcome())
        after.cell(0, 0x11, 0x22)
        after.ring()
        self.qps(d, 1)
        self.stop(d)

    def called(self, name):
        """This process has another name until the test ends."""
        with open("/proc/self/comm", "rb+", buffering=0) as f:
            self.addCleanup(self.call, f.read())
        self.call(name.encode("latin-1"))

    def call(self, name):
        with open("/proc/self/comm", "wb", buffering=0) as f:
            f.write(name)

    def test_reports_that_make_no_sense(self):
        """Answers that nobody asked for, of other generations, too late; rings without end."""
        d = self.hp3d(rfr={"close_timeout_us": 1000000, "max_hold_us": 1000000})
        self.called("x\x1b[2J\n\xff")
        s = self.shim(d)
        self.assertTrue(s.welcome())
        s.cell(7, 0x11, 0x22)
        s.ring()
        flow = self.qps(d, 1)[0]["flow"]
        client = Client(d.socket)  # hp3ctl itself makes answers plain
        told = client.ask(cmd="qps")["data"][0]
        client.close()
        self.assertEqual((told["device"], told["program"]), ("fake?[2J0", "x?[2J"))
        for did in (DRAINED, MOVED, RESUMED, FAILED, 77):
            s.say(7, 1 << 40 | 1 << 24, did)
        d.ctl("move", flow, "--port", "50000", "--no-wait")
        word = s.wanted(7, SUSPEND)
        s.say(7, word, MOVED)
        s.say(7, word ^ 1 << 40, DRAINED)
        s.say(7, word ^ 1 << 24, DRAINED)
        s.wanted(7, RESUME)  # it never drained
        d.ctl("move", flow, "--port", "50000", "--no-wait")
        s.say(7, s.wanted(7, SUSPEND), DRAINED)
        s.say(7, s.wanted(7, MOVE), FAILED, errno.EINVAL)
        wait_for("EINVAL", lambda: d.json("qps")[0]["failed"] == "EINVAL")
        d.ctl("move", flow, "--port", "50001", "--no-wait")
        word = s.wanted(7, SUSPEND)
        s.say(7, word, DRAINED)
        self.assertEqual(s.wanted(7, MOVE) & 0xffff, 50001)
        s.put(7, "I", 4, 2)  # another queue pair meanwhile
        s.put(7, "I", 8, 0x33)
        s.ring()
        wait_for("the other one", lambda: d.json("qps")[0]["local_qpn"] == 0x33)
        for _ in range(20000):
            s.ring()
        for _ in range(2000):
            s.put(7, "I", 0, 3)  # for ever being written
            s.ring()
        self.alive(d)
        self.stop(d)

    def test_nobody_takes_another_one_s(self):
        d = self.hp3d()
        first, second = self.shim(d), self.shim(d)
        self.assertTrue(first.welcome() and second.welcome())
        first.cell(0, 0x11, 0x22)
        first.ring()
        flow = self.qps(d, 1)[0]["flow"]
        second.cell(0, 0x12, 0x22)  # the same flow
        second.cell(1, 0x11, 0x44)  # the same local queue pair
        second.cell(2, 0x55, 0x66)
        second.ring()
        self.assertEqual({q["local_qpn"] for q in self.qps(d, 2)}, {0x11, 0x55})
        d.ctl("move", flow, "--port", "50000", "--no-wait")
        first.wanted(0, SUSPEND)
        self.assertEqual(second.get(0, "Q", 128)[0] | second.get(1, "Q", 128)[0], 0)
        second.sock.close()
        self.qps(d, 1)
        self.stop(d)

    def test_more_than_there_is_room_for(self):
        d = self.hp3d()
        shims = [self.shim(d, patient=True) for _ in range(70)]
        self.assertEqual(sum(bool(s.welcome()) for s in shims), 64)
        shims[0].sock.close()
        wait_for("room", lambda: self.shim(d, patient=True).welcome())
        self.alive(d)
        self.stop(d)

    def test_the_same_bell_again(self):
        """An application leaves, keeps its bell, and comes again with it: hp3d waits for no bell of who has left."""
        d = self.hp3d()
        first = self.shim(d)
        self.assertTrue(first.welcome())
        first.sock.close()
        wait_for("its end", lambda: self.metric(d, "hp3_verbs_applications") == 0)
        for _ in range(3):
            again = self.shim(d, fds=[first.memory, first.bell])
            self.assertTrue(again.welcome())
            first.cell(0, 0x11, 0x22)
            first.ring()
            self.qps(d, 1)
            again.sock.close()
            wait_for("no queue pairs", lambda: not d.json("qps"))
        self.stop(d)

    def nobody(self, d, n, user=65534, cells=lambda shim: None):
        """n applications of the user and of group 65534, for as long as the test lasts. Returns how many of them were welcome."""
        os.chmod(d.directory, 0o755)
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            die_with_parent()
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(user)
                shims = [Shim(d.verbs, patient=True) for _ in range(n)]
                os.write(write, bytes([sum(bool(s.welcome()) for s in shims)]))
                for shim in shims:
                    cells(shim)
                time.sleep(1000)
            finally:  # nothing of the test's goes on in here
                os._exit(1)
        self.addCleanup(lambda: (os.kill(pid, signal.SIGKILL), os.waitpid(pid, 0)))
        os.close(write)
        with os.fdopen(read, "rb") as f:
            return f.read(1)[0]

    def test_one_user_leaves_places_to_others(self):
        """All 64 are taken by one user: root gets what it asks for, from those, newest first; and keeps it."""
        d = self.hp3d(verbs={"socket": "", "poll_us": 1000, "group": "nogroup"})
        self.assertEqual(self.nobody(d, 64), 64)
        ours = [self.shim(d) for _ in range(20)]
        self.assertTrue(all(s.welcome() for s in ours))
        self.assertEqual(self.metric(d, "hp3_verbs_displaced_total"), 20)
        wait_for("all in their places", lambda: self.metric(d, "hp3_verbs_applications") == 64)  # counted once they are welcome
        self.assertEqual(self.nobody(d, 4), 0)  # nothing of root's, nor of its own
        ours[0].cell(0, 0x11, 0x22)
        ours[0].ring()
        self.qps(d, 1)
        self.alive(d)
        self.stop(d)

    def shares(self, d, remote, most):
        """A user announces more queue pairs than there is room for, others one each."""
        def many(shim):
            for i in range(200):
                shim.cell(i, 0x1000 + i, 0x2000 + i, remote=remote(i))
            shim.ring()

        def one(user):
            def begin(shim):
                shim.cell(0, 0x5000 + user, 0x6000 + user, local="10.2.0.1", remote=f"10.2.{user % 250}.2")
                shim.ring()
            return begin
        self.nobody(d, 1, cells=many)
        refused = lambda: self.metric(d, "hp3_verbs_refused_share_total")
        wait_for("all of them", lambda: len(d.json("qps")) + refused() == 200)
        took = len(d.json("qps"))
        self.assertIn(took, range(most - 1, most + 1))
        for n, user in enumerate(range(3000, 3008)):
            self.nobody(d, 1, user, one(user))
            self.qps(d, took + n + 1)
        self.assertEqual(self.metric(d, "hp3_verbs_refused_queue_pairs_total"), 0)
        self.alive(d)
        self.stop(d)

    def test_one_user_leaves_queue_pairs_to_others(self):
        d = self.hp3d(verbs={"socket": "", "poll_us": 1000, "group": "nogroup"}, flows={"max_flows": 64, "max_pairs": 64})
        self.shares(d, lambda i: "10.1.0.2", 64 * 7 // 12 + 1)

    def test_one_user_leaves_address_pairs_to_others(self):
        d = self.hp3d(verbs={"socket": "", "poll_us": 1000, "group": "nogroup"}, flows={"max_flows": 512, "max_pairs": 64})
        self.shares(d, lambda i: f"10.1.{i}.2", 64 * 7 // 12 + 1)

    def wish_ms(self, d, victim, flow, port):
        """From hp3ctl move to the wish in the application's memory."""
        def taken():
            """When it was asked for; what the application said of the one before may be unread yet."""
            at = time.monotonic()
            run = d.ctl("move", flow, "--port", str(port), "--no-wait", code=None)
            self.assertTrue(run.returncode == 0 or "has a move under way" in run.stderr, run)
            return run.returncode == 0 and at
        began = wait_for("a move that is taken", taken)
        word = victim.wanted(0, SUSPEND)
        took = time.monotonic() - began
        victim.say(0, word, FAILED, errno.EINVAL)
        return took * 1e3

    def test_queue_pairs_that_change_without_end(self):
        """Five applications with thousands of queue pairs, four that ring and change thousands of refused ones without end:
        the lcore makes its rounds, and another application is served."""
        d = self.hp3d(flows={"max_flows": 32768, "max_pairs": 8192}, eal={"memory_mb": 512})
        victim = self.shim(d)
        self.assertTrue(victim.welcome())
        victim.cell(0, 0x11, 0x22)
        victim.ring()
        flow = self.qps(d, 1)[0]["flow"]
        full, turning = [self.shim(d) for _ in range(5)], [self.shim(d) for _ in range(4)]
        self.assertTrue(all(s.welcome() for s in full + turning))
        for k, s in enumerate(full):
            for i in range(CELLS):
                s.cell(i, 0x1000 + k * CELLS + i, 0x1000 + i, local=f"10.{k + 2}.0.1", remote=f"10.{k + 2}.{i >> 8}.2")
            s.ring()
        for s in turning:
            for i in range(CELLS):
                s.cell(i, 0x1000 + 5 * CELLS - 1, 0x800000 + i, local="10.6.0.1", remote=f"10.99.{i >> 8}.2")
        wait_for("their queue pairs", lambda: self.metric(d, "hp3_verbs_queue_pairs") == 1 + 5 * CELLS, 60)
        over = threading.Event()

        def turn():
            generation = 1
            while not over.is_set():
                generation = generation % 900 + 1
                for s in turning + full:
                    for i in range(0, CELLS, 1 if s in turning else CELLS):
                        s.put(i, "I", 4, generation)
                    s.ring()
        thread = threading.Thread(target=turn)
        thread.start()
        try:
            took = [self.wish_ms(d, victim, flow, 50000 + i) for i in range(10)]
            time.sleep(3)
            took += [self.wish_ms(d, victim, flow, 50010 + i) for i in range(10)]
        finally:
            over.set()
            thread.join()
        self.assertLess(sorted(took)[len(took) // 2], 500, took)
        self.assertNotIn("has made no round", d.output())
        self.assertGreater(self.metric(d, "hp3_verbs_postponed_total"), 0)
        self.alive(d)
        for s in full + turning:
            s.sock.close()
        self.qps(d, 1)
        self.stop(d)


if __name__ == "__main__":
    run()
