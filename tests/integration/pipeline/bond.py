#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two rails of one bond: the ports of both ends are members of a bond, and replies arrive on the other rail.

usage: bond.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]

    endpoint a == bond == rail0, rail1 (hp3d) == bond == endpoint b

The bonds are the kernel's, if it has the bonding driver, and otherwise lag.py. With
HP3_LINUX_BOND=1, they have to be the kernel's (tests/lab/linux_bond).
"""
import functools
import json
import os
import signal
import subprocess
import sys
from cases import RC_ENDPOINT, Wired, run
from harness import Client, Endpoint, Link, die_with_parent, wait_for

WINDOW = 512  # packets; it takes a moment to fill
COLLECTS = 63  # state of a member's two ends with LACP: in sync, collecting, distributing (IEEE 802.1AX). Before, a bond drops what the member receives.
KERNEL_MODE = {"lacp": "802.3ad", "active-backup": "active-backup"}


@functools.cache
def has_bonding():
    done = subprocess.run(["ip", "link", "add", "bondtest", "type", "bond"], capture_output=True, check=False)
    subprocess.run(["ip", "link", "del", "bondtest"], capture_output=True, check=False)
    if done.returncode != 0 and os.environ.get("HP3_LINUX_BOND"):
        raise SystemExit(f"bond.py: HP3_LINUX_BOND is set, but the kernel makes no bond: {done.stderr.decode()}")
    return done.returncode == 0


def packets(interface, way):
    """How many packets the interface has received (rx) or sent (tx)."""
    out = subprocess.run(["ip", "-s", "-j", "link", "show", "dev", interface], capture_output=True, check=True).stdout
    return json.loads(out)[0]["stats64"][way]["packets"]


class Bonded(Wired):
    def setUp(self):
        super().setUp()  # the links above the bonds
        self.rnics, self.nets = [[Link(f"{side}{i}") for i in range(2)] for side in "pq"]
        for link in self.rnics + self.nets:
            self.addCleanup(link.remove)

    def lag(self, mode, turn, upper, members):
        p = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(__file__), "lag.py"), mode, str(turn), upper, *members],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        self.addCleanup(p.wait)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stdin.close)
        self.assertEqual(p.stdout.readline(), "ready\n")
        return p

    def kernel_bond(self, mode, policy, name, members):
        more = ["lacp_rate", "fast", "xmit_hash_policy", policy] if mode == "lacp" else []
        subprocess.run(["ip", "link", "add", name, "type", "bond", "mode", KERNEL_MODE[mode], "miimon", "10", *more], check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "del", name], check=False)
        for member in members:
            subprocess.run(["ip", "link", "set", member, "down"], check=True)
            subprocess.run(["ip", "link", "set", member, "master", name], check=True)
        subprocess.run(["ip", "link", "set", name, "up", "arp", "off", "promisc", "on"], check=True)

    def start(self, mode, **sections):
        """hp3d between two bonds. With LACP, the bonds choose different members for requests and replies."""
        rails = {f"rail{i}": (self.rnics[i].devargs(2 * i), self.nets[i].devargs(2 * i + 1)) for i in range(2)}
        far = [[link.far for link in links] for links in (self.rnics, self.nets)]
        self.ends, self.mode = (self.rnic.far, self.net.far), mode
        sections["bond.lag"] = {"rails": "rail0, rail1", "mode": mode}
        if not has_bonding():
            self.rnics_bond = self.lag(mode, 0, self.rnic.near, far[0])
            self.lag(mode, 1 if mode == "lacp" else 0, self.net.near, far[1])
            return self.daemon(rails, **sections).up()
        # hp3d first: a bond whose first LACP messages are lost sends the next one after 30 s.
        d = self.daemon(rails, **sections).up()
        self.ends = f"bonda{os.getpid()}"[:15], f"bondb{os.getpid()}"[:15]
        self.kernel_bond(mode, "layer2", self.ends[0], far[0])
        self.kernel_bond(mode, "layer3+4", self.ends[1], far[1])
        self.wait_for_both_members(d, mode)
        return d

    def wait_for_both_members(self, d, mode):
        wait_for("hp3d to see all links", lambda: all(all(ports.values()) for ports in d.ask("health")["links"].values()))
        if has_bonding() and mode == "lacp":
            for name in self.ends:
                wait_for("LACP with both members", lambda: self.kernels_view(name).count(f"port state: {COLLECTS}\n") == 4, 60)

    def whole(self, a, b):
        """With LACP, bonds of Linux choose the member of an ACK by its ports: those of a move may overtake each other. RNICs ignore the older ones."""
        if not has_bonding() or self.mode != "lacp":
            return super().whole(a, b)
        ra, rb = a.report(), b.report()
        for sender, receiver in ((ra, rb), (rb, ra)):
            faults = {**receiver["faults"], "stray_acks": 0}
            self.assertEqual(set(faults.values()), {0}, faults)
            self.assertEqual([q["sent"] for q in sender["qps"]], [q["received"] for q in receiver["qps"]])
        return ra, rb

    @staticmethod
    def kernels_view(bond):
        with open(f"/proc/net/bonding/{bond}", encoding="ascii") as f:
            return f.read()

    def endpoints(self, **options):
        both = [Endpoint(RC_ENDPOINT, interface, side, slow_us=0, **options) for interface, side in zip(self.ends, "ab")]
        for e in both:
            self.addCleanup(e.kill)
        return both

    def check_moves(self, mode):
        d = self.start(mode)
        a, b = self.endpoints(qps=4)
        a.tell("send 1000000")
        flows = d.paired(4)
        self.assertTrue(all(f.startswith("lag/") for f in flows))
        self.assertEqual({f["rail"] for f in d.flows()}, {"lag"})
        held = 0
        for i in range(3):
            for flow in flows:
                held += self.move(d, flow, self.port(i % 2))["evidence"]["held_pkts"]
            self.seen(b, 2 + i)
        self.assertGreater(held, 0)
        self.settle(a)
        self.whole(a, b)
        return d

    def check_member_goes_down(self, mode, **sections):
        """While a flow is held: what hp3d holds leaves on the other member, in order, and nothing is lost. The member returns while data flow."""
        d = self.start(mode, rfr={"max_hold_us": 1000000}, **sections)
        a, b = self.endpoints(timeout=20, window=WINDOW, rate=4000)
        a.tell("send 1000000")
        flow, = d.paired(1)
        rail = self.carrier_of(b)
        control = Client(d.socket)
        self.addCleanup(control.close)
        b.tell("withhold 1")  # the flow drains, and is held, for as long as no ACK arrives
        control.send(cmd="move", flow=flow, port=self.port(0))
        wait_for("hp3d to hold all that is in flight", lambda: self.is_held(d, a, b))
        subprocess.run(["ip", "link", "set", self.nets[rail].far, "down"], check=True)
        wait_for("hp3d to see the link", lambda: not d.ask("health")["links"][f"rail{rail}"]["net"])
        if "bypass" in sections and sections["bypass"].get("carry_link") == "on":
            self.wait_for_the_rnics_bond(rail)
        b.tell("withhold 0")
        self.assertEqual(self.carrier_of(b), 1 - rail)
        # A bond of Linux distributes on a member before the other bond collects there, and a member that only one bond has left returns
        # only with LACP. So with LACP, data rest while the member returns, and both bonds have to have left it.
        rests = mode == "lacp" and has_bonding()
        if rests:
            self.settle(a)
            self.whole(a, b)
        if not rests or sections.get("bypass", {}).get("carry_link") == "on":
            subprocess.run(["ip", "link", "set", self.nets[rail].far, "up"], check=True)
            self.wait_for_both_members(d, mode)
        if rests:
            a.tell("send 1000000")
        self.carrier_of(b)  # packets arrive: on the member that returned, or on the other one
        self.settle(a)
        self.whole(a, b)
        return d

    def wait_for_the_rnics_bond(self, rail):
        """Until then, it sends packets to the member that has lost its carrier."""
        name = self.rnics[rail].far
        if not has_bonding():
            self.assertEqual(self.rnics_bond.stdout.readline(), f"down {name}\n")
            return
        wait_for("the bond", lambda: f"Slave Interface: {name}\nMII Status: down" in self.kernels_view(self.ends[0]))

    def carrier_of(self, b):
        """The rail on which packets reach endpoint b."""
        before = [packets(link.far, "rx") for link in self.nets]
        got = b.report()["qps"][0]["received"]

        def new():
            return [packets(link.far, "rx") - n for link, n in zip(self.nets, before)]
        # Packets that the endpoint had not read yet came before.
        wait_for("packets", lambda: sum(new()) > 100 and b.report()["qps"][0]["received"] > got + 100)
        of = new()
        return of.index(max(of))

    def is_held(self, d, a, b):
        """Endpoint a has stopped, as its window is full, and hp3d holds all that has not reached endpoint b."""
        counters, ra = d.counters("lag"), a.report()
        held = counters["held_packets"] - counters["released"]
        return held > 0 and ra["sent"] - ra["acked"] == WINDOW and ra["sent"] == held + b.report()["received"]


class Bonds(Bonded):
    def test_lacp(self):
        """Flows are paired and move, although requests and replies take different members."""
        d = self.check_moves("lacp")
        for to_b, from_a in zip(self.nets, self.rnics):
            if not has_bonding():  # messages of LACP come whenever they like
                # A packet leaves by the member on which it came in.
                self.assertGreater(packets(to_b.far, "rx"), 0)
                self.assertGreater(packets(to_b.far, "tx"), 0)
                self.assertEqual(packets(to_b.far, "rx"), packets(from_a.far, "tx"))
                self.assertEqual(packets(from_a.far, "rx"), packets(to_b.far, "tx"))
        self.stop(d)

    def test_active_backup(self):
        self.stop(self.check_moves("active-backup"))

    def test_lacp_member_goes_down(self):
        self.stop(self.check_member_goes_down("lacp"))

    def test_lacp_member_goes_down_with_its_link(self):
        self.stop(self.check_member_goes_down("lacp", bypass={"carry_link": "on"}))

    def test_active_backup_member_goes_down(self):
        """The RNIC's bond sees the failure by carry_link."""
        self.stop(self.check_member_goes_down("active-backup", bypass={"carry_link": "on"}))

    def test_without_fail_open(self):
        self.stop(self.check_member_goes_down("lacp", bypass={"fail_open": "off"}))

    def test_two_lcores(self):
        d = self.start("lacp", eal={"lcores": 2, "spread": "software"})
        a, b = self.endpoints(qps=16, pairs=16)
        a.tell("send 1000000")
        for flow in d.paired(16):
            self.move(d, flow, self.port(0))
        self.assertEqual({f["lcore"] for f in d.flows()}, {0, 1})
        self.settle(a)
        self.whole(a, b)
        self.stop(d)

    def ask(self, d, flow, port):
        """A move that probes confirm, once the outcome of the move before is known."""
        def moved():
            e = d.json("move", flow, "--port", str(port), "--ask", code=None)[0]
            return e if e.get("outcome") == "moved" else None
        self.assertEqual(wait_for("probes to confirm the move", moved)["to"], port)

    def check_probes(self, mode):
        """A flow leaves on rail0. Probes, answers and other messages of hp3d leave there, too."""
        keys = {"probes": {"probe_key": "000102030405060708090a0b0c0d0e0f"}, "rfr": {"mode": "move"},
                "ppp": {"probe": "peer", "rtt_factor": 10000, "probe_timeout_us": 100000}}
        d = self.start(mode, bypass={"carry_link": "on"}, **keys)
        last = Link("o")  # the peer's hp3d has one rail, between the bond and this link
        self.addCleanup(last.remove)
        self.daemon({"rail0": (last.devargs(0), self.net.devargs(1).replace(self.net.near, self.ends[1]))}, **keys).up()
        self.ends = self.ends[0], last.far
        a, b = self.endpoints(timeout=20)  # a member that goes down loses packets
        a.tell("send 1000000")
        flow, = d.paired(1)
        self.ask(d, flow, 50000)
        self.assertGreater(d.counters("lag")["probes_peer"], 0)
        rail = self.carrier_of(b)
        if not has_bonding() or mode != "lacp":
            self.assertEqual(packets(self.nets[1 - rail].far, "rx"), 0)
        subprocess.run(["ip", "link", "set", self.nets[rail].far, "down"], check=True)
        self.wait_for_the_rnics_bond(rail)
        before = packets(self.nets[rail].far, "rx")
        self.ask(d, flow, 60000)
        self.assertEqual(packets(self.nets[rail].far, "rx"), before)
        self.settle(a)
        d.stop()

    def test_probes_with_lacp(self):
        self.check_probes("lacp")

    def test_probes_with_active_backup(self):
        self.check_probes("active-backup")

    def test_all_rails_fail_open_or_none(self):
        rails = {"rail0": (self.rnics[0].devargs(0), self.nets[0].devargs(1)), "rail1": (self.rnics[1].devargs(2), "net_null0")}
        d = self.daemon(rails, **{"bond.lag": {"rails": "rail0, rail1"}}).up()
        self.assertIn("[rail.rail0]: no fail-open: [rail.rail1], which is in the same bond, cannot: net ", d.output())
        self.stop(d)

    def bypass_states(self, d):
        return [rail["state"] for rail in d.ask("health")["bypass"].values()]

    def test_rails_bypass_together(self):
        """They share flows: what is set for one rail counts for the bond, and moved flows keep their ports."""
        d = self.start("lacp")
        a, b = self.endpoints(qps=4)
        a.tell("send 1000000")
        for flow in d.paired(4):
            self.move(d, flow, self.port(0))
        d.ctl("bypass", "on", "--rail", "rail1")
        wait_for("both rails to go direct", lambda: self.bypass_states(d) == ["direct", "direct"])
        got = b.report()["qps"][0]["received"]
        wait_for("packets that go direct", lambda: b.report()["qps"][0]["received"] > got + 100)
        d.ctl("bypass", "auto", "--rail", "lag")
        wait_for("hp3d to take both rails", lambda: self.bypass_states(d) == ["taken", "taken"])
        for flow in d.paired(4):
            self.move(d, flow, self.port(0))
        self.settle(a)
        self.whole(a, b)
        self.stop(d)

    def test_hang(self):
        """Frames of one rail find that hp3d hangs: both rails go direct, and hp3d takes both over again. Flows keep their ports."""
        d = self.start("lacp", bypass={"stale_ms": 200})
        a, b = self.endpoints(qps=2, timeout=17, window=512, rate=4000)
        a.tell("send 1000000")
        wanted = [self.port(0) for _ in range(2)]
        for flow, port in zip(sorted(d.paired(2)), wanted):
            wait_for("a move", lambda: d.json("move", flow, "--port", str(port), code=None)[0].get("outcome") == "moved")
        for _ in range(3):
            d.process.send_signal(signal.SIGSTOP)
            before = [q["received"] for q in b.report()["qps"]]
            wait_for("packets that go direct", lambda: all(
                q["received"] > n + 200 for q, n in zip(b.report()["qps"], before)))
            self.assertEqual(self.last_ports(b), wanted)
            d.process.send_signal(signal.SIGCONT)
            wait_for("hp3d to see that it hung", lambda: "direct" in self.bypass_states(d))
            # A busy machine may have it hang once more: then flows are new again.
            wait_for("hp3d to take both rails, and to pair both flows where they are", lambda:
                     self.bypass_states(d) == ["taken", "taken"] and
                     [(f["paired"], f["port"]) for f in sorted(d.flows(), key=lambda f: f["flow"])] == [(True, port) for port in wanted])
        self.settle(a)
        self.assertEqual([b.report()["faults"][f] for f in ("bad_icrc", "bad_payload")], [0, 0])
        d.stop()

    def last_ports(self, b):
        return [q["ports"][-1][0] for q in b.report()["qps"]]


if __name__ == "__main__":
    run()
