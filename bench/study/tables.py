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
    """The p99 of these; of KV caches: of their layers."""
    if "jobs" not in r:
        return r["slowdown"]["overall"]["p99"]
    return r["jobs"].get("layer_p99_us", r["jobs"]["jct_p99_us"]) / 1000


def bold(row):
    """What ships is bold."""
    return f"**{row.title}**" if row.lb == "hp3" and not row.settings else row.title


def frame(head, titles, lines, right=False):
    return [f"| {head} | " + " | ".join(titles) + " |",
            "|---" + ("|---:" if right else "|---") * len(titles) + "|", *lines]


def of_cell(found, column, row):
    """Its results by seed."""
    return {s: r for (c, w, s), r in sorted(found.items()) if (c, w) == (column.title, row.title)}


def cell(results):
    if not results:
        return "-"
    parts = []
    for what in average, tail:
        middle, half = interval([what(r) for r in results.values()])
        n = 2 if middle < 20 else 1
        parts.append(f"{middle:.{n}f}" + (f" ± {half:.{n}f}" if len(results) > 1 else ""))
    return " / ".join(parts)


def means(table, found, seeds):
    """A line per row; a cell with fewer seeds than asked for says how many."""
    lines = []
    for row in table.rows:
        cells = []
        for column in table.columns:
            results = of_cell(found, column, row)
            cells.append(cell(results) + f" ({len(results)})" * (0 < len(results) < seeds))
        if any(c != "-" for c in cells):
            lines.append(f"| {bold(row)} | " + " | ".join(cells) + " |")
    return frame(table.head, [c.title for c in table.columns], lines)


def harm(table, found):
    """PFC pauses and percent of packets that arrived marked, of the runs that means() has."""
    lines = []
    for row in table.rows:
        cells = []
        for column in table.columns:
            results = of_cell(found, column, row).values()
            cells.append(f"{mean([r['pfc_pauses'] for r in results]):.0f} / "
                         f"{100 * mean([r['ecn_share'] for r in results]):.1f}" if results else "-")
        if any(c != "-" for c in cells):
            lines.append(f"| {bold(row)} | " + " | ".join(cells) + " |")
    return frame("PFC pauses / % of packets marked", [c.title for c in table.columns], lines)


def all_columns():
    return [(table, column) for table in plan.WORKLOADS_OF_ALL for column in table.columns]


def ratio_cell(ours, ecmp):
    both = sorted(set(ours) & set(ecmp))
    if not both:
        return "-"
    parts = []
    for what in average, tail:
        middle, half = interval([what(ours[s]) / what(ecmp[s]) for s in both])
        parts.append(f"{middle:.3f}" + (f" (≤ {middle + half:.3f})" if len(both) > 1 else ""))
    return " / ".join(parts)


def ratio(found):
    """Rows of hp3 with the RNICs' set-up and marks of all, by column."""
    ecmp = plan.ROWS[0]
    ours = [plan.ROWS[1], *[row for row in plan.ROWS if row.lb in plan.OURS
                            and not {*plan.NO_WINDOW, *plan.ON_ACKS} & {*row.settings}]]
    lines = []
    for _, column in all_columns():
        base = of_cell(found, column, ecmp)
        cells = [ratio_cell(of_cell(found, column, row), base) for row in ours]
        lines.append(f"| {column.title} | " + " | ".join(cells) + " |")
    return frame("divided by ECMP", [bold(row) for row in ours], lines)


def costs(found):
    lines = []
    for row in plan.HP3, plan.ONE_PATH:
        for _, column in all_columns():
            results = of_cell(found, column, row).values()
            if not results:
                continue
            total = {k: sum(r.get(k, 0) for r in results) for k in (
                "reordered", "naks", "moves", "moves_wasted", "finished", "probe_bytes", "data_bytes",
                "held_ns", "held_packets")}
            lines.append(f"| {row.title} | {column.title} | {total['reordered']} | {total['naks']} "
                         f"| {1000 * total['moves'] / total['finished']:.1f} "
                         f"| {100 * total['moves_wasted'] / max(1, total['moves']):.0f} "
                         f"| {100 * total['probe_bytes'] / total['data_bytes']:.2f} "
                         f"| {total['held_ns'] / 1e3 / max(1, total['held_packets']):.1f} |")
    return frame("", ["", "out of order", "NAKs", "moves per 1,000 flows", "wasted, %",
                      "probes, % of bytes", "held, us per packet"], lines, True)


def variant_ratio(ecmp, ours):
    return " / ".join(f"{mean([what(ours[s]) / what(ecmp[s]) for s in ours]):.3f}"
                      for what in (average, tail))


def parameters(how, name):
    study, lines = plan.PARAMETERS[name], []
    base = {w: runs.variant(how, "ecmp", w, how.seeds) for w in study.workloads}
    for v in study.variants:
        cells = [variant_ratio(base[w], runs.variant(how, v, w, how.seeds)) for w in study.workloads]
        lines.append(f"| {bold(plan.VARIANTS[v])} | " + " | ".join(cells) + " |")
    return frame("divided by ECMP", study.workloads, lines)


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
    return frame("", ["all flows", "below one BDP", "one BDP and above"], lines)


def speed(how):
    build = os.path.dirname(os.path.dirname(os.path.abspath(how.sim)))
    with tempfile.NamedTemporaryFile(prefix="hp3-study-", suffix=".json") as f:
        subprocess.run([os.path.join(runs.ROOT, "bench", "sim"), "--build", build, "--json", f.name],
                       check=True, stdout=subprocess.DEVNULL)
        rows = json.load(f)["rows"]
    return frame("", ["hops per CPU second", "CPU s", "MiB"],
                 [f"| {r['run']} | {r['hops_per_cpu_s'] / 1e6:.1f} million | {r['cpu_s']:.1f} "
                  f"| {r['peak_mib']:.0f} |" for r in rows])
