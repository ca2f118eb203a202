#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two hp3ds in verbs mode, with fake RNICs and an application at each: the hp3ds move queue pairs
by their own decisions.

usage: verbs_paths.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: as of verbs.py, and HP3_TEST_UD (libibverbs for hp3d).
"""
import json
import os
import random
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from cases import Base, run
import frames
from harness import LIBC, CLONE_NEWNET, die_with_parent, wait_for

FAKES = os.environ.pop("LD_LIBRARY_PATH")
DEAD, PATHS, QPS = 0xffffffff, 4, 4
PR_CAPBSET_DROP, CAP_NET_BIND_SERVICE, CAP_NET_RAW = 24, 10, 13
HP3_PORT, NOBODY = 4795, 65534
KEY = "6f6e65206f6e65206f6e65206f6e6520"
RXE, MLX5 = "ffffff", "2c9"
PROBE, KEYING = bytes.fromhex("68330201"), bytes.fromhex("68330202031b")  # app/hp3d/ud/envelope.h; port 795


class Fabric(Base):
    """Two hosts, 10.0.0.1 (ours) and 10.0.0.2 (a namespace), four paths by the lowest bits of the port."""

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-fabric-", dir="/tmp")
        self.paths([0] * PATHS)
        self.other = subprocess.Popen(["unshare", "--net", "sleep", "1000"], preexec_fn=die_with_parent)
        self.addCleanup(self.end, self.other)
        ours = os.readlink("/proc/self/ns/net")
        wait_for("its namespace", lambda: os.readlink(f"/proc/{self.other.pid}/ns/net") != ours)
        for command in (f"link add v0 type veth peer name v1 netns {self.other.pid}", "addr add 10.0.0.1/24 dev v0",
                        "link set v0 up", "link set lo up"):
            subprocess.run(["ip", *command.split()], check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "del", "v0"], check=False)
        for command in ("addr add 10.0.0.2/24 dev v1", "link set v1 up", "link set lo up"):
            subprocess.run(["nsenter", f"--net=/proc/{self.other.pid}/ns/net", "ip", *command.split()], check=True)

    def paths(self, us):
        path = os.path.join(self.directory, "paths")
        with open(path, "r+b" if os.path.exists(path) else "w+b") as f:
            f.write(struct.pack(f"={PATHS}I", *us))

    def end(self, p):
        if p.poll() is None:
            p.kill()
        p.communicate()

    def hp3d(self, host, vendor=RXE, fake=(), drop=None, **more):
        sections = {"verbs": {"socket": "", "ibverbs": os.environ["HP3_TEST_UD"]}, "probes": {"probe_key": KEY}, **more}
        d = self.daemon({}, defaults=True, begin=False, **sections)
        d.verbs = os.path.join(d.directory, "verbs.sock")
        with open(d.config) as f:
            text = f.read()
        with open(d.config, "w") as f:
            f.write(text.replace('socket = ""', f'socket = "{d.verbs}"'))
        space = os.open(f"/proc/{self.other.pid}/ns/net", os.O_RDONLY) if host == 2 else None
        env = {"HP3_FAKE_FABRIC": self.directory, "HP3_FAKE_IP": f"10.0.0.{host}", "HP3_FAKE_VENDOR": vendor,
               "HP3_FAKE_QPN": str(100 * host), **dict(fake)}

        def prepare():
            die_with_parent()
            os.environ.update(env)
            if space is not None and LIBC.setns(space, CLONE_NEWNET) != 0:
                os._exit(1)
            if drop is not None and LIBC.prctl(PR_CAPBSET_DROP, drop, 0, 0, 0) != 0:
                os._exit(1)
        os.environ.update(env)
        d.begin(prepare)
        for name in env:
            del os.environ[name]
        if space is not None:
            os.close(space)
        return d.up()

    def application(self, d, host, provider="HP3_TEST_RXE", reads=False):
        env = {**os.environ, "HP3_VERBS_SOCKET": d.verbs, "NCCL_IBVERBS_LIB": os.environ["HP3_TEST_VERBS"],
               "LD_LIBRARY_PATH": FAKES, "HP3_FAKE_FABRIC": self.directory}
        if host == 2:
            env["HP3_FAKE_LOCAL"] = "2"
        if reads:
            env["HP3_FAKE_READS"] = "1"
        p = subprocess.Popen([os.environ["HP3_TEST_COLLECTIVE"], os.environ[provider]], env=env, text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
        self.addCleanup(self.end, p)
        return p

    def judge(self, p):
        r = json.loads(p.communicate("end\n", timeout=20)[0])
        self.assertEqual((r["errors"], r["disorder"], r["overtaken"]), (0, 0, 0), r)
        self.assertEqual((r["left"], r["done"]), (r["posted"], r["posted"]), r)
        self.assertEqual(p.returncode, 0)
        return r

    def both(self, **how):
        a, b = self.hp3d(1, **how), self.hp3d(2, **how)
        provider = "HP3_TEST_MLX5" if how.get("vendor") == MLX5 else "HP3_TEST_RXE"
        return a, b, self.application(a, 1, provider), self.application(b, 2, provider)

    def on(self, d):
        """The paths that queue pairs take."""
        qps = wait_for("queue pairs", lambda: (lambda q: q if len(q) == QPS else None)(d.json("qps")))
        return [q["port"] % PATHS for q in qps]

    def work(self, d):
        """Until they have worked for a while, on ports that can be asked."""
        def seen():
            qps = d.json("qps")
            return len(qps) == QPS and all(q["done_wrs"] > 300 for q in qps)
        wait_for("work", seen)
        time.sleep(0.3)

    def causes(self, d):
        return {e["cause"] for e in d.json("events") if e.get("outcome") == "moved"}

    def probe_counters(self, d):
        return d.stats()["rail"]["verbs"]

    def leave_a_slow_path(self, d, *seconds):
        bad = self.on(d)[0]
        self.paths([1500 if i == bad else 0 for i in range(PATHS)])
        wait_for("all elsewhere", lambda: bad not in self.on(d), *seconds)

    def judge_and_stop(self, a, b, *programs):
        for p in programs:
            self.judge(p)
        self.stop(a)
        self.stop(b)


class Moves(Fabric):
    def leave(self, us, causes, vendor=RXE, mode="on"):
        """The path of the first queue pair becomes bad: whoever is on it leaves it, or with mode off nobody does."""
        a, b, pa, pb = self.both(vendor=vendor, policy={"mode": mode})
        self.work(a)
        bad, before = self.on(a)[0], max((e["seq"] for e in a.json("events")), default=0)
        self.paths([us if i == bad else 0 for i in range(PATHS)])
        if mode == "on":
            wait_for("all elsewhere", lambda: bad not in self.on(a) and bad not in self.on(b))
            # hp3d felt that path. The move itself may have another cause, if the application paused meanwhile.
            felt = [e for e in a.json("events") if e["seq"] > before and e.get("from", -1) % PATHS == bad and e.get("cause") in causes]
            self.assertTrue(felt, a.json("events")[-8:])
        else:
            time.sleep(2)
            self.assertIn(bad, self.on(a))
            self.assertFalse(self.causes(a) & causes)
            self.paths([0] * PATHS)
        time.sleep(0.3)
        self.judge(pa)
        self.judge(pb)
        self.assertEqual(a.counters("verbs")["packets_tx"], 0)
        self.stop(a)
        self.stop(b)

    def test_a_slow_path_is_left(self):
        self.leave(1500, {"completion"})

    def test_a_dead_path_is_left(self):
        self.leave(DEAD, {"dead"})

    def test_by_flow_labels(self):
        """mlx5: any port can be asked."""
        self.leave(1500, {"completion"}, vendor=MLX5)

    def test_a_dead_path_by_flow_labels(self):
        self.leave(DEAD, {"dead"}, vendor=MLX5)

    def test_off(self):
        self.leave(1500, {"completion", "dead"}, mode="off")


class Reads(Fabric):
    """Queue pairs whose peer may READ (rule 20)."""

    def begin(self, vendor):
        provider = "HP3_TEST_MLX5" if vendor == MLX5 else "HP3_TEST_RXE"
        a, b = self.hp3d(1, vendor=vendor), self.hp3d(2, vendor=vendor)
        programs = [self.application(d, i + 1, provider, reads=True) for i, d in enumerate((a, b))]
        for d in (a, b):
            self.work(d)
            self.assertTrue(all(q["responds"] for q in d.json("qps")))
        return a, b, programs

    def holds(self, d):
        return {name: n for name, n in d.counters("verbs").items() if name.startswith("peer_holds")}

    def move_all(self, vendor):
        a, b, programs = self.begin(vendor)
        for q in a.json("qps"):
            for _ in range(20):  # the peer's queue pair may be moving just now
                event = a.move(q["flow"], "--random")
                if event["outcome"] == "moved":
                    break
            self.assertEqual(event["outcome"], "moved", f"{event}\npeer: {self.holds(b)} {b.json('events')[-4:]} {b.json('qps')}")
        self.assertGreaterEqual(self.holds(b)["peer_holds"], QPS)
        self.judge_and_stop(a, b, *programs)

    def test_moved_while_the_peer_is_held(self):
        self.move_all(RXE)

    def test_moved_by_sport_while_the_peer_is_held(self):
        self.move_all(MLX5)

    def test_a_slow_path_is_left(self):
        a, b, programs = self.begin(RXE)
        self.leave_a_slow_path(a)
        self.paths([0] * PATHS)
        self.assertGreater(self.holds(b)["peer_holds"], 0)
        self.judge_and_stop(a, b, *programs)

    def test_without_the_peers_hp3d(self):
        """The move fails, and both say why."""
        a, b, programs = self.begin(RXE)
        self.stop(b)
        event = a.move(a.json("qps")[0]["flow"], "--random")
        self.assertEqual((event["outcome"], event["reason"]), ("kept", "EPERM"), event)
        self.assertIn("the peer may READ", event["meaning"])
        qp = a.json("qps")[0]
        self.assertEqual((qp["failed"], qp["failed_meaning"]), ("EPERM", event["meaning"]))
        self.assertIn("EPERM: the peer may READ", a.ctl("qps").stdout)
        self.assertIn("EPERM: the peer may READ", a.ctl("events").stdout)
        for p in programs:
            self.judge(p)
        self.stop(a)


class Port(Fabric):
    """The port of the RNIC handles CNPs, as a sysfs that the test makes says."""

    def setUp(self):
        super().setUp()
        counters = os.path.join(self.directory, "class/infiniband/fake0/ports/1/hw_counters")
        os.makedirs(counters)
        self.counter = os.path.join(counters, "rp_cnp_handled")
        self.count(7)
        self.counting = False
        self.addCleanup(self.still)

    def count(self, n):
        fd = os.open(self.counter, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(fd, b"%d\n" % n, 0)  # in place: the file is kept open
        os.close(fd)

    def counts(self):
        n = 7
        while self.counting:
            n += 3
            self.count(n)
            time.sleep(0.02)

    def still(self):
        if self.counting:
            self.counting = False
            self.thread.join()

    def run_slow(self, counting):
        """What moves were for when one path became slow, and what it was before."""
        a, b, pa, pb = self.both(metrics={"sysfs": self.directory})
        self.work(a)
        if counting:
            self.counting = True
            self.thread = threading.Thread(target=self.counts)
            self.thread.start()
            time.sleep(0.5)
        before = [e for e in a.json("events") if e.get("outcome") == "moved" and e["cause"] == "port_cnp"]
        self.leave_a_slow_path(a)
        self.still()
        for p in (pa, pb):
            self.judge(p)
        after = self.causes(a)
        self.stop(a)
        self.stop(b)
        return before, after

    def test_cnps_are_named(self):
        before, after = self.run_slow(True)
        self.assertLessEqual(len(before), 2, before)  # hardly anybody leaves for CNPs of whomever: hosts are slow by themselves
        self.assertIn("port_cnp", after)

    def test_without_cnps(self):
        before, after = self.run_slow(False)
        self.assertEqual(before, [])
        self.assertNotIn("port_cnp", after)


class Stamps(Fabric):
    """RNICs that stamp completions, as they should and otherwise: a slow path is left, and each answer counts under how it was timed."""

    NAMES = ("stamped", "unstamped", "stamp_missing", "stamp_backwards", "stamp_too_late", "stamp_distrusted")

    def answers(self, d):
        return {n: self.metric(d, f"hp3_verbs_answers_{n}_total") for n in self.NAMES}

    def times(self, how, vendor=MLX5):
        """How many answers there were of each kind; all that the engine got are among them."""
        fake = {"HP3_FAKE_STAMPS": how} if how else {}
        a, b, pa, pb = self.both(vendor=vendor, fake=fake.items())
        self.work(a)
        for _ in range(10):  # flows that leave at once ask little
            self.leave_a_slow_path(a)
            n = self.answers(a)
            if sum(n.values()) > 20:
                break
        self.assertGreater(sum(n.values()), 20)
        self.assertGreaterEqual(sum(n.values()), self.probe_counters(a)["probe_replies"] // 2)
        stamping = self.metric(a, "hp3_verbs_stamping_ports")
        self.judge_and_stop(a, b, pa, pb)
        return stamping, {name for name in n if n[name] > 0}, n

    def test_good(self):
        stamping, kinds, n = self.times("good")
        self.assertEqual(stamping, 1)
        self.assertEqual(kinds, {"stamped"}, n)

    def test_default(self):
        """No such counter, as with Soft-RoCE: hp3d's clock, and nothing to complain of."""
        self.assertEqual(self.times("", RXE)[:2], (0, {"unstamped"}))

    def test_soft_roce_that_stamps(self):
        """16 queue pairs on one completion queue."""
        self.assertEqual(self.times("good", RXE)[:2], (1, {"stamped"}))

    def test_says_so_but_makes_none(self):
        self.assertEqual(self.times("refused")[:2], (0, {"unstamped"}))

    def test_wraps(self):
        """60 times a second."""
        stamping, kinds, n = self.times("wraps")
        self.assertEqual(stamping, 1)
        self.assertLessEqual(kinds, {"stamped", "stamp_backwards", "stamp_distrusted"}, n)  # backwards: a host that slept for half of it
        self.assertGreater(n["stamped"], 10, n)

    def test_begins_anew(self):
        """Those that are on their way just then are refused."""
        stamping, kinds, n = self.times("resets")
        self.assertLessEqual(kinds, {"stamped", "stamp_backwards", "stamp_distrusted"}, n)
        self.assertGreater(n["stamped"], 0, n)

    def test_stands_still(self):
        stamping, kinds, n = self.times("still")
        self.assertEqual(kinds, {"stamp_backwards", "stamp_distrusted"}, n)

    def test_too_fast(self):
        stamping, kinds, n = self.times("fast")
        self.assertLessEqual(kinds, {"stamped", "stamp_too_late", "stamp_distrusted"}, n)  # stamped: a host that looked ten times as late
        self.assertGreater(n["stamp_too_late"], 0, n)


