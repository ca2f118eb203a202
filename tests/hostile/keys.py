#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two hosts without a configured key agree on a key ([probes] keys = auto), despite attackers.

usage: keys.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import random
import shutil
import struct
import threading
import time
from hostile import VICTIM_A, VICTIM_B, Hostile, run, send_at
from frames import PROBES_VERSION
from harness import CLONE_NEWNS, LIBC, MS_PRIVATE, MS_REC, die_with_parent, wait_for
from network import HP3_PORT, datagram
from two_paths import TwoPaths

QPS = 2
ENOUGH = 3000  # packets
# As in pipeline/spraying, but with rfr.mode = auto, and without a key.
SETTINGS = {"ppp": {"probe": "peer", "rtt_factor": 10000, "probe_timeout_us": 100000},
            "rfr": {"mode": "auto", "spray_wait_us": 500000, "spray_keepalive_us": 100000, "stall_us": 0},
            "probes": {"keys": "auto"}}
GROUP = "000102030405060708090a0b0c0d0e0f"
INIT, COOKIE, REPLY, CONFIRM = 1, 2, 3, 4  # probes/handshake.h
SPORT = 795  # likewise
LENGTHS = {INIT: 96, COOKIE: 28, REPLY: 84, CONFIRM: 84}
FORGED_PER_S, FLOOD_S = 10000, 2
MS_BIND = 4096


