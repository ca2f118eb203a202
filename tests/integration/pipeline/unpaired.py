#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A flow that is not paired: hp3ctl and the metrics show the reason, and what helps.

usage: unpaired.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]
"""
import re
from cases import Wired, run
from harness import wait_for
from scraping import ask, metrics_socket, samples, value

WIDTH = 100


def joined(text):
    """Paragraphs without their line breaks."""
    return re.sub(r"\n +", " ", text)


class Unpaired(Wired):
    def reasons(self, d):
        return {f["unpaired"] for f in d.flows()}

    def by_metric(self, d, reason):
        return value(samples(ask(metrics_socket(d)).text), "hp3_flows_unpaired", reason=reason)

    def check_shown(self, d, code, text, help_text):
        """All outputs have the same reason and the same help."""
        flow = d.flows()[0]
        self.assertEqual((flow["unpaired_text"], flow["unpaired_help"]), (text, help_text))
        n = len(d.flows())
        line = f"{n} {'flow is' if n == 1 else 'flows are'} not paired, {code}: {text}; {help_text}"
        table = d.ctl("flows").stdout
        self.assertIn(line, joined(table))
        self.assertLessEqual(max(map(len, table.splitlines())), WIDTH)
        self.assertIn(f"1 flow is not paired, {code}: {text}; {help_text}", joined(d.ctl("why", flow["flow"]).stdout))
        error = d.json("move", flow["flow"], "--random", code=1)[0]["error"]
        self.assertEqual(error, {"code": "not-paired", "text": f"{flow['flow']} is not paired ({code}): {text}",
                                 "fix": help_text})
        self.assertIn(line, joined(d.ctl("move", "--all", "--random").stdout))
        skipped = d.json("move", "--all", "--random")[0]
        self.assertEqual((skipped["skipped"], skipped["unpaired"][code]["flows"]), (n, n))
        wait_for("the metric", lambda: self.by_metric(d, code) == n)
        health = d.json("health", code=None)[0]
        self.assertEqual((health["flows"], health["flows_unpaired"], health["unpaired"]), (n, n, {code: n}))
        self.assertIn(f"{n}: 0 paired, 0 moved, 0 sprayed; hp3ctl flows --filter unpaired shows why", d.ctl("status", code=None).stdout)
        return health

    def test_no_replies(self):
        d = self.start()
        a, b = self.endpoints()
        b.tell("withhold 1")
        a.tell("send 1000000")
        wait_for("the reason", lambda: self.reasons(d) == {"no-replies"})
        health = self.check_shown(d, "no-replies", "no replies were seen",
                                  "let both directions pass this hp3d: see hp3ctl bypass, the routes of replies, and [bond.NAME] if the rails are ports of a bond")
        self.assertIn(health["status"], ("warning", "silent"))
        self.assertLessEqual({"unpaired"}, {w["code"] for w in health["warnings"]})  # and the port is silent after some seconds
        b.tell("withhold 0")
        d.paired(1)
        flow, = d.flows()
        self.assertIsNone(flow["unpaired"])
        self.assertNotIn("unpaired_text", flow)
        self.assertNotIn("not paired", d.ctl("flows").stdout)
        wait_for("the metric", lambda: self.by_metric(d, "no-replies") == 0)
        self.settle(a)
        self.stop(d)

    def test_equal_psns(self):
        """Two queue pairs send the same PSNs at the same time, and each packet requests an ACK."""
        d = self.start()
        a, b = self.endpoints(qps=2, spread=0, message=1)
        a.tell("send 1000000")
        wait_for("the reason", lambda: self.reasons(d) == {"others-near"})
        self.check_shown(d, "others-near", "the PSNs are near those of another queue pair to the same peer",
                         "let hp3d see the set-up of queue pairs: connect by rdma_cm, or let hp3-watch run here (if hp3ctl health --all shows watch.by none, hp3d printed why at its start); then restart the application")
        self.settle(a)
        self.whole(a, b)
        self.stop(d)


if __name__ == "__main__":
    run()
