# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/results, as lines of Markdown. Means over seeds and the half width of their 95 %
interval; ratios to ECMP are of pairs of runs on the same traffic."""
import json
import os
import subprocess
import tempfile

from stats import interval, mean
from study import plan, runs


def average(r):
    """Of jobs completion times in ms, else slowdowns."""
    return r["jobs"]["jct_avg_us"] / 1000 if "jobs" in r else r["slowdown"]["overall"]["avg"]


def tail(r):
    return r["jobs"]["jct_p99_us"] / 1000 if "jobs" in r else r["slowdown"]["overall"]["p99"]


def bold(text):
    return f"**{text}**" if text == "hp3" else text


def frame(head, titles, lines, right=False):
    return [f"| {head} | " + " | ".join(titles) + " |",
            "|---" + ("|---:" if right else "|---") * len(titles) + "|", *lines]


def seeds(found, name, load, lb):
    return sorted(s for n, l, b, s in found if (n, l, b) == (name, load, lb))


def cell(found, name, load, lb):
    values = [found[name, load, lb, s] for s in seeds(found, name, load, lb)]
    if not values:
        return "-"
    parts = []
    for what in average, tail:
        middle, half = interval([what(r) for r in values])
        n = 2 if middle < 20 else 1
        parts.append(f"{middle:.{n}f} ± {half:.{n}f}")
    return " / ".join(parts)


def names_of(table):
    """Entries of plan.RUNS that a table shows."""
    return [n + suffix for _, n, _ in table.columns for suffix in ("", "-packet", "-any-order")
            if n + suffix in plan.RUNS]


def means(table, found):
    lines = []
    for title, lb, suffix in plan.ROWS:
        cells = [cell(found, name + suffix, load, lb) for _, name, load in table.columns]
        if any(c != "-" for c in cells):
            lines.append(f"| {bold(title)} | " + " | ".join(cells) + " |")
    return frame(table.head, [c[0] for c in table.columns], lines)


def with_hp3(found):
    return sorted({(n, load) for n, load, b, _ in found if b == "hp3"})


def ratio(found):
    lines = []
    for name, load in with_hp3(found):
        row, used = [], seeds(found, name, load, "hp3")
        for lb, what in (("hp3", average), ("hp3", tail), ("hp3-ideal", average),
                         ("hp3-ideal", tail), ("hp3-paper", average)):
            both = set(seeds(found, name, load, lb)) & set(seeds(found, name, load, "ecmp"))
            pairs = [what(found[name, load, lb, s]) / what(found[name, load, "ecmp", s])
                     for s in sorted(both)]
            middle, half = interval(pairs) if pairs else (0, 0)
            row.append(f"{middle:.3f} (≤ {middle + half:.3f})" if pairs else "-")
        poisson = found[name, load, "hp3", used[0]]["settings"]["traffic.kind"] == "poisson"
        lines.append(f"| {name} | {f'{load} %' if poisson else ''} | {len(used)} | "
                     + " | ".join(row) + " |")
    return ["| over ECMP | load | seeds | hp3, average | p99 | hp3-ideal, average | p99 | hp3-paper, average |",
            "|---|---:|---:|---|---|---|---|---|", *lines]


def costs(found):
    lines = []
    for name, load in with_hp3(found):
        all_seeds = [r for k, r in found.items() if k[:3] == (name, load, "hp3")]
        total = {k: sum(r.get(k, 0) for r in all_seeds) for k in (
            "reordered", "moves", "moves_wasted", "finished", "probe_bytes", "data_bytes",
            "held_ns", "held_packets", "reports")}
        lines.append(f"| {name} | {load} | {total['reordered']} "
                     f"| {1000 * total['moves'] / total['finished']:.1f} "
                     f"| {100 * total['moves_wasted'] / max(1, total['moves']):.0f} "
                     f"| {100 * total['probe_bytes'] / total['data_bytes']:.2f} "
                     f"| {total['held_ns'] / 1e3 / max(1, total['held_packets']):.1f} "
                     f"| {total['reports']} |")
    return frame("hp3", ["load", "reordered", "moves per 1,000 flows", "wasted %",
                         "probes, % of bytes", "held us per packet held", "reports"], lines, True)


def variant_ratio(ecmp, ours):
    return " / ".join(f"{mean([what(ours[s]) / what(ecmp[s]) for s in ours]):.3f}"
                      for what in (average, tail))


def parameters(how, name):
    study, lines = plan.PARAMETERS[name], []
    base = {w: runs.variant(how, study.base, w, how.seeds) for w in study.workloads}
    for v in study.variants:
        cells = [variant_ratio(base[w], runs.variant(how, v, w, how.seeds)) for w in study.workloads]
        lines.append(f"| {v} | " + " | ".join(cells) + " |")
    return frame("over ECMP", study.workloads, lines)


def reference():
    with open(os.path.join(runs.TRACE, "reference.json"), encoding="utf-8") as f:
        return json.load(f)["slowdown"]


def trace(how, name):
    """Slowdowns on the trace; beside the reference's where it has that balancer."""
    lines, theirs = [], reference() if name == "ns3" else {}
    for title, lb, settings in plan.TRACES[name]:
        found = [runs.trace(how, lb, settings, seed + 1) for seed in range(how.seeds)]
        cells = []
        for size in "overall", "lt_bdp", "ge_bdp":
            parts = []
            for key in "avg", "p99":
                value = mean([r["slowdown"][size][key] for r in found])
                off = f" ({100 * (value / theirs[lb][size][key] - 1):+.1f} %)" if lb in theirs else ""
                parts.append(f"{value:.{3 if key == 'avg' else 2}f}{off}")
            cells.append(" / ".join(parts))
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return frame("", ["average / p99", "below one BDP", "one BDP and above"], lines)


def speed(how):
    build = os.path.dirname(os.path.dirname(os.path.abspath(how.sim)))
    with tempfile.NamedTemporaryFile(prefix="hp3-study-", suffix=".json") as f:
        subprocess.run([os.path.join(runs.ROOT, "bench", "sim"), "--build", build, "--json", f.name],
                       check=True, stdout=subprocess.DEVNULL)
        rows = json.load(f)["rows"]
    return frame("", ["hops per CPU second", "CPU s", "MiB"],
                 [f"| {r['run']} | {r['hops_per_cpu_s'] / 1e6:.1f} million | {r['cpu_s']:.1f} "
                  f"| {r['peak_mib']:.0f} |" for r in rows])
