#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two hp3ds of one rack, each with an endpoint, and two paths between them whose switches answer
traces. The hp3ds advertise to each other how many long flows take each path ([cc] share_moves).
Messages that are not from the rack, changed, or repeated have no effect.

usage: rack.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import struct
import time
from cases import run
from harness import RawPort, wait_for
from two_paths import TwoPaths

KEY = "000102030405060708090a0b0c0d0e0f"
RACK, UNLISTED = "10.9.0.0/29, 10.9.7.7", "10.9.0.2, 10.9.7.7"  # the second one is of 10.9.0.2 alone
OWN_PORT, LOADS, OF_RACK, HEAD = 4795, 0x6c, 2, 42
REPORT_US = 20000


def name_of(addr):
    h = 2166136261
    for byte in addr:
        h = (h ^ byte) * 16777619 & 0xffffffff
    return (h ^ h >> 16) & 0xffff


def ways(frame):
    """{name: (out, in)} of a message to the rack; None: another frame."""
    if frame[12:14] != b"\x08\x00" or frame[23] != 17 or frame[36:38] != struct.pack(">H", OWN_PORT):
        return None
    if frame[HEAD] != LOADS or frame[HEAD + 1] & 15 != OF_RACK:
        return None
    return {name: (out, back) for name, out, back in struct.iter_unpack(">HBB", frame[HEAD + 12:HEAD + 12 + 4 * frame[HEAD + 3]])}


def changed(frame, at):
    """A bit of it, and the checksum of UDP after that."""
    frame = bytearray(frame)
    frame[at] ^= 1
    frame[40:42] = bytes(2)
    pseudo = bytes(frame[26:34]) + struct.pack(">HH", 17, len(frame) - 34) + bytes(frame[34:])
    total = sum(struct.unpack(f">{(len(pseudo) + 1) // 2}H", pseudo + bytes(len(pseudo) % 2)))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    frame[40:42] = struct.pack(">H", ~total & 0xffff)
    return bytes(frame)


class Rack(TwoPaths):
    def begin(self, far_rack=RACK):
        a, b = self.pair_of_daemons(
            ppp={"probe": "peer", "rtt_factor": 10000, "identity": "trace", "traces_per_second": 1000, "trace_recheck_ms": 500},
            cc={"share": "on", "share_moves": "on", "share_advertise_us": REPORT_US}, probes={"probe_key": KEY},
            far={"rail.rail0": {"rack": far_rack}}, **{"rail.rail0": {"rack": RACK}})
        self.seen = []
        tap = RawPort(self.wires[1].far)
        self.addCleanup(tap.close)
        self.tap = tap
        ends = self.endpoints(qps=2, message=1000)  # 256,000 bytes each: long
        self.relay("hops")
        self.traffic(*ends)
        for d in (a, b):
            d.paired(2)
        return a, b, ends

    def said(self):
        """Messages of the second one to the first."""
        self.seen += [f for f in self.tap.arrived() if ways(f) is not None and f[30:34] == bytes((10, 9, 0, 1))]
        return self.seen

    def over(self, a, b, ends):
        self.settle(*ends)
        self.whole(*ends)
        self.stop(a)
        self.stop(b)

    def test_they_tell_each_other(self):
        a, b, ends = self.begin()
        for d in (a, b):
            wait_for("messages of the other", lambda d=d: d.counters()["rack_received"] > 20)
        told = wait_for("all four by name", lambda: [w for w in map(ways, self.said()) if sum(o + i for o, i in w.values()) == 4])[-1]
        names = {name_of((10, 8, 2, n)) for n in (1, 2)}
        self.assertLessEqual(set(told), names)
        self.assertEqual((sum(o for o, _ in told.values()), sum(i for _, i in told.values())), (2, 2))
        for d in (a, b):
            c = d.counters()
            self.assertEqual([c[n] for n in ("rack_stale", "loads_stale", "messages_bad_tag", "messages_bad_form")], [0] * 4)
            self.assertGreater(c["rack_unlisted"], 0)  # to hosts that there are not: here both see all frames
        self.settle(*ends)
        for d in (a, b):
            wait_for("silence", lambda d=d: self.is_quiet(d))  # nothing to tell: nothing is told
        self.whole(*ends)
        self.stop(a)
        self.stop(b)

    @staticmethod
    def is_quiet(d):
        before = d.counters()["rack_sent"]
        time.sleep(20 * REPORT_US / 1e6)
        return d.counters()["rack_sent"] == before

    @staticmethod
    def refused(d):
        """Messages that were heard before, or made before the peer's first answer (rule 36)."""
        c = d.counters()
        return c["messages_replayed"] + c["messages_old"]

    def test_what_was_said_before_or_changed(self):
        a, b, ends = self.begin()
        wait_for("messages", lambda: len(self.said()) > 20)
        port, refused = RawPort(self.wires[0].far), self.refused(a)
        self.addCleanup(port.close)
        # back to front: as the second one's would come to the first one
        for frame in self.seen[:10]:
            port.send(frame)
        wait_for("all, in vain", lambda: self.refused(a) == refused + 10)
        bad = a.counters()["messages_bad_tag"]
        newest = self.said()[-1]
        places = (HEAD + 4, HEAD + 11, HEAD + 12, HEAD + 14, HEAD + 15, len(newest) - 1, 29)
        for at in places:
            port.send(changed(newest, at))
        wait_for("all, unbelieved", lambda: a.counters()["messages_bad_tag"] == bad + len(places))
        self.over(a, b, ends)

    def test_of_no_host_of_the_rack(self):
        """It has the key, and is no host of that rack: its messages end there, and count for nothing."""
        a, b, ends = self.begin(UNLISTED)
        wait_for("messages", lambda: b.counters()["rack_unlisted"] > 20)
        for d in (a, b):
            self.assertEqual((d.counters()["rack_received"], d.counters()["rack_stale"]), (0, 0))
        self.assertGreater(b.counters()["rack_sent"], 0)  # to 10.9.7.7, of which nothing is known
        self.over(a, b, ends)


if __name__ == "__main__":
    run()
