# SPDX-License-Identifier: BSD-3-Clause
"""The results in a folder, by scenario and load, and what their seeds say together."""
import glob
import json
import os
import re

from stats import interval, mean

# Of results.csv: name, where it lies in a result, digits.
CSV = [("avg", "slowdown.overall.avg", 4), ("p50", "slowdown.overall.p50", 4),
       ("p95", "slowdown.overall.p95", 4), ("p99", "slowdown.overall.p99", 4),
       ("p999", "slowdown.overall.p999", 4), ("lt_bdp_avg", "slowdown.lt_bdp.avg", 4),
       ("lt_bdp_p99", "slowdown.lt_bdp.p99", 4), ("ge_bdp_avg", "slowdown.ge_bdp.avg", 4),
       ("ge_bdp_p99", "slowdown.ge_bdp.p99", 4), ("jct_avg_us", "jobs.jct_avg_us", 2),
       ("jct_p99_us", "jobs.jct_p99_us", 2), ("bus_gbps", "jobs.bus_gbps", 3),
       ("layer_avg_us", "jobs.layer_avg_us", 2), ("layer_p99_us", "jobs.layer_p99_us", 2),
       ("goodput_gbps", "goodput_gbps", 3), ("ecn_share", "ecn_share", 5),
       ("uplink_imbalance", "uplink_imbalance", 4), ("reordered", "reordered", 0),
       ("retransmitted_bytes", "retransmitted_bytes", 0), ("pfc_pauses", "pfc_pauses", 0),
       ("moves", "moves", 0), ("probe_bytes", "probe_bytes", 0), ("cpu_s", "cpu_s", 2),
       ("hops", "hops", 0), ("finished", "finished", 0)]

SETTING = r"[a-z][a-z0-9-]*(\.[a-z0-9_]+)?=.*"  # --set and --hp3
NAME = "[A-Za-z0-9][A-Za-z0-9._-]*"  # of scenarios and balancers (sim/cli/scenario.c)


def value(result, where):
    """0 where the result has none: jobs of flows, and the like."""
    for key in where.split("."):
        result = result.get(key, {}) if isinstance(result, dict) else {}
    return result if isinstance(result, (int, float)) else 0


def has_jobs(result):
    return "jobs" in result


def metric(result):
    """The main one, less is better: mean completion time of jobs, else average slowdown."""
    return value(result, "jobs.jct_avg_us" if has_jobs(result) else "slowdown.overall.avg")


def tail(result):
    return value(result, "jobs.jct_p99_us" if has_jobs(result) else "slowdown.overall.p99")


class Group:
    """The runs of one variant of a scenario at one load: .runs[balancer] are its results by seed."""

    def __init__(self, stem, load):
        self.stem, self.load, self.runs = stem, load, {}

    def all(self):
        return [r for runs in self.runs.values() for r in runs]

    @property
    def name(self):
        return f"{self.stem}-{self.load}"

    @property
    def scenario(self):
        return self.all()[0].get("scenario", self.stem)

    @property
    def set(self):
        """Settings of the command line, by key."""
        return dict(text.split("=", 1) for text in self.all()[0].get("set", []))

    @property
    def title(self):
        poisson = self.all()[0]["settings"].get("traffic.kind") == "poisson"
        return f"{self.scenario}, {self.load} %" if poisson else self.scenario

    @property
    def full_title(self):
        return ", ".join([self.title, *(f"{k}={v}" for k, v in self.set.items())])

    @property
    def jobs(self):
        return has_jobs(self.all()[0])

    def ratio(self, lb):
        """To ECMP on the same traffic: mean, ends of the 95 % interval; None without pairs, or with one."""
        base = {r["seed"]: metric(r) for r in self.runs.get("ecmp", [])}
        pairs = [metric(r) / base[r["seed"]] for r in self.runs.get(lb, []) if base.get(r["seed"])]
        if not pairs:
            return None, None, None
        middle, half = interval(pairs)
        return (middle, middle - half, middle + half) if half == half else (middle, None, None)

    def mean(self, lb, where):
        return mean([value(r, where) for r in self.runs[lb]])

    def interval(self, lb, what):
        return interval([what(r) for r in self.runs[lb]])

    def settings(self):
        """Those that all runs share which use them, and the names of those that differ."""
        runs = [r["settings"] for r in self.all()]
        same = {k: v for one in runs for k, v in one.items() if all(s.get(k, v) == v for s in runs)}
        differ = {k for s in runs for k in s} - set(same) - {"run.lb", "run.seed"}
        return same, sorted(differ)

    def inputs(self):
        """Files that were read: role, name, SHA-256."""
        return sorted({(role, i["name"], i["sha256"]) for r in self.all()
                       for role, i in r.get("inputs", {}).items()})


