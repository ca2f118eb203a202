# SPDX-License-Identifier: BSD-3-Clause
"""One figure of a scenario and load, in panels; drawn once, written as SVG, PNG and PDF.

A balancer has one colour in all panels and figures. Lines are means over seeds, bands their 95 %
interval; time series are of the first seed.
"""
import os
import re
from itertools import accumulate

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402 (the backend comes first)
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import LogLocator, NullFormatter  # noqa: E402

from data import metric, tail  # noqa: E402
from stats import interval  # noqa: E402

OURS = {"hp3": "#0b5fa5", "hp3-paper": "#6fb1e0", "ecmp": "#333333"}
OTHERS = ["#d1495b", "#edae49", "#3c7d3c", "#8e5fb0", "#a0632f", "#e377c2", "#7f7f7f", "#9aa52f",
          "#17a2a2", "#f28e2b", "#b07aa1", "#59a14f", "#c44e52", "#937860"]
POINTS = 128  # of a line over time
STYLE = {"font.size": 9, "axes.titlesize": 10, "axes.spines.top": False, "axes.spines.right": False,
         "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e4e4e4", "grid.linewidth": 0.6, "lines.linewidth": 1.2,
         "svg.fonttype": "none", "svg.hashsalt": "hp3-sim", "pdf.fonttype": 42, "savefig.dpi": 110}


def colours(order):
    others = [lb for lb in order if lb not in OURS]
    return OURS | {lb: OTHERS[i % len(OTHERS)] for i, lb in enumerate(others)}


def width(lb):
    return 2.2 if lb == "hp3" else 1.2


def bars(axes, group, colour):
    """Main metric and its tail, with intervals."""
    lbs = list(group.runs)
    for k, (what, label, alpha) in enumerate(((metric, "average", 1), (tail, "p99", 0.45))):
        means, halves = zip(*(group.interval(lb, what) for lb in lbs))
        scale = 1e-3 if group.jobs else 1
        axes.bar([i + 0.4 * k for i in range(len(lbs))], [m * scale for m in means], 0.38,
                 yerr=[h * scale if h == h else 0 for h in halves], label=label, alpha=alpha,
                 color=[colour[lb] for lb in lbs], error_kw={"elinewidth": 0.8, "capsize": 1.5})
    axes.set_xticks([i + 0.2 for i in range(len(lbs))], lbs, rotation=40, ha="right")
    axes.set_title("completion time of a round, ms" if group.jobs else "slowdown")
    axes.set_xlabel("average, and p99 (pale)")
    axes.grid(axis="x", visible=False)
    axes.set_ylim(bottom=0)


def cdf(axes, group, colour):
    for lb, runs in group.runs.items():
        runs = [r["distribution"] for r in runs if r.get("distribution", {}).get("percent")]
        if runs:
            points = [interval([r["fct_us"][i] for r in runs])[0]
                      for i in range(len(runs[0]["percent"]))]
            axes.plot(points, runs[0]["percent"], color=colour[lb], lw=width(lb), label=lb)
    axes.set_xscale("log")
    axes.set_ylim(0, 100)
    axes.set_title("CDF of flow completion times")
    axes.set_xlabel("us")
    axes.set_ylabel("% of flows")


