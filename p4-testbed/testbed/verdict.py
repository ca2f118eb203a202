# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a run in one sentence with figures; commit and command of the page."""
import html
import shlex
import subprocess
import sys

from . import measures, spans, spray
from .evidence import moves_of
from .tools import IN_TREE, PROGRAMS, REPO, binary, run


def often(n):
    return "once" if n == 1 else f"{n} times"


def counted(n, word):
    return f"{n} {word}" + ("" if n == 1 else "s")


def when(moves, met):
    """Moments of the moves. `met`: as of spans.meeting()."""
    first, last = min(m["t"] for m in moves), max(m["t"] for m in moves)
    text = f"at {first:.2f} s" if len(moves) == 1 else f"from {first:.2f} to {last:.2f} s"
    return text + (f", {first - met[0]:.2f} s after {met[1]}" if met[1] else "")


def what_moved(result, met):
    moves = moves_of(result)
    if not moves:
        return f"mode {result['mode']}: nothing was moved"
    flows = sorted({m["name"] or m["flow"] for m in moves})
    names = f" ({', '.join(flows)})" if len(flows) <= 4 else ""
    who = "hp3ctl" if result["mode"] == "manual" else "hp3d"
    return f"{who} moved {counted(len(flows), 'flow')}{names} {often(len(moves))}, {when(moves, met)}"


def goodput(scenario, results):
    """Before the meeting, from then on, and after the moves; of mode off, from the meeting on."""
    result, off = spans.chosen(results)
    met_s, what = spans.meeting(scenario, results)
    rate, moves = spans.goodputs(scenario, result, met_s), moves_of(result)
    met, whose = spans.met_rate(scenario, results, result)
    beside = spans.goodputs(scenario, off, met_s)["met"] if off and not whose else None
    parts = [f"{rate['before']:.1f} Mb/s before {what}"] if rate["before"] is not None else []
    if met is not None:
        since = " from then on" if parts else " before the first move" if moves else ""
        note = f" with {whose}" if whose else f" (hp3 off: {beside:.1f})" if beside is not None else ""
        parts.append(f"{met:.1f} Mb/s{since}{note}")
    if rate["after"] is not None:
        parts.append(f"{rate['after']:.1f} Mb/s after the {'move' if len(moves) == 1 else 'last move'}")
    return "goodput of all flows: " + ", ".join(parts) if parts else ""


def waits(row, link):
    """The longest waits of the flows after a link was cut; of many only the longest."""
    known = {n: w / 1000 for n, w in row["outage_ms"][link].items() if w is not None}
    if len(known) > 4:
        known = {"any flow": max(known.values())}
    return ", ".join(f"{n} {w:.1f} s" for n, w in known.items())


def outages(row, off):
    for link in row["outage_ms"]:
        yield f"after {link} was cut nothing completed for: {waits(row, link)}" + (f" (hp3 off: {waits(off, link)})" if off else "")


def sentence(scenario, results):
    sprayed = next((r for r in reversed(results) if spray.was([r])), None)
    if sprayed is not None:
        return spray.sentence(scenario, results, sprayed)
    result, off = spans.chosen(results)
    row, was = measures.row_of(scenario, result), measures.row_of(scenario, off) if off else None
    parts = [what_moved(result, spans.meeting(scenario, results)), goodput(scenario, results), *outages(row, was),
             f"{counted(row['retransmissions'], 'retransmission')}, {row['out_of_seq']} out of sequence"]
    return "; ".join(p for p in parts if p) + "."


def commit():
    """The revision of this tree, and whether it is exactly that; the version of an installation."""
    if not IN_TREE:
        return run([binary(PROGRAMS, "hp3d"), "--version"]).strip()

    def git(*words):
        done = subprocess.run(["git", "-c", f"safe.directory={REPO}", "-C", REPO, *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    try:
        revision, changed = git("rev-parse", "--short=12", "HEAD"), git("status", "--porcelain", "--untracked-files=no")
    except FileNotFoundError:
        revision = changed = None
    if revision is None:
        return "unknown: no git repository"
    return revision + (", with changes" if changed else "")


def command():
    """The command line that runs, as one would type it, in the tree where this is one."""
    return shlex.join(["p4-testbed/hp3-testbed" if IN_TREE else "hp3-testbed", *sys.argv[1:]])


def origin(words=None):
    return (f"<p>Made by <code>{html.escape(words or command())}</code> at commit <code>{html.escape(commit())}</code>.</p>")
