#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""DSCP and ECN of hp3d's own packets. There are two hp3ds: the first as shipped, the second with
[ppp] answer_dscp = data. The endpoints' data have DSCP 0 and ECT(0).

usage: classes.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
from cases import run
from frames import PROBE, REPORT, probe_magic
from harness import RawPort, wait_for
from two_paths import DEATHS, TwoPaths

KEY = "000102030405060708090a0b0c0d0e0f"
OWN_PORT, ROCE_PORT = 4795, 4791
AS_DATA, AS_CNPS = 2, 48 << 2
EAGER = {"probe": "peer", "rtt_factor": 101, "congestion_tolerance": 1, "improve": 100, "cycle_us": 1000,
         "backoff_min_us": 1000, "backoff_max_us": 5000, "probe_timeout_us": 100000}


def told(frame):
    """Traffic class of a frame, and what it is, if hp3d says it."""
    ipv6 = frame[12:14] == b"\x86\xdd"
    l4 = frame[54 if ipv6 else 34:]
    tclass = int.from_bytes(frame[14:16], "big") >> 4 & 0xff if ipv6 else frame[15]
    port = int.from_bytes(l4[2:4], "big")
    if port == OWN_PORT:
        return ("answer" if l4[8] == 0x68 else "agreement"), tclass
    if port == ROCE_PORT and l4[8] == 0x81:
        return "cnp", tclass
    if port == ROCE_PORT and l4[8] == 0x2a:
        return {probe_magic(PROBE): "probe", probe_magic(REPORT): "report"}[l4[20:22]], tclass
    return None, tclass


class Classes(TwoPaths):
    def tap(self, wire):
        tap = RawPort(wire.far)
        self.addCleanup(tap.close)
        seen = {}

        def look():
            for frame in tap.arrived():
                what, tclass = told(frame)
                if what is not None:
                    seen.setdefault(what, set()).add(tclass)
            return seen
        return look

    def begin(self, endpoints, **sections):
        a, b = self.pair_of_daemons(probes={"probe_key": KEY}, far={
            "ppp": {**sections["ppp"], "answer_dscp": "data"}}, **sections)
        taps = [self.tap(wire) for wire in self.wires]
        ends = self.endpoints(qps=1, **endpoints)
        return a, b, taps, ends

    def classes(self, kinds, endpoints, **sections):
        """Both say all of `kinds`, each in its class."""
        a, b, taps, ends = self.begin(endpoints, **sections)
        self.traffic(*ends)
        a.paired(1)
        self.relay("marks")
        for look in taps:
            wait_for("all kinds", lambda look=look: set(look()) >= set(kinds))
        self.settle(*ends)
        for look, own in zip(taps, (AS_CNPS, AS_DATA)):
            for what, seen in look().items():
                # answers are not ECT, whatever the probe was
                want = AS_DATA if what == "probe" else AS_DATA & ~3 if own == AS_DATA and what == "answer" else own
                self.assertEqual(seen, {want}, what)
        self.stop(a)
        self.stop(b)

    def test_ipv4(self):
        self.classes(("probe", "answer", "cnp"), {}, ppp=EAGER, cc={"mode": "off", "np_how": "cnp"})

    def test_ipv6(self):
        self.classes(("probe", "answer"), {"ipv6": 1}, ppp=EAGER)

    def test_reports(self):
        a, b, (look, _), ends = self.begin({}, **DEATHS)
        self.traffic(ends[0])
        a.paired(1)
        wait_for("traffic", lambda: ends[0].report()["acked"] > 100)
        self.relay("dead1")
        wait_for("a report", lambda: "report" in look())
        wait_for("other replies", lambda: [e for e in b.json("events") if e["type"] == "replies"])
        self.settle(ends[0])
        self.assertEqual(look()["report"], {AS_CNPS})
        self.stop(a)
        self.stop(b)


if __name__ == "__main__":
    run()
