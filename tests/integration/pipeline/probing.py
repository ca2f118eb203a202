#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two hp3ds, each with an endpoint, and two paths between them: odd source ports take the slow
path.

usage: probing.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]

Here, no path is congested; instead, a round trip 1 % above the minimum counts as congestion.
Checks: the hp3ds answer probes, and endpoints get none; hp3d moves flows away from the slow path
and from a dead path; every packet arrives once and in order.
"""
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from cases import HP3CTL, Wired, run
from frames import PROBE, probe_magic
from harness import TWO_LCORES, RawPort, wait_for
from scraping import ask, metrics_socket, samples, value
from two_paths import DEATHS, TwoPaths

EAGER = {"probe": "peer", "rtt_factor": 101, "congestion_tolerance": 1, "improve": 100, "cycle_us": 1000,
         "backoff_min_us": 1000, "backoff_max_us": 5000, "probe_timeout_us": 100000}
KEY = "000102030405060708090a0b0c0d0e0f"
A, B = "10.9.0.1", "10.9.0.2" # endpoints
REPLAYED = 10000  # more than hp3d answers of one host while they arrive: 4000, and 4000 each second


def is_probe(frame):
    """A UC WRITE ONLY with hp3's magic, version and the kind of a probe in its VA (probes/peer.h)."""
    return frame[12:14] == b"\x08\x00" and len(frame) >= 74 and frame[42] == 0x2a and frame[54:56] == probe_magic(PROBE)


