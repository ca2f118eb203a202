#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A real Prometheus scrapes two hp3ds, with the shipped alert rules, and answers the dashboard's
queries.

usage: prometheus.py HP3D HP3CTL RC_ENDPOINT MAKE_CAPTURES SOURCE_ROOT [unittest arguments]

Prometheus runs in the test's own network namespace, with its own data. In the rules, only the unit of time is changed: minutes become seconds. Congestion is real: both
paths share one link, whose queue grows.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.parse
from cases import METRICS_MANUAL, SOURCE, run
from harness import die_with_parent, wait_for
from scraping import ask, loopback, make_rnic, promtool, samples, value
from two_paths import TwoPaths

RULES = os.path.join(SOURCE, "contrib/prometheus/hp3-alerts.yml")
DASHBOARD = os.path.join(SOURCE, "contrib/grafana/hp3.json")
SERVER = ("127.0.0.1", 9090)
PORTS = (9795, 9796)
CONFIG = """
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [rules.yml]
scrape_configs:
  - job_name: hp3d
    static_configs: [{targets: ["127.0.0.1:9795", "127.0.0.1:9796"]}]
"""
# 64 packets in flight make a round trip of more than 100 ms where the link is narrow, of a few where it is wide.
SEARCHING = {"probe": "peer", "rtt_factor": 2000, "congestion_tolerance": 1, "backoff_min_us": 3000, "backoff_max_us": 50000,
           "probe_timeout_us": 300000}


def alert_names():
    with open(RULES) as f:
        return re.findall(r"- alert: (\w+)", f.read())


