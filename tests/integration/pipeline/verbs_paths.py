#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two hp3ds in verbs mode, with fake RNICs and an application at each: the hp3ds move queue pairs
by their own decisions.

usage: verbs_paths.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: as of verbs_fabric.py.
"""
import json
import os
import subprocess
import time
from cases import run
from harness import die_with_parent, wait_for
from verbs_fabric import DEAD, Fabric, MLX5, PATHS, QPS, RXE


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
        self.assertIn("hp3d in verbs mode, the library in the application, and a common key", event["meaning"])
        self.assertIn("was held a moment ago, or cannot be held", event["meaning"])
        qp = a.json("qps")[0]
        self.assertEqual((qp["failed"], qp["failed_meaning"]), ("EPERM", event["meaning"]))
        self.assertIn("EPERM: the peer may READ", a.ctl("qps").stdout)
        self.assertIn("EPERM: the peer may READ", a.ctl("events").stdout)
        for p in programs:
            self.judge(p)
        self.stop(a)


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


if __name__ == "__main__":
    run()