class Probing(TwoPaths):
    def one_way(self, **sections):
        """Only the first endpoint sends, over a path that hp3d has no reason to leave but its death."""
        a, b = self.pair_of_daemons(**DEATHS, **sections)
        ends = self.endpoints(qps=1)
        self.traffic(ends[0])
        a.paired(1)
        wait_for("traffic", lambda: ends[0].report()["acked"] > 500)
        return a, b, ends

    def all_acked(self, near, far):
        """Everything that `near` sent is acknowledged: the reports of both."""
        def acked():
            r = near.report()
            return r if r["acked"] == r["sent"] - r["faults"]["again"] else None
        return wait_for("all ACKs", acked), far.report()

    def test_flows_move_by_themselves(self):
        a, b = self.pair_of_daemons(ppp=EAGER, probes={"probe_key": KEY}, rfr={"cooldown_us": 1000,
                                    "verify_us": 20000})
        ends = self.endpoints(qps=2)
        self.traffic(*ends)
        a.paired(2)
        wait_for("moves", lambda: a.counters()["moves_switched"] + a.counters()["moves_idle"] >= 2)
        wait_for("a verdict", lambda: any(e["type"] == "outcome" for e in a.json("events")))
        self.settle(*ends)
        self.whole(*ends)
        cb, ca = b.counters(), a.counters()
        self.assertGreater(cb["answered"], 0)
        self.assertLessEqual(cb["answered"], ca["probes_peer"] + ca["traces"])
        self.assertEqual([cb[c] for c in ("bad_probe_icrc", "bad_tag", "replayed", "bad_clock")], [0] * 4)
        self.assertGreater(ca["probe_replies"], 0)
        self.assertEqual(ca["probes_standard"], 0)
        events = a.json("events")
        moved = [e for e in events if e["type"] == "switch" and e["cause"] != "operator"]
        self.assertTrue(moved)
        self.assertTrue(any(e["from"] % 2 == 1 and e["to"] % 2 == 0 for e in moved), moved)
        for e in (e for e in events if e["type"] == "round" and e["outcome"] == "winner"):
            best = [p for p in e["evidence"]["probes"] if p["port"] == e["to"]]
            self.assertTrue(best and best[0]["state"] == "answered" and not best[0]["ce"], e)
        verdict = next(e for e in events if e["type"] == "outcome")
        self.assertIn(verdict["outcome"], ("better", "same", "worse", "unknown"))
        self.assertIn(next(e for e in events if e["seq"] == verdict["ref"])["type"],
                      ("switch", "idle_switch", "failover"))
        pair = a.json("paths")[0]
        self.assertEqual((pair["peer"], pair["immovable"]), ("hp3d", False))
        self.assertTrue(pair["paths"])
        flow = moved[0]["flow"]
        self.assertIn("leaves on port", a.ctl("why", flow).stdout)
        self.assertRegex(a.ctl("probes").stdout, r"rail0\.probe_replies +[1-9]")
        self.stop(a)
        self.stop(b)

    def test_two_lcores(self):
        """What an lcore says itself, too, leaves by the lcore that owns the port, and what is answered
        comes back to the one that asked."""
        a, b = self.pair_of_daemons(eal=TWO_LCORES, ppp=EAGER, probes={"probe_key": KEY})
        ends = self.endpoints(qps=16, pairs=16)
        self.traffic(*ends)
        a.paired(16)
        for d in (a, b):
            wait_for("answers on both lcores", lambda: all(
                lcore["probe_replies"] > 0 and lcore["answered"] > 0 for lcore in d.stats()["lcore"].values()))
        self.settle(*ends)
        self.whole(*ends)
        self.stop(a)
        self.stop(b)

    def test_a_dead_path_is_left(self):
        """The endpoints have no timer: only a NAK of ours makes them send again what was lost."""
        a, b, ends = self.one_way()
        self.relay("dead0")
        e = wait_for("a failover", lambda: [e for e in a.json("events") if e["type"] == "failover"])[0]
        self.assertEqual((e["from"] % 2, e["to"] % 2, e["cause"]), (1, 0, "dead"))
        self.assertTrue(e["evidence"]["nak"])
        ends[0].tell("stop")

        ra, rb = self.all_acked(*ends)
        self.assertEqual(a.counters()["failovers"], 1)
        self.stop(a)
        self.stop(b)
        self.assertEqual(rb["received"], ra["acked"])
        self.assertEqual((ra["faults"]["naks"], rb["faults"]["gaps"], rb["faults"]["runs_lost"]), (1, 0, 0))
        self.assertGreater(ra["faults"]["again"], 0)

    def test_a_grey_path_is_left(self):
        """Probes come back, nothing is marked or slow: that the endpoint goes back again and again is what tells,
        in events, counters, metrics and in words."""
        a, b = self.pair_of_daemons(ppp={"probe": "peer", "rtt_factor": 10000, "probe_timeout_us": 100000},
                                    rfr={"max_hold_us": 100000})
        ends = self.endpoints(qps=1, timeout=17)
        self.traffic(ends[0])
        flow = a.paired(1)[0]
        wait_for("traffic", lambda: ends[0].report()["acked"] > 500)
        self.assertEqual(a.counters()["lossy"], 0)
        self.relay("grey")
        # Another odd port is the same path, and may be tried first.
        moved = wait_for("a move", lambda: [e for e in a.json("events")
                                            if e["type"] == "switch" and e["cause"] == "loss" and e["to"] % 2 == 0])[0]
        self.assertEqual((moved["flow"], moved["from"] % 2), (flow, 1))
        found = next(e for e in a.json("events") if e["type"] == "severe")
        self.assertEqual((found["cause"], found["flow"], found["from"] % 2), ("loss", flow, 1))
        won = [e["cause"] for e in a.json("events") if e["type"] == "round" and e.get("to") == moved["to"]]
        self.assertEqual(set(won), {"loss"})
        self.assertEqual({p["port"]: p["state"] for p in a.json("paths")[0]["paths"]}[moved["from"]], "lossy")
        self.assertIn("lossy", a.ctl("paths").stdout)
        self.assertIn("loses packets", a.ctl("events", "--type", "severe").stdout)
        self.assertRegex(a.ctl("probes").stdout, r"rail0\.lossy +[1-9]")
        self.assertGreaterEqual(value(samples(ask(metrics_socket(a)).text), "hp3_engine_lossy_total", rail="rail0"), 1)
        ends[0].tell("stop")
        ra, rb = self.all_acked(*ends)
        self.stop(a)
        self.stop(b)
        self.assertEqual(rb["received"], ra["acked"])
        self.assertGreater(ra["faults"]["again"], 0)

    def test_paths_are_named(self):
        """A few traces tell all ports, and more traces agree; switches that fall silent are borne."""
        a, b = self.pair_of_daemons(ppp={**EAGER, "identity": "trace", "traces_per_second": 1000, "trace_recheck_ms": 500},
                                    probes={"probe_key": KEY}, rfr={"cooldown_us": 1000})
        ends = self.endpoints(qps=2)
        self.relay("hops")
        self.traffic(*ends)
        flow = a.paired(2)[0]

        def identity(by):
            pairs = [p for p in a.json("paths") if p["identity"]["by"] == by]
            return pairs[0]["identity"] if pairs else None
        self.assertEqual(wait_for("a linear map", lambda: identity("model")),
                         {"by": "model", "tracing": "linear", "ttl": 2})
        ports = [str(p) for p in range(50000, 50100)]
        rows = a.json("trace", flow, *ports)
        self.assertEqual([r["port"] for r in rows], [int(p) for p in ports])
        for r in rows:
            named = f"10.8.2.{2 - r['port'] % 2}"
            self.assertEqual((r["outcome"], r["ttl"], r["hop"], r["known"]), ("hop", 2, named, named))
        self.assertEqual([r["hop"] for r in a.json("trace", "--ttl", "1", flow, "50000", "50001")], ["10.8.1.1"] * 2)
        self.assertEqual([r["outcome"] for r in a.json("trace", "--ttl", "9", flow, "50000")], ["reached"])
        self.assertEqual([r["known"] for r in a.json("trace", "--known", flow, "50001")], ["10.8.2.1"])
        for path in a.json("paths")[0]["paths"]:
            self.assertEqual(path["hop"], f"10.8.2.{2 - path['port'] % 2}")
        apart = a.json("ports", "--peer", B, "--count", "2", "--distinct")[0]
        self.assertEqual({p["port"] % 2 for p in apart["ports"]}, {0, 1})
        for port in apart["ports"]:
            self.assertEqual((port["hop"], port["evidence"]), (f"10.8.2.{2 - port['port'] % 2}", "linear"))
        said = a.ctl("ports", "--peer", B, "--count", "4", "--format", "mooncake").stdout
        self.assertRegex(said, r"^MC_MLX5_QP_UDP_SPORTS=\d+,\d+,\d+,\d+\n$")
        self.assertEqual(sum(int(p) % 2 for p in said.split("=")[1].split(",")), 2)
        label = int(a.ctl("ports", "--peer", B, "--format", "flow_label").stdout, 16)
        self.assertEqual((label & 0x3fff ^ label >> 14) | 0xc000,
                         a.json("ports", "--peer", B)[0]["ports"][0]["port"])
        error = a.json("ports", "--peer", B, "--count", "3", "--distinct", code=1)[0]["error"]
        self.assertEqual(error["code"], "too-few")
        self.assertIn("2 of 3", error["text"])
        self.relay("silent")
        wait_for("no identity", lambda: identity("none"))
        self.assertEqual({p["path"] for p in a.json("paths")[0]["paths"]}, {None})
        self.settle(*ends)
        self.whole(*ends)
        self.assertGreater(a.counters()["traces_silent"], 0)
        self.assertEqual(a.counters()["traces_bad"], 0)
        self.stop(a)
        self.stop(b)

    def test_a_dead_way_back_is_left(self):
        """Requests arrive, acknowledgements do not: the other hp3d is told and sends them elsewhere. The
        answers to probes of that port are lost, too, so the requests may have left it before."""
        a, b, ends = self.one_way(probes={"probe_key": KEY})
        self.relay("dead1")
        moved = wait_for("other replies", lambda: [e for e in b.json("events") if e["type"] == "replies"])
        self.assertEqual(moved[0]["from"] % 2, 0)  # not known here: it never sent a request
        before = ends[0].report()["acked"]
        wait_for("progress", lambda: ends[0].report()["acked"] > before + 500)
        ends[0].tell("stop")
        ra, rb = self.all_acked(*ends)
        told = [e for e in a.json("events") if e["type"] == "report"]
        self.assertTrue(told)
        self.assertGreaterEqual(a.counters()["reports_sent"], len(told))
        self.assertEqual(b.counters()["reports_accepted"], len([e for e in b.json("events") if e["type"] == "replies"]))
        port = [f["reply_port"] for f in b.flows()]
        self.assertTrue(port and port[0] % 2 == 0, port)
        self.stop(a)
        self.stop(b)
        self.assertEqual(rb["received"], ra["acked"])
        self.assertEqual((rb["faults"]["gaps"], rb["faults"]["runs_lost"]), (0, 0))

    def test_a_path_dies_both_ways(self):
        a, b, ends = self.one_way(probes={"probe_key": KEY})
        before = ends[0].report()["acked"]
        self.relay("dead")
        wait_for("progress", lambda: ends[0].report()["acked"] > before + 1000)
        ends[0].tell("stop")
        ra, rb = self.all_acked(*ends)
        self.assertEqual(a.counters()["failovers"], 1)
        self.assertTrue(any(e["type"] == "replies" for e in b.json("events")))
        self.stop(a)
        self.stop(b)
        self.assertEqual(rb["received"], ra["acked"])
        self.assertEqual((ra["faults"]["naks"], rb["faults"]["gaps"], rb["faults"]["runs_lost"]), (1, 0, 0))

    def test_observe_moves_nothing(self):
        a, b = self.pair_of_daemons(ppp=EAGER, policy={"mode": "observe", "observe_probes": "on"})
        ends = self.endpoints(qps=2)
        self.traffic(*ends)
        a.paired(2)
        wait_for("decisions", lambda: any(e["type"] == "would" for e in a.json("events")))
        self.settle(*ends)
        self.whole(*ends)
        counted = a.counters()
        self.assertEqual(counted["held_packets"], 0)
        self.assertFalse(any(f["moved"] for f in a.flows()))
        fruitless = {k: v for k, v in counted.items() if k.startswith("fruitless_")}
        self.assertEqual(len(fruitless), 7)
        self.assertEqual(counted["rounds_fruitless"], sum(fruitless.values()))
        self.assertLessEqual(counted["rounds_fruitless"], counted["rounds"])
        for words in ((), ("--all",)):
            events = a.json("events", *words)
            numbers = [e["seq"] for e in events]
            self.assertEqual(numbers, sorted(set(numbers)), words)
            self.assertTrue(words or not any("nth" in e for e in events))
        self.assertTrue(any(e.get("nth") == 1 for e in events))
        self.stop(a)
        self.stop(b)

    @staticmethod
    def asked(daemon):
        """What it has said by itself to the peer's RNIC."""
        c = daemon.counters()
        return c["probes_peer"] + c["reports_sent"] + c["traces"]

    def test_a_peer_without_hp3d(self):
        """Its RNIC gets the probes and drops them: none is acknowledged, none counts as duplicate."""
        a = self.start(ppp=EAGER, probes={"probe_key": KEY})
        ends = Wired.endpoints(self, qps=2)
        self.traffic(*ends)
        a.paired(2)
        wait_for("probes at the other end", lambda: ends[1].report()["others"] >= 20)
        self.settle(*ends)
        ra, rb = self.whole(*ends)
        wait_for("every probe at the other end, and nothing else", lambda: self.asked(a) == ends[1].report()["others"])
        self.assertEqual(ra["others"], 0)
        ca = a.counters()
        self.assertEqual((ca["probe_replies"], ca["moves_switched"] + ca["moves_idle"]), (0, 0))
        self.stop(a)

    def test_hosts_of_different_keys(self):
        """Probes are dropped and counted, nothing reaches the endpoint, traffic flows on."""
        a, b = self.pair_of_daemons(ppp=EAGER, probes={"probe_key": KEY},
                                    far={"probes": {"probe_key": KEY[::-1]}})
        ends = self.endpoints(qps=1)
        self.traffic(*ends)
        a.paired(1)
        wait_for("refusals", lambda: b.counters()["bad_tag"] >= 4)
        self.settle(*ends)
        self.whole(*ends)
        self.assertEqual((b.counters()["answered"], a.counters()["probe_replies"]), (0, 0))
        self.assertEqual(a.counters()["moves_switched"], 0)
        self.stop(a)
        self.stop(b)

    def keys_of(self, *addresses):
        """Files of keys of hosts that have these addresses and the same secret."""
        where = tempfile.mkdtemp(prefix="hp3-keys-", dir="/tmp")
        self.addCleanup(shutil.rmtree, where)
        hosts, secret = os.path.join(where, "hosts"), os.path.join(where, "secret")
        with open(hosts, "w", encoding="utf-8") as f:
            f.write("".join(f"h{i} {a}\n" for i, a in enumerate(addresses)))
        with open(secret, "w", encoding="utf-8") as f:
            f.write(KEY + "\n")
        subprocess.run([HP3CTL, "keys", hosts, "--secret", secret, "--out", where], check=True, stdout=subprocess.DEVNULL)
        return [os.path.join(where, f"h{i}.keys") for i, _ in enumerate(addresses)]

    def reload(self, d, said):
        already = len(d.output())
        d.process.send_signal(signal.SIGHUP)
        wait_for(said, lambda: said in d.output()[already:])

    def test_each_host_has_its_own_keys(self):
        """One that knows the secret, one that has its keys alone: they hear each other where the file has the pair. A file
        that is none changes nothing."""
        other, good = self.keys_of(B, "10.9.9.9")[0], self.keys_of(B, A)[0]
        a, b = self.pair_of_daemons(ppp=EAGER, probes={"probe_key": KEY}, far={"probes": {"probe_key": other}})
        ends = self.endpoints(qps=1)
        self.traffic(*ends)
        a.paired(1)
        wait_for("refusals", lambda: b.counters()["bad_tag"] >= 4)
        self.assertEqual(b.counters()["answered"], 0)
        shutil.copy(good, other)
        self.reload(b, "hp3d: reloaded")
        wait_for("answers", lambda: a.counters()["probe_replies"] >= 4)
        with open(other, "a", encoding="utf-8") as f:
            f.write("no key\n")
        self.reload(b, "reload refused")
        self.assertIn(f"{other}:4: a line is SENDER RECEIVER KEY", b.output())
        answered = b.counters()["answered"]
        wait_for("answers", lambda: b.counters()["answered"] > answered)
        self.settle(*ends)
        self.whole(*ends)
        self.stop(a)
        self.stop(b)

    def test_hostile_probes(self):
        """Probes of A, seen on the way: again, with one bit changed, cut short, in a flood. All are counted, none
        is answered or reaches the endpoint, and what A asks is answered all the while."""
        a, b = self.pair_of_daemons(ppp=EAGER, probes={"probe_key": KEY})
        ends = self.endpoints(qps=1, timeout=18)  # not to send again while this machine floods
        tap = RawPort(self.wires[0].far)
        self.addCleanup(tap.close)
        self.traffic(*ends)
        a.paired(1)
        seen = []

        def probes():
            seen.extend(f for f in tap.arrived() if is_probe(f))
            return len(seen) >= 3
        wait_for("probes", probes)
        wait_for("answers", lambda: a.counters()["probe_replies"] > 0)
        wire = RawPort(self.wires[1].far)
        self.addCleanup(wire.close)
        before = b.counters()
        for f in seen:
            wire.send(f)  # replayed
            for at in (29, 34, 49, 53, 57, 61, 65, 72):  # address, port, QPN, PSN, time, id, tag, ICRC
                wire.send(f[:at] + bytes([f[at] ^ 1]) + f[at + 1:])
            for end in range(34, len(f)):
                wire.send(f[:end])

        def flood():
            for _ in range(200):  # more at once would not fit the port's ring
                wire.send(seen[0])
            now = b.counters()
            return now if now["replayed"] - before["replayed"] >= REPLAYED else None
        after = wait_for("the flood", flood)
        self.assertGreaterEqual(after["bad_probe_icrc"] - before["bad_probe_icrc"], len(seen))
        asked = a.counters()["probe_replies"]
        wait_for("more answers", lambda: a.counters()["probe_replies"] > asked)
        self.settle(*ends)
        self.whole(*ends)
        cb, ca = b.counters(), a.counters()  # in this order: A may ask between the two
        self.assertLessEqual(cb["answered"], ca["probes_peer"] + ca["traces"])
        self.assertEqual((cb["reports_accepted"], cb["flows_created"]), (0, before["flows_created"]))
        self.stop(a)
        self.stop(b)

    def test_forged_answers(self):
        """Datagrams to hp3's own port that nobody asked for: counted, consumed, nothing else."""
        a = self.start(ppp=EAGER, probes={"probe_key": KEY})
        raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.addCleanup(raw.close)
        raw.bind((self.net.far, 0))
        payload = struct.pack(">BBBBIQ", 0x33, 0x10, 0, 0, 1, 2) + bytes(16)
        udp = struct.pack(">HHHH", 50000, 4795, 8 + len(payload), 0) + payload
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0x4000, 64, 17, 0) + bytes(
            (10, 9, 0, 2, 10, 9, 0, 1))
        total = sum(struct.unpack(">10H", ip))
        total = (total >> 16) + (total & 0xffff)
        ip = ip[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xffff) + ip[12:]
        for _ in range(100):
            raw.send(bytes(12) + b"\x08\x00" + ip + udp)
        wait_for("the datagrams", lambda: a.counters()["packets_rx"] >= 100)
        time.sleep(0.1)
        self.assertEqual(a.counters()["probe_replies"], 0)
        self.assertEqual(a.counters()["flows_created"], 0)
        self.stop(a)


if __name__ == "__main__":
    run()