class Copies(Fabric):
    """What arrives at the RNIC is mirrored to m1."""

    def setUp(self):
        super().setUp()
        subprocess.run("ip link add m0 type veth peer name m1".split(), check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "del", "m0"], check=False)
        for name in ("m0", "m1"):
            subprocess.run(["ip", "link", "set", name, "up"], check=True)
        self.switch = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.addCleanup(self.switch.close)
        self.switch.bind(("m0", 0))

    def mirror(self, qpn, spoil=0, tag=b""):
        frame = bytearray(frames.roce(bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1)), 0xc001, frames.CNP, qpn, 0, 0, bytes(16)))
        frame[-1] ^= spoil
        self.switch.send(frame[:12] + tag + frame[12:])

    def for_a_while(self, a, seconds, which, **how):
        """CNPs of queue pairs that are on that path, or of any (None)."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            marked = [q["local_qpn"] for q in a.json("qps") if which is None or q["port"] % PATHS == which]
            for _ in range(50):
                for qpn in marked:
                    self.mirror(qpn, **how)
                time.sleep(0.001)

    def start(self):
        a = self.hp3d(1, verbs={"socket": "", "ibverbs": os.environ["HP3_TEST_UD"], "copies": "m1"})
        b = self.hp3d(2)
        programs = self.application(a, 1), self.application(b, 2)
        self.work(a)
        return a, b, *programs

    def copies(self, d):
        return self.metric(d, "hp3_verbs_copies_total")

    def felt_by_cnps(self, d):
        return any(e.get("cause") == "cnp" for e in d.json("events"))

    def leave_by_cnps(self, tag=b""):
        a, b, pa, pb = self.start()
        for _ in range(40):  # as soon as the peer is known to answer
            self.for_a_while(a, 0.5, None, tag=tag)
            if self.felt_by_cnps(a):
                break
        self.assertTrue(self.felt_by_cnps(a))
        bad = self.on(a)[0]
        self.paths([1500 if i == bad else 0 for i in range(PATHS)])
        for _ in range(40):
            self.for_a_while(a, 0.5, bad, tag=tag)
            if bad not in self.on(a):
                break
        self.assertNotIn(bad, self.on(a))
        self.assertGreater(self.copies(a), 5)
        self.judge_and_stop(a, b, pa, pb)

    def test_who_is_told_leaves(self):
        self.leave_by_cnps()

    def test_in_a_vlan(self):
        self.leave_by_cnps(bytes.fromhex("81000007"))

    def test_no_better_path(self):
        """CNPs by the thousand, all paths alike but for what hosts make of them: it is asked, and hardly anybody leaves."""
        a, b, pa, pb = self.start()
        self.for_a_while(a, 3, None)
        self.assertGreater(self.copies(a), 1000)
        self.assertTrue(self.felt_by_cnps(a))
        moves = [e for e in a.json("events") if e.get("outcome") == "moved" and e.get("cause") == "cnp"]
        self.assertLessEqual(len(moves), 2 * QPS, moves)
        self.judge_and_stop(a, b, pa, pb)

    def test_what_is_none(self):
        """Damaged ones, those of nobody, data, and anything else at all: no event comes of it."""
        a, b, pa, pb = self.start()
        self.for_a_while(a, 1, None, spoil=1)
        dice = random.Random(7)
        for i in range(200):
            self.mirror(0xabcd00 + i)
            self.switch.send(frames.roce(bytes((10, 0, 0, 2)), bytes((10, 0, 0, 1)), 0xc001, frames.ACK, 0x100, i, 0, bytes(4)))
            self.switch.send(dice.randbytes(dice.randrange(14, 1500)))
        wait_for("those of nobody", lambda: self.copies(a) >= 200)
        self.assertNotIn("cnp", {e.get("cause") for e in a.json("events")})
        self.judge_and_stop(a, b, pa, pb)

    def test_the_mirror_goes(self):
        """One line, and all else as before."""
        a, b, pa, pb = self.start()
        subprocess.run(["ip", "link", "del", "m0"], check=True)
        wait_for("a word", lambda: "CNPs are not seen there any more" in a.output())
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)

    def test_no_such_interface(self):
        d = self.daemon({}, defaults=True, begin=False,
                        verbs={"socket": os.path.join(self.directory, "s"), "ibverbs": "", "copies": "m1, nowhere"})
        d.begin(die_with_parent)
        self.assertNotEqual(d.process.wait(20), 0)
        self.assertRegex(d.output(), r"\[verbs\] copies = nowhere: .*; give an interface that is there and up")


class Traces(Fabric):
    """Between the hosts' kernels a leaf that hashes addresses and ports, and four spines: [ppp] identity = trace asks them who they are."""

    def router(self):
        """A namespace that forwards, and says at once where a hop limit ended."""
        p = subprocess.Popen(["unshare", "--net", "sleep", "1000"], preexec_fn=die_with_parent)
        self.addCleanup(self.end, p)
        ours = os.readlink("/proc/self/ns/net")
        wait_for("its namespace", lambda: os.readlink(f"/proc/{p.pid}/ns/net") != ours)
        for setting in ("ip_forward=1", "fib_multipath_hash_policy=1", "icmp_ratelimit=0", "conf.all.rp_filter=0"):
            self.run_in(p, "sysctl", "-qw", "net.ipv4." + setting)
        return p

    def run_in(self, p, *command):
        space = [] if p is None else ["nsenter", f"--net=/proc/{p.pid}/ns/net"]
        return subprocess.run([*space, *command], check=True, capture_output=True, text=True).stdout

    def wire(self, a, a_name, a_address, b, b_name, b_address):
        where = "" if a is None else f"netns {a.pid} "
        self.run_in(None, "ip", *f"link add {a_name} {where}type veth peer name {b_name} netns {b.pid}".split())
        for p, name, address in ((a, a_name, a_address), (b, b_name, b_address)):
            self.run_in(p, "ip", "addr", "add", address, "dev", name)
            self.run_in(p, "ip", "link", "set", name, "up")

    def setUp(self):
        super().setUp()
        self.run_in(None, "ip", "link", "del", "v0")
        self.leaf = self.router()
        self.wire(None, "v0", "10.0.0.1/32", self.leaf, "host", "10.9.0.1/32")
        self.run_in(None, "ip", "route", "add", "10.9.0.1", "dev", "v0")
        self.run_in(None, *"ip route add 10.0.0.2 via 10.9.0.1 src 10.0.0.1".split())
        self.run_in(self.leaf, *"ip route add 10.0.0.1 dev host".split())
        self.run_in(self.other, *"ip addr add 10.0.0.2/32 dev lo".split())
        ways = []
        for i in range(PATHS):
            spine = self.router()
            self.wire(self.leaf, f"up{i}", f"10.1.{i}.1/24", spine, "leaf", f"10.1.{i}.2/24")
            self.wire(spine, "host", f"10.2.{i}.1/24", self.other, f"spine{i}", f"10.2.{i}.2/24")
            self.run_in(spine, *f"ip route add 10.0.0.1 via 10.1.{i}.1".split())
            self.run_in(spine, *f"ip route add 10.0.0.2 via 10.2.{i}.2".split())
            ways += ["nexthop", "via", f"10.1.{i}.2"]
        self.run_in(self.leaf, "ip", "route", "add", "10.0.0.2", *ways)
        self.run_in(self.other, *"ip route add 10.0.0.1 via 10.2.0.1 src 10.0.0.2".split())

    def spine_of(self, port):
        """Where the leaf really sends it."""
        route = self.run_in(self.leaf, *("ip route get 10.0.0.2 from 10.0.0.1 iif host ipproto udp "
                                         f"sport {port} dport 4791").split())
        return route.split("via ")[1].split()[0]

    def start(self):
        how = {"ppp": {"identity": "trace", "traces_per_second": 1000}}
        a, b = self.hp3d(1, **how), self.hp3d(2, **how)
        return a, b, self.application(a, 1), self.application(b, 2)

    def apart(self, d):
        r = d.ctl("ports", "--peer", "10.0.0.2", "--count", str(PATHS), "--distinct", "--format", "json", code=None)
        return json.loads(r.stdout) if r.returncode == 0 else None

    def test_ports_on_paths_of_their_own(self):
        """What it says of ports is what the leaf does; and a slow path is left as ever."""
        a, b, pa, pb = self.start()
        self.work(a)
        told = wait_for("ports that differ", lambda: self.apart(a), 100)
        self.assertEqual({p["evidence"] for p in told["ports"]}, {"trace"}, told)
        self.assertEqual({self.spine_of(p["port"]) for p in told["ports"]}, {f"10.1.{i}.2" for i in range(PATHS)})
        for p in told["ports"]:
            self.assertEqual(self.spine_of(p["port"]), p["hop"])
        self.assertGreater(self.metric(a, "hp3_verbs_traces_sent_total"), 30)
        self.assertGreater(self.metric(a, "hp3_verbs_hops_expired_total"), 30)
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)


