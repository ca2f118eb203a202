# SPDX-License-Identifier: BSD-3-Clause
"""Runs hp3-sim for the study, and reads its results. Existing results are not run again, so it may be
stopped at any time."""
import concurrent.futures
import glob
import itertools
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

from study import plan

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACE = os.path.join(ROOT, "tests", "data", "sim")

# How: the simulator, folder of results, runs at a time, number of seeds, balancers (None: all).
How = namedtuple("How", "sim out jobs seeds lbs")


def variant_of(settings):
    """As hp3-sim records it in "set" (sim/cli/variant.h)."""
    last = {s.split("=", 1)[0]: s for s in settings}
    return sorted(s for key, s in last.items() if not key.startswith(("sweep.", "run.")) and key != "traffic.load_percent")


def drop_others(out, lb, settings):
    """Results of this balancer with other settings: a table has one result per balancer, load and seed."""
    for path in glob.glob(os.path.join(glob.escape(out), "*.json")):
        r = load_one(path)
        if r["lb"] == lb and r.get("set", variant_of(settings)) != variant_of(settings):
            os.unlink(path)


def simulate(how, scenario, out, lb, settings, quick=False):
    args = [how.sim, "run", scenario, "--no-report", "--jobs", str(how.jobs), "--lbs", lb,
            "--out", out] + ["--quick"] * quick
    for s in settings:
        args += ["--set", s]
    drop_others(out, lb, settings)
    done = subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
                          check=False)
    if done.returncode != 0:
        sys.exit(f"evaluate: {' '.join(args)}\n{done.stderr}")


def commit(how):
    """That hp3-sim was built from."""
    done = subprocess.run([how.sim, "--version"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return done.stdout.split()[-1]


def load_one(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def wanted(how, table):
    return [row for row in table.rows if how.lbs is None or row.lb in how.lbs]


def folder(how, table, column, row):
    return os.path.join(how.out, "quick" if table.quick else "headline", column.title,
                        re.sub("[^a-z0-9]+", "-", row.title.lower()).strip("-"))


def make_cell(how, out, column, row, quick, more=()):
    """All seeds of a row in a column."""
    size = "quick_" * quick
    settings = plan.CNPS + ([] if quick else column.smaller) + row.settings + [
        *more, f"sweep.{size}seeds={how.seeds}", f"sweep.{size}loads={column.load}"]
    simulate(how, column.scenario, out, row.lb, settings, quick)


def make(how, table):
    """What is missing of a headline table; first all that is of seed 1. Runs of different cells go side by side."""
    cells = [(column, row) for column in table.columns for row in wanted(how, table)
             if plan.can(row, column)]
    with concurrent.futures.ThreadPoolExecutor(how.jobs) as pool:
        for seeds in range(1, how.seeds + 1):
            alone = how._replace(jobs=1, seeds=seeds)

            def one(cell, alone=alone):
                column, row = cell
                make_cell(alone, folder(how, table, column, row), column, row, table.quick)
                return column

            for column, of_it in itertools.groupby(pool.map(one, cells)):
                list(of_it)
                print(f"{column.title}, {seeds} of {how.seeds} seeds", flush=True)


def spot(how, name, spot):
    """Result of the row that the table's page names, at --quick size."""
    table = plan.HEADLINE[name]
    row = next(r for r in table.rows if r.title == spot.row)
    column = next(c for c in table.columns if c.title == spot.column)
    with tempfile.TemporaryDirectory(prefix="hp3-study-") as out:
        make_cell(how._replace(seeds=spot.seed), out, column, row, True, spot.settings)
        return load_one(os.path.join(out, f"{column.scenario}-{row.lb}-{column.load}-{spot.seed}.json"))


def results(how, table):
    """(title of the column, title of the row, seed): result. Those that other sources made than the
    last one's are left out; balancers named hp3... and the others have one last each (sim/results/settings.c)."""
    found, last = {}, {}
    for column in table.columns:
        for row in table.rows:
            for path in glob.glob(os.path.join(folder(how, table, column, row), "*.json")):
                r = load_one(path)
                if r["seed"] <= how.seeds:
                    found[column.title, row.title, r["seed"]] = r
                    ours = row.lb.startswith("hp3")
                    last[ours] = max(last.get(ours, (0,)), (os.stat(path).st_mtime_ns, r["source"]))
    sources = {source for _, source in last.values()}
    return {k: r for k, r in found.items() if r["source"] in sources}


def variant(how, name, workload, seeds, more=()):
    """One of plan.VARIANTS at --quick size. Seed: result."""
    out = os.path.join(how.out, "parameters", name, workload)
    row = plan.VARIANTS[name]
    simulate(how, workload, out, row.lb, [f"sweep.quick_seeds={seeds}", *plan.CNPS, *row.settings, *more], quick=True)
    found = {}
    for path in glob.glob(os.path.join(out, "*.json")):
        r = load_one(path)
        if r["seed"] <= seeds:
            found[r["seed"]] = r
    return found


def trace(how, lb, settings, seed):
    """The reference's trace; its result."""
    with tempfile.NamedTemporaryFile(prefix="hp3-study-", suffix=".flows") as flows:
        with lzma.open(os.path.join(TRACE, "leaf_spine_alistorage_50.flows.xz")) as f:
            flows.write(f.read())
        flows.flush()
        args = [how.sim, "trace", "--topology", os.path.join(TRACE, "leaf_spine_128.topo"),
                "--flows", flows.name, "--lb", lb, "--seed", str(seed), "--json", "-"]
        for s in settings:
            args += ["--set", s]
        done = subprocess.run(args, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return json.loads(done.stdout)
