#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3ctl and DPDK's telemetry show all counters of hp3d.

usage: counters.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import json
import os
import re
import socket
from cases import SOURCE, Wired, run
from harness import wait_for


class Counters(Wired):
    """Whatever the sources count can be seen."""

    def names(self):
        def macro(path, name):
            with open(os.path.join(SOURCE, path)) as f:
                text = re.sub(r"\\\n", " ", f.read())
            body = re.search(rf"#define {name}\(X\)(.*)", text).group(1)
            return re.findall(r'X\((\w+), "([^"]*)"(?:,\s+(\d))?', body)
        engine = [x[0] for x in macro("engine/stats.h", "HP3_STATS")]
        pipe = macro("app/hp3d/pipe/pipe.h", "HP3D_PIPE_COUNTERS")
        reasons = ["reason_" + x[1] for x in macro("roce/parse.h", "HP3_PARSE_REASONS")]
        classes = ["class_" + x[0].lower() for x in macro("roce/parse.h", "HP3_CLASSES")]
        self.assertTrue(len(engine) > 20 and len(pipe) > 5 and len(reasons) == 15 and len(classes) == 8)
        return engine + [x[0] for x in pipe] + reasons + classes, [x[0] for x in pipe if x[2] == "1"]

    def test_every_counter_shows(self):
        d = self.start()
        a, _ = self.endpoints()
        a.tell("send 50")
        wait_for("all ACKs", lambda: a.report()["acked"] == 50 * 16)
        names, drops = self.names()
        stats = d.json("stats", "--explain")[0]
        for place in (stats["rail"]["rail0"], stats["lcore"]["0"], stats["help"]):
            self.assertLessEqual(set(names), set(place))
        table = d.ctl("stats", "--explain").stdout
        for name in names:
            self.assertRegex(table, rf"(?m)^rail\.rail0\.{name} +\d+ +\w")
        self.assertEqual(stats["rail"]["rail0"]["packets_tx"], 800)
        work = d.ask("health")["work"]
        self.assertEqual(len(work), 1)
        self.assertIn(work[0]["level"], ("base", "v3", "v4"))
        self.assertTrue(0 < work[0]["busy_ns"] < work[0]["idle_ns"], work)

        telemetry = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(telemetry.close)
        telemetry.settimeout(20)
        telemetry.connect(f"/var/run/dpdk/{d.prefix}/dpdk_telemetry.v2")
        telemetry.recv(16384)

        def ask(command):
            telemetry.send(command.encode())
            return json.loads(telemetry.recv(1 << 16))[command.split(",")[0]]
        same = {n.replace("-", "_"): stats["rail"]["rail0"][n] for n in names if stats["rail"]["rail0"][n] != 0}
        self.assertTrue({"packets_tx", "tx_requests", "class_rc_request"} <= set(same), same)
        for command in ("/hp3/stats", "/hp3/rail,rail0", "/hp3/lcore,0"):
            answer = ask(command)
            self.assertEqual({n: answer.get(n) for n in same}, same, command)
            self.assertNotIn(0, answer.values(), command)
        self.assertEqual(ask("/hp3/drops"), dict.fromkeys(drops, 0))
        self.assertEqual(ask("/hp3/rail"), ["rail0"])
        self.stop(d)


if __name__ == "__main__":
    run()
