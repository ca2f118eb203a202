#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""All threads of an hp3d that was built with ThreadSanitizer, at once: packets on the lcores, and clients that move, list, set
modes, reload filters and how lcores rest, open the audit log anew, and read metrics. If there is a race, hp3d prints it and ends with exit code 66. races.supp lists false reports of
ThreadSanitizer.

usage: races.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import itertools
import os
import signal
import subprocess
import threading
from cases import HP3D, run
from harness import TWO_LCORES, Client, wait_for
from scraping import ask, metrics_socket
from two_paths import TwoPaths

QPS = 8
RATE = 300
SECONDS = 8
PAUSE = 0.1
CHANGES = (("idle_sleep_us = 200", "idle_sleep_us = 100"), ('peers = "10.0.0.0/8"', 'peers = "10.9.0.0/16"'),
           ("idle_sleep_us = 100", "idle_sleep_us = 200"), ('peers = "10.9.0.0/16"', 'peers = "10.0.0.0/8"'))
os.environ["TSAN_OPTIONS"] = f"suppressions={os.path.splitext(os.path.abspath(__file__))[0]}.supp exitcode=66"


class Clients:
    """Each does the same again and again, until all end. Time-outs are no finding: ThreadSanitizer makes all of it slow."""

    def __init__(self):
        self.over = threading.Event()
        self.threads, self.failed, self.done = [], [], {}

    def add(self, name, step):
        def turns():
            n = 0
            while not self.over.is_set():
                try:
                    step(n)
                    self.done[name] = self.done.get(name, 0) + 1
                except TimeoutError:
                    pass
                except Exception as e:
                    self.failed.append(f"{name}: {e!r}")
                    return
                n += 1
                self.over.wait(PAUSE)
        self.threads.append(threading.Thread(target=turns))

    def run(self, seconds):
        for t in self.threads:
            t.start()
        self.over.wait(seconds)
        self.over.set()
        for t in self.threads:
            t.join()


class Races(TwoPaths):
    @classmethod
    def setUpClass(cls):
        if b"__tsan_init" not in subprocess.check_output(["nm", "-D", HP3D]):
            raise RuntimeError(f"{HP3D} was not built with -Db_sanitize=thread: it would tell nothing")

    def reload(self, d, n):
        with open(d.config, encoding="utf-8") as f:
            text = f.read()
        with open(d.config + ".new", "w", encoding="utf-8") as f:
            f.write(text.replace(*CHANGES[n % len(CHANGES)]))
        os.rename(d.config + ".new", d.config)
        d.process.send_signal(signal.SIGHUP)

    def client(self, d):
        c = Client(d.socket)
        self.addCleanup(c.close)
        return c

    def paired(self, d):
        c = self.client(d)
        return wait_for("paired flows", lambda: (lambda ids: ids if len(ids) >= QPS else None)(
            [f["flow"] for f in c.ask(cmd="flows").get("data", []) if f["paired"]]), 120)

    def sections(self, eal):
        # Slower by far than what ships: nothing is asked of times.
        return {"eal": {**eal, "idle_sleep_us": 200}, "watch": {"verbs": "auto"}, "log": {"audit": "/dev/null"},
                "policy": {"mode": "on"}, "rfr": {"max_hold_us": 1000000}, "filter": {"peers": "10.0.0.0/8"},
                "ppp": {"probe": "peer"}, "probes": {"probe_key": "00112233445566778899aabbccddeeff"}}

    def everything(self, eal, *more):
        a, b = self.pair_of_daemons(**self.sections(eal))
        ends = self.endpoints(qps=QPS, pairs=QPS, window=16, rate=RATE)
        self.traffic(*ends)
        clients = Clients()
        for d in (a, b):
            flows = itertools.cycle(self.paired(d))
            page = metrics_socket(d)
            clients.add("move", lambda n, c=self.client(d), f=flows: c.ask(cmd="move", flow=next(f), port=self.port(n % 2)))
            clients.add("metrics", lambda n, p=page: self.assertEqual(ask(p).status, 200))
            clients.add("reload", lambda n, d=d: self.reload(d, n))
            clients.add("mode", lambda n, c=self.client(d): c.ask(cmd="mode", mode=("observe", "on", "off", "on")[n % 4]))
            asked = ({"cmd": "paths"}, {"cmd": "stats"}, {"cmd": "health"}, {"cmd": "events"}, {"cmd": "config"}, *more)
            clients.add("look", lambda n, c=self.client(d), r=asked: [c.ask(**one) for one in r])
        clients.run(SECONDS)
        self.assertEqual(clients.failed, [])
        self.assertEqual(sorted(clients.done), ["look", "metrics", "mode", "move", "reload"])
        for e in ends:
            e.tell("stop")
        for d in (a, b):
            self.assertEqual(d.stop(), 0, d.output())
            self.assertIn("hp3d: reloaded", d.output())
            self.assertNotIn("ThreadSanitizer", d.output())

    def test_two_lcores(self):
        self.everything(TWO_LCORES)

    def test_that_fail_open(self):
        self.everything({}, {"cmd": "bypass", "bypass": "on"}, {"cmd": "bypass", "bypass": "auto"})


if __name__ == "__main__":
    run()
