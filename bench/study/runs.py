# SPDX-License-Identifier: BSD-3-Clause
"""Runs hp3-sim for the study, and reads what it left. What is there already is not run again, so it
may be stopped at any time."""
import configparser
import glob
import json
import lzma
import os
import subprocess
import tempfile
from collections import namedtuple

from study import plan

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRACE = os.path.join(ROOT, "tests", "data", "sim")

# How: the simulator, folder of results, runs at a time, number of seeds, sizes, balancers (None: all).
How = namedtuple("How", "sim out jobs seeds full lbs")


def simulate(how, scenario, out, lbs, settings, quick=False, quiet=False):
    args = [how.sim, "run", scenario, "--no-report", "--jobs", str(how.jobs), "--lbs", ",".join(lbs),
            "--out", out] + ["--quick"] * quick
    for s in settings:
        args += ["--set", s]
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL if quiet else None)


def commit(how):
    """That hp3-sim was built from."""
    done = subprocess.run([how.sim, "--version"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return done.stdout.split()[-1]


def folder(how, name):
    return os.path.join(how.out, "full" if how.full else "small", name)


def settings_of(how, name):
    run = plan.RUNS[name]
    return run.settings + ([] if how.full else run.smaller)


def make(how, name):
    """One entry of plan.RUNS, of its balancers those that are wanted."""
    run = plan.RUNS[name]
    lbs = [lb for lb in run.lbs if how.lbs is None or lb in how.lbs]
    if not lbs:
        return
    settings = settings_of(how, name) + [f"sweep.seeds={how.seeds}"]
    settings += [f"sweep.loads={run.loads}"] * bool(run.loads)
    simulate(how, run.scenario, folder(how, name), lbs, settings)


def one(how, name, lb, load, seed, more):
    """The single run behind a cell of a table, with `more` settings."""
    run = plan.RUNS[name]
    settings = settings_of(how, name) + more + [f"sweep.seeds={seed}"]
    settings += [f"sweep.loads={load}"] * bool(run.loads)
    with tempfile.TemporaryDirectory(prefix="hp3-study-") as out:
        simulate(how, run.scenario, out, [lb], settings, quiet=True)
        return load_one(os.path.join(out, f"{run.scenario}-{lb}-{load}-{seed}.json"))


def load_one(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def results(how, names):
    """(name of plan.RUNS, load, balancer, seed): result."""
    found = {}
    for name in names:
        for path in glob.glob(os.path.join(folder(how, name), "*.json")):
            r = load_one(path)
            found[name, r["load_percent"], r["lb"], r["seed"]] = r
    return found


def shipped(sim):
    """{section.key: value} of `hp3-sim keys`."""
    text = subprocess.run([sim, "keys"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
    keys = configparser.ConfigParser(interpolation=None)
    keys.read_string(text)
    return {f"{section}.{key}": value for section in keys for key, value in keys[section].items()}


def variant(how, name, workload, seeds, more=()):
    """One of plan.VARIANTS at --quick size. Seed: result."""
    out = os.path.join(how.out, "parameters", name, workload)
    lb, settings = plan.VARIANTS[name]
    values = shipped(how.sim)
    settings = [s if "=" in s else f"{s}={values[s]}" for s in settings]
    simulate(how, workload, out, [lb], [f"sweep.quick_seeds={seeds}", *settings, *more], quick=True,
             quiet=True)
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
