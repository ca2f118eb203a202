#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Results of other settings are added to a folder, and --sweep makes one report with a line plot.

usage: variants.py HP3-SIM
"""
import json
import os
import re
import subprocess
import sys
import tempfile

BASE = ["run", "micro-collision", "--quick", "--lbs", "ecmp,hp3", "--set", "sweep.quick_seeds=2", "--set", "traffic.bytes=500000"]


class Folder:
    def __init__(self, sim, path):
        self.sim, self.path = sim, path

    def run(self, *more, report=False, code=0):
        done = subprocess.run([self.sim, *BASE, *more, "--out", self.path, *(() if report else ("--no-report",))], capture_output=True, check=False,
                              encoding="utf-8", timeout=250)
        if done.returncode != code:
            raise SystemExit(f"variants: {more}: exit code {done.returncode}, {done.stderr}")
        return done

    def results(self):
        found = {}
        for name in os.listdir(self.path):
            if name.endswith(".json"):
                with open(os.path.join(self.path, name), encoding="utf-8") as f:
                    found[name] = json.load(f) | {"time": os.stat(os.path.join(self.path, name)).st_mtime_ns}
        return found

    def changes(self, *more):
        """Names of results that a run adds, and whether it leaves all others as they are."""
        before = self.results()
        self.run(*more)
        after = self.results()
        return sorted({name.rsplit("-", 3)[0] for name in after if name not in before}), all(after.get(name) == r for name, r in before.items())


def second_set(folder, bad):
    folder.run()
    first = "traffic.bytes-500000"
    for more, added in (((), []), (("--set", "rnic.rto_us=5000"), [f"micro-collision.rnic.rto_us-5000.{first}"]), (("--set", "rnic.rto_us=5000"), []),
                        (("--set", "rnic.rto_us=1", "--set", "rnic.rto_us=5000"), []), (("--set", "rnic.rto_us=4000"), []),
                        (("--set", "rfr.cooldown_us=7"), [f"micro-collision.rfr.cooldown_us-7.{first}"]), ((), []),
                        (("--set", "sweep.quick_seeds=3"), ["micro-collision"]), (("--lbs", "letflow"), ["micro-collision"]),
                        (("--set", "fabric.topology=a/b"), []), (("--set", "traffic.bytes=600000"), ["micro-collision.traffic.bytes-600000"])):
        got, kept = folder.changes(*more)
        if (got, kept) != (added, True):
            bad.append(f"{more}: adds {got}, not {added}; all others are left: {kept}")
    results = folder.results()
    if results[f"micro-collision.rfr.cooldown_us-7.{first}-hp3-50-1.json"]["set"] != ["rfr.cooldown_us=7", "traffic.bytes=500000"]:
        bad.append("set of a result")


def plain_after_set(folder, bad):
    """Results with --set may have the name of the scenario. Those without get a number."""
    def run(*words):
        subprocess.run([folder.sim, "run", "micro-collision", "--quick", "--lbs", "ecmp", "--no-report", "--out", folder.path, *words], check=True,
                       capture_output=True, timeout=250)
        return folder.results()

    run("--set", "traffic.bytes=500000")
    results = run()
    if sorted(results) != ["micro-collision-ecmp-50-1.json", "micro-collision.2-ecmp-50-1.json"] or "set" in results["micro-collision.2-ecmp-50-1.json"]:
        bad.append(f"without --set after --set: {sorted(results)}")
    if run() != results:
        bad.append("without --set, twice: changes results")


def sweep(folder, bad):
    text = folder.run("--sweep", "rnic.setup_us=0,20,50", report=True).stdout
    for value in 0, 20, 50:
        if f"\nmicro-collision, rnic.setup_us={value}: hp3 is " not in text:
            bad.append(f"sweep: no sentence for {value}: {text}")
    names = {name.rsplit("-", 3)[0] for name in folder.results()}
    if names != {f"micro-collision.rnic.setup_us-{v}.traffic.bytes-500000" for v in (0, 20, 50)}:
        bad.append(f"sweep: results {names}")
    plot = [name for name in os.listdir(folder.path) if "-sweep-" in name]
    if sorted(name.rsplit(".", 1)[1] for name in plot) != ["pdf", "png", "svg"]:
        bad.append(f"sweep: plots {plot}")
    with open(os.path.join(folder.path, "report.html"), encoding="utf-8") as f:
        page = f.read()
    if page.count("micro-collision: sweep of rnic.setup_us, traffic.bytes=500000</h2>") != 1 or page.count(", rnic.setup_us=20, traffic.bytes=500000</h2>") != 1:
        bad.append("sweep: headings of the page")
    if len(re.findall("<svg", page)) != 4:
        bad.append(f"sweep: {len(re.findall('<svg', page))} figures instead of 4")
    if folder.changes("--sweep", "rnic.setup_us=20,100") != (["micro-collision.rnic.setup_us-100.traffic.bytes-500000"], True):
        bad.append("sweep: a longer one repeats runs")
    if "given twice" not in folder.run("--sweep", "rnic.setup_us=1", "--sweep", "rnic.setup_us=2", code=2).stderr:
        bad.append("--sweep twice: no error")
    for value in "rnic.setup_us", "rnic=1", "rnic.setup_us=", "rnic.setup_us=1,,2", "rnic.setup_us=1,1", "sweep.seeds=1,2", "run.seed=1,2", "traffic.load_percent=1,2":
        if "--sweep: write SECTION.KEY=A,B,C" not in folder.run("--sweep", value, code=2).stderr:
            bad.append(f"--sweep {value}: no message")
    if "rnic.nothing" not in folder.run("--sweep", "rnic.nothing=1,2", code=1).stderr or "rnic.setup_us=x" not in folder.run("--sweep", "rnic.setup_us=1,x", code=1).stderr:
        bad.append("--sweep: unknown keys and values")


def plain_then_sweep(folder, bad):
    """20 us is the default, so the plain run has the settings of one point."""
    base = [folder.sim, "run", "micro-collision", "--quick", "--lbs", "ecmp,hp3", "--out", folder.path]
    for more in [], ["--sweep", "rnic.setup_us=20,50"]:
        subprocess.run([*base, *more], check=True, capture_output=True, timeout=250)
    if not [name for name in os.listdir(folder.path) if "-sweep-" in name]:
        bad.append("a sweep after a plain run: no plot")


def hostile(folder, bad):
    """Settings of a result that somebody sent are text, and name no files."""
    path = os.path.join(folder.path, "micro-collision-ecmp-50-1.json")
    with open(path, encoding="utf-8") as f:
        result = json.load(f)

    def report(changed):
        with open(path, "w", encoding="utf-8") as f:
            json.dump(result | changed, f)
        return subprocess.run([folder.sim, "report", folder.path], capture_output=True, check=False, timeout=250)

    for changed in {"set": "x"}, {"set": [1]}, {"set": ["../x.y=1"]}, {"set": ["x"]}, {"scenario": "../x"}, {"scenario": "<b>"}:
        done = report(changed)
        if done.returncode != 1 or b"no result of `hp3-sim run`" not in done.stderr:
            bad.append(f"{changed}: exit code {done.returncode}, {done.stderr}")
    done = report({"set": ["a.b=<script>$x^$\x1b", "a.c=$"]})
    with open(os.path.join(folder.path, "report.html"), encoding="utf-8") as f:
        page = f.read()
    if done.returncode or "<script" in page or "a.b=&lt;script&gt;$x^$?" not in page:
        bad.append(f"settings with markup: exit code {done.returncode}, {done.stderr}")


def main():
    bad = []
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        folders = [Folder(sys.argv[1], os.path.join(tmp, name)) for name in ("second", "plain", "sweep", "then")]
        second_set(folders[0], bad)
        plain_after_set(folders[1], bad)
        sweep(folders[2], bad)
        plain_then_sweep(folders[3], bad)
        hostile(folders[1], bad)
    for line in bad:
        print("variants:", line)
    return 1 if bad else 0


sys.exit(main())
