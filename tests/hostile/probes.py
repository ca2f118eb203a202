#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An attacker that sends messages of hp3's own protocol with other hosts' addresses: probes,
reports, agreements.

usage: probes.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import re
import signal
import struct
import threading
import time
from hostile import QPN_A, QPN_B, VICTIM_A, VICTIM_B, Hostile, run, send_at
from frames import PROBE, PROBES_VERSION, REPORT, roce
from harness import Client, RawPort, wait_for
from network import HP3_PORT, datagram
from two_paths import DEATHS, TwoPaths

EAGER = {"probe": "peer", "rtt_factor": 101, "congestion_tolerance": 1, "improve": 100, "cycle_us": 1000,
         "backoff_min_us": 1000, "backoff_max_us": 5000, "probe_timeout_us": 100000}
KEY, NEXT_KEY = "000102030405060708090a0b0c0d0e0f", "f0e0d0c0b0a090807060504030201000"
UC_WRITE_ONLY, VERSION = 0x2a, PROBES_VERSION
FORGED_PER_S, FLOOD_S = 20000, 2


def own(kind, source, qpn, psn, number, version=VERSION):
    """A probe, or a report, as who has no key can make it (probes/peer.h)."""
    length = 12 if kind == REPORT else 0
    va = 0x48 << 56 | version << 52 | kind << 48 | (int(time.time()) & 0xffff) << 32 | number
    return roce(source, VICTIM_B, 50000, UC_WRITE_ONLY, qpn, psn, 0, struct.pack(">QII", va, number, length) + bytes(length))


def invented(i):
    return bytes((10, 128)) + (i & 0xffff).to_bytes(2, "big")


