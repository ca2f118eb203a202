#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`hp3ctl mode` while flows are being moved, with the default configuration.

usage: mode.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import os
import signal
import time
from cases import Wired, run
from harness import wait_for

QPS = 4
OWN = ("probes", "traces", "reports", "ack_solicitations", "naks_made", "challenges_forced", "cnps_withheld")


class Mode(Wired):
    def traffic(self, **sections):
        d = self.daemon({"rail0": self.ports()}, defaults=True, **sections).up()
        a, b = self.endpoints(qps=QPS)
        for e in (a, b):
            e.tell("send 1000000")
        return d, a, b, d.paired(QPS)

    def reload(self, d, more, good=True):
        """With more at the end of the first file. What hp3d says of it."""
        path = os.path.join(d.directory, "hp3.ini")
        if not hasattr(d, "first_file"):
            with open(path) as f:
                d.first_file = f.read()
        with open(path, "w") as f:
            f.write(d.first_file + more)
        said = len(d.output())
        d.process.send_signal(signal.SIGHUP)
        wait_for("the reload", lambda: ("hp3d: reloaded" if good else "reload refused") in d.output()[said:])
        return d.output()[said:]

    def home(self, d):
        wait_for("all flows at home", lambda: not any(f["moved"] or f["state"] != "steady" for f in d.flows()))

    def own(self, d):
        counters = d.counters()
        return {name: counters[name] for name in OWN if name in counters}

    def test_turned_off_and_on(self):
        d, a, b, flows = self.traffic()
        self.assertEqual(d.ctl("mode").stdout, "mode on, set by the configuration\n")
        for i in range(4):
            wanted = ("off", "observe")[i % 2]
            for flow in flows:
                d.ctl("move", flow, "--port", str(self.port(i // 2 % 2)), "--no-wait", code=None)
            time.sleep(0.002 * i)  # in whatever state they are
            self.assertEqual(d.ctl("mode", wanted).stdout, f"mode {wanted}, set by the operator\n")
            self.home(d)
            quiet, held = self.own(d), d.counters()["held_packets"]
            error = d.json("move", flows[0], "--random", code=1)[0]["error"]
            self.assertEqual(error["code"], "not-permitted")
            self.assertIn("type hp3ctl mode on", error["fix"])
            time.sleep(0.1)
            self.assertEqual((self.own(d), d.counters()["held_packets"]), (quiet, held), wanted)
            self.assertEqual(d.ask("health")["mode"], wanted)
            d.ctl("mode", "on")
        for flow in flows:
            self.move(d, flow, self.port(1))
        self.settle(a, b)
        self.whole(a, b)
        changes = [(e["from"], e["to"], e["by"]) for e in d.json("events", "--type", "mode")]
        self.assertEqual(changes, [c for i in range(2) for c in (("on", "off", "operator"), ("off", "on", "operator"),
                         ("on", "observe", "operator"), ("observe", "on", "operator"))])
        self.assertIn("on -> off, set by the operator", d.ctl("events", "--type", "mode").stdout)
        self.assertIn("mode off, was on; set by the operator", d.output())
        self.assertIn("did you mean off?", d.ctl("mode", "of", code=2).stderr)
        self.stop(d)

    def test_reload(self):
        """What an operator said holds until the file says something else."""
        d, a, b, flows = self.traffic()

        def reload(more):
            self.reload(d, more)
            return d.json("mode")[0]

        self.move(d, flows[0], self.port(1))
        d.ctl("mode", "off")
        self.home(d)
        self.assertEqual(reload("[ppp]\nanswer_dscp = 46\n"), {"v": 1, "mode": "off", "mode_by": "operator"})
        self.assertEqual(reload("[policy]\nmode = observe\n"), {"v": 1, "mode": "observe", "mode_by": "configuration"})
        self.assertEqual(reload("[policy]\nmode = on\n"), {"v": 1, "mode": "on", "mode_by": "configuration"})
        self.move(d, flows[0], self.port(1))
        self.assertEqual(reload("[policy]\nmode = off\n")["mode"], "off")
        self.home(d)
        self.settle(a, b)
        self.whole(a, b)
        self.stop(d)

    def test_filter(self):
        """What [filter] bars stays, and comes home if it was elsewhere; the rest goes on to be moved."""
        d, a, b, flows = self.traffic()
        local = {f["flow"]: f["local_qpn"] for f in d.flows()}
        barred = flows[:2]
        for flow in flows:
            self.move(d, flow, self.port(1))
        self.reload(d, f"[filter]\nqpns = {','.join(str(q) for f, q in local.items() if f not in barred)}\n")

        def away():
            return {f["flow"] for f in d.flows() if f["moved"]}
        wait_for("what is barred at home", lambda: away() == set(flows) - set(barred))
        for flow in barred:
            self.assertEqual(d.json("move", flow, "--random", code=1)[0]["error"]["code"], "barred")
            self.assertIn("[filter] bars it", d.ctl("move", flow, "--random", code=1).stderr)
        self.assertIn("[filter] bars its qpn", d.ctl("why", barred[0]).stdout)
        self.assertEqual({f["flow"] for f in d.json("flows", "--filter", "barred")}, set(barred))
        for flow in set(flows) - set(barred):
            self.move(d, flow, self.port(0))
        self.assertEqual({f["flow"]: f["barred"] for f in d.flows()},
                         {f: "qpn" if f in barred else None for f in local})
        self.assertEqual(self.reload(d, "[filter]\npeers = 192.0.2.0/33\n", good=False).count("addresses or prefixes"), 1)
        self.settle(a, b)
        self.whole(a, b)
        self.stop(d)

    def test_off_from_the_start(self):
        """Nothing is learnt, asked, held or changed: what leaves is what came."""
        d = self.daemon({"rail0": self.ports()}, defaults=True, policy={"mode": "off"}).up()
        a, b = self.endpoints(qps=QPS)
        for e in (a, b):
            e.tell("send 1000000")
        wait_for("some traffic", lambda: min(e.report()["acked"] for e in (a, b)) > 1000)
        self.settle(a, b)
        self.whole(a, b)
        counters = d.counters()
        self.assertEqual((counters["changed"], counters["held_packets"], counters["consumed"]), (0, 0, 0))
        self.assertEqual(set(self.own(d).values()), {0})
        self.stop(d)


if __name__ == "__main__":
    run()
