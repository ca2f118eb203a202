# SPDX-License-Identifier: BSD-3-Clause
"""The files of docs/results: one per table, and README.md, which says what makes each and what of it
`make test` repeats. discussion.md, which says what the tables show, is written by hand.

A file: title, command, what was run, the table, and one row that is cheap, by seed:

    `make test` repeats, at --quick size: `hp3` at `40 %` with `ppp.message_start=0`, seed 1: 1.213 / 3.774.

A row that is repeated is of --quick size, which the table may not be. Settings ("with") are those
that it was made with and that are no longer the defaults.
Where code and table are known to part until the study is run again, the file says so in a line that
begins with "Outdated: "; such a row is shown, but not held against the code.
"""
import glob
import os
import re
import textwrap
from collections import namedtuple

NOT_TABLES = "README", "discussion"
WITHIN = 0.03, 0.10  # average, p99: what other builds may give in the row that is repeated
SPOT = re.compile(
    r"^`make test` repeats, at --quick size: `([^`]*)` at `([^`]*)`(?: with `([^`]*)`)?, seed (\d+): "
    r"([0-9.]+) / ([0-9.]+)\.$", re.M)
Spot = namedtuple("Spot", "row column settings seed values", defaults=[[], 1, ()])
Page = namedtuple("Page", "name title command spot outdated")


def spot_line(spot):
    values = " / ".join(f"{v:.3f}" for v in spot.values)
    settings = f" with `{' '.join(spot.settings)}`" if spot.settings else ""
    return (f"`make test` repeats, at --quick size: `{spot.row}` at `{spot.column}`{settings}, seed {spot.seed}: "
            f"{values}.")


def path(folder, name):
    return os.path.join(folder, f"{name}.md")


def write(folder, name, title, about, lines, spot=None):
    about = textwrap.fill(about, 100, break_long_words=False, break_on_hyphens=False)
    with open(path(folder, name), "w", encoding="utf-8") as f:
        f.write(f"# {title}\n\n    bench/evaluate {name}\n\n{about}\n\n" + "\n".join(lines) + "\n")
        if spot is not None:
            f.write(f"\n{spot_line(spot)}\n")


def read(folder, name):
    with open(path(folder, name), encoding="utf-8") as f:
        text = f.read()
    found = SPOT.search(text)
    spot = None
    if found:
        row, column, settings, seed, avg, p99 = found.groups()
        spot = Spot(row, column, (settings or "").split(), int(seed), (float(avg), float(p99)))
    outdated = re.search(r"^Outdated: (.*)", text, re.M)
    command = re.search(r"^    (.*)$", text, re.M)
    return Page(name, text.splitlines()[0].lstrip("# "), command and command.group(1), spot,
                outdated and outdated.group(1))


def all_of(folder):
    names = sorted(os.path.basename(p)[:-len(".md")] for p in glob.glob(path(folder, "*")))
    return [read(folder, name) for name in names if name not in NOT_TABLES]


def parts(spot, values):
    """What of (average, p99) is further off than WITHIN."""
    return [f"{what} {now:.3f}, {then:.3f} in the table" for what, now, then, within in
            zip(("average", "p99"), values, spot.values, WITHIN) if abs(now / then - 1) > within]


def manifest(folder):
    lines = ["# Results of the simulator", "",
             "What the tables show: [discussion.md](discussion.md). How to simulate: [guide/simulate.md](../guide/simulate.md).", "",
             "One command makes each table. It runs what is not there yet, from minutes to hours of CPU, and",
             "writes the file and this one.",
             "",
             "`bench/evaluate check` repeats one row of each at `--quick` size, as `make test` does. It fails if",
             f"the average is more than {100 * WITHIN[0]:.0f} % off, or p99 more than {100 * WITHIN[1]:.0f} %. Then "
             "make the table again, or write a",
             "line \"Outdated: \" and why.",
             "", "| table | command | `make test` repeats |", "|---|---|---|"]
    for p in all_of(folder):
        repeated = f"{p.spot.row}, {p.spot.column}" if p.spot else "-"
        repeated += ", outdated" * bool(p.spot and p.outdated)
        lines.append(f"| [{p.title}]({p.name}.md) | `{p.command}` | {repeated} |")
    return "\n".join(lines) + "\n"


def write_manifest(folder):
    with open(path(folder, "README"), "w", encoding="utf-8") as f:
        f.write(manifest(folder))
