# SPDX-License-Identifier: BSD-3-Clause
"""The files of docs/results: one per table, and README.md. README.md names the command that makes each table, and the row
that `make test` repeats. discussion.md, which explains the tables, is written by hand.

A file has a title, the command, a description of the runs, the table, and one row that takes little time, by seed:

    `make test` repeats, at --quick size: `hp3` at `40 %` with `ppp.message_start=0`, seed 1: 1.213 / 3.774.

`make test` repeats this row at --quick size, even if the table has another size. Settings after "with" are those that the
row was made with and that are no longer the defaults.
If code and table are known to differ until the study is run again, the file has a line that begins with "Outdated: ". The
check then prints the difference of the row, but does not fail.
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
             "What the tables show: [discussion.md](discussion.md). How to simulate:",
             "[guide/simulate.md](../guide/simulate.md).", "",
             "Each table has a command that makes it. The command runs the simulations whose results are missing:",
             "minutes to hours of CPU. Then it writes the table's page and this page.",
             "",
             "`bench/evaluate check` repeats one row of most tables at `--quick` size, and so does `make test`.",
             "The last column has the balancer and the scenario of this row. The check fails if the average",
             f"differs from the page by more than {100 * WITHIN[0]:.0f} %, or the p99 by more than {100 * WITHIN[1]:.0f} %. "
             "Then make the table again. Or",
             "add a line to the page that begins with \"Outdated: \", and give the reason.",
             "", "| table | command | `make test` repeats |", "|---|---|---|"]
    for p in all_of(folder):
        repeated = f"{p.spot.row}, {p.spot.column}" if p.spot else "-"
        repeated += ", outdated" * bool(p.spot and p.outdated)
        lines.append(f"| [{p.title}]({p.name}.md) | `{p.command}` | {repeated} |")
    return "\n".join(lines) + "\n"


def write_manifest(folder):
    with open(path(folder, "README"), "w", encoding="utf-8") as f:
        f.write(manifest(folder))
