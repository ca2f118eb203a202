#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What hp3ctl prints about flows, with the default configuration.

usage: operator.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import json
import os
import subprocess
import time
from cases import SOURCE, HP3CTL, Wired, run
from harness import Client, wait_for

QPS, RATE, PAYLOAD = 4, 4000, 256
BITS = 8 * (PAYLOAD + 20 + 8 + 12 + 4)  # of a packet, its IP header included


class Operator(Wired):
    def setUp(self):
        super().setUp()
        self.d = self.daemon({"rail0": self.ports()}, defaults=True).up()
        self.a, self.b = self.endpoints(qps=QPS, rate=RATE, payload=PAYLOAD)
        self.a.tell("send 1000000")
        self.flows = sorted(self.d.paired(QPS))

    def test_operator(self):
        """One hp3d for all: to start one takes longer than what it is asked."""
        for name in sorted(n for n in dir(self) if n.startswith("check_")):
            with self.subTest(name):
                self.d.ctl("move", "--all", "--home", code=None)
                getattr(self, name)()
        self.settle(self.a)
        self.whole(self.a, self.b)
        self.stop(self.d)

    def ids(self, *args):
        return [f["flow"] for f in self.d.json("flows", *args)]

    def error(self, *args, code=1):
        return self.d.json(*args, code=code)[0]["error"]

    def check_ports_says_why_there_are_none(self):
        """Who asks for ports on different paths of a peer without hp3d, or in a form that nobody takes."""
        peer = self.flows[0].split("-", 1)[1].split("/")[0]
        self.assertEqual(self.error("ports", "--peer", "10.99.0.1", code=4)["code"], "not-found")
        for name in peer, self.flows[0].rsplit("/", 1)[0]:
            error = self.error("ports", "--peer", name, "--count", "2", "--distinct")
            self.assertEqual(error["code"], "no-data", error)
            self.assertIn("identity = trace", error["fix"])
        for form, said in ("nccl", "NCCL has no variable"), ("uccl", "UCCL takes no list"):
            error = self.error("ports", "--peer", peer, "--format", form)
            self.assertEqual(error["code"], "no-format")
            self.assertIn(said, error["text"])

    def check_a_flow_is_found_by_hp3d(self):
        """By its QPN, its beginning, its end; several that fit are named. One request each."""
        c = Client(self.d.socket)
        self.addCleanup(c.close)
        full = self.flows[2]
        self.assertTrue(full.endswith("/0x000202"))
        for text in (full, "0x202", "0x0202", full[:-1] + "2", full.split("/", 1)[1]):
            self.assertEqual(c.ask(cmd="flow", flow=text)["data"]["flow"], full, text)
        moved = wait_for("a move", lambda: c.ask(cmd="move", flow="0x202", port=self.port(0)).get("data"))
        self.assertEqual(moved["flow"], full)
        before = len(c.ask(cmd="events", flow="0x201", type="switch")["data"])
        wait_for("the move", lambda: c.ask(cmd="events", flow="0x202", type="switch")["data"])
        for event in c.ask(cmd="events", flow="0x202")["data"]:
            self.assertEqual(event["flow"], full)
        self.assertEqual(len(c.ask(cmd="events", flow="0x201", type="switch")["data"]), before)
        self.assertEqual(len(c.ask(cmd="paths", flow="0x202")["data"]), 1)
        error = c.ask(cmd="flow", flow="rail0/")["error"]
        self.assertEqual((error["code"], error["found"], sorted(error["candidates"])),
                         ("ambiguous", QPS, self.flows))
        for text in ("0x2", "0x20", "0x205", "rail1/", "02", "/0x000202x"):
            self.assertEqual(c.ask(cmd="flow", flow=text)["error"]["code"], "not-found", text)
        # hp3ctl shows the same, in words and as JSON.
        run = self.d.ctl("show", "rail0/", code=1)
        self.assertIn("rail0/ may be one of 4 flows", run.stderr)
        self.assertEqual(sorted(line.strip() for line in run.stderr.splitlines()[2:]), self.flows)
        self.assertEqual(self.error("why", "rail0/")["code"], "ambiguous")
        self.assertEqual(self.error("trace", "rail0/", "50000")["found"], QPS)
        self.assertEqual(self.error("paths", "0x999", code=4)["code"], "not-found")
        self.assertIn("switch", self.d.ctl("why", "0x202").stdout)
        self.assertRegex(self.d.ctl("paths", "0x202").stdout, r"^rail0/[\d.]+-[\d.]+: 4 flows")

    def check_rates(self):
        """Acknowledged bits per second, of each flow and of all, within a tenth of what the endpoint counts."""
        before, t = self.a.report()["acked"], time.monotonic()
        flows = self.d.json("flows", "--interval", "2000")
        acked, t = self.a.report()["acked"] - before, time.monotonic() - t
        rates = [f["acked_kbps"] * 1000 for f in flows]
        self.assertEqual(len(rates), QPS)
        for rate in rates:
            self.assertAlmostEqual(rate, acked * BITS / t / QPS, delta=acked * BITS / t / QPS / 10)
        # A flow that is not acknowledged sends on for a while, and has no rate.
        self.b.tell("withhold 1")
        time.sleep(0.5)
        self.assertEqual({f["acked_kbps"] for f in self.d.json("flows", "--interval", "100")}, {0})
        self.b.tell("withhold 0")

    def check_sort(self):
        for _ in range(3):
            self.d.move("0x203", "--random")
        self.assertEqual(self.ids("--sort", "flow"), self.flows)
        self.assertEqual(self.ids("--sort", "flow", "--reverse"), self.flows[::-1])
        moves = {f["flow"]: f["moves"] for f in self.d.flows()}
        self.assertGreater(len(set(moves.values())), 1)
        self.assertEqual(self.ids("--sort", "moves"), sorted(self.flows, key=lambda f: (-moves[f], f)))
        self.assertEqual(self.ids("--sort", "moves", "--reverse"), sorted(self.flows, key=lambda f: (moves[f], f)))
        rates = [f["acked_kbps"] for f in self.d.json("flows", "--sort", "rate")]
        self.assertEqual(rates, sorted(rates, reverse=True))
        self.assertTrue(all(rates))
        ports = [f["port"] for f in self.d.json("flows", "--sort", "port")]
        self.assertEqual(ports, sorted(ports, reverse=True))
        table = self.d.ctl("flows", "--sort", "moves", "--interval", "100").stdout.splitlines()
        self.assertRegex(table[0], r"^FLOW .* STATE .* Mb/s +RTT us +MARKED")
        self.assertTrue(table[1].startswith(self.flows[3]))
        self.assertRegex(table[1], r" (steady|searching) +\d+\.\d ")

    def check_filter(self):
        self.d.move("0x201", "--port", "49152")
        for terms, wanted in (("0x000201", [1]), ("0x0002", [0, 1, 2, 3]), ("moved", [1]), ("!moved", [0, 2, 3]),
                              ("home", [0, 2, 3]), ("paired", [0, 1, 2, 3]), ("unpaired", []), ("port=49152", [1]),
                              ("port>49152 0x000202", [2]), ("port>49152 !0x000200", [2, 3]), ("draining moved", []),
                              ("rtt>1000000", []), ("idle<60000", [0, 1, 2, 3]), ("no such", [])):
            self.assertEqual(sorted(self.ids("--filter", terms)), [self.flows[i] for i in wanted], terms)
        error = self.error("flows", "--filter", "rtr>5")
        self.assertIn("did you mean rtt?", error["text"])
        for bad in ("rtt>", "rtt>x", "=5", "a b c d e f g h i", "x" * 200):
            self.assertEqual(self.error("flows", "--filter", bad)["code"], "bad-request", bad)

    def check_pages(self):
        """A page goes on where the one before ended, filtered or not."""
        c = Client(self.d.socket)
        self.addCleanup(c.close)
        for extra in ({}, {"filter": "0x0002"}, {"filter": "!0x000201"}):
            seen, after = [], None
            while True:
                page = c.ask(cmd="flows", limit=1, **extra, **({"after": after} if after else {}))
                self.assertLessEqual(len(page["data"]), 1)
                seen += [f["flow"] for f in page["data"]]
                after = page.get("next")
                if not after:
                    break
            self.assertEqual(sorted(seen), [f for f in self.flows if not (extra.get("filter", "").startswith("!")
                                                                          and f.endswith("201"))])

    def complete(self, line):
        script = os.path.join(SOURCE, "app/hp3ctl/completion.bash")
        line = line.replace("hp3ctl ", f"{HP3CTL} --socket {self.d.socket} ", 1)
        out = subprocess.run(["bash", "-c", 'source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; COMP_WORDBREAKS="$3"; _hp3ctl;'
                              'printf "%s\\n" "${COMPREPLY[@]}"', "-", script, line, " :"],
                             capture_output=True, text=True, check=True).stdout
        return sorted(out.split())

    def check_completion(self):
        """What completion offers is what flows prints."""
        for command in ("show", "why", "move", "trace", "paths"):
            self.assertEqual(self.complete(f"hp3ctl {command} "), self.flows)
            self.assertEqual(self.complete(f"hp3ctl {command} {self.flows[1]}"), [self.flows[1]])
        self.assertEqual(self.complete("hp3ctl show rail1"), [])
        self.assertEqual(self.complete("hp3ctl trace 0x201 "), [])
        self.assertIn("policy.mode", self.complete("hp3ctl config pol"))
        self.assertEqual(self.complete("hp3ctl config policy.m"), ["policy.mode"])

    def check_did_you_mean(self):
        for args, wanted in ((("flow",), "flows"), (("halth",), "health"), (("mvoe", "0x200"), "move"),
                             (("flows", "--srot", "rate"), "sort"), (("flows", "--sort", "marks"), "marked"),
                             (("events", "--type", "swetch"), "switch")):
            self.assertIn(f"did you mean {wanted}?", self.d.ctl(*args, code=2).stderr)
        for asked, wanted in (("polcy", "policy"), ("max_flow", "max_flows"), ("policy.mod", "mode")):
            self.assertIn(f"did you mean {wanted}?", self.d.ctl("config", asked, code=4).stderr)
        for nonsense in ("zebra", "x"):
            self.assertNotIn("did you mean", self.d.ctl(nonsense, code=2).stderr)
        self.assertEqual(self.d.ctl("config", "policy.mode").stdout, '[policy]\nmode = "on"\n')
        self.assertEqual(self.d.json("config", "cooldown_us"), [{"v": 1, "rfr": {"cooldown_us": 1000}}])
        c = Client(self.d.socket)
        self.addCleanup(c.close)
        self.assertIn("did you mean switch?", c.ask(cmd="events", type="swetch")["error"]["text"])
        self.assertIn("did you mean flows?", c.ask(cmd="flwos")["error"]["text"])


if __name__ == "__main__":
    run()
