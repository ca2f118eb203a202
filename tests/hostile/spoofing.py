#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An attacker in the network that sends with other hosts' addresses.

usage: spoofing.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
from hostile import QPN_A, VICTIM_A, VICTIM_B, Hostile, run
from frames import ACK, CNP, roce
from harness import wait_for

WINDOW = 0x200  # PSNs before and behind the newest one


class Spoofing(Hostile):
    @staticmethod
    def ended(d, how):
        """Moves that ended like this."""
        return [e for e in d.json("events") if e["type"] == how]

    def test_wrong_icrc_ends_no_hold(self):
        """He knows queue pair and PSN: with a wrong ICRC the acknowledgement of the closing packet releases nothing."""
        d = self.shipped(ppp={"probe": "off"})
        a, b, flows = self.victims(d, qps=1, window=4096, rate=2000)
        port, sent = self.attacker(self.net), 0
        while not self.ended(d, "switch"):
            b.tell("withhold 1")
            moves = len(self.ended(d, "recover"))
            d.move(flows[0], "--port", str(self.port(0)), "--no-wait")
            wait_for("a drain", lambda: d.json("show", flows[0])[0]["state"] == "draining" or len(self.ended(d, "recover")) > moves)
            psn = a.report()["qps"][0]["sent"]
            forged = [bytearray(roce(VICTIM_B, VICTIM_A, 0xc001, ACK, QPN_A, p & 0xffffff, 0, b"\x1f\0\0\0"))
                      for p in range(psn - WINDOW, psn + WINDOW)]
            for f in forged:
                f[-1] ^= 1
            sent += self.flood(port, forged)
            state, early = d.json("show", flows[0])[0]["state"], self.ended(d, "switch")
            late = len(self.ended(d, "recover")) > moves  # after [rfr] max_hold_us: on a busy machine, once more
            b.tell("withhold 0")
            if not late:
                self.assertEqual((state, early), ("draining", []))
                wait_for("the end of the move", lambda: self.ended(d, "switch") or len(self.ended(d, "recover")) > moves)
        self.settle(a)
        ra, rb = a.report(), b.report()
        self.assertEqual(set(rb["faults"].values()), {0}, rb["faults"])
        self.assertEqual(ra["faults"].pop("bad_icrc"), sent)
        self.assertEqual(set(ra["faults"].values()), {0}, ra["faults"])
        self.assertEqual(ra["sent"], rb["received"])
        self.stop(d)

    def test_cnps_move_nothing(self):
        """Congestion that is made up: hp3d asks other paths, and no answer speaks for one. Who stays is told."""
        d = self.shipped(ppp={"probe": "peer"})
        a, b, flows = self.victims(d)
        n = self.flood(self.attacker(self.net), (
            roce(VICTIM_B, VICTIM_A, 0xc001, CNP, QPN_A + i % 2, 0, 0, bytes(16)) for i in range(5000)))
        counters = wait_for("all", lambda: (lambda c: c if c["class_cnp"] >= n else None)(d.counters()))
        self.assertEqual(counters["class_cnp"], n)
        self.assertLess(counters["probes"], n // 10)
        self.assertLess(counters["cnps_withheld"], n // 10)
        self.assertEqual(self.by_itself(d), [])
        self.unhurt(d, a, b, flows)


if __name__ == "__main__":
    run()