def by_size(axes, group, colour):
    for lb, runs in group.runs.items():
        at = {}
        for r in runs:
            for size in r.get("by_size", []):
                at.setdefault(size["limit_bytes"], []).append(size["p99"])
        sizes = sorted(at)
        points = [interval(at[s]) for s in sizes]
        kib = [s / 1024 for s in sizes]
        axes.plot(kib, [m for m, _ in points], color=colour[lb], lw=width(lb), marker="o", ms=2.5)
        low, high = ([max(1, m + sign * (h if h == h else 0)) for m, h in points]
                     for sign in (-1, 1))
        axes.fill_between(kib, low, high, color=colour[lb], alpha=0.12, lw=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(lambda k, _: f"{k:.0f} K" if k < 1024 else f"{k / 1024:.0f} M")
    for axis in axes.yaxis, axes.xaxis:
        axis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.set_title("p99 of slowdown by flow size")
    axes.set_xlabel("flows of up to this size (and more than half of it), bytes")


def queue(axes, group, colour, what, title):
    """Over time, first seed: the longest in each part of POINTS."""
    for lb, runs in group.runs.items():
        s = runs[0].get("series", {"point_us": 0, what: []})
        n = -(-len(s[what]) // POINTS)
        kib = [max(s[what][i:i + n]) / 1024 for i in range(0, len(s[what]), n or 1)]
        axes.plot([i * n * s["point_us"] / 1e3 for i in range(len(kib))], kib, color=colour[lb],
                  lw=width(lb) / 1.5, alpha=0.85, drawstyle="steps-post")
    axes.set_title(f"longest queue to a {title}, KiB, seed {group.all()[0]['seed']}")
    axes.set_xlabel("ms")
    axes.set_ylim(bottom=0)


def moves(axes, group, colour):
    for lb, runs in group.runs.items():
        s = runs[0].get("series", {"point_us": 0, "moves": []})
        axes.plot([(i + 1) * s["point_us"] / 1e3 for i in range(len(s["moves"]))],
                  list(accumulate(s["moves"])), color=colour[lb], lw=width(lb))
    axes.set_title(f"moves so far, seed {group.all()[0]['seed']}")
    axes.set_xlabel("ms")
    axes.set_ylim(bottom=0)


def draw(group, colour):
    figure, at = pyplot.subplot_mosaic(
        [["bars", "cdf", "size"], ["core", "host", "moves"], ["legend"] * 3],
        figsize=(13, 7), height_ratios=[1, 1, 0.08], layout="constrained")
    bars(at["bars"], group, colour)
    cdf(at["cdf"], group, colour)
    by_size(at["size"], group, colour)
    queue(at["core"], group, colour, "core_max_bytes", "switch")
    queue(at["host"], group, colour, "host_max_bytes", "host")
    moves(at["moves"], group, colour)
    at["legend"].axis("off")
    at["legend"].legend(handles=[Line2D([], [], color=colour[lb], lw=width(lb), label=lb)
                                 for lb in group.runs],
                        loc="center", ncols=min(12, len(group.runs)), frameon=False)
    figure.suptitle(literal(group.full_title))
    return figure


def literal(text):
    """A text without mathematics between dollars."""
    return text.replace("$", r"\$")


def lines(axes, sweep, colour, what):
    """Of each balancer over the values of the sweep."""
    scale = 1e-3 if sweep.groups[0].jobs else 1
    places = [float(v) for v in sweep.values] if sweep.numbers else list(range(len(sweep.values)))
    for lb in sweep.balancers:
        here = [(x, *g.interval(lb, what)) for x, g in zip(places, sweep.groups) if lb in g.runs]
        at, means, halves = zip(*((x, m * scale, (h if h == h else 0) * scale) for x, m, h in here))
        axes.plot(at, means, color=colour[lb], lw=width(lb), marker="o", ms=3, label=lb)
        axes.fill_between(at, [m - h for m, h in zip(means, halves)], [m + h for m, h in zip(means, halves)],
                          color=colour[lb], alpha=0.12, lw=0)
    if sweep.numbers and min(places) > 0 and max(places) >= 20 * min(places):
        axes.set_xscale("log")
    axes.set_xticks(places, [literal(v) for v in sweep.values], rotation=40, ha="right", minor=False)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(sweep.key)
    axes.set_ylim(bottom=0)


def draw_sweep(sweep, colour):
    figure, at = pyplot.subplot_mosaic([["average", "p99"], ["legend"] * 2], figsize=(10, 4.2), height_ratios=[1, 0.1], layout="constrained")
    unit = "completion time of a round, ms" if sweep.groups[0].jobs else "slowdown"
    for name, what in ("average", metric), ("p99", tail):
        lines(at[name], sweep, colour, what)
        at[name].set_title(f"{unit}, {name}")
    at["legend"].axis("off")
    at["legend"].legend(handles=[Line2D([], [], color=colour[lb], lw=width(lb), label=lb) for lb in sweep.balancers],
                        loc="center", ncols=min(8, len(sweep.balancers)), frameon=False)
    figure.suptitle(literal(sweep.title))
    return figure


def write(folder, group, colour, draw_it=draw):
    """Of a group, or of a sweep with draw_sweep(). Returns the SVG for the page: without head, its names its own."""
    with pyplot.rc_context(STYLE):
        figure = draw_it(group, colour)
        figure.canvas.draw()
        figure.set_layout_engine("none")  # laid out once, not for each format
        stem = os.path.join(folder, group.name)
        for kind, when in ("svg", "Date"), ("png", None), ("pdf", "CreationDate"):
            figure.savefig(f"{stem}.{kind}", metadata={when: None} if when else None)
        pyplot.close(figure)
    with open(f"{stem}.svg", encoding="utf-8") as f:
        svg = f.read()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg"):], flags=re.S)
    return re.sub(r'(id="|xlink:href="#|url\(#)', rf"\g<1>{group.name}-", svg)