class Prometheus:
    """The server, and its HTTP interface."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp")
        with open(RULES) as f, open(os.path.join(self.directory, "rules.yml"), "w") as out:
            out.write(re.sub(r"\b(\d+)m\b", r"\1s", f.read()))
        path = os.path.join(self.directory, "prometheus.yml")
        with open(path, "w") as f:
            f.write(CONFIG)
        self.log = open(os.path.join(self.directory, "log"), "w+")
        self.process = subprocess.Popen(
            ["prometheus", "--config.file=" + path, "--storage.tsdb.path=" + os.path.join(self.directory, "data"),
             "--web.listen-address=%s:%d" % SERVER], stdout=self.log, stderr=self.log, cwd=self.directory,
            preexec_fn=die_with_parent)

    def ready(self):
        if self.process.poll() is not None:
            raise AssertionError("prometheus ended:\n" + self.output())
        try:
            return ask(SERVER, "/-/ready").status == 200
        except OSError:
            return False

    def output(self):
        with open(self.log.name) as f:
            return f.read()

    def get(self, path, **args):
        answer = json.loads(ask(SERVER, f"/api/v1/{path}?" + urllib.parse.urlencode(args)).text)
        if answer["status"] != "success":
            raise AssertionError(f"{path} {args}: {answer}")
        return answer["data"]

    def query(self, expression):
        """[(labels, value)]"""
        return [(r["metric"], float(r["value"][1])) for r in self.get("query", query=expression)["result"]]

    def firing(self):
        return {a["labels"]["alertname"]: a for a in self.get("alerts")["alerts"] if a["state"] == "firing"}

    def clean_up(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory)


def dashboard_queries(board):
    """Every PromQL query of the file, with what it is of."""
    for panel in board["panels"]:
        for inner in [panel, *panel.get("panels", [])]:
            for target in inner.get("targets", []):
                yield inner["title"], target["expr"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            query = variable["query"]
            query = query["query"] if isinstance(query, dict) else query
            series, label = re.fullmatch(r"label_values\((.*), *(\w+)\)", query).groups()
            yield "$" + variable["name"], f"count by ({label}) ({series})"


def filled_in(query, **variables):
    """As Grafana does it, with all values of all variables."""
    for name, text in {"__rate_interval": "20s", "__range": "60s", **variables}.items():
        query = re.sub(rf"\$\{{?{name}\b\}}?", text, query)
    if "$" in query:
        raise AssertionError("unknown variable: " + query)
    return query


class Scraped(TwoPaths):
    def setUp(self):
        super().setUp()
        loopback()
        root = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp")
        self.addCleanup(shutil.rmtree, root)
        make_rnic(root, "mlx5_0", "1", out_of_sequence=0, local_ack_timeout_err=0, np_cnp_sent=0)
        common = {"ppp": SEARCHING, "rfr": {"cooldown_us": 1000, "verify_us": 50000}}
        self.prometheus = Prometheus()  # it takes 5 s to begin
        self.addCleanup(self.prometheus.clean_up)
        self.a, self.b = self.pair_of_daemons(
            **common, metrics={"listen": f"127.0.0.1:{PORTS[0]}", "sysfs": root},
            far={"metrics": {"listen": f"127.0.0.1:{PORTS[1]}", "sysfs": root}})
        wait_for("Prometheus", self.prometheus.ready)

    def healthy(self):
        targets = self.prometheus.get("targets")["activeTargets"]
        return len(targets) == 2 and all(t["health"] == "up" for t in targets)

    def test_congestion_is_told_and_over(self):
        p = self.prometheus
        ends = self.endpoints(qps=4, window=16, rate=2000)
        self.traffic(*ends)
        wait_for("both targets", self.healthy)
        for daemon in (self.a, self.b):  # off the slow path: all onto the other one
            for flow in daemon.paired(4):
                self.move(daemon, flow, self.port(0))
        self.calm()
        self.relay("narrow")
        alert = wait_for("the alert", lambda: p.firing().get("Hp3CongestionStays"), 60)
        self.assertEqual((alert["labels"]["job"], alert["labels"]["rail"]), ("hp3d", "rail0"))
        self.assertRegex(alert["annotations"]["summary"], r"flows of rail rail0 on 127\.0\.0\.1:979\d are congested")
        self.assertIn("hp3ctl paths", alert["annotations"]["description"])
        fruitless = dict((m["instance"], v) for m, v in p.query(
            'sum by (instance) (hp3_rounds_fruitless_total{cause=~"cnp|ecn|rtt"})'))
        self.assertGreater(fruitless[alert["labels"]["instance"]], 0)
        self.dashboard()
        self.relay("wide")
        self.settle(*ends)
        self.whole(*ends)
        wait_for("the end of the alert", lambda: "Hp3CongestionStays" not in p.firing())
        self.calm()
        self.same_as_stats()
        self.stop(self.b)
        wait_for("hp3d down", lambda: p.firing().get("Hp3Down", {"labels": {}})["labels"].get("instance") ==
                 f"127.0.0.1:{PORTS[1]}")
        self.stop(self.a)

    def calm(self):
        """No alert fires, but those that say what a busy machine or a test is like."""
        wait_for("calm", lambda: not self.unexpected(), 30)

    def unexpected(self):
        return {name: a["labels"] for name, a in self.prometheus.firing().items()
                if name not in ("Hp3LcoreBusy", "Hp3MoveStorm")}

    def same_as_stats(self):
        """What Prometheus has of a counter is what hp3ctl says of it."""
        counters = self.a.counters()
        time.sleep(0.2)

        def stored(expression):
            return dict((m["instance"], v) for m, v in self.prometheus.query(expression))[f"127.0.0.1:{PORTS[0]}"]
        wait_for("the same", lambda: stored("hp3_engine_tx_requests_total") == counters["tx_requests"])
        wait_for("the same", lambda: stored('hp3_packets_total{direction="rx"}') == counters["packets_rx"])
        page = samples(ask(("127.0.0.1", PORTS[0])).text)
        self.assertEqual(stored('hp3_probe_rtt_seconds_count'), value(page, "hp3_probe_rtt_seconds_count"))

    def dashboard(self):
        """Every query of the file has an answer, of numbers."""
        with open(DASHBOARD) as f:
            board = json.load(f)
        asked = 0
        for title, query in dashboard_queries(board):
            with self.subTest(title=title, query=query):
                found = self.prometheus.query(filled_in(query, instance=".*", rail=".*"))
                self.assertTrue(found, "no data")
                self.assertTrue(any(v == v for _, v in found), "nothing but NaN")
            asked += 1
        self.assertGreater(asked, 30)


class Files(unittest.TestCase):
    """What ships is sound by itself."""

    def test_rules(self):
        self.assertRegex(promtool("check", "rules", RULES), rf"SUCCESS: {len(alert_names())} rules")
        self.assertIn("SUCCESS", promtool("test", "rules", os.path.join(SOURCE, "tests/data/prometheus/alerts.yml")))

    def test_every_alert_is_tested_and_explained(self):
        with open(os.path.join(SOURCE, "tests/data/prometheus/alerts.yml")) as f:
            tested = set(re.findall(r"exp_samples: .*alertname=\"(\w+)\"", f.read()))
        with open(os.path.join(SOURCE, "docs/guide/alerts.md")) as f:
            section = f.read().split("## What each alert means")[1].split("\n## ")[0]
        explained = re.findall(r"^\| `(\w+)` \|", section, re.M)
        self.assertEqual(sorted(tested), sorted(alert_names()))
        self.assertEqual(sorted(explained), sorted(alert_names()))

    def test_names_are_those_of_the_manual(self):
        """Rules and dashboard ask for no metric that hp3d does not have."""
        with open(METRICS_MANUAL) as f:
            manual = set(re.findall(r"^\.BR (\w+) \" \(", f.read(), re.M))
        for path in (RULES, DASHBOARD):
            with open(path) as f:
                used = set(re.findall(r"\b((?:hp3|process)_\w+)\b(?=[\s{\[)/])", f.read()))
            used = {re.sub(r"(_seconds)_(bucket|sum|count)$", r"\1", name) for name in used}
            self.assertGreater(len(used), 10)
            self.assertEqual(used - manual, set(), path)


if __name__ == "__main__":
    run()
