#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d as a process: two endpoints talk through it while it moves their connections.

usage: pipeline.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]

The endpoints check every packet: content, ICRC, and that PSNs come in order. Packets on odd ports
take a path that is 3 ms slower, so that a packet which changes its path too early comes too early.
"""
import glob
import itertools
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import json
from harness import Client, Daemon, Endpoint, Link, RawPort, own_namespace, read_pcap, wait_for

HP3D, HP3CTL, RC_ENDPOINT, MAKE_CAPTURES, SOURCE = sys.argv[1:6]
SLOW_US = 3000
SEED = 7
UNKNOWN = "rail0/10.9.0.1-10.9.0.2/0x00abcd"


class Base(unittest.TestCase):
    def daemon(self, rails, **sections):
        d = Daemon(HP3D, HP3CTL, rails, sections)
        self.addCleanup(d.clean_up)
        return d

    def stop(self, d, sig=signal.SIGTERM):
        """A clean stop: exit code 0 says that every packet buffer was given back."""
        code = d.stop(sig)
        self.assertEqual(code, 0, d.output())
        self.assertRegex(d.output(), r"hp3d: stopped: .* 0 not sent")
        return d.output()


class Start(Base):
    def test_ring_ports(self):
        d = self.daemon({"rail0": ("net_ring0", "net_ring1"), "rail1": ("net_ring2", "net_ring3")},
                        eal={"mbufs": 4096}, rfr={"hold_packets": 1024}).up()
        health = d.json("health")[0]
        self.assertEqual((health["status"], health["rails"], health["flows"]), ("ok", 2, 0))
        self.stop(d, signal.SIGINT)
        self.assertFalse(os.path.exists(d.socket))

    def test_null_ports_at_full_rate(self):
        """Empty frames without end: all are forwarded, none is kept."""
        d = self.daemon({"rail0": ("net_null0", "net_null1")}).up()
        wait_for("packets", lambda: d.counters()["packets_rx"] > 10000)
        counters = d.counters()
        self.assertGreater(counters["class_other"], 10000)
        self.assertEqual(counters["changed"], 0)
        self.stop(d)

    def test_ports_that_spread(self):
        """net_null takes key and table of a NIC that spreads, and does not: who gets a packet of others
        passes it on."""
        d = self.daemon({"rail0": ("net_null0", "net_null1")}, eal={"lcores": 2}).up()
        for side in ("rnic", "net"):
            self.assertRegex(d.output(), rf"\[rail\.rail0\] {side}: the NIC spreads .* 2 lcores.*RSS")
        wait_for("packets", lambda: d.counters()["handed_over"] > 10000)
        lcores = d.stats()["lcore"]
        # Empty frames belong to the first one.
        self.assertEqual((lcores["0"]["handed_over"], lcores["1"]["packets_rx"]), (0, 0))
        self.assertGreater(lcores["0"]["packets_rx"], lcores["1"]["handed_over"] // 4)
        self.stop(d)

    def refused(self, d, message, code=1):
        self.assertEqual(d.process.wait(timeout=40), code, d.output())
        self.assertRegex(d.output(), message)

    def test_devices_that_do_not_work(self):
        link, big = Link("e"), Link("g", mtu=4000)
        self.addCleanup(link.remove)
        self.addCleanup(big.remove)
        good = link.devargs(1)
        for rnic, net, message in (
                ("net_af_packet0,iface=nosuch0", good, r"\[rail\.rail0\] rnic = .*nosuch0.*check"),
                (good, "net_nosuch0", r"\[rail\.rail0\] net = .*net_nosuch0.*check"),
                (good, "0000:7f:1f.7", r"\[rail\.rail0\] net = .*check"),
                (big.devargs(0), good, r"rail0\] rnic: MTU 4000 .*mbuf_bytes to at least 4\d\d\d")):
            with self.subTest(rnic=rnic, net=net):
                self.refused(self.daemon({"rail0": (rnic, net)}), message)

    def test_memory_that_does_not_suffice(self):
        ports = ("net_ring0", "net_ring1")
        self.refused(self.daemon({"rail0": ports}, eal={"memory_mb": 64, "mbufs": 1048576}),
                     r"memory_mb = 64: .* allow at least \d+ or lower mbufs", code=2)
        self.refused(self.daemon({"rail0": ports, "rail1": ("net_ring2", "net_ring3")},
                                 eal={"memory_mb": 64, "mbufs": 16384}),
                     r"\[rail\.rail\d\].*raise \[eal\] memory_mb or lower mbufs")
        self.refused(self.daemon({"rail0": ports}, flows={"max_flows": 16777216}),
                     r"raise \[eal\] memory_mb or lower \[flows\]")

    def test_frames_that_do_not_fit_the_ring(self):
        """Refused, since they would be cut; with what the message asks for they pass whole."""
        rnic, net = Link("r", mtu=4000), Link("n", mtu=4000)
        self.addCleanup(rnic.remove)
        self.addCleanup(net.remove)
        d = self.daemon({"rail0": (rnic.devargs(0), net.devargs(1))}, eal={"mbuf_bytes": 4608})
        self.refused(d, r"rail0\] rnic = .*framesz of 2048 would cut")
        fix = re.search(r"append (framesz=\d+,blocksz=\d+) .*mbuf_bytes is at least (\d+)", d.output())
        ports = [f"net_af_packet{i},iface={link.near},{fix[1]}" for i, link in enumerate((rnic, net))]
        d = self.daemon({"rail0": ports}, eal={"mbuf_bytes": int(fix[2]), "mbufs": 4096},
                        rfr={"hold_packets": 1024}).up()
        ends = RawPort(rnic.far), RawPort(net.far)
        for end in ends:
            self.addCleanup(end.close)
        for size in (4000, 4004):  # a whole MTU, also behind a VLAN tag
            frame = bytes(12) + (b"\x81\x00\x00\x64" if size > 4000 else b"") + b"\x88\xb5" + os.urandom(4000)
            ends[0].send(frame)
            self.assertEqual(ends[1].receive(), frame)
        self.stop(d)


class Idle(Base):
    def threads(self, d):
        """CPU time in seconds, and how often threads went to sleep."""
        cpu, sleeps = 0, 0
        for path in glob.glob(f"/proc/{d.process.pid}/task/*"):
            with open(path + "/schedstat") as f:
                cpu += int(f.read().split()[0]) / 1e9
            with open(path + "/status") as f:
                sleeps += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", f.read())[1])
        return cpu, sleeps

    def idle_second(self, d):
        """The quietest of a few: what the machine does besides is charged to us, too."""
        spent = []
        for _ in range(4):
            before = self.threads(d)
            time.sleep(1)
            spent.append([b - a for a, b in zip(before, self.threads(d))])
        return (min(s[i] for s in spent) for i in (0, 1))

    def test_idle_sleeps(self):
        d = self.daemon({"rail0": ("net_null0,no-rx=1", "net_null1,no-rx=1")}).up()
        cpu, sleeps = self.idle_second(d)
        self.assertLess(sleeps, 1100)  # 1,000 of the lcore, 20 of the control thread
        self.assertLess(cpu, 0.05)
        self.stop(d)

    def test_packets_wake(self):
        """net_tap can: hardly any wake-ups without packets, and no packet waits for the end of a sleep."""
        names = [f"t{i}x{os.getpid()}" for i in (0, 1)]
        d = self.daemon({"rail0": [f"net_tap{i},iface={name}" for i, name in enumerate(names)]}).up()
        cpu, sleeps = self.idle_second(d)
        self.assertLess(sleeps, 300)  # 100 of the lcore; what the kernel says on a new interface
        self.assertLess(cpu, 0.05)
        ends = [RawPort(name) for name in names]
        took = []
        for end in ends:
            self.addCleanup(end.close)
        for i in range(15):
            frame = bytes(12) + b"\x88\xb5" + bytes([i]) * 50
            time.sleep(0.1)
            start = time.monotonic()
            ends[0].send(frame)
            while ends[1].receive() != frame:
                pass
            took.append(time.monotonic() - start)
        # Sleeps are of 10 ms by then.
        self.assertLess(statistics.median(took), 0.003, took)
        self.stop(d)


class Wired(Base):
    """rnic side: endpoint a; network side: endpoint b."""

    def setUp(self):
        self.rnic, self.net = Link("r"), Link("n")
        self.addCleanup(self.rnic.remove)
        self.addCleanup(self.net.remove)
        self.random = random.Random(SEED)

    def ports(self):
        return self.rnic.devargs(0), self.net.devargs(1)

    def start(self, **sections):
        return self.daemon({"rail0": self.ports()}, **sections).up()

    def endpoint(self, link, side, **options):
        e = Endpoint(RC_ENDPOINT, link.far, side, **options)
        self.addCleanup(e.kill)
        return e

    def endpoints(self, **options):
        return (self.endpoint(self.rnic, "a", slow_us=SLOW_US, **options),
                self.endpoint(self.net, "b", slow_us=SLOW_US, **options))

    def settle(self, *senders):
        """Lets the messages end and waits for the last ACK."""
        for e in senders:
            e.tell("stop")
        for e in senders:
            wait_for("all ACKs", e.all_acked)

    def whole(self, a, b):
        """Everything arrived exactly once, in order, as it was sent. Returns both reports."""
        ra, rb = a.report(), b.report()
        for sender, receiver in ((ra, rb), (rb, ra)):
            self.assertEqual(set(receiver["faults"].values()), {0}, receiver["faults"])
            self.assertEqual([q["sent"] for q in sender["qps"]], [q["received"] for q in receiver["qps"]])
        return ra, rb

    def seen(self, receiver, runs):
        """Waits until each queue pair has received on so many ports, one after the other."""
        wait_for("packets on the last port", lambda: all(
            len(q["ports"]) == runs for q in receiver.report()["qps"]))

    def port(self, parity):
        return self.random.randrange(0x4000 + parity, 0xfffe, 2)

    def move(self, d, flow, port):
        """One move that must succeed; its event."""
        event = d.json("move", flow, "--port", str(port))[0]
        self.assertEqual((event["outcome"], event["to"], event["flow"]), ("moved", port, flow))
        return event


class Moves(Wired):
    def run_moves(self, rounds=4, qps=4, sections=None, **options):
        d = self.start(**(sections or {}))
        a, b = self.endpoints(qps=qps, **options)
        before = d.free_buffers()
        for e in (a, b):
            e.tell("send 1000000")
        flows = d.paired(qps)
        wanted = {flow: [] for flow in flows}
        held = 0
        for i in range(rounds):
            for flow in flows:  # from the slow path to the fast one and back
                wanted[flow].append(self.port(i % 2))
                held += self.move(d, flow, wanted[flow][-1])["evidence"]["held_pkts"]
        self.seen(b, 1 + rounds)
        self.settle(a, b)
        _, rb = self.whole(a, b)
        self.assertGreater(held, 0)
        for i, q in enumerate(rb["qps"]):
            flow = next(f for f in flows if f.endswith(f"/0x{0x200 + i:06x}"))
            self.assertEqual([port for port, _ in q["ports"]], [0xc001 + 2 * i] + wanted[flow])
            self.assertTrue(all(n > 0 for _, n in q["ports"]))
        counters = d.counters()
        self.assertEqual(counters["moves_switched"] + counters["moves_idle"], rounds * qps)
        self.assertGreater(counters["moves_switched"], rounds * qps // 2)
        self.assertEqual(counters["held_packets"], counters["released"])
        self.assertEqual([counters[c] for c in counters if c.startswith("drop_")].count(0),
                         sum(c.startswith("drop_") for c in counters))
        self.assertEqual(d.free_buffers(), before)
        return d, flows

    def test_both_directions(self):
        d, flows = self.run_moves()
        # Home again, on the port that the RNIC writes.
        for flow in flows:
            self.assertEqual(d.json("move", flow, "--home")[0]["type"], "idle_switch")
        self.assertFalse(any(f["moved"] for f in d.flows()))
        self.stop(d)

    def test_ipv6(self):
        self.stop(self.run_moves(rounds=2, qps=2, ipv6=1)[0])

    def test_vlan(self):
        d, flows = self.run_moves(rounds=2, qps=2, vlan=100)
        self.assertTrue(all(f.startswith("rail0.100/") for f in flows))
        self.stop(d)

    def test_lockstep(self):
        """Queue pairs at equal PSNs are told apart by forced challenges (rule 15)."""
        d, _ = self.run_moves(rounds=2, qps=4, spread=0)
        self.stop(d)

    def test_two_lcores(self):
        d, flows = self.run_moves(rounds=2, qps=8, pairs=8, sections={"eal": {"lcores": 2}})
        self.assertEqual({f["worker"] for f in d.flows()}, {0, 1})
        for side in ("rnic", "net"):
            self.assertRegex(d.output(), rf"{side}: packets are spread over 2 lcores in software, .*driver")
        self.stop(d)

    def test_in_the_middle_of_a_long_message(self):
        """Nothing asks for an ACK within 1,024 packets: hp3d does, and does not wait for the end."""
        d = self.start()
        a, b = self.endpoints(message=1024, window=4096)
        a.tell("send 1000000")
        flow, = d.paired(1)
        first, middle = 0xfffff0, 0
        for i in range(4):
            event = self.move(d, flow, self.port(i % 2))
            middle += (event["evidence"]["close_psn"] - first) % 2**24 % 1024 != 1023
        self.assertGreaterEqual(middle, 3)
        self.settle(a)
        self.whole(a, b)
        self.stop(d)

    def test_a_hold_that_is_full(self):
        """Fast recovery on the old port, in order; nothing is dropped."""
        d = self.start(rfr={"hold_bytes": 16384})
        a, b = self.endpoints(window=4096, rate=20000)
        a.tell("send 1000000")
        flow, = d.paired(1)
        b.tell("withhold 1")
        event = d.json("move", flow, "--port", str(self.port(0)), code=1)[0]
        b.tell("withhold 0")
        self.assertEqual((event["type"], event["reason"]), ("recover", "hold-full"))
        self.assertGreater(event["evidence"]["held_bytes"], 16384 - 400)
        self.settle(a)
        _, rb = self.whole(a, b)
        self.assertEqual([port for port, _ in rb["qps"][0]["ports"]], [0xc001])
        self.stop(d)

    def test_two_hp3d_in_a_row(self):
        """Each beside its own host, at the same time; both move what their host sends."""
        middle = Link("m")
        self.addCleanup(middle.remove)
        middle_far = middle.devargs(0).replace(middle.near, middle.far)
        at_a = self.daemon({"rail0": (self.rnic.devargs(0), middle.devargs(1))}).up()
        at_b = self.daemon({"rail0": (self.net.devargs(1), middle_far)}).up()
        a, b = self.endpoints(qps=2)
        for e in (a, b):
            e.tell("send 1000000")
        for i in range(3):
            for d in (at_a, at_b):
                for flow in d.paired(2):
                    self.move(d, flow, self.port(i % 2))
        for e in (a, b):
            self.seen(e, 4)
        self.settle(a, b)
        self.whole(a, b)
        self.stop(at_a)
        self.stop(at_b)


class Mutant(Wired):
    """HP3D releases before the drain, on purpose: these tests must see it."""

    def test_it_is_seen(self):
        d = self.start()
        a, b = self.endpoints(qps=4)
        a.tell("send 1000000")
        turns = itertools.count()

        def disorder():
            turn = next(turns)
            for flow in d.paired(4):
                d.ctl("move", flow, "--port", str(self.port(turn % 2)), "--no-wait", code=None)
                time.sleep(0.02)
            faults = b.report()["faults"]
            return faults if faults["gaps"] else None
        faults = wait_for("disorder", disorder)
        self.assertEqual((faults["bad_icrc"], faults["kernel_lost"]), (0, 0))


class Trouble(Wired):
    def draining(self, d, flow, port):
        """Begins a move that b's silence keeps from ending; returns when packets are held. The
        window (see patient()) lets a go on sending meanwhile."""
        d.ctl("move", flow, "--port", str(port), "--no-wait")
        wait_for("a drain", lambda: d.json("show", flow)[0]["state"] == "draining")
        wait_for("held packets", lambda: d.counters()["held_packets"] - d.counters()["released"] > 0)

    def patient(self):
        return self.endpoints(window=4096, rate=2000)

    def test_stop_in_a_hold(self):
        """What is held leaves in order, on the old port."""
        d = self.start(rfr={"max_hold_us": 1000000}, control={"stop_drain_ms": 100})
        a, b = self.patient()
        a.tell("send 1000000")
        flow, = d.paired(1)
        b.tell("withhold 1")
        self.draining(d, flow, self.port(0))
        a.tell("stop")
        wait_for("the end of the message", lambda: a.report()["sent"] % 16 == 0)
        sent = a.report()["sent"]
        self.assertLess(b.report()["received"], sent)
        self.stop(d)
        wait_for("held packets", lambda: b.report()["received"] == sent)
        _, rb = self.whole(a, b)
        self.assertEqual([port for port, _ in rb["qps"][0]["ports"]], [0xc001])

    def test_stop_brings_moved_flows_home(self):
        """In the midst of traffic, behind a drain like every move; to the last packet in order."""
        for lcores in (1, 2):
            with self.subTest(lcores=lcores):
                d = self.start(eal={"lcores": lcores})
                a, b = self.endpoints(qps=8, pairs=8)
                a.tell("send 1000000")
                for flow in d.paired(8):
                    self.move(d, flow, self.port(0))
                self.seen(b, 2)
                self.assertIn("0 flows not brought home", self.stop(d))
                rb = b.report()
                self.assertEqual(set(rb["faults"].values()), {0}, rb["faults"])
                for i, q in enumerate(rb["qps"]):  # the last run may be empty: hp3d ends soon
                    ports, home = [port for port, _ in q["ports"]], 0xc001 + 2 * i
                    self.assertEqual(ports, [home, ports[1], home][:len(ports)])
                self.assertIn(3, [len(q["ports"]) for q in rb["qps"]])
                a.kill()
                b.kill()

    def test_source_killed_in_a_drain(self):
        """With the last ACK the move ends; without it the hold's bound ends it. Nothing stays."""
        for silent in (False, True):
            with self.subTest(silent=silent):
                d = self.start()
                before = d.free_buffers()
                a, b = self.patient()
                a.tell("send 1000000")
                flow, = d.paired(1)
                b.tell("withhold 1")
                self.draining(d, flow, self.port(0))
                a.kill()
                if not silent:
                    b.tell("withhold 0")
                event = wait_for("the end of the move", lambda: [
                    e for e in d.json("events") if e["type"] in ("switch", "recover")])[-1]
                self.assertEqual(event["type"], "recover" if silent else "switch")
                wait_for("every packet", lambda: b.report()["received"] == d.counters()["tx_requests"])
                self.assertEqual(set(b.report()["faults"].values()), {0})
                self.assertEqual(d.free_buffers(), before)
                b.kill()
                self.stop(d)

    def test_refusals(self):
        d = self.start()
        a, b = self.patient()
        a.tell("send 1000000")
        flow, = d.paired(1)

        def refused(code, exit_code, *args):
            error = d.json("move", *args, code=exit_code)[0]["error"]
            self.assertEqual(error["code"], code)
            self.assertTrue(error["text"] and error["fix"])
        refused("already-there", 1, flow, "--port", str(0xc001))
        self.move(d, flow, 50000)
        refused("already-there", 1, flow, "--port", "50000")
        refused("not-found", 4, UNKNOWN, "--random")
        refused("not-found", 4, "rail9/" + flow.split("/", 1)[1], "--random")
        b.tell("withhold 1")
        self.draining(d, flow, 50001)
        refused("busy", 1, flow, "--random")
        b.tell("withhold 0")
        self.settle(a)
        self.whole(a, b)
        self.stop(d)

    def test_unpaired_and_forbidden(self):
        for sections, code in (({"pairing": {"challenge": "off"}}, "not-paired"),
                               ({"policy": {"mode": "off"}}, "not-permitted")):
            with self.subTest(code=code):
                d = self.start(**sections)
                a, b = self.endpoints()
                a.tell("send 20")
                wait_for("all ACKs", lambda: a.report()["acked"] == 20 * 16)
                flow, = d.flows()
                self.assertEqual(d.json("move", flow["flow"], "--random", code=1)[0]["error"]["code"], code)
                self.whole(a, b)
                self.assertEqual(d.counters()["moves_refused"], 1)
                a.kill()
                b.kill()
                self.stop(d)

    def test_a_thousand_moves_in_a_second(self):
        d = self.start()
        before = d.free_buffers()
        a, b = self.endpoints(qps=8, rate=16000)
        a.tell("send 1000000")
        flows = d.paired(8)
        client = Client(d.socket)
        self.addCleanup(client.close)
        codes, tags, sent = [], set(), 0
        begin = time.monotonic()
        while sent < 1000:
            for _ in range(50):
                client.send(cmd="move", flow=flows[sent % 8], random=True)
                sent += 1
            for _ in range(50):
                answer = client.answer()
                if answer["ok"]:
                    tags.add(answer["data"]["tag"])
                else:
                    codes.append(answer["error"]["code"])
            time.sleep(max(0, begin + sent / 1000 - time.monotonic()))
        self.assertEqual(len(tags) + len(codes), 1000)
        self.assertEqual(set(codes), {"busy"})
        self.assertGreater(len(tags), 50)
        self.settle(a)
        # Each move that was begun ended once, and was told of.
        wait_for("the ends of all moves", lambda: d.json("health")[0]["moves_under_way"] == 0)
        ended = [e["tag"] for e in d.json("events") if e.get("tag")]
        self.assertEqual(sorted(ended), sorted(tags))
        self.whole_but_runs(a, b)
        self.assertEqual(d.free_buffers(), before)
        self.stop(d)

    def whole_but_runs(self, a, b):
        """More changes of port than an endpoint remembers are no fault."""
        ra, rb = a.report(), b.report()
        rb["faults"].pop("runs_lost")
        self.assertEqual(set(rb["faults"].values()), {0}, rb["faults"])
        self.assertEqual(ra["sent"], rb["received"])

    def test_a_full_table(self):
        """Flows beyond max_flows are forwarded and counted."""
        d = self.start(flows={"max_flows": 64})
        a, b = self.endpoints(qps=100)
        a.tell("send 4")
        wait_for("all ACKs", lambda: a.report()["acked"] == 100 * 4 * 16)
        self.whole(a, b)
        counters = d.counters()
        self.assertEqual(counters["flows_created"], 64)
        self.assertEqual(counters["untracked"], 36 * 4 * 16)
        self.assertEqual(counters["flows_full"], 36 * 4 * 16)
        self.assertEqual(len(d.flows()), 64)
        self.stop(d)


