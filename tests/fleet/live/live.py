#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3-fleet on real NATS servers: plans made from reports, choice of the planner, unauthenticated
senders, brokers that die.

usage: live.py HP3_FLEET HP3_FLEET_AGENTS [TEST...]
"""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

from broker import (Planner, Proxy, Server, agents, authority, answering, cbor, certificate, cluster_of_three, free_port, nkey, publish,
                    scratch, wait_for)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../integration/pipeline"))
from harness import own_namespace  # noqa: E402

FLEET, AGENTS = sys.argv[1:3]


class Case(unittest.TestCase):
    def setUp(self):
        held = scratch()
        self.addCleanup(held.cleanup)
        self.dir = held.name

    def started(self, process):
        self.addCleanup(process.kill)
        return process

    def planner(self, servers, name="p0", extra=""):
        return self.started(Planner(FLEET, self.dir, servers, name, extra))

    def agents(self, servers, *args):
        return self.started(agents(AGENTS, self.dir, servers, *args))

    def leads(self, planner):
        return wait_for(lambda: planner.metric("leads") == 1, why=planner.said)


class One(Case):
    def setUp(self):
        super().setUp()
        self.server = self.started(Server(self.dir))

    def test_two_elephants_part(self):
        """One of two goes, as soon as there is a plan; then nothing more is advised."""
        p = self.planner(self.server.url)
        self.agents(self.server.url, "--collision", "--apply", "--seconds", "60")
        wait_for(lambda: p.metric("planned_moves_total") == 1, why=p.said)
        wait_for(lambda: p.metric("plans_total") >= 25)
        self.assertEqual(p.metric("planned_moves_total"), 1)
        top = p.ask("top")
        self.assertEqual((top["summary"]["hosts"], top["summary"]["flows"], top["leads"]), (8, 2, True))
        self.assertEqual(p.metric("worst_link_kilobits_per_second"), 10_000_000)
        move = p.ask("plan")["rows"][0]
        self.assertEqual((move["from"], move["before_kbps"], move["after_kbps"]), ("10.255.0.0", 20_000_000, 10_000_000))
        self.assertNotEqual(move["to"], "10.255.0.0")
        flows = p.ask("flows")["rows"]
        self.assertEqual(len({f["up"] for f in flows}), 2)
        why = p.ask("why", "h0/")["rows"][0]["why"]
        self.assertIn(why, ("it moved, or was advised to, a short while ago", "neither of its links is hot"))
        text = subprocess.run([FLEET, "--config", p.config, "links"], capture_output=True, text=True, check=True).stdout
        self.assertIn("l0>10.255.0.0", text)
        self.assertEqual(text.splitlines()[0].split()[:3], ["LINK", "Gb/s", "FLOWS"])
        self.assertRegex(text, "l0>10.255.0.[0-9] +10.000 +1 ")
        self.assertEqual(p.ask("alarms")["rows"], [])
        self.assertTrue(p.get("/metrics").endswith("# EOF\n"))
        self.assertIn("<svg", p.get("/"))
        self.assertIn('<p id="legend">Spine switches above', p.get("/"))
        self.assertIsNone(p.state()["summary"]["empty_map"])
        self.assertEqual(len(p.state()["rows"]["moves"]), 1)
        self.assertEqual(p.kill(signal.SIGTERM), 0)

    def test_a_planner_without_reports_says_why(self):
        p = self.planner(self.server.url)
        self.leads(p)
        self.assertIn("no host reports: start", p.state()["summary"]["empty_map"])
        text = subprocess.run([FLEET, "--config", p.config, "top"], capture_output=True, text=True, check=True).stdout
        self.assertIn("\nno host reports: start `hp3-fleet --config FILE agent` on each host\n", text)

    def test_others_take_over(self):
        """Two planners, one plans; it dies, the other one plans within seconds, by reports alone."""
        p = self.planner(self.server.url, "p0")
        self.leads(p)
        q = self.planner(self.server.url, "q1")
        self.agents(self.server.url, "--seconds", "60")
        wait_for(lambda: p.metric("plans_total") > 5 and q.metric("hosts") == 8)
        self.assertEqual(q.metric("leads"), 0)
        self.assertEqual(q.state()["summary"]["plans_by"], "p0")
        p.kill()
        wait_for(lambda: q.metric("plans_total") > 0, seconds=4, why=q.said)
        self.assertEqual(q.metric("term"), 2)

    def test_the_broker_dies(self):
        """It goes on when the broker is there again; meanwhile it plans nothing."""
        p = self.planner(self.server.url)
        a = self.agents(self.server.url, "--seconds", "60")
        wait_for(lambda: p.metric("plans_total") > 3)
        self.server.kill()
        wait_for(lambda: p.metric("leads") == 0 and p.metric("connected") == 0)
        wait_for(lambda: p.metric("hosts") == 0)
        self.server.start()
        wait_for(lambda: p.metric("leads") == 1 and p.metric("hosts") == 8, why=p.said)
        self.assertIsNone(a.process.poll())

    def test_no_broker_yet(self):
        """Started before the broker is."""
        self.server.kill()
        p = self.planner(self.server.url)
        self.assertEqual(p.metric("connected"), 0)
        r = subprocess.run([FLEET, "--config", p.config, "top"], capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 3)
        self.assertIn("is nats-server there", r.stderr)
        self.server.start()
        self.leads(p)

    def test_unauthenticated_senders(self):
        """What is no report, or another host's, changes nothing and is counted."""
        p = self.planner(self.server.url)
        wait_for(lambda: self.server.listeners("hp3.ask"), why=p.said)  # what it subscribes to last
        publish(self.server.port, "hp3.report.h0", b"\xff" * 100)
        publish(self.server.port, "hp3.report.h0", b"")
        publish(self.server.port, "hp3.keepalive", b"\x85\x09")
        publish(self.server.port, "hp3.keepalive", b"\x85\x02\x03\x62p0\x07\x01")
        publish(self.server.port, "hp3.plan", b"\x00" * 5000)
        wait_for(lambda: p.metric("messages_bad_total") == 3 and p.metric("messages_other_version_total") == 1,
                 why=lambda: p.get("/metrics"))
        self.assertEqual((p.metric("hosts"), p.metric("namesakes_total")), (0, 1))
        self.leads(p)
        publish(self.server.port, "hp3.ask", b"nonsense")
        self.assertEqual(p.ask("hosts")["rows"], [])

    def test_one_host_with_many_instances(self):
        """1,024 instances of one name, 32 flows each: two are taken, and plans come as before."""
        p = self.planner(self.server.url)
        self.agents(self.server.url, "--seconds", "60")
        wait_for(lambda: p.metric("plans_total") > 0 and p.metric("hosts") == 8, why=p.said)

        def report(instance, seq):
            flows = [[bytes([10, 1, instance >> 8, instance & 255]), b"\n\x02\x00\x01", qpn, 50000, 1, 1, 0, 1, 1, 60000, 0, 1000,
                      1, 0, 0, 0, []] for qpn in range(32)]
            return cbor([2, 1, "evil", "leaf0", instance, seq, 1, 60000, 3, 32, [b"\n\x09\x00\x01"], [[b"\n\xff\x09\x01"], *flows]])
        for seq in range(1, 4):
            publish(self.server.port, "hp3.report.evil", *[report(i, seq) for i in range(1024)])
            plans = p.metric("plans_total")
            wait_for(lambda plans=plans: p.metric("plans_total") > plans + 2, seconds=10, why=p.said)
        self.assertEqual((p.metric("hosts"), p.metric("twins"), p.metric("messages_bad_total")), (10, 2, 0))
        self.assertEqual(p.metric("reports_third_instance_total"), 3 * 1022)
        self.assertEqual(p.metric("flows_over_quota"), 32)
        self.assertLess(p.metric("look_microseconds"), 200_000)
        publish(self.server.port, "hp3.report.evil", *[report(0, seq) for seq in range(10, 1010)])
        wait_for(lambda: p.metric("reports_too_often_total") > 900, why=p.said)
        self.assertEqual(p.metric("leads"), 1)

    def test_questions_without_end(self):
        """Who asks faster than the planner answers takes a bounded part of its memory, whatever the size of questions."""
        p = self.planner(self.server.url)
        self.agents(self.server.url, "--seconds", "60")
        wait_for(lambda: p.metric("plans_total") > 0 and p.metric("hosts") == 8, why=p.said)
        for size in (500, 900_000):
            question = b'{"ask":"flows","limit":1000,"x":[' + b"[]," * ((size - 40) // 3) + b"1]}"
            message = b"PUB hp3.ask x %d\r\n%s\r\n" % (len(question), question)
            plans, end = p.metric("plans_total"), time.monotonic() + 3
            with socket.create_connection(("127.0.0.1", self.server.port), 5) as s:
                s.recv(4096)
                s.sendall(b'CONNECT {"verbose":false}\r\n')
                while time.monotonic() < end:
                    s.sendall(message * max(1, 65536 // len(message)))
            self.assertLess(p.memory_mib(), 200)
            wait_for(lambda plans=plans: p.metric("plans_total") > plans + 10 and p.metric("hosts") == 8, why=p.said)
        wait_for(lambda: subprocess.run([FLEET, "--config", p.config, "hosts"], capture_output=True, check=False).returncode == 0)

    def test_no_password_is_shown(self):
        """In no message of a server that refuses it, or is not there."""
        config = "authorization { users = [ { user: h0, password: other } ] }"
        server = self.started(Server(self.dir, "closed", config=config))
        for port in (server.port, free_port()):
            file = self.dir + "/secret.ini"
            with open(file, "w", encoding="ascii") as f:
                f.write(f'[fleet]\nservers = "nats://h0:S3cret@127.0.0.1:{port}"\nlisten = ""\n')
            for command in ("agent", "run", "top"):
                os.chmod(file, 0o644 if command != "top" else 0o600)
                with subprocess.Popen([FLEET, "--config", file, command], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT) as p:
                    try:
                        said = p.communicate(timeout=6)[0]
                    except subprocess.TimeoutExpired:
                        p.terminate()
                        said = p.communicate()[0]
                self.assertTrue(said, command)
                self.assertNotIn("S3cret", said)
                self.assertEqual("mode is 0644: other users can read it" in said, command != "top", said)
                if port == server.port or command == "top":
                    self.assertIn(f"nats://***@127.0.0.1:{port}", said)

    def test_unauthenticated_answers_are_plain(self):
        """Who answers on hp3.ask writes no line of his own into a rank file, and nothing that a terminal obeys."""
        rows = [{"port": 50000, "hop": "x\nrank 1=evil slot=0 #", "link": "\x1b]0;owned\x07\x9b2J", "\x9b1J": 1}]
        self.addCleanup(answering(self.server.port, {"ok": True, "rows": rows, "planner": "\x1b[2J", "leads": True}).close)
        file, hosts = self.dir + "/f.ini", self.dir + "/hosts"
        with open(file, "w", encoding="ascii") as f:
            f.write(f'[fleet]\nservers = "{self.server.url}"\n')
        with open(hosts, "w", encoding="ascii") as f:
            f.write("n0 leafA\nn1 leafB\n")
        for args in (["order", "--hosts", hosts, "--ports"], ["links"], ["top"], ["--json", "links"]):
            said = subprocess.run([FLEET, "--config", file, *args], capture_output=True, check=True).stdout
            self.assertTrue(all(32 <= c < 127 or c == 10 for c in said), (args, said))
            self.assertFalse([line for line in said.splitlines() if line.startswith(b"rank 1=evil")], said)

    def test_usage(self):
        for args, code in ((["--help"], 0), (["--version"], 0), ([], 2), (["fly"], 2), (["why"], 2), (["--limit", "0", "top"], 2),
                           (["order"], 2), (["--config", "/nowhere", "top"], 2), (["--dump-config"], 0)):
            r = subprocess.run([FLEET, *args], capture_output=True, text=True, check=False)
            self.assertEqual(r.returncode, code, (args, r.stderr))
            self.assertEqual(bool(r.stderr), code != 0, args)
        file = self.dir + "/bad.ini"
        with open(file, "w", encoding="ascii") as f:
            f.write('[fleet]\nlisten = "0.0.0.0:9796"\nkeepalive_ms = 1000\ntakeover_ms = 1000\n')
        r = subprocess.run([FLEET, "--config", file, "run"], capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn("an address of this host alone", r.stderr)
        self.assertIn("three times keepalive_ms", r.stderr)

    def test_order(self):
        """Neighbours of the ring under one leaf: 4 of 4 steps crossed, 2 are left."""
        file = self.dir + "/hosts"
        with open(file, "w", encoding="ascii") as f:
            f.write("# host leaf\na l1\nb l2\n\nc l1\nd l2\n")
        r = subprocess.run([FLEET, "--json", "order", "--hosts", file, "--ranks-per-host", "2"], capture_output=True,
                           text=True, check=True)
        got = json.loads(r.stdout)
        self.assertEqual((got["crossing_before"], got["crossing_after"]), (1.0, 0.5))
        self.assertEqual([x["host"] for x in got["ranks"]], list("aaccbbdd"))
        torchrun = "{0} --nnodes=4 --nproc-per-node=2 --node-rank={1} --master-addr=a --master-port=29500\n"
        for name, text in (("openmpi", "a slots=2\nc slots=2\nb slots=2\nd slots=2\n"), ("slurm", "a\na\nc\nc\nb\nb\nd\nd\n"),
                           ("torchrun", "".join(torchrun.format(h, i) for i, h in enumerate("acbd")))):
            r = subprocess.run([FLEET, "order", "--hosts", file, "--ranks-per-host", "2", "--format", name], capture_output=True, text=True, check=True)
            self.assertEqual((r.stdout, r.stderr), (text, ""), name)
            for more in "--ports", "--json":
                r = subprocess.run([FLEET, "order", "--hosts", file, "--format", name, more], capture_output=True, text=True, check=False)
                self.assertEqual((r.returncode, r.stdout), (2, ""))
                self.assertIn("leave out --ports and --json, or --format", r.stderr)
        r = subprocess.run([FLEET, "order", "--hosts", file, "--format", "mpich"], capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 2)
        self.assertIn("--format wants text, openmpi, slurm or torchrun", r.stderr)
        with open(file, "a", encoding="ascii") as f:
            f.write("a l3\n")
        r = subprocess.run([FLEET, "order", "--hosts", file], capture_output=True, text=True, check=False)
        self.assertEqual(r.returncode, 1)
        self.assertIn(":7: this host was there before", r.stderr)
        with open(file, "wb") as f:
            f.write(b"a l1\nb\x1b[2J\x9b l1\n")
        r = subprocess.run([FLEET, "order", "--hosts", file], capture_output=True, text=True, check=False)
        self.assertEqual((r.returncode, r.stdout), (1, ""))
        self.assertIn(":2: a host has letters", r.stderr)


class Rings(Case):
    def test_rings_keep_to_spines_of_their_own(self):
        """Eight hosts under two leaves, all of which send to each other: four rings, four spines, ports that lead by them."""
        server = self.started(Server(self.dir))
        p = self.planner(server.url)
        self.agents(server.url, "--flows", "30", "--seconds", "60")
        wait_for(lambda: p.metric("hosts") == 8, why=p.said)
        file = self.dir + "/hosts"
        with open(file, "w", encoding="ascii") as f:
            f.write("".join(f"h{i} l{i // 4}\n" for i in (0, 4, 1, 5, 2, 6, 3, 7)) + "h99 l9\n")
        got = p.ask("order", "--hosts", file, "--ranks-per-host", "4", "--ports")
        across = [(x, y) for x, y in zip(got["ranks"], got["ranks"][4:] + got["ranks"][:4]) if x["leaf"] != y["leaf"]]
        self.assertEqual((len(across), got["steps"]), (12, 12))
        known = [x for x, y in across if "h99" not in (x["host"], y["host"])]
        self.assertEqual((len(known), got["steps_known"]), (4, 4), got)
        self.assertEqual([x["switch"] for x in known], [f"10.255.0.{k}" for k in range(4)])
        self.assertEqual([x["port"] for x in known], [0xc000 + k for k in range(4)])
        self.assertFalse([x for x in got["ranks"] if "port" in x and x not in known])
        text = subprocess.run([FLEET, "--config", p.config, "order", "--hosts", file, "--ranks-per-host", "4", "--ports"],
                              capture_output=True, text=True, check=True).stdout
        self.assertIn("ports are known for 4 of 12 steps", text)
        self.assertIn("slot=3 # l0, ring 3, port 49155 to the next host, by 10.255.0.3", text)
        p.kill()
        r = subprocess.run([FLEET, "--config", p.config, "order", "--hosts", file, "--ports"], capture_output=True, text=True,
                           check=False)
        self.assertEqual(r.returncode, 3, r.stderr)
        self.assertEqual(r.stdout, "")


class Locked(Case):
    def test_hosts_speak_for_themselves(self):
        """NKeys and permissions: who has the key of h0 reports for h0 alone, and plans nothing."""
        host, host_seed = nkey(self.dir, "host")
        planner, planner_seed = nkey(self.dir, "planner")
        config = f'''authorization {{ users = [
            {{ nkey: {host}, permissions: {{ publish: "hp3.report.h0", subscribe: "hp3.plan" }} }}
            {{ nkey: {planner}, permissions: {{ publish: ["hp3.plan", "hp3.keepalive", "hp3.ask", "_INBOX.>"],
               subscribe: ["hp3.report.*", "hp3.plan", "hp3.keepalive", "hp3.ask", "_INBOX.>"] }} }} ] }}'''
        server = self.started(Server(self.dir, config=config))
        extra = f'nkey = "{planner}"\nnkey_seed = "{planner_seed}"'
        p = self.planner(server.url, extra=extra)
        self.agents(server.url, "--seconds", "30", "--nkey", host, "--nkey-seed", host_seed)
        wait_for(lambda: p.metric("hosts") == 1, why=lambda: p.said() + server.said())
        wait_for(lambda: "Publish Violation" in server.said() and p.metric("reports_total") > 20)
        self.assertEqual([h["host"] for h in p.ask("hosts")["rows"]], ["h0"])
        # Nor does anybody without a key.
        r = subprocess.run([FLEET, "--servers", server.url, "run"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(r.returncode, 1)
        self.assertIn("refuses", r.stderr)


    def test_a_signature_that_libnats_does_not_send(self):
        """It begins with a zero byte. The server refuses a CONNECT without one; libnats sends the signature of the next nonce."""
        key, seed = nkey(self.dir, "known", bytes(range(32)))
        said = []

        def serve(listener):
            for nonce in "nonce0000000326", "nonce0000000000":
                line, _ = listener.accept()
                with line, contextlib.suppress(ConnectionResetError):
                    line.sendall(b'INFO {"server_id":"N","version":"2.9.10","proto":1,"headers":true,"auth_required":true,'
                                 b'"max_payload":1048576,"nonce":"%s"}\r\n' % nonce.encode())
                    lines = line.makefile("rb")
                    said.append(json.loads(lines.readline().split(b" ", 1)[1]).get("sig"))
                    if not said[-1]:
                        line.sendall(b"-ERR 'Authorization Violation'\r\n")
                        continue
                    for text in iter(lines.readline, b""):
                        if text == b"PING\r\n":
                            line.sendall(b"PONG\r\n")
        with socket.create_server(("127.0.0.1", free_port())) as listener:
            threading.Thread(target=serve, args=(listener,), daemon=True).start()
            p = self.started(Planner(FLEET, self.dir, f"nats://127.0.0.1:{listener.getsockname()[1]}",
                                     extra=f'nkey = "{key}"\nnkey_seed = "{seed}"'))
            wait_for(lambda: p.metric("connected") == 1, why=p.said)
        self.assertEqual([bool(s) for s in said], [False, True], said)


class Encrypted(Case):
    """TLS: both ends show certificates of a CA that is made here."""

    def setUp(self):
        super().setUp()
        for ca in ("ca", "other"):
            authority(self.dir, ca)
        certificate(self.dir, "ca", "server", "127.0.0.1")
        certificate(self.dir, "ca", "elsewhere", "127.0.0.2")
        certificate(self.dir, "ca", "host")
        certificate(self.dir, "other", "untrusted")

    def server(self, name):
        files = ", ".join(f'{key}: "{self.dir}/{file}"' for key, file in (
            ("cert_file", name + ".pem"), ("key_file", name + ".key"), ("ca_file", "ca.pem")))
        return self.started(Server(self.dir, name, config=f"tls {{ {files}, verify: true }}"))

    def keys(self, ca, cert=None):
        own = f'tls_cert = "{self.dir}/{cert}.pem"\ntls_key = "{self.dir}/{cert}.key"\n' if cert else ""
        return (f'tls_ca = "{self.dir}/{ca}.pem"\n' if ca else "") + own

    def refused(self, server, extra):
        p = self.started(Planner(FLEET, self.dir, server.url, "p1", extra, waits=False))
        self.assertEqual(p.process.wait(timeout=20), 1, (extra, p.said()))
        self.assertIn("tls_ca= and tls_cert= in [fleet]", p.said())
        self.assertNotIn("connected", p.said())

    def test_both_ends_show_who_they_are(self):
        server = self.server("server")
        p = self.planner(server.url, extra=self.keys("ca", "host"))
        self.leads(p)
        self.assertEqual(p.ask("hosts")["rows"], [])
        for ca, cert in (("ca", None), ("other", "host"), ("ca", "untrusted"), (None, None)):
            with self.subTest(ca=ca, cert=cert):
                self.refused(server, self.keys(ca, cert))
        self.assertEqual(p.metric("leads"), 1)

    def test_the_certificate_is_that_of_the_address(self):
        self.refused(self.server("elsewhere"), self.keys("ca", "host"))


class Three(Case):
    def test_a_cluster_that_loses_one(self):
        """Hosts by one server, the planner by another; each is killed in turn and comes back."""
        servers = [self.started(s) for s in cluster_of_three(self.dir)]
        urls = ",".join(s.url for s in servers)
        p = self.planner(urls)
        self.agents(urls, "--connections", "3", "--seconds", "60")
        wait_for(lambda: p.metric("hosts") == 8 and p.metric("leads") == 1, why=p.said)
        for s in servers:
            s.kill()
            plans = p.metric("plans_total")
            wait_for(lambda plans=plans: p.metric("plans_total") > plans + 3 and p.metric("hosts") == 8, why=p.said)
            s.start()


class Split(Case):
    def test_two_halves_and_one_again(self):
        """Two brokers, a planner and eight hosts at each; nothing passes between them for a while: each half is planned for, by its
        own reports; then one of the two plans again, for all."""
        far = free_port()
        right = self.started(Server(self.dir, "right", (far, [])))
        way = Proxy(far)
        self.addCleanup(way.close)
        left = self.started(Server(self.dir, "left", (free_port(), [way.port]), "ping_interval: 1, ping_max: 2"))
        p, q = self.planner(left.url, "p0"), self.planner(right.url, "q1")
        self.agents(left.url, "--seconds", "90")
        self.agents(right.url, "--first", "8", "--seconds", "90")

        def one_plans_for_all():
            return p.metric("leads") + q.metric("leads") == 1 and p.metric("hosts") == q.metric("hosts") == 16
        wait_for(one_plans_for_all, seconds=30, why=lambda: p.said() + q.said() + left.said())
        way.cut()
        wait_for(lambda: p.metric("leads") == q.metric("leads") == 1, seconds=30, why=lambda: p.said() + q.said())
        wait_for(lambda: p.metric("hosts") == q.metric("hosts") == 8)
        plans = p.metric("plans_total"), q.metric("plans_total")
        wait_for(lambda: p.metric("plans_total") > plans[0] + 3 and q.metric("plans_total") > plans[1] + 3)
        self.assertEqual({h["host"] for h in q.ask("hosts")["rows"]}, {f"h{i}" for i in range(8, 16)})
        way.mend()
        wait_for(one_plans_for_all, seconds=60, why=lambda: p.said() + q.said() + left.said())
        self.assertEqual(p.metric("namesakes_total") + p.metric("messages_bad_total"), 0)


if __name__ == "__main__":
    own_namespace()  # ports of others are not in the way
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
