#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""results.csv, figures (SVG, PNG, PDF) and report.html from what `hp3-sim run` wrote.

usage: report.py HP3-SIM DIR

Debian's own Python, which has the packages. report.html needs nothing beside it.
"""
import os
import re
import subprocess
import sys

INSTALL_HINT = "apt-get install python3-matplotlib python3-jinja2"

try:
    import jinja2
    from markupsafe import Markup
except ImportError as e:
    sys.exit(f"hp3-sim: no report: {e}: {INSTALL_HINT}")
import data


def output(args):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def balancers(sim):
    """In the order of `hp3-sim list`."""
    text = output([sim, "list"])
    return re.findall(r"(?m)^  (\S+) ", text[:text.index("scenarios:")])


def defaults(sim):
    """section.key: value, as texts."""
    found, section = {}, ""
    for line in output([sim, "keys"]).splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif re.match(r"\w+ *=", line):
            key, text = (part.strip() for part in line.split("=", 1))
            found[f"{section}.{key}"] = text.strip('"')
    return found


def number(x, digits):
    """A dash where there is none: no such flows, or one seed."""
    return f"{x:.{digits}f}" if x is not None and x == x else Markup("&ndash;")


def row(group, lb):
    digits = 1 if group.jobs else 3
    avg, p99 = group.interval(lb, data.metric), group.interval(lb, data.tail)
    cells = [number(v, digits) for v in (*avg, *p99)]
    for size in "lt", "ge":
        cells += [number(group.mean(lb, f"slowdown.{size}_bdp.{v}") or None, 3)
                  for v in ("avg", "p99")]
    middle, _, high = group.ratio(lb)
    cells += [number(middle, 3), number(high, 3)]
    for where, scale, digits in (("goodput_gbps", 1, 1), ("ecn_share", 100, 2),
                                 ("uplink_imbalance", 1, 3), ("reordered", 1, 0),
                                 ("retransmitted_bytes", 1e-6, 2), ("pfc_pauses", 1, 0),
                                 ("moves", 1, 0), ("probe_bytes", 1e-3, 0)):
        cells.append(f"{group.mean(lb, where) * scale:.{digits}f}")
    return {"lb": lb, "seeds": len(group.runs[lb]), "cells": cells}


def ratio(group, lb):
    value, low, high = group.ratio(lb)
    if value is None:
        return ""
    kind = "same" if low is None or low <= 1 <= high else "good" if high < 1 else "bad"
    return Markup(f'<span class="{kind}">{value:.3f}</span>')


def page(groups, sweeps, order, usual, svg):
    runs = [r for g in groups for r in g.all()]
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(os.path.dirname(__file__)),
                                     autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                     undefined=jinja2.StrictUndefined)
    present = {r["lb"] for r in runs}
    return environment.get_template("page.html").render(
        groups=groups, sweeps=sweeps, runs=len(runs), svg=svg, ratio=ratio,
        commits=sorted({r["commit"] for r in runs}),
        commands=sorted({r["command"] for r in runs if "command" in r}),
        balancers=[lb for lb in order if lb in present] + sorted(present - set(order)),
        mark=lambda lb: Markup(' class="hp3"') if lb == "hp3" else "",
        rows=lambda g: [row(g, lb) for lb in g.runs],
        files=lambda g: [(f"{role}: {name}", sha) for role, name, sha in g.inputs()],
        unusual=lambda key, value: key not in ("run.lb", "run.seed") and usual.get(key) != str(value))


def main():
    sim, folder = sys.argv[1:3]
    order = balancers(sim)
    try:
        groups = data.load(folder, order)
    except data.Bad as e:
        sys.exit(f"hp3-sim: {e}")
    if not groups:
        sys.exit(f"hp3-sim: {data.plain(folder)}: no results of `hp3-sim run` in there")
    try:
        import figures  # takes a second: after all that may be refused
    except ImportError as e:
        sys.exit(f"hp3-sim: no report: {e}: {INSTALL_HINT}")
    data.write_csv(os.path.join(folder, "results.csv"), groups)
    colour = figures.colours(order)
    sweeps = data.sweeps(groups)
    svg = {g.name: Markup(figures.write(folder, g, colour)) for g in groups}
    svg |= {s.name: Markup(figures.write(folder, s, colour, figures.draw_sweep)) for s in sweeps}
    with open(os.path.join(folder, "report.html"), "w", encoding="utf-8") as f:
        f.write(page(groups, sweeps, order, defaults(sim), svg))
    print(data.plain(f"hp3-sim: {folder}/report.html, {folder}/results.csv"), file=sys.stderr)


main()