class Untouched(Wired):
    """Everything that is not a paired reliable connection passes as it is, both ways."""

    def frames(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([MAKE_CAPTURES, directory], check=True)
            names = [os.path.join(directory, f"gen_{n}.pcap")
                     for n in ("malformed", "opcodes", "cnp", "random", "bad_icrc", "vlan")]
            names += [os.path.join(SOURCE, "tests/data/pcap", n + ".pcap")
                      for n in ("uc_send", "ud_send", "rc_write_rdmacm")]
            frames = [f for n in names for f in read_pcap(n)]
        frames += [bytes.fromhex("ffffffffffff020000000001") + ethertype + os.urandom(46)
                   for ethertype in (b"\x08\x06", b"\x88\xcc", b"\x89\x15", b"\x00\x20")]
        # The kernel takes no frame without an Ethernet header, the interface none beyond its MTU.
        # On net_af_packet it takes an 802.1ad tag out and does not say that it was one, and puts
        # IPv4 fragments together: those two are replayed from captures only.
        return [f for f in frames if 14 <= len(f) <= 1514 and f[12:14] != b"\x88\xa8" and
                not (f[12:14] == b"\x08\x00" and len(f) > 22 and (f[20] & 0x3f or f[21]))]

    def test_frames(self):
        d = self.start(pairing={"challenge": "off", "cm": "off"})
        before = d.free_buffers()
        ends = RawPort(self.rnic.far), RawPort(self.net.far)
        for end in ends:
            self.addCleanup(end.close)
        frames = self.frames()
        self.assertGreater(len(frames), 1000)
        for source, sink in (ends, ends[::-1]):
            for i, frame in enumerate(frames):
                source.send(frame)
                got = sink.receive()
                self.assertEqual(got, frame, f"frame {i}: {frame.hex()}\nbecame {got and got.hex()}")
        for end in ends:
            self.assertIsNone(end.receive(0.05))
        counters = d.counters()
        self.assertEqual((counters["packets_tx"], counters["packets_rx"], counters["changed"]),
                         (len(frames), len(frames), 0))
        self.assertEqual(d.free_buffers(), before)
        self.stop(d)

    def test_beside_moves(self):
        """The same in the midst of connections that are being moved."""
        d = self.start()
        a, b = self.endpoints(qps=2)
        a.tell("send 1000000")
        port = RawPort(self.rnic.far)
        self.addCleanup(port.close)
        odd = [f for f in self.frames() if f[12:14] not in (b"\x08\x00", b"\x86\xdd")][:200]
        for i, flow in enumerate(d.paired(2) * 4):
            for frame in odd[25 * i:25 * i + 25]:
                port.send(frame)
            self.move(d, flow, self.port(i // 2 % 2))
        self.settle(a)
        _, rb = self.whole(a, b)
        self.assertEqual(rb["others"], len(odd))
        self.stop(d)


class Counters(Wired):
    """Whatever the sources count can be seen."""

    def names(self):
        def macro(path, name):
            with open(os.path.join(SOURCE, path)) as f:
                text = re.sub(r"\\\n", " ", f.read())
            body = re.search(rf"#define {name}\(X\)(.*)", text).group(1)
            return re.findall(r'X\((\w+), "([^"]*)"(?:, (\d))?', body)
        engine = [x[0] for x in macro("engine/stats.h", "HP3_STATS")]
        pipe = macro("app/hp3d/pipe.h", "HP3D_PIPE_COUNTERS")
        reasons = ["reason_" + x[1] for x in macro("roce/parse.h", "HP3_PARSE_REASONS")]
        with open(os.path.join(SOURCE, "roce/parse.h")) as f:
            classes = ["class_" + c.lower() for c in re.findall(r"\tHP3_CLASS_(\w+),", f.read()) if c != "MAX"]
        self.assertTrue(len(engine) > 20 and len(pipe) > 5 and len(reasons) == 14 and len(classes) == 8)
        return engine + [x[0] for x in pipe] + reasons + classes, [x[0] for x in pipe if x[2] == "1"]

    def test_every_counter_shows(self):
        d = self.start()
        a, _ = self.endpoints()
        a.tell("send 50")
        wait_for("all ACKs", lambda: a.report()["acked"] == 50 * 16)
        names, drops = self.names()
        stats = d.json("stats", "--explain")[0]
        for place in (stats["rail"]["rail0"], stats["lcore"]["0"], stats["help"]):
            self.assertLessEqual(set(names), set(place))
        table = d.ctl("stats", "--explain").stdout
        for name in names:
            self.assertRegex(table, rf"(?m)^rail\.rail0\.{name} +\d+ +\w")
        self.assertEqual(stats["rail"]["rail0"]["packets_tx"], 800)
        work = d.json("health")[0]["work"]
        self.assertEqual(len(work), 1)
        self.assertIn(work[0]["level"], ("base", "v3", "v4"))
        self.assertTrue(0 < work[0]["busy_ns"] < work[0]["idle_ns"], work)

        telemetry = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(telemetry.close)
        telemetry.settimeout(20)
        telemetry.connect(f"/var/run/dpdk/{d.prefix}/dpdk_telemetry.v2")
        telemetry.recv(16384)

        def ask(command):
            telemetry.send(command.encode())
            return json.loads(telemetry.recv(1 << 16))[command.split(",")[0]]
        same = {n.replace("-", "_"): stats["rail"]["rail0"][n] for n in names}
        for command in ("/hp3/stats", "/hp3/rail,rail0", "/hp3/lcore,0"):
            answer = ask(command)
            self.assertEqual({n: answer.get(n) for n in same}, same, command)
        self.assertEqual(ask("/hp3/drops"), dict.fromkeys(drops, 0))
        self.assertEqual(ask("/hp3/rail"), ["rail0"])
        self.stop(d)


if __name__ == "__main__":
    if "Idle" in sys.argv and not os.path.exists("/dev/net/tun"):
        sys.exit(77)
    own_namespace()
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[6:]])
