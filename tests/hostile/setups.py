#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A user without privileges, and without an RNIC, causes reports of other users' queue pairs by
calling libibverbs.

usage: setups.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
Environment: HP3_TEST_CALLER (verbs_caller).
"""
import fcntl
import os
import subprocess
import threading
import time
from hostile import PAUSE_S, QPN_A, QPN_B, Hostile, run
from harness import die_with_parent, wait_for

NOBODY = 65534
EVEN_HOME, SLOW_US = 0xc000, 3000  # home ports lead over the fast path, odd ones over the slow one
SLOW_PORT = 50001
GID = "0000:0000:0000:0000:0000:ffff:0a09:0001"


def make_gids():
    """An RDMA device with the victim's address, as files."""
    subprocess.run("mount -t tmpfs none /sys/class", shell=True, check=True)
    for what, text in (("gids", GID), ("gid_attrs/types", "RoCE v2")):
        os.makedirs(f"/sys/class/infiniband/rxe0/ports/1/{what}")
        with open(f"/sys/class/infiniband/rxe0/ports/1/{what}/1", "w") as f:
            f.write(text + "\n")


class SetUps(Hostile):
    @classmethod
    def setUpClass(cls):
        cls.lock = open("/run/hp3-watch-tests.lock", "w")  # a watcher sees all callers of this machine
        fcntl.flock(cls.lock, fcntl.LOCK_EX)
        make_gids()

    @classmethod
    def tearDownClass(cls):
        cls.lock.close()

    def setUp(self):
        super().setUp()
        self.d = self.shipped(watch={"verbs": "library"})
        self.assertEqual(self.d.ask("health")["watch"]["by"], "library")
        self.ends = tuple(self.endpoint(link, side, slow_us=SLOW_US, home=EVEN_HOME, qps=2)
                          for link, side in ((self.rnic, "a"), (self.net, "b")))
        for e in self.ends:
            e.tell("send 1000000")
        self.flows = self.d.paired(2)
        self.caller = self.nobody()
        self.told = 0

    def nobody(self):
        def become():
            die_with_parent()
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        p = subprocess.Popen([os.environ["HP3_TEST_CALLER"], "IBVERBS_1.1", "rxe0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             text=True, preexec_fn=become)
        self.addCleanup(lambda: (p.kill(), p.communicate()))
        self.assertEqual(p.stdout.readline(), "ready\n")
        return p

    def call(self, *commands):
        for c in commands:
            self.caller.stdin.write(c + "\n")
            self.caller.stdin.flush()
            self.assertEqual(self.caller.stdout.readline(), "ok\n", c)

    def forge(self, i):
        """Set up and gone: now by a number of his own, now by the victim's, of either of its queue pairs."""
        lqpn = QPN_A + i % 2 if i & 2 else 0x777 + i
        self.call(f"create {lqpn} rc", "init", f"rtr {QPN_B + i % 2} 1 1024 1 1 ::ffff:10.9.0.2", f"rts {i * 7919}", "destroy")
        self.told += 1

    def heard(self):
        wait_for("the watcher", lambda: self.d.ask("health")["watch"]["down"] >= self.told)

    def states(self):
        return [{k: f[k] for k in ("port", "moved", "paired", "pairing")} for f in self.d.json("flows") if f["flow"] in self.flows]

    def test_moved_flows_stay_where_they_are(self):
        """On the slow path: a flow that went home at once would overtake itself."""
        for flow in self.flows:
            self.move(self.d, flow, SLOW_PORT)
        before = self.states()
        for i in range(64):
            self.forge(i)
        self.heard()
        self.assertEqual(self.states(), before)
        c = self.d.counters()
        self.assertEqual((c["epochs"], c["unpaired"], c["drop_discarded"]), (0, 0, 0))
        self.assertGreaterEqual(c["setups_ignored"], 2 * self.told)
        self.unhurt(self.d, *self.ends, self.flows)

    def test_moves_under_fire(self):
        """In the middle of moves nothing that is held is thrown away, and they end as ever."""
        over = threading.Event()

        def fire():
            while not over.is_set():
                self.forge(self.told)
                time.sleep(PAUSE_S)
        attacker = threading.Thread(target=fire)
        attacker.start()
        try:
            for flow in 6 * self.flows:
                self.moves(self.d, flow)
            # Some come too fast for the watcher: he goes on until it has heard enough of them.
            wait_for("the watcher", lambda: self.d.ask("health")["watch"]["down"] > 20)
        finally:
            over.set()
            attacker.join()
        c = self.d.counters()
        self.assertEqual((c["epochs"], c["unpaired"], c["drop_discarded"]), (0, 0, 0))
        self.unhurt(self.d, *self.ends, self.flows)


if __name__ == "__main__":
    run()
