#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""bench/evaluate, on a small table: it says what the runs say, names what makes it, and what of it is
repeated; when code and table part, check fails.

usage: evaluate.py HP3-SIM EVALUATE
"""
import contextlib
import glob
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import tempfile

NAME = "faults"
OFF = ["policy.mode=off", "rnic.setup_us=10"]


def module(path):
    loader = importlib.machinery.SourceFileLoader("evaluate", path)
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader("evaluate", loader))
    loader.exec_module(found)
    return found


class Evaluate:
    """The program with one small table, in a folder of its own."""

    def __init__(self, sim, path, tmp):
        self.program = module(path)
        self.sim, plan = sim, self.program.plan
        plan.ROWS = [plan.Row("ecmp", "ecmp"), plan.HP3, plan.Row("hp3, off", "hp3", OFF)]
        plan.HEADLINE = {NAME: plan.Table(
            "slowdown", [plan.Column("burst", "incast", 50, ["traffic.duration_us=5000"])],
            ("hp3, off", "burst"), plan.ROWS)}
        plan.WORKLOADS_OF_ALL = list(plan.HEADLINE.values())
        self.columns = [plan.Column("queue", "incast", 50, ["traffic.duration_us=1000"]),
                        plan.Column("caches", "kvcache", 50, ["traffic.layers=2", "traffic.jobs=2", "traffic.pages=2"])]
        rows = [plan.Row("ecmp", "ecmp"), plan.Row("hp3x", "hp3x"), plan.Row("ecmp, fresh", "ecmp", ["rnic.qps=fresh"], ["caches"])]
        plan.TOGETHER = {"hp3x": [plan.Table("slowdown", self.columns[:1], None, rows), plan.Table("ms", self.columns[1:], None, rows)]}
        plan.WORKLOADS, plan.PARAMETER_SPOT = ["incast"], "incast"
        plan.VARIANTS = {"ecmp": plan.Row("ecmp", "ecmp"), "shipped": plan.Row("shipped", "hp3"),
                         "one round": plan.Row("one round", "hp3-ideal",
                                               ["ppp.setup_rounds=1", "ppp.candidates=3"])}
        self.stellar()
        plan.PARAMETERS = {"parameters": plan.Study(list(plan.VARIANTS), plan.WORKLOADS)}
        self.docs, self.out = os.path.join(tmp, "docs"), os.path.join(tmp, "out")
        os.makedirs(self.docs)
        self.always = ["--sim", sim, "--out", self.out, "--docs", self.docs, "--seeds", "2"]

    def stellar(self):
        """Two servers, and as few bytes."""
        stellar, small = self.program.stellar, ["fabric.rails=1", "fabric.servers=2", "fabric.spines=4", "traffic.bytes=100000"]
        stellar.PATHS, stellar.LOSSES = [4, 128], [0, 3]
        stellar.POLICIES = [p for p in stellar.POLICIES if p.lb in ("ecmp", "stellar-rr")]
        stellar.PERMUTATION = stellar.ONE_RAIL = small
        stellar.CONNECTIONS = ["traffic.kind=connections", *small]
        stellar.RING = ["traffic.kind=allreduce", "traffic.ranks=4", *small]

    def files(self, row="*"):
        return sorted(glob.glob(os.path.join(self.out, "headline", "burst", row, "*.json")))

    def repeated(self):
        """Average of the row that the table's page names, by hp3-sim itself."""
        out = os.path.join(self.docs, "spot")
        settings = [*OFF, "rnic.feedback=cnp", "sweep.quick_seeds=1"]
        subprocess.run([self.sim, "run", "incast", "--quick", "--lbs", "hp3", "--no-report", "--out", out,
                        *(word for s in settings for word in ("--set", s))], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return load(os.path.join(out, "incast-hp3-50-1.json"))

    def __call__(self, *args):
        """Exit code, what was printed."""
        sys.argv = ["evaluate", *args, *self.always]
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            return self.program.main(), text.getvalue()

    def page(self, name=NAME):
        with open(os.path.join(self.docs, f"{name}.md"), encoding="utf-8") as f:
            return f.read()

    def edit(self, old, new, name=NAME):
        text = self.page(name)
        if old not in text:
            raise ValueError(f"no {old!r} in {text}")
        with open(os.path.join(self.docs, f"{name}.md"), "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def average(r):
    return r["slowdown"]["overall"]["avg"]


def one_variant(evaluate, bad):
    """A folder of a table has the results of its settings only, of each balancer."""
    runs, out = evaluate.program.runs, os.path.join(evaluate.docs, "variant")
    how = runs.How(evaluate.sim, out, 1, 1, None)
    for lb, rto in ("hp3", 5000), ("ecmp", 4000), ("ecmp", 5000), ("ecmp", 5000):
        runs.simulate(how, "micro-collision", out, lb, [f"rnic.rto_us={rto}", "traffic.bytes=100000", "sweep.quick_seeds=1"], True)
    found = sorted((r["lb"], r["settings"]["rnic.rto_us"]) for r in map(load, glob.glob(os.path.join(out, "*.json"))))
    if found != [("ecmp", 5000), ("hp3", 5000)]:
        bad.append(f"results with other settings: {found}")


def says_what_runs_say(evaluate, bad):
    rows = {"ecmp": "ecmp", "hp3": "**hp3**", "hp3-off": "hp3, off"}
    avg, text = {}, evaluate.page()
    for row, title in rows.items():
        results = [load(path) for path in evaluate.files(row)]
        if [r["seed"] for r in results] != [1, 2] or any(
                r["settings"]["rnic.feedback"] != "cnp" or r["settings"]["traffic.duration_us"] != 5000
                for r in results):
            return bad.append(f"{row}: not what the table asks for")
        one, two = avg[row] = [average(r) for r in results]
        # Two values: half of their distance is the error of the mean, 12.706 the quantile of t.
        cell = f"| {title} | {(one + two) / 2:.2f} ± {12.706 * abs(one - two) / 2:.2f} / "
        if cell not in text:
            bad.append(f"no {cell!r}:\n{text}")
    if avg["hp3"] == avg["hp3-off"]:
        bad.append("a row's settings change nothing")
    if f"    bench/evaluate {NAME}\n" not in text or "burst (`traffic.duration_us=5000`)" not in " ".join(text.split()) or \
            f"- hp3, off: `{' '.join(OFF)}`\n" not in text:
        bad.append(f"not how it was made:\n{text}")
    if f"`make test` repeats, at --quick size: `hp3, off` at `burst`, seed 1: {average(evaluate.repeated()):.3f} / " not in text:
        bad.append(f"not what is repeated:\n{text}")
    return [a / b for a, b in zip(avg["hp3"], avg["ecmp"])]


def half_of_it(evaluate, bad):
    """Of another engine than the last result: not in the table."""
    path = evaluate.files("hp3")[0]
    with open(path, encoding="utf-8") as f:
        text = f.read()
    last = max(evaluate.files("hp3*"), key=lambda p: os.stat(p).st_mtime_ns)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace(json.loads(text)["source"], "another"))
    os.utime(path, ns=(0, 0))
    evaluate(NAME, "--no-run")
    lines = evaluate.page().splitlines()
    if last == path or not any("| **hp3** |" in line and line.endswith(" (1) |") for line in lines):
        bad.append(f"a result of other sources is in the table:\n{evaluate.page()}")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    evaluate(NAME, "--no-run")


def two_tables(evaluate, bad):
    """hp3x has other sources than ECMP: neither drops the other from the page. Caches: p99 of layers. Rows may have few columns."""
    evaluate("hp3x")
    for newest in "ecmp", "hp3x":
        for path in glob.glob(os.path.join(evaluate.out, "headline", "queue", newest, "*.json")):
            os.utime(path)
        evaluate("hp3x", "--no-run")
        page = evaluate.page("hp3x")
        if len(re.findall(r"(?m)^\| (?:ecmp|hp3x) \| [0-9]", page)) != 8 or len(re.findall(r"(?m)^\| ecmp, fresh \|", page)) != 2:
            bad.append(f"newest {newest}: not the rows of two tables and their pauses:\n{page}")
    found = glob.glob(os.path.join(evaluate.out, "headline", "caches", "ecmp", "*.json"))
    p99 = [load(path)["jobs"]["layer_p99_us"] / 1000 for path in found]
    if len(p99) != 2 or f" / {sum(p99) / 2:.2f} ± " not in page or "rnic.qps=fresh" not in page:
        bad.append(f"no p99 of layers {p99}:\n{page}")


def main():
    sim, path = sys.argv[1:3]
    bad = []
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        evaluate = Evaluate(sim, path, tmp)

        def expect(what, code, words, *args):
            got, text = evaluate(*args)
            if got != code or not re.search(words, text):
                bad.append(f"{what}: {got}, {code} expected; no {words!r} in {text!r}")

        expect("first", 0, "burst, 2 of 2 seeds", NAME)
        one_variant(evaluate, bad)
        ratios = says_what_runs_say(evaluate, bad)
        half_of_it(evaluate, bad)
        two_tables(evaluate, bad)
        os.unlink(os.path.join(evaluate.docs, "hp3x.md"))
        times = [os.stat(f).st_mtime_ns for f in evaluate.files()]
        expect("ratio", 0, "", "ratio")
        if [os.stat(f).st_mtime_ns for f in evaluate.files()] != times:
            bad.append("a second run repeats what is there")
        if ratios and f"| burst | {sum(ratios) / 2:.3f} (≤ " not in evaluate.page("ratio"):
            bad.append(f"no ratios {ratios}:\n{evaluate.page('ratio')}")
        expect("costs", 0, "", "costs")
        if "| hp3 | burst | 0 |" not in evaluate.page("costs"):
            bad.append(f"nothing of what hp3 takes:\n{evaluate.page('costs')}")
        if f"({NAME}.md) | `bench/evaluate {NAME}` | hp3, off, burst |" not in evaluate.page("README"):
            bad.append(f"manifest:\n{evaluate.page('README')}")
        expect("parameters", 0, "", "parameters")
        if not re.search(r"(?m)^\| one round \| [01]\.\d{3} / [01]\.\d{3} \|$", evaluate.page("parameters")):
            bad.append(f"parameters:\n{evaluate.page('parameters')}")
        expect("stellar", 0, "losses: ECMP", "stellar")
        for line in (r"\| RR( \| [0-9.]+ / [0-9.]+){2} \|", r"\| ECMP, one path \| [0-9.]+ / [0-9.]+ \| - \|",
                     r"\| RR, 128 paths( \| [0-9.]+ / [0-9.]+){2}( \| [0-9.]+; [0-9.]+){2} \|"):
            if not re.search(f"(?m)^{line}", evaluate.page("stellar")):
                bad.append(f"no {line!r} in {evaluate.page('stellar')}")
        with open(os.path.join(evaluate.docs, "discussion.md"), "w", encoding="utf-8") as f:
            f.write("# What the tables show\n")  # no table: the manifest has no line of it
        expect("nothing has changed", 0, "as in the table(.|\n)*as in the table", "check")
        seed1 = re.search(r"seed 1: ([0-9.]+) /", evaluate.page()).group(1)
        evaluate.edit(f"seed 1: {seed1}", f"seed 1: {float(seed1) * 1.05:.3f}")
        expect("5 % off", 1, f"average {seed1}, .*: make it again with `bench/evaluate {NAME}`", "check")
        evaluate.edit("`make test` repeats", "Outdated: by a test.\n\n`make test` repeats")
        expect("and known to be", 1, r"outdated: by a test\.(.|\n)*README", "check")
        evaluate("manifest")
        expect("and the manifest says so", 0, "outdated", "check")
        evaluate.edit("at `burst`, seed", "at `burst` with `rnic.rto_us=5000 ppp.message_start=0`, seed")
        expect("with settings", 0, "outdated", "check")
        evaluate.edit("bench/evaluate", "bench/other")
        expect("another manifest", 1, "README", "check")
    for line in bad:
        print("evaluate:", line)
    return 1 if bad else 0


sys.exit(main())