class Sweep:
    """Groups of one scenario and load whose command lines differ in the value of one key."""

    def __init__(self, key, groups, number):
        """number: of the sweep, if other settings make several of the same key; else 1."""
        self.key, self.number = key, number
        numbers = all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", g.set[key]) for g in groups)
        self.numbers = numbers
        self.groups = sorted(groups, key=lambda g: float(g.set[key]) if numbers else g.set[key])

    @property
    def values(self):
        return [g.set[self.key] for g in self.groups]

    @property
    def name(self):
        end = f".{self.number}" if self.number > 1 else ""
        return f"{self.groups[0].scenario}-{self.groups[0].load}-sweep-{self.key}{end}"

    @property
    def title(self):
        others = [f"{k}={v}" for k, v in self.groups[0].set.items() if k != self.key]
        return ", ".join([f"{self.groups[0].title}: sweep of {self.key}", *others])

    @property
    def balancers(self):
        return list(dict.fromkeys(lb for g in self.groups for lb in g.runs))


def sweeps(groups):
    """In order of scenario, load and key."""
    found = {}
    for g in groups:
        for key in g.set:
            others = tuple((k, v) for k, v in g.set.items() if k != key)
            found.setdefault((g.scenario, g.load, key, others), []).append(g)
    made, count = [], {}
    for where in sorted(found):
        if len(found[where]) > 1:
            count[where[:3]] = count.get(where[:3], 0) + 1
            made.append(Sweep(where[2], found[where], count[where[:3]]))
    return made


class Bad(Exception):
    """A file that no run wrote."""


def plain(value):
    """As base/plain.h: texts with '?' for each character that is not printable ASCII, also within lists and objects."""
    if isinstance(value, str):
        return re.sub("[^ -~]", "?", value)
    if isinstance(value, dict):
        return {plain(k): plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, list) else value


def is_result(result):
    """Names of results become names of files, labels of figures and cells of a table."""
    return (re.fullmatch(NAME, str(result.get("lb"))) and all(type(result.get(k)) is int for k in ("seed", "load_percent"))
            and re.fullmatch(NAME, str(result["name"])) and re.fullmatch(NAME, str(result.get("scenario", "x")))
            and isinstance(result.get("set", []), list) and all(isinstance(text, str) and re.fullmatch(SETTING, text) for text in result.get("set", []))
            and result["name"].endswith(f"-{result['lb']}-{result['load_percent']}-{result['seed']}"))


def read(path):
    """A result, or None: a JSON file of another kind."""
    try:
        with open(path, encoding="utf-8") as f:
            result = plain(json.load(f))
    except ValueError as e:
        raise Bad(f"{plain(path)}: no JSON in UTF-8: move it elsewhere") from e
    if not isinstance(result, dict) or "name" not in result or "slowdown" not in result:
        return None
    if not is_result(result):
        raise Bad(f"{plain(path)}: no result of `hp3-sim run`, by its name, lb, load_percent or seed: move it elsewhere")
    return result


def load(folder, order):
    """Groups in order of name and load; balancers in theirs, as `hp3-sim list` has it."""
    groups = {}
    runs = [r for r in map(read, glob.glob(os.path.join(glob.escape(folder), "*.json"))) if r is not None]
    place = {lb: i for i, lb in enumerate(order)}
    runs.sort(key=lambda r: (place.get(r["lb"], len(order)), r["lb"], r["seed"]))
    for r in runs:
        stem = r["name"][:-len(f"-{r['lb']}-{r['load_percent']}-{r['seed']}")]
        key = stem, r["load_percent"]
        groups.setdefault(key, Group(*key)).runs.setdefault(r["lb"], []).append(r)
    return [groups[key] for key in sorted(groups)]


def write_csv(path, groups):
    with open(path, "w", encoding="utf-8") as f:
        f.write("scenario,lb,load_percent,seed," + ",".join(c[0] for c in CSV) + "\n")
        for g in groups:
            for r in g.all():
                cells = [g.stem, r["lb"], str(g.load), str(r["seed"])]
                cells += [f"{value(r, where):.{digits}f}" for _, where, digits in CSV]
                f.write(",".join(cells) + "\n")