def agreement(source, clock_us):
    """An ask to resequence a queue pair of 64 EVs, from hp3's port to hp3's port (probes/agree.h)."""
    frame = bytearray(datagram(source, VICTIM_B, HP3_PORT, struct.pack(">BBBBQ", 0x73, VERSION << 4, 10, 64, clock_us) +
                               struct.pack(">HHIIIII", 0xc000, 0xc001, 1000, QPN_B << 8, QPN_A << 8, 1, 1) + bytes(20)))
    frame[34:36] = struct.pack(">H", HP3_PORT)
    pseudo = bytes(frame[26:34]) + struct.pack(">HH", 17, len(frame) - 34) + bytes(frame[34:])
    total = sum(struct.unpack(f">{(len(pseudo) + 1) // 2}H", pseudo + bytes(len(pseudo) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    frame[40:42] = struct.pack(">H", ~total & 0xffff)
    return bytes(frame)


def kind_of(frame):
    """Of a frame that hp3d made: PROBE, REPORT; else None."""
    if frame[12:14] != b"\x08\x00" or frame[42] != UC_WRITE_ONLY or frame[54] != 0x48 or frame[55] >> 4 != VERSION:
        return None
    return frame[55] & 15


class Probes(TwoPaths, Hostile):
    RING = {"framecnt": 8192}  # 0.4 s of a flood

    def between(self, **sections):
        """Two hp3d whose endpoints send to each other, and who sends to the second one with any address."""
        a, b = self.pair_of_daemons(**sections)
        self.relay("hops")
        ends = self.endpoints(qps=2, timeout=20)  # of their own they send nothing again while hp3d waits for a processor
        self.traffic(*ends)
        for d in (a, b):
            d.paired(2)
        return a, b, ends, self.attacker(self.wires[1])

    def over(self, a, b, ends):
        self.settle(*ends)
        self.whole(*ends)
        self.stop(a)
        self.stop(b)

    def asked(self, d):
        """Probes sent, and those of them that were answered."""
        c = d.counters()
        return c["probes_peer"], c["probe_replies"] + c["probe_strays"]

    def test_a_flood_of_probes_starves_nobody(self):
        """20,000 a second from ever other sources, without a key: what hosts that talk to each other ask is answered."""
        a, b, ends, port = self.between(ppp=EAGER, rfr={"cooldown_us": 1000})
        wait_for("answers", lambda: self.asked(a)[1] > 50)
        frames = [own(PROBE, invented(i), QPN_B, i & 0xffffff, i) for i in range(FORGED_PER_S * FLOOD_S)]
        before, begin, client = b.counters(), time.monotonic(), Client(b.socket)
        self.addCleanup(client.close)

        def taken():
            c = client.ask(cmd="stats")["data"]["rail"]["rail0"]
            return sum(c[name] - before[name] for name in ("flood_unknown", "answered"))
        flooded = threading.Thread(target=send_at, args=(port, frames, FORGED_PER_S, taken))
        flooded.start()
        wait_for("the end of what was saved up", lambda: b.counters()["flood_unknown"] > before["flood_unknown"] + 2000)
        sent, answered = self.asked(a)
        flooded.join()
        seconds = time.monotonic() - begin
        sent, answered = (now - then for now, then in zip(self.asked(a), (sent, answered)))
        after = b.counters()
        self.assertGreater(sent, 30)
        self.assertGreaterEqual(answered, 0.95 * sent)
        self.assertGreater(after["flood_unknown"] - before["flood_unknown"], 0.5 * len(frames))
        self.assertLessEqual(after["answered"] - before["answered"], 2000 * (seconds + 2) + 2 * sent)
        self.assertEqual([after[c] - before[c] for c in ("flood_source", "flood_all", "sources_full")], [0] * 3)
        # In a set of the window, half of the places are for unknown sources. Less than one of these probes is expected to find them full.
        self.assertLessEqual(after["window_full"] - before["window_full"], 8)
        self.assertEqual((after["flows_created"], len(b.json("paths"))), (before["flows_created"], 1))
        self.over(a, b, ends)

    def test_reports_and_agreements_that_are_made_up(self):
        """Without a key none of them means anything."""
        a, b, ends, _ = self.made_up("reports_unkeyed", "messages_unkeyed")
        self.assertEqual((b.counters()["agreements"], a.counters()["agreements_sent"]), (0, 0))
        self.over(a, b, ends)

    def test_made_up_where_there_is_a_key(self):
        """And the peer is heard as before. What is of another version is counted by its name."""
        a, b, ends, port = self.made_up("bad_tag", "messages_bad_tag", probe_key=KEY)
        heard = b.counters()["answered"]
        wait_for("answers to the peer", lambda: b.counters()["answered"] > heard)
        self.flood(port, (own(kind, VICTIM_A, QPN_B, i, i, version) for i in range(100)
                          for kind in (PROBE, REPORT) for version in (VERSION - 1, VERSION + 1)))
        wait_for("those of other versions", lambda: b.counters()["other_version"] == 400)
        self.over(a, b, ends)

    def made_up(self, reports_end, agreements_end, **probes):
        """Reports of hosts that there are and that there are not: no record is made, replies stay where they are.
        An agreement with the greatest clock that there is would silence the peer whose it seems to be."""
        a, b, ends, port = self.between(ppp=EAGER, probes=probes, rfr={"cooldown_us": 1000})
        before = b.counters()
        frames = [own(REPORT, VICTIM_A if i % 2 else invented(i), QPN_B, i, (0x100 + i % 64) << 8 | i & 255)
                  for i in range(10000)]
        self.flood(port, frames)
        for _ in range(10):
            port.send(agreement(VICTIM_A, (1 << 64) - 1))
        after = wait_for("all", lambda: (lambda c: c if c[reports_end] == len(frames) and c[agreements_end] == 10 else None)(
            b.counters()))
        for counter in ("flows_created", "reports_accepted", "reports_taken", "replies_moved"):
            self.assertEqual(after[counter], before[counter], counter)
        self.assertEqual(len(b.json("paths")), 1)
        self.assertEqual([e for e in b.json("events") if e["type"] == "replies"], [])
        return a, b, ends, port

    def reload(self, d, **probes):
        """Other keys of [probes], and hp3d knows."""
        with open(d.config) as f:
            text = f.read()
        text = re.sub(r"(?m)^probe_key.*\n", "", text)
        text = text.replace("[probes]\n", "[probes]\n" + "".join(f"{k} = {v}\n" for k, v in probes.items()))
        with open(d.config, "w") as f:
            f.write(text)
        before = d.output().count("reloaded")
        d.process.send_signal(signal.SIGHUP)
        wait_for("the reload", lambda: d.output().count("reloaded") > before)

    def test_keys_change_under_traffic(self):
        """One host after the other, by reloads: nothing that they say to each other is lost."""
        a, b, ends, _ = self.between(ppp=EAGER, probes={"probe_key": KEY}, rfr={"cooldown_us": 1000})
        refusals = ("bad_tag", "answers_bad_tag", "messages_bad_tag")

        def goes_on(what):
            answered = [self.asked(d)[1] for d in (a, b)]
            wait_for("answers " + what, lambda: all(self.asked(d)[1] > n + 20 for d, n in zip((a, b), answered)))
            for d in (a, b):
                c = d.counters()
                self.assertEqual([c[r] for r in refusals], [0] * 3, what)
        goes_on("before")
        new = {"probe_key": NEXT_KEY, "probe_key_old": KEY, "probe_key_wait_s": 6}  # until then, the other one is reloaded, too
        self.reload(a, **new)
        goes_on("under the old key: only one has the new one")
        self.reload(b, **new)
        self.reload(b, **new)  # again: nothing new
        wait_for("only new ones", lambda: self.spoken(a, b), 60)
        goes_on("under the new key")
        for d in (a, b):
            self.reload(d, probe_key=NEXT_KEY)
            goes_on("without the old one")
        self.assertFalse([key for key in (KEY, NEXT_KEY) for d in (a, b) if key in d.output()])
        self.over(a, b, ends)

    def spoken(self, *daemons):
        """Nobody speaks with the old key any more."""
        before = [d.counters()["old_key"] for d in daemons]
        asked = [self.asked(d)[1] for d in daemons]
        time.sleep(0.2)
        return [d.counters()["old_key"] for d in daemons] == before and \
            all(self.asked(d)[1] > n for d, n in zip(daemons, asked))

    def test_reports_again_after_a_restart(self):
        """Captured, and sent again to the hp3d that comes after: its memory is gone, but they are older than it."""
        a, b = self.pair_of_daemons(**DEATHS, probes={"probe_key": KEY})
        ends = self.endpoints(qps=1)
        tap = RawPort(self.wires[0].far)
        self.addCleanup(tap.close)
        self.traffic(ends[0])
        a.paired(1)
        wait_for("traffic", lambda: ends[0].report()["acked"] > 500)
        self.relay("dead1")
        reports = []

        def moved():
            reports.extend(f for f in tap.arrived() if kind_of(f) == REPORT)
            return reports and [e for e in b.json("events") if e["type"] == "replies"]
        wait_for("other replies", moved)
        ends[0].tell("stop")
        wait_for("all ACKs", lambda: (lambda r: r["acked"] == r["sent"] - r["faults"]["again"])(ends[0].report()))
        self.stop(b)
        b.begin()
        wait_for("its ports", lambda: b.process.poll() is None and b.ctl("health", code=None).returncode == 0)
        port = self.attacker(self.wires[1])
        before = b.counters()
        for frame in reports * 3:
            port.send(frame)
        after = wait_for("them", lambda: (lambda c: c if c["reports_old"] == 3 * len(reports) else None)(b.counters()))
        for counter in ("reports_accepted", "reports_taken", "replies_moved", "flows_created"):
            self.assertEqual(after[counter], before[counter], counter)
        self.stop(a)
        self.stop(b)


if __name__ == "__main__":
    run()
