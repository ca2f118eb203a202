#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two endpoints send through hp3d, which moves their connections; every packet arrives in order.

usage: moves.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
from cases import Wired, run
from harness import TWO_LCORES, Link


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
            self.seen(b, 2 + i)  # else the next move may find nothing in flight
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
            self.assertEqual(d.move(flow, "--home")["type"], "idle_switch")
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
        d, flows = self.run_moves(rounds=2, qps=16, pairs=16, sections={"eal": TWO_LCORES})
        self.assertEqual({f["lcore"] for f in d.flows()}, {0, 1})
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
                self.seen(e, 2 + i)
        self.settle(a, b)
        self.whole(a, b)
        self.stop(at_a)
        self.stop(at_b)


if __name__ == "__main__":
    run()