def forged(kind, source, body, sport=SPORT):
    """A message of key agreement to the second host, from hp3d's source port; `body`: what follows the head."""
    message = struct.pack(">BBH", 0x6b, PROBES_VERSION << 4 | kind, 0) + body[:LENGTHS[kind] - 4]
    if kind == INIT:
        message = message[:76] + bytes(20)
    frame = bytearray(datagram(source, VICTIM_B, HP3_PORT, message))
    frame[34:36] = struct.pack(">H", sport)
    pseudo = bytes(frame[26:34]) + struct.pack(">HH", 17, len(frame) - 34) + bytes(frame[34:])
    total = sum(struct.unpack(f">{(len(pseudo) + 1) // 2}H", pseudo + bytes(len(pseudo) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    frame[40:42] = struct.pack(">H", ~total & 0xffff)
    return bytes(frame)


def is_agreement(frame):
    return len(frame) > 43 and frame[12:14] == b"\x08\x00" and frame[23] == 17 and \
        frame[34:38] == struct.pack(">HH", SPORT, HP3_PORT) and frame[42] == 0x6b


def of_another_boot(directory):
    """hp3d sees another boot id from now on: on another machine it would, too."""
    path = os.path.join(directory, "boot_id")
    with open(path, "w", encoding="ascii") as f:
        f.write(directory)

    def prepare():
        die_with_parent()
        if LIBC.unshare(CLONE_NEWNS) != 0 or LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0 or \
                LIBC.mount(path.encode(), b"/proc/sys/kernel/random/boot_id", None, MS_BIND, None) != 0:
            os._exit(99)
    return prepare


class Hosts(TwoPaths, Hostile):
    def begin(self, paired=True, **more):
        a, b = self.pair_of_daemons(**{**SETTINGS, **more})
        ends = self.endpoints(qps=QPS, message=600)  # 153,600 bytes each: sprayed
        self.traffic(ends[0])
        if paired:
            a.paired(QPS)
        return a, b, ends

    def end(self, a, b, ends):
        self.settle(ends[0])
        sent, received = (e.report() for e in ends)
        del received["faults"]["runs_lost"]  # each packet may be on another port than the one before it
        self.assertEqual(set(received["faults"].values()) | set(sent["faults"].values()), {0}, (sent["faults"], received["faults"]))
        self.assertEqual([q["sent"] for q in sent["qps"]], [q["received"] for q in received["qps"]])
        self.stop(a)
        self.stop(b)

    def events(self, d, kind):
        return [e for e in d.json("events") if e["type"] == kind]

    def keyed(self, *daemons):
        for d in daemons:
            wait_for("a key", lambda d=d: self.events(d, "keyed"))

    def sprays(self, a, b):
        """From now on, so many packets more."""
        sprayed, held = a.counters()["sprayed"], b.counters()["reseq_held"]
        wait_for("packets on both paths", lambda: a.counters()["sprayed"] > sprayed + ENOUGH)
        wait_for("packets that arrive out of order", lambda: b.counters()["reseq_held"] > held + ENOUGH / 10)

    def up(self, d, prepare=die_with_parent):
        d.begin(prepare)
        wait_for("its ports", lambda: d.process.poll() is None and d.ctl("health", code=None).returncode == 0)

    def identity(self, d):
        return os.path.join(d.directory, "state", "identity")

    def restarted(self, b):
        self.stop(b)
        self.up(b)

    def agrees(self, d, keys, before):
        """From now on it begins with keys = `keys`; it was begun with `before`."""
        self.stop(d)
        with open(d.config, encoding="utf-8") as f:
            text = f.read()
        self.assertIn(f'keys = "{before}"', text)
        with open(d.config, "w", encoding="utf-8") as f:
            f.write(text.replace(f'keys = "{before}"', f'keys = "{keys}"'))
        self.up(d)


class Keys(Hosts):
    def test_two_hosts_agree_and_spray(self):
        """Without any key in their configurations, in order; what they know of each other is the other one's identity."""
        a, b, ends = self.begin()
        self.keyed(a, b)
        self.sprays(a, b)
        for d, other in ((a, b), (b, a)):
            event, = self.events(d, "keyed")
            with open(self.identity(other), encoding="ascii") as f:
                self.assertEqual(event["identity"], f.read().split()[-1])
            self.assertEqual(os.stat(self.identity(d)).st_mode & 0o7777, 0o600)
        for d, ways in ((a, ("10.9.0.1", "10.9.0.2", "sprayed")), (b, ("10.9.0.2", "10.9.0.1", "resequenced"))):
            # The second host only receives: no flow is its own.
            peer, = d.json("peers")
            self.assertEqual((peer["local"], peer["peer"], peer["key"], peer["agreement"], peer["version"], peer[ways[2]]),
                             (*ways[:2], "auto", "keyed", PROBES_VERSION, QPS))
            self.assertEqual((peer["sprayed_reads"], peer["resequenced_reads"]), (0, 0))
            self.assertEqual(peer["identity"], self.events(d, "keyed")[0]["identity"])
            self.assertGreater(peer["keyed_ns"], 0)
            self.assertIn(peer["identity"], d.ctl("peers").stdout)
        peer, = a.json("peers")
        self.assertEqual((peer["hp3d"], peer["probes"], peer["reports"], peer["sprayed"]), ("hp3d", True, True, QPS))
        self.end(a, b, ends)

    def test_off_agrees_on_nothing(self):
        a, b, ends = self.begin(far={"probes": {"keys": "off"}})
        wait_for("questions that are refused", lambda: b.counters()["keys_refused"] > 1)
        wait_for("messages", lambda: ends[0].report()["acked"] > ENOUGH)
        self.assertEqual((self.events(a, "keyed"), a.counters()["sprayed"], os.path.exists(self.identity(b))), ([], 0, False))
        self.end(a, b, ends)

    def test_mode_off(self):
        """Only forwards: hp3d asks nobody, and agrees when the operator turns it on."""
        a, b, ends = self.begin(paired=False, policy={"mode": "off"})
        wait_for("messages", lambda: ends[0].report()["acked"] > ENOUGH)
        self.assertEqual([d.counters()[name] for d in (a, b) for name in ("keys_asked", "keys_messages")], [0] * 4)
        for d in (a, b):
            d.ctl("mode", "on")
        self.keyed(a, b)
        self.sprays(a, b)
        self.end(a, b, ends)

    def test_no_downgrade(self):
        """A host with the key of a group agrees with nobody, and a host without that key stays without one."""
        a, b, ends = self.begin(probes={"probe_key": GROUP}, far={"probes": {"keys": "auto"}})
        wait_for("questions that are refused", lambda: a.counters()["keys_refused"] > 1)
        wait_for("messages", lambda: ends[0].report()["acked"] > ENOUGH)
        for d in (a, b):
            c = d.counters()
            self.assertEqual((self.events(d, "keyed"), c["sprayed"], c["agreements"]), ([], 0, 0))
        self.assertEqual([(p["key"], p["identity"], p["reports"]) for p in a.json("peers")], [("group", None, False)])
        self.end(a, b, ends)

    def flood_of(self, frames):
        """In a thread of its own, so many a second."""
        thread = threading.Thread(target=send_at, args=(self.attacker(self.wires[1]), frames, FORGED_PER_S))
        thread.start()
        return thread

    def test_a_flood_of_first_messages(self):
        """From invented addresses, and from that of the peer, before two hosts agree and after: they do, and go on to spray."""
        r = random.Random(1)
        frames = [forged(INIT, VICTIM_A if i % 4 == 0 else bytes((10, 128)) + i.to_bytes(2, "big"), r.randbytes(96))
                  for i in range(FORGED_PER_S * FLOOD_S)]
        a, b = self.pair_of_daemons(**SETTINGS)
        flood = self.flood_of(frames)
        ends = self.endpoints(qps=QPS, message=600)
        self.traffic(ends[0])
        self.keyed(a, b)
        self.sprays(a, b)
        flood.join()
        c = b.counters()
        self.assertGreater(c["keys_unknown_peers"] + c["keys_cookies"] + c["keys_flooded"], 0.5 * len(frames))
        self.assertLessEqual(c["keys_computed"], 2)
        self.assertEqual([c[name] for name in ("keys_keyed", "keys_replaced", "keys_full", "flows_full", "pairs_full")], [1, 0, 0, 0, 0])
        self.sprays(a, b)
        self.end(a, b, ends)

    def test_no_amplifier(self):
        """No more bytes come back than were sent, as packets on the wire: to whom the RNIC talks, and to unauthenticated sources none."""
        a, b, ends = self.begin()
        self.keyed(a, b)
        r, port = random.Random(2), self.attacker(self.wires[1])
        for source, answered in ((VICTIM_A, True), (bytes((10, 128, 1, 1)), False)):
            list(port.arrived())
            before, sent, came = b.counters(), 0, []
            for _ in range(400):
                frame = forged(INIT, source, r.randbytes(96))
                port.send(frame)
                sent += len(frame)
                time.sleep(0.002)
                came += [f for f in port.arrived() if is_agreement(f)]
            wait_for("all", lambda n=before["keys_messages"]: b.counters()["keys_messages"] >= n + 400)
            came += [f for f in port.arrived() if is_agreement(f)]
            self.assertEqual(bool(came), answered)
            self.assertLessEqual(sum(map(len, came)), sent)
            self.assertLessEqual(max(map(len, came), default=0), 138)
        self.end(a, b, ends)

    def test_messages_that_are_made_up(self):
        """Of every kind, with the peer's address and any content: the key stays, and so does spraying."""
        a, b, ends = self.begin()
        self.keyed(a, b)
        self.sprays(a, b)
        r, before = random.Random(3), b.counters()
        self.flood(self.attacker(self.wires[1]), (forged(kind, VICTIM_A, r.randbytes(96)) for _ in range(1000)
                                                  for kind in (INIT, COOKIE, REPLY, CONFIRM)))
        c = wait_for("all", lambda: (lambda c: c if c["keys_messages"] >= before["keys_messages"] + 4000 else None)(b.counters()))
        for name in ("keys_keyed", "keys_replaced", "keys_cloned", "sprays_broken"):
            self.assertEqual(c[name], before[name], name)
        self.assertLessEqual(c["keys_computed"], before["keys_computed"] + 4 + 20)  # of a peer: 4, and 1 a second
        self.assertEqual(self.events(b, "identity"), [])
        self.sprays(a, b)
        self.end(a, b, ends)

    def test_a_user_of_the_host(self):
        """Without a privileged port he is not heard, whatever he sends; and where there is hp3d, nothing of his leaves."""
        a, b, ends = self.begin()
        self.keyed(a, b)
        r, port, before = random.Random(4), self.attacker(self.wires[1]), b.counters()
        self.flood(port, (forged(kind, VICTIM_A, r.randbytes(96), sport) for _ in range(100)
                          for kind in (INIT, COOKIE, REPLY, CONFIRM) for sport in (1024, HP3_PORT, 65535)))
        c = wait_for("all", lambda: (lambda c: c if c["keys_unprivileged"] >= before["keys_unprivileged"] + 1200 else None)(b.counters()))
        self.assertEqual([c[name] - before[name] for name in ("keys_cookies", "keys_to_compute", "keys_replaced")], [0, 0, 0])
        inside = self.attacker(self.rnic)
        before, dropped = b.counters()["keys_messages"], a.counters()["drop_host"]
        frames = [forged(INIT, VICTIM_A, r.randbytes(96), sport) for _ in range(100) for sport in (SPORT, HP3_PORT, 40000)]
        self.flood(inside, frames)
        wait_for("drops", lambda: a.counters()["drop_host"] >= dropped + len(frames))
        self.assertLess(b.counters()["keys_messages"], before + 20)  # of hp3d itself
        self.end(a, b, ends)

    def test_another_vlan(self):
        """First messages with the peer's address, tagged: nothing comes back, and the key stays."""
        a, b, ends = self.begin()
        self.keyed(a, b)
        self.sprays(a, b)
        r, port, before = random.Random(5), self.attacker(self.wires[1]), b.counters()
        frames = [forged(INIT, VICTIM_A, r.randbytes(96)) for _ in range(400)]
        self.flood(port, (f[:12] + bytes.fromhex("81000007") + f[12:] for f in frames))
        c = wait_for("all", lambda: (lambda c: c if c["keys_other_vlan"] >= before["keys_other_vlan"] + 400 else None)(b.counters()))
        self.assertEqual([c[name] - before[name] for name in ("keys_cookies", "keys_to_compute", "keys_replaced")], [0, 0, 0])
        self.sprays(a, b)
        self.end(a, b, ends)

    def test_a_copied_identity(self):
        """On both hosts, of a copied disk: they find out, one draws a new identity, keeps it, and both agree on a key."""
        a, b = (self.daemon({"rail0": (link.devargs(0), wire.devargs(1))}, begin=False, **SETTINGS)
                for link, wire in zip((self.rnic, self.net), self.wires))
        self.up(a, of_another_boot(a.directory))
        shutil.copytree(os.path.join(a.directory, "state"), os.path.join(b.directory, "state"))
        with open(self.identity(a), encoding="ascii") as f:
            copied = f.read()
        self.up(b, of_another_boot(b.directory))
        ends = self.endpoints(qps=QPS, message=600)
        self.traffic(ends[0])
        self.keyed(a, b)
        self.sprays(a, b)
        found = [self.events(d, "cloned") for d in (a, b)]
        self.assertEqual({e["identity"] for e in found[0] + found[1]}, {copied.split()[-1]})
        kept = []
        for d in (a, b):
            with open(self.identity(d), encoding="ascii") as f:
                kept.append(f.read())
        self.assertEqual(sum(text == copied for text in kept), 1)
        self.assertEqual(sum("this host has a new identity" in d.output() for d in (a, b)), 1)
        self.end(a, b, ends)


class Silence(Hosts):
    """What a host does when it has heard nothing for ten seconds or more."""
    def test_restarts(self):
        """With its identity a host is who it was. Without, it is another one, which counts when the old one was silent for 10 s."""
        a, b, ends = self.begin()
        self.keyed(a, b)
        self.sprays(a, b)
        ends[0].tell("stop")
        wait_for("all ACKs", ends[0].all_acked)
        self.restarted(b)
        self.traffic(ends[0])
        self.keyed(b)
        self.sprays(a, b)
        self.assertEqual((len(self.events(a, "keyed")), self.events(a, "identity")), (1, []))
        old = self.events(a, "keyed")[0]["identity"]
        ends[0].tell("stop")
        wait_for("all ACKs", ends[0].all_acked)
        os.remove(self.identity(b))
        begin = time.monotonic()
        self.restarted(b)
        self.traffic(ends[0])
        event, = wait_for("the new identity", lambda: self.events(a, "identity"), 40)
        self.assertGreater(time.monotonic() - begin, 10)
        self.assertEqual(event["before"], old)
        self.keyed(b)
        self.sprays(a, b)
        self.end(a, b, ends)

    def test_a_peer_that_agrees_no_more(self):
        """With keys = off after a restart: the other host finds out, and has no key then. Both agree again when it is auto again."""
        a, b, ends = self.begin()
        self.keyed(a, b)
        self.sprays(a, b)
        ends[0].tell("stop")
        wait_for("all ACKs", ends[0].all_acked)
        self.agrees(b, "off", "auto")
        self.traffic(ends[0])
        self.assertEqual([p["agreement"] for p in a.json("peers")], ["keyed"])
        wait_for("no key", lambda: [p["agreement"] for p in a.json("peers")] == ["asked"], 40)
        c = a.counters()
        self.assertEqual((c["keys_silent"], c["keys_replaced"]), (1, 0))
        acked = ends[0].report()["acked"]
        wait_for("messages", lambda: ends[0].report()["acked"] > acked + ENOUGH)
        ends[0].tell("stop")
        wait_for("all ACKs", ends[0].all_acked)
        self.agrees(b, "auto", "off")
        self.traffic(ends[0])
        self.keyed(b)
        wait_for("the key again", lambda: len(self.events(a, "keyed")) == 2)
        self.sprays(a, b)
        self.end(a, b, ends)


if __name__ == "__main__":
    run()
