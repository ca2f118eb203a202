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
import sys
import tempfile

NAME = "faults"


def module(path):
    loader = importlib.machinery.SourceFileLoader("evaluate", path)
    found = importlib.util.module_from_spec(importlib.util.spec_from_loader("evaluate", loader))
    loader.exec_module(found)
    return found


class Evaluate:
    """The program with one small table, in a folder of its own."""

    def __init__(self, sim, path, tmp):
        self.program = module(path)
        plan = self.program.plan
        plan.RUNS = {"incast": plan.Run("incast", ["traffic.duration_us=5000"], [], "",
                                        ["ecmp", "hp3"])}
        plan.TABLES = {NAME: plan.Table("slowdown", [("incast", "incast", 50)], ("hp3", 0))}
        plan.WORKLOADS, plan.PARAMETER_SPOT = ["incast"], "incast"
        plan.VARIANTS = {"ecmp": ("ecmp", []), "shipped": ("hp3", []),
                         "one round": ("hp3-ideal", ["ppp.setup_rounds=1", "ppp.candidates"])}
        plan.PARAMETERS = {"parameters": plan.Study(list(plan.VARIANTS), plan.WORKLOADS)}
        self.docs, self.out = os.path.join(tmp, "docs"), os.path.join(tmp, "out")
        os.makedirs(self.docs)
        self.always = ["--sim", sim, "--out", self.out, "--docs", self.docs, "--seeds", "2"]

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


def says_what_runs_say(evaluate, bad):
    files = sorted(glob.glob(os.path.join(evaluate.out, "small", "incast", "*.json")))
    avg, text = {}, evaluate.page()
    for path in files:
        with open(path, encoding="utf-8") as f:
            r = json.load(f)
        avg[r["lb"], r["seed"]] = r["slowdown"]["overall"]["avg"]
    if len(files) != 4:
        bad.append(f"four runs expected: {files}")
    for lb in "ecmp", "hp3":
        one, two = (avg[lb, seed] for seed in (1, 2))
        # Two values: half of their distance is the error of the mean, 12.706 the quantile of t.
        cell = f"{(one + two) / 2:.2f} ± {12.706 * abs(one - two) / 2:.2f}"
        if not any(lb in line.split("|")[1] and cell in line for line in text.splitlines()
                   if line.startswith("| ")):
            bad.append(f"no {cell} of {lb}:\n{text}")
    if f"    bench/evaluate {NAME}\n" not in text or "traffic.duration_us=5000" not in text:
        bad.append(f"not how it was made:\n{text}")
    if f"Repeated by `make test`: `hp3` at `incast`, seed 1: {avg['hp3', 1]:.3f} / " not in text:
        bad.append(f"not what is repeated:\n{text}")
    return sum(avg["hp3", s] / avg["ecmp", s] for s in (1, 2)) / 2


def main():
    sim, path = sys.argv[1:3]
    bad = []
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        evaluate = Evaluate(sim, path, tmp)

        def expect(what, code, words, *args):
            got, text = evaluate(*args)
            if got != code or not re.search(words, text):
                bad.append(f"{what}: {got}, {code} expected; no {words!r} in {text!r}")

        expect("first", 0, "incast", NAME)
        ratio = says_what_runs_say(evaluate, bad)
        files = glob.glob(os.path.join(evaluate.out, "small", "incast", "*.json"))
        times = [os.stat(f).st_mtime_ns for f in files]
        expect("ratio", 0, "", "ratio")
        if [os.stat(f).st_mtime_ns for f in files] != times:
            bad.append("a second run repeats what is there")
        if f"| incast |  | 2 | {ratio:.3f} (" not in evaluate.page("ratio"):
            bad.append(f"no ratio {ratio:.3f}:\n{evaluate.page('ratio')}")
        if f"({NAME}.md) | `bench/evaluate {NAME}` | hp3, incast |" not in evaluate.page("README"):
            bad.append(f"manifest:\n{evaluate.page('README')}")
        expect("parameters", 0, "", "parameters")
        if not re.search(r"(?m)^\| one round \| [01]\.\d{3} / [01]\.\d{3} \|$", evaluate.page("parameters")):
            bad.append(f"parameters:\n{evaluate.page('parameters')}")
        expect("nothing has changed", 0, "as in the table(.|\n)*as in the table", "check")
        seed1 = re.search(r"seed 1: ([0-9.]+) /", evaluate.page()).group(1)
        evaluate.edit(f"seed 1: {seed1}", f"seed 1: {float(seed1) * 1.05:.3f}")
        expect("5 % off", 1, f"average {seed1}, .*: make it again with `bench/evaluate {NAME}`", "check")
        evaluate.edit("Repeated", "Outdated: by a test.\n\nRepeated")
        expect("and known to be", 1, r"outdated: by a test\.(.|\n)*README", "check")
        evaluate("manifest")
        expect("and the manifest says so", 0, "outdated", "check")
        evaluate.edit("at `incast`, seed", "at `incast` with `rnic.rto_us=5000 ppp.wake=0`, seed")
        expect("with settings", 0, "outdated", "check")
        evaluate.edit("bench/evaluate", "bench/other")
        expect("another manifest", 1, "README", "check")
    for line in bad:
        print("evaluate:", line)
    return 1 if bad else 0


sys.exit(main())