class SetUp(Fabric):
    def test_before_the_first_data(self):
        """Who is set up while a path is slow is not on it."""
        a, b, pa, pb = self.both()
        self.work(a)
        for p in (pa, pb):
            self.judge(p)
        wait_for("no queue pairs", lambda: not a.json("qps"))
        self.paths([15000, 0, 0, 0])  # well above what a host waits for a CPU
        since = max(e["seq"] for e in a.json("events"))
        before = self.probe_counters(a)["placed"]
        for _ in range(12):
            p = self.application(a, 1)
            self.work(a)
            self.judge(p)
            wait_for("no queue pairs", lambda: not a.json("qps"))
            if self.probe_counters(a)["placed"] > before:
                break
        events = [e for e in a.json("events") if e["seq"] > since and
                  e["type"] == "idle_switch" and e["cause"] == "setup"]
        self.assertGreater(self.probe_counters(a)["placed"], before)
        self.assertTrue(events and all(e["to"] % PATHS != 0 for e in events), events)
        self.stop(a)
        self.stop(b)


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


class Others(Fabric):
    """Peers that do not answer: the applications go on, nobody moves for it."""

    def says(self, d, why):
        wait_for(why, lambda: [line for line in d.output().splitlines()
                               if "other paths are not asked" in line and why in line])

    def quiet(self, a, b, pa, pb, counter):
        self.work(a)
        self.paths([1500] * PATHS)
        wait_for(counter, lambda: self.probe_counters(a)[counter] + self.probe_counters(b)[counter] > 3)
        self.assertEqual(self.causes(a) & {"completion", "dead"}, set())
        for p in (pa, pb):
            self.judge(p)
        self.stop(a)
        self.stop(b)

    def test_keys_that_differ(self):
        a = self.hp3d(1)
        b = self.hp3d(2, probes={"probe_key": KEY[::-1]})
        self.quiet(a, b, self.application(a, 1), self.application(b, 2), "hellos_bad_tag")

    def test_without_datagrams(self):
        """The other host's RNIC makes no such queue pairs: one line says so, and it is moved by hand."""
        a, b = self.hp3d(1), self.hp3d(2, fake={"HP3_FAKE_NO_UD": "1"}.items())
        pa, pb = self.application(a, 1), self.application(b, 2)
        self.says(b, "fake0: no queue pair of datagrams")
        self.work(a)
        self.paths([1500] * PATHS)
        time.sleep(1)
        self.assertEqual(self.causes(b), set())
        flow = b.json("qps")[0]["flow"]
        self.assertEqual(b.move(flow, "--port", "50000")["outcome"], "moved")
        for p in (pa, pb):
            self.judge(p)
        self.stop(a)
        self.stop(b)

    def test_no_library(self):
        a = self.hp3d(1, verbs={"socket": "", "ibverbs": "/nowhere/libibverbs.so"})
        self.says(a, "/nowhere/libibverbs.so: cannot open")
        self.stop(a)

    def test_no_rnic_we_know(self):
        a = self.hp3d(1, vendor="14e4")
        self.says(a, "which source ports its datagrams have is not known (vendor 0x14e4)")
        self.stop(a)

    def test_without_the_right(self):
        """No raw socket: that is said, ports stand for paths, and a slow path is left."""
        a, b = self.hp3d(1, drop=CAP_NET_RAW, ppp={"identity": "trace"}), self.hp3d(2)
        pa, pb = self.application(a, 1), self.application(b, 2)
        self.work(a)
        wait_for("a word", lambda: "no raw socket, so switches are not asked" in a.output())
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)

    def test_the_other_one_vanishes(self):
        """Killed, nothing moves for it; another one in its place is found, and answers."""
        a, b, pa, pb = self.both()
        self.work(a)
        b.process.kill()
        b.process.wait()
        self.paths([1500] * PATHS)
        time.sleep(1)
        self.paths([0] * PATHS)
        moves = self.causes(a) & {"dead"}
        self.assertEqual(moves, set())
        b2 = self.hp3d(2)
        answers = self.probe_counters(a)["answers"]
        self.leave_a_slow_path(a, 40)
        self.assertGreater(self.probe_counters(a)["answers"], answers)
        self.judge_and_stop(a, b2, pa, pb)

    def test_without_a_key(self):
        """Hosts agree on one."""
        a, b, pa, pb = self.both(probes={"probe_key": ""})
        self.work(a)
        for d in (a, b):
            wait_for("a key", lambda d=d: "keyed" in {e["type"] for e in d.json("events")})
            self.assertRegex(d.output(), "(?m)capabilities kept: net_bind_service$")
        self.leave_a_slow_path(a)
        self.judge_and_stop(a, b, pa, pb)

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

    def test_without_privileged_ports(self):
        """That is said: hosts that agree on keys do not reply then, those with a key of all do."""
        a, b = self.hp3d(1, drop=CAP_NET_BIND_SERVICE, probes={"probe_key": ""}), self.hp3d(2, probes={"probe_key": ""})
        pa, pb = self.application(a, 1), self.application(b, 2)
        wait_for("a word", lambda: "UDP ports below 1024 cannot be had" in a.output())
        self.quiet(a, b, pa, pb, "hellos_unprivileged")
        self.paths([0] * PATHS)
        a, b = self.hp3d(1, drop=CAP_NET_BIND_SERVICE), self.hp3d(2)
        pa, pb = self.application(a, 1), self.application(b, 2)
        self.work(a)
        self.leave_a_slow_path(a)
        self.assertNotIn("UDP ports below 1024", a.output())
        self.judge_and_stop(a, b, pa, pb)

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
